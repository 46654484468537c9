"""Details that get reads beside an issue or a page, when `include` names them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from mcp_atl.answers.history import short_change
from mcp_atl.answers.issues import short_attachment, short_comment, short_worklog
from mcp_atl.answers.pages import short_page_attachment, short_page_comment
from mcp_atl.answers.users import short_user
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import list_at, object_at
from mcp_atl.command import CommandCall
from mcp_atl.convert.texts import to_markdown
from toolcharter import ToolError

MAX_ITEMS = 50
"""Of each kind. The rest is read with its own command, and the answer says so."""


async def add_details(shown: Json, details: Sequence[str], call: CommandCall[Any], id: str) -> None:
    """Read what was asked for, and put it beside the rest. What cannot be read says so in its place."""
    readers = ISSUE_READERS if "key" in shown else PAGE_READERS

    async def read(name: str) -> Any:
        try:
            return await readers[name](call.connection, id)
        except ToolError as error:
            return {"error": str(error), "error_type": error.error_type}

    found = await asyncio.gather(*map(read, details))
    shown |= dict(zip(details, found, strict=True))


# --- issues ------------------------------------------------------------------------------------------------


async def _comments(connection: SiteConnection, key: str) -> Any:
    page = await jira(connection).comments(key, 0, MAX_ITEMS)
    items = [short_comment(one, lambda text: to_markdown(connection.site, "jira", text)) for one in page.items]
    return _with_rest(items, page.total)


async def _worklogs(connection: SiteConnection, key: str) -> Any:
    page = await jira(connection).worklogs(key, 0, MAX_ITEMS)
    items = [
        short_worklog(one, lambda text: to_markdown(connection.site, "jira", text)) for one in page.items[:MAX_ITEMS]
    ]
    return _with_rest(items, page.total)


async def _transitions(connection: SiteConnection, key: str) -> Any:
    return [short_transition(one) for one in await jira(connection).transitions(key)]


def short_transition(transition: Json) -> Json:
    """A transition, where it leads, and the fields that it demands."""
    fields = object_at(transition, "fields")
    return {
        "id": transition["id"],
        "name": transition["name"],
        "to": transition["to"]["name"],
        "required_fields": [one.get("name", field) for field, one in fields.items() if one.get("required")],
    }


async def _watchers(connection: SiteConnection, key: str) -> Any:
    found = await jira(connection).watchers(key)
    return [short_user(one) for one in list_at(found, "watchers")]


async def _remote_links(connection: SiteConnection, key: str) -> Any:
    found = await jira(connection).remote_links(key)
    return [
        {"id": str(one["id"]), "title": one["object"].get("title"), "url": one["object"].get("url")} for one in found
    ]


async def _changelog(connection: SiteConnection, key: str) -> Any:
    page = await jira(connection).changelog(key, 0, MAX_ITEMS)
    return _with_rest([short_change(one) for one in page.items], page.total)


async def _attachments(connection: SiteConnection, key: str) -> Any:
    issue = await jira(connection).issue(key, fields=["attachment"])
    return [short_attachment(one) for one in list_at(issue, "fields", "attachment")]


# --- pages -------------------------------------------------------------------------------------------------


async def _page_comments(connection: SiteConnection, id: str) -> Any:
    api = confluence(connection)
    footer, inline = await asyncio.gather(
        api.comments(id, MAX_ITEMS, None), api.comments(id, MAX_ITEMS, None, inline=True)
    )
    items = [*footer.items, *inline.items]
    shown = [short_page_comment(one, lambda text: to_markdown(connection.site, "confluence", text)) for one in items]
    more = footer.next_cursor or inline.next_cursor
    return {"items": shown, "note": f"Only the first {MAX_ITEMS} of a kind are shown."} if more else shown


async def _children(connection: SiteConnection, id: str) -> Any:
    page = await confluence(connection).children(id, MAX_ITEMS, None)
    items = [{"id": str(one["id"]), "title": one["title"]} for one in page.items]
    note = f"Only the first {MAX_ITEMS} are shown; list with subject 'pages' and parent={id!r} shows all."
    return {"items": items, "note": note} if page.next_cursor else items


async def _labels(connection: SiteConnection, id: str) -> Any:
    return await confluence(connection).labels(id)


async def _page_attachments(connection: SiteConnection, id: str) -> Any:
    page = await confluence(connection).attachments(id, MAX_ITEMS, None)
    return [short_page_attachment(one) for one in page.items]


async def _restrictions(connection: SiteConnection, id: str) -> Any:
    return short_restrictions(await confluence(connection).restrictions(id))


def short_restrictions(found: Json) -> Json:
    """Who may read and who may edit a page; empty if it has no restrictions."""
    by_operation = {one["operation"]: one for one in found["results"]} if "results" in found else found
    shown: Json = {}
    for operation in ("read", "update"):
        limits = object_at(by_operation, operation, "restrictions")
        users = [short_user(one) for one in list_at(limits, "user", "results")]
        groups = [one["name"] for one in list_at(limits, "group", "results")]
        if users or groups:
            shown[operation] = {"users": users, "groups": groups}
    return shown


def _with_rest(items: list[Json], total: int | None) -> Any:
    if total is None or total <= len(items):
        return items
    return {"items": items, "note": f"The first {len(items)} of {total} are shown."}


Reader = Callable[[SiteConnection, str], Awaitable[Any]]
ISSUE_READERS: dict[str, Reader] = {
    "comments": _comments,
    "worklogs": _worklogs,
    "transitions": _transitions,
    "watchers": _watchers,
    "remote_links": _remote_links,
    "changelog": _changelog,
    "attachments": _attachments,
}
PAGE_READERS: dict[str, Reader] = {
    "comments": _page_comments,
    "children": _children,
    "labels": _labels,
    "attachments": _page_attachments,
    "restrictions": _restrictions,
}
ISSUE_DETAILS = tuple(ISSUE_READERS)
PAGE_DETAILS = tuple(PAGE_READERS)
