"""Spaces, the pages of a space or below a page, and templates."""

from typing import Any

from mcp_atl.answers.listing import Listing
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json
from mcp_atl.client.json_values import list_at
from mcp_atl.command import CommandCall
from mcp_atl.tools.listings.paging import listing, start_of
from toolcharter import InvalidArguments


async def list_spaces(call: CommandCall[Any]) -> Listing:
    """Spaces that the user sees."""
    page = await confluence(call.connection).spaces(call.parameters.limit, call.parameters.cursor)
    allowed, text = call.connection.site.spaces, (call.parameters.text or "").lower()
    items: list[Json] = [
        {"key": one["key"], "name": one["name"], "type": one.get("type"), "id": str(one["id"])}
        for one in page.items
        if (allowed is None or one["key"] in allowed) and text in f"{one['key']} {one['name']}".lower()
    ]
    return listing("spaces", page, items)


async def list_pages(call: CommandCall[Any]) -> Listing:
    """The pages below a page, or all of a space with their parents."""
    options, api = call.parameters, confluence(call.connection)
    if options.parent:
        page = await api.children(options.parent, options.limit, options.cursor)
    elif options.space:
        page = await api.space_pages(options.space, options.limit, options.cursor)
    else:
        raise InvalidArguments("parameters: give space, or parent for the pages below one.", fields=("parameters",))
    items: list[Json] = [{"id": str(one["id"]), "title": one["title"], "parent_id": _parent(one)} for one in page.items]
    return listing("pages", page, items)


def _parent(page: Json) -> str | None:
    ancestors = list_at(page, "ancestors")
    return page.get("parentId") or (str(ancestors[-1]["id"]) if ancestors else None)


async def list_templates(call: CommandCall[Any]) -> Listing:
    """Page templates, of a space or of the whole site."""
    page = await confluence(call.connection).templates(call.parameters.space, start_of(call), call.parameters.limit)
    items: list[Json] = [
        {"id": str(one["templateId"]), "name": one["name"], "about": one.get("description")} for one in page.items
    ]
    return listing("templates", page, items)
