"""get: issues and pages, one or several, with what belongs to them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import Field

from mcp_atl.answers.fields import first_names
from mcp_atl.answers.issues import GET_FIELDS, SHAPE, compact_issue
from mcp_atl.answers.listing import Item, Listing, Shape
from mcp_atl.answers.pages import SHAPE as PAGE_SHAPE
from mcp_atl.client.agile import AgileApi
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.client.jira import jira
from mcp_atl.client.json_values import list_at
from mcp_atl.command import CommandCall, Parameters, reads
from mcp_atl.convert.texts import to_markdown
from mcp_atl.resolve.fields import Fields
from mcp_atl.resolve.references import Kind, Reference, references
from mcp_atl.tools.get_details import ISSUE_DETAILS, PAGE_DETAILS, add_details
from mcp_atl.tools.get_page import read_page
from mcp_atl.tools.people import add_names
from toolcharter import Example, InvalidArguments, ToolError

Detail = Literal[
    "comments",
    "worklogs",
    "transitions",
    "watchers",
    "remote_links",
    "changelog",
    "attachments",
    "children",
    "labels",
    "restrictions",
]
MAX_SUBJECTS = 50
AT_ONCE = 10


class Get(Parameters):
    """The parameters of get."""

    include: list[Detail] = Field(default=[], description="What else to read.")
    part: str | None = Field(
        default=None,
        description="Of a page: 'outline' for its headings; a heading or its number such as '2.1' for one section.",
    )
    budget: int = Field(
        default=8000, ge=200, le=100_000, description="Most tokens of a page body; next_cursor continues it."
    )
    cursor: str | None = Field(default=None, max_length=4000, description="The next_cursor of the answer before.")
    version: int | None = Field(default=None, ge=1, description="An older version of a page.")


@reads(
    Get,
    subject="Issue key, page id, address, page:SPACE/Title or board:7; several with commas.",
    takes="include (comments, watchers, ...), part (outline or heading), budget, cursor, version.",
    tags=["issues", "pages"],
    examples=[
        Example(
            "One issue",
            {"subject": "APP-1", "response_fields": ["summary", "status.name"]},
            {"summary": "New ticket screen", "status": {"name": "In Progress"}},
        )
    ],
)
async def get(call: CommandCall[Get]) -> Item | Listing:
    """Read issues and pages, with comments, files and so on.

    Use this to see what they say or to compare several. Of a long page, read part='outline', then one section.

    Returns:
        Fields, with texts as Markdown.
    """
    wanted = references(call.required_subject, "issue" if call.product == "jira" else None)
    if len(wanted) > MAX_SUBJECTS:
        raise InvalidArguments(
            f"subject: {len(wanted)} things are too many; at most {MAX_SUBJECTS}.", fields=("subject",)
        )
    if len(wanted) == 1:
        return await _read(call, wanted[0])
    slots = asyncio.Semaphore(AT_ONCE)

    async def read(reference: Reference) -> Json:
        async with slots:
            try:
                return (await _read(call, reference)).value
            except ToolError as error:
                # One that cannot be read does not hide the others, and is never shown as empty.
                return {"subject": str(reference), "error": str(error), "error_type": error.error_type}

    found = await asyncio.gather(*map(read, wanted))
    notes = [f"{one['subject']}: {one['error']}" for one in found if "error" in one]
    shape: Shape = SHAPE if all(reference.kind == "issue" for reference in wanted) else {**PAGE_SHAPE, **SHAPE}
    return Listing("items", [one for one in found if "error" not in one], shape=shape, notes=notes)


async def _read(call: CommandCall[Get], reference: Reference) -> Item:
    match reference.kind:
        case "issue" | "request" | "epic":
            return await _read_issue(call, reference.id)
        case "page":
            return await _read_page(call, reference.id)
        case kind if kind in _SIMPLE:
            return Item(_without_links(await _SIMPLE[kind](call.connection, reference.id)))
        case kind:
            raise InvalidArguments(
                f"subject: get does not read a {kind}. It reads issue, page, {', '.join(_SIMPLE)}; see also list.",
                fields=("subject",),
            )


async def _read_issue(call: CommandCall[Get], key: str) -> Item:
    connection, fields = call.connection, Fields(call.connection)
    wanted = first_names(call.fields) if call.fields is not None else list(GET_FIELDS)
    details = [one for one in call.parameters.include if one in ISSUE_DETAILS]
    _check_details(call.parameters.include, ISSUE_DETAILS, "an issue")
    # What `include` reads is not a field of the issue, though it can be selected.
    names = {await fields.id_of(name): name for name in wanted if name not in ("key", "id", *ISSUE_DETAILS)}
    issue = await jira(connection).issue(key, fields=list(names) or ["summary"])
    shown = compact_issue(issue, {"id": "id"} | names, lambda text: to_markdown(connection.site, "jira", text))
    await add_details(shown, details, call, str(issue["key"]))
    if call.fields is None:
        shown.pop("id", None)
    return Item(shown, {**SHAPE, **dict.fromkeys(ISSUE_DETAILS), **dict.fromkeys(names.values()), **SHAPE})


async def _read_page(call: CommandCall[Get], id: str) -> Item:
    _check_details(call.parameters.include, PAGE_DETAILS, "a page")
    options = call.parameters
    shown = await read_page(
        call.connection,
        id,
        part=options.part,
        budget=options.budget,
        cursor=options.cursor,
        version=options.version,
        with_body=call.fields is None or any(name in ("body", "outline") for name in first_names(call.fields)),
    )
    await add_details(shown, list(options.include), call, str(shown["id"]))
    if call.fields is None or any(name in ("author", "editor", "comments") for name in first_names(call.fields)):
        await add_names(confluence(call.connection), _people(shown))
    return Item(shown, PAGE_SHAPE)


def _people(page: Json) -> list[Json | None]:
    """The author and the editor of a page, and the authors of its comments."""
    comments = list_at(page, "comments") or list_at(page, "comments", "items")
    return [page.get("author"), page.get("editor"), *(one.get("author") for one in comments)]


def _check_details(include: list[Detail], known: tuple[str, ...], what: str) -> None:
    if unknown := [one for one in include if one not in known]:
        raise InvalidArguments(
            f"parameters.include: {', '.join(unknown)} cannot be read for {what}; it takes {', '.join(known)}.",
            fields=("parameters",),
        )


_SIMPLE: dict[Kind, Callable[[SiteConnection, str], Awaitable[Json]]] = {
    "project": lambda connection, wanted: jira(connection).project(wanted),
    "version": lambda connection, wanted: jira(connection).version(wanted),
    "component": lambda connection, wanted: jira(connection).component(wanted),
    "filter": lambda connection, wanted: jira(connection).filter(wanted),
    "board": lambda connection, wanted: AgileApi(connection).board(wanted),
    "sprint": lambda connection, wanted: AgileApi(connection).sprint(wanted),
}


def _without_links(value: Json) -> Json:
    left_out = ("self", "expand", "avatarUrls", "_links", "viewUrl", "searchUrl", "sharePermissions", "roles")
    return {key: part for key, part in value.items() if key not in left_out}
