"""The settings of the Atlassian server, in addition to those of every server."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from toolcharter import Settings
from toolcharter.settings import TextList, Variable


class AtlSettings(Settings):
    """The settings of every server, and what may be reached at which site. It has no database."""

    unused = frozenset({"db"})
    http_only = Settings.http_only | {"require_own_credentials", "allow_sites"}
    variables = (
        Variable("ATLASSIAN_URL", "Address of a Cloud site, such as https://acme.atlassian.net. Default: a sandbox."),
        Variable("ATLASSIAN_EMAIL", "Address that you sign in to the Cloud site with."),
        Variable("ATLASSIAN_API_TOKEN", "API token of your Atlassian account.", secret=True),
        Variable("ATLASSIAN_CLOUD_ID", "Id of the Cloud site, for an API token with scopes."),
        Variable("JIRA_URL", "Address of Jira, if it is on a host of its own."),
        Variable("JIRA_PERSONAL_TOKEN", "Personal access token of Jira Data Center.", secret=True),
        Variable("CONFLUENCE_URL", "Address of Confluence, if it is on a host of its own."),
        Variable("CONFLUENCE_PERSONAL_TOKEN", "Personal access token of Confluence Data Center.", secret=True),
    )

    sandbox: bool = Field(default=False, description="Use the built-in sandbox, also if a real site is configured.")
    sandbox_kind: Literal["cloud", "datacenter"] = Field(
        default="cloud", description="The kind of site that the sandbox imitates."
    )
    sites: Path | None = Field(
        default=None, title="FILE", description="TOML file of named sites, as docs/atl.md shows it."
    )
    read_only: bool = Field(default=False, description="Offer only the commands that change nothing.")
    commands: TextList = Field(default=(), description="Offer only these commands, such as search,get,comment.")
    projects: TextList = Field(default=(), description="Reach only these Jira projects, by key.")
    spaces: TextList = Field(default=(), description="Reach only these Confluence spaces, by key.")
    require_own_credentials: bool = Field(
        default=False,
        description="Over HTTP: refuse calls without credentials of their own: the header X-Atlassian-Authorization, "
        "or a sign-in with `mcp-atl login --caller`.",
    )
    allow_sites: TextList = Field(
        default=(),
        description="Hosts that callers with their own credentials may name in the header X-Atlassian-Site, such as "
        "*.atlassian.net.",
    )
    files: Path | None = Field(
        default=None,
        title="DIR",
        description="Folder that files are uploaded from and downloaded to. Default: the downloads folder.",
    )
