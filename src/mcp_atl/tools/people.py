"""The names of people. Confluence Cloud gives the authors of pages, versions and comments as ids only."""

from collections.abc import Iterable

from mcp_atl.client.confluence import ConfluenceApi
from mcp_atl.client.connection import Json
from toolcharter import ToolError


async def add_names(api: ConfluenceApi, users: Iterable[Json | None]) -> None:
    """Fill in the names that short users lack, with one request for all of them."""
    nameless = [user for user in users if user and user.get("id") and not user.get("name")]
    if not nameless:
        return
    try:
        known = await api.names([*dict.fromkeys(str(user["id"]) for user in nameless)])
    except ToolError:
        return  # the ids are good without names: a token may lack the permission to see users
    for user in nameless:
        user["name"] = known.get(str(user["id"]))
