"""setup_atlassian_credentials: a site and how to sign in there, checked and then kept."""

import asyncio
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from mcp_atl.answers.listing import Item
from mcp_atl.answers.users import short_user
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json
from mcp_atl.client.jira import jira
from mcp_atl.command import CommandCall, Parameters, writes
from mcp_atl.site import Access, AtlassianSite, Credentials, Kind, Secret
from mcp_atl.sites.environment import kind_of, site_root
from toolcharter import Example, InvalidArguments, PermissionDenied, ToolError


class Setup(Parameters):
    """The parameters of setup_atlassian_credentials."""

    token: SecretStr = Field(min_length=1, description="API token (Cloud), personal access token, or password.")
    email: str | None = Field(default=None, description="E-mail on Cloud, user name on Data Center; none with a PAT.")
    kind: Literal["cloud", "datacenter"] | None = Field(default=None, description="Default: by the address.")
    cloud_id: str | None = Field(default=None, description="For a scoped token: use the gateway api.atlassian.com.")
    confluence_url: str | None = Field(default=None, description="Of Data Center, if Confluence has its own address.")
    name: str | None = Field(default=None, description="A short name for the site. Default: its host.")
    make_default: bool = Field(default=True, description="Use this site where none is named.")


@writes(
    Setup,
    subject="Address, such as https://acme.atlassian.net.",
    takes="token, email, kind, cloud_id, confluence_url, name, make_default.",
    tags=["sites"],
    idempotent=True,
    permissions=["atlassian:setup"],
    examples=[
        Example(
            "Connect the sandbox as a site of its own",
            {
                "subject": "https://sandbox.atlassian.net",
                "parameters": {
                    "name": "sandbox",
                    "email": "mia.keller@harbourline.example",
                    "token": "sandbox-token-mia.keller",
                },
                "response_fields": ["site", "jira.name"],
            },
            {"site": "sandbox", "jira": {"name": "Mia Keller"}},
        )
    ],
)
async def setup_atlassian_credentials(call: CommandCall[Setup]) -> Item:
    """Set up an Atlassian site and its credentials.

    Use this to add or connect the user's site. The credentials are tried first.

    Returns:
        The site, who you are, and where they are kept.
    """
    if call.context.user_id is not None or call.context.headers or call.server.sites.credentials_required:
        raise PermissionDenied("Only the person who runs this server sets up its sites; users send their own token.")
    access = _access(call.required_subject, call.parameters)
    states = await _try(call, access)
    where = await asyncio.to_thread(call.server.sites.add, access, make_default=call.parameters.make_default)
    return Item({"site": access.site.name, "kind": access.site.kind, "kept_in": where, **states})


def _access(address: str, options: Setup) -> Access:
    url = urlsplit(address)
    if url.scheme != "https" or not url.hostname or url.username:
        raise InvalidArguments(
            f"subject: {address!r} is not the address of a site. Write https://acme.atlassian.net.", fields=("subject",)
        )
    kind: Kind = options.kind or kind_of(address)
    if kind == "cloud" and options.email is None and options.cloud_id is None:
        raise InvalidArguments(
            "parameters.email: is required on Cloud, where an API token belongs to an e-mail address.",
            fields=("parameters",),
        )
    site = AtlassianSite(
        name=options.name or url.hostname,
        kind=kind,
        jira_url=site_root(address),
        confluence_url=site_root(options.confluence_url or address),
        cloud_id=options.cloud_id,
    )
    secret = Secret(options.token.get_secret_value())
    credentials = Credentials("basic", options.email, secret) if options.email else Credentials("bearer", "", secret)
    return Access(site, credentials, credentials)


async def _try(call: CommandCall[Setup], access: Access) -> Json:
    """Whether the credentials are good for at least one product. The site's message is shown for the other."""
    connection = call.server.sites.connection(access)
    states: Json = {}
    errors: list[ToolError] = []
    for product, who in (("jira", jira(connection).myself), ("confluence", confluence(connection).current_user)):
        try:
            states[product] = short_user(await who())
        except ToolError as error:
            states[product] = {"error": str(error)}
            errors.append(error)
    if len(errors) == len(states):
        raise PermissionDenied(f"The credentials were not kept: neither product accepted them. {errors[0]}")
    return states
