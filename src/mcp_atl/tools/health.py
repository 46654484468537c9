"""health_check: which sites there are, and whether they answer."""

import asyncio

from pydantic import Field

from mcp_atl.answers.listing import Item
from mcp_atl.answers.users import short_user
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.client.jira import jira
from mcp_atl.command import CommandCall, Parameters, reads
from mcp_atl.site import Product
from toolcharter import Example, ToolError

SANDBOX_NOTE = "This is the built-in sandbox with made-up data, not a real site."


class HealthCheck(Parameters):
    """The parameters of health_check."""

    details: bool = Field(default=False, description="Also the version and the title of each product.")


@reads(
    HealthCheck,
    subject="Not used: all products of the site are checked.",
    takes="details (true: also versions and titles), site (name of one of several).",
    tags=["sites"],
    examples=[
        Example(
            "Is the site there?",
            {"response_fields": ["site", "sandbox", "jira.ok"]},
            {"site": "sandbox", "sandbox": SANDBOX_NOTE, "jira": {"ok": True}},
        )
    ],
)
async def health_check(call: CommandCall[HealthCheck]) -> Item:
    """Check that Jira and Confluence can be reached.

    Use this if a command fails, or to see all sites.

    Returns:
        The sites, who you are, and which product answers.
    """
    connection = call.connection
    site = connection.site
    products: list[Product] = ["jira", "confluence"] if call.product == "atlassian" else [call.product]
    states = await asyncio.gather(*(_state(connection, product, call.parameters) for product in products))
    names = call.server.sites.names
    value: Json = {
        "site": site.name,
        "sites": names if len(names) > 1 else None,
        "kind": site.kind,
        "sandbox": SANDBOX_NOTE if site.sandbox else None,
        "read_only": site.read_only or None,
        "projects": sorted(site.projects) if site.projects is not None else None,
        "spaces": sorted(site.spaces) if site.spaces is not None else None,
        **dict(zip(products, states, strict=True)),
    }
    return Item(value)


async def _state(connection: SiteConnection, product: Product, options: HealthCheck) -> Json:
    if (connection.site.jira_url if product == "jira" else connection.site.confluence_url) is None:
        return {"ok": False, "error": "not configured"}
    try:
        if product == "confluence":
            return {"ok": True, "user": short_user(await confluence(connection).current_user())}
        state: Json = {"ok": True, "user": short_user(await jira(connection).myself())}
        if options.details:
            info = await jira(connection).server_info()
            state |= {"version": info.get("version"), "title": info.get("serverTitle")}
    except ToolError as error:
        return {"ok": False, "error": str(error), "error_type": error.error_type}
    return state
