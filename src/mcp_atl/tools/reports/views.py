"""How often pages were read."""

from typing import Any

from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json
from mcp_atl.command import CommandCall
from mcp_atl.resolve.dates import day
from mcp_atl.resolve.references import references
from mcp_atl.resolve.times import now_of
from mcp_atl.tools.get_page import find_page
from toolcharter import InvalidArguments


async def views(call: CommandCall[Any]) -> Json:
    """Views of each page, all or since a day."""
    api = confluence(call.connection)
    since = call.parameters.since
    first = day(since, now_of(call.context).date()) if since else None
    pages: list[Json] = []
    for wanted in references(call.required_subject):
        if wanted.kind != "page":
            raise InvalidArguments(f"subject: {wanted} is not a page.", fields=("subject",))
        page = await find_page(api, wanted.id, with_body=False)
        pages.append({"id": page.id, "title": page.title, "views": await api.views(page.id, first)})
    return {"pages": pages, "since": first}
