"""search: issues and pages, by query, words or scope."""

import asyncio

from pydantic import Field

from mcp_atl.answers.cursors import pack, unpack
from mcp_atl.answers.fields import first_names
from mcp_atl.answers.issues import SEARCH_FIELDS, SHAPE, compact_issue
from mcp_atl.answers.listing import Item, Listing
from mcp_atl.answers.pages import FOUND_SHAPE, found_page
from mcp_atl.client.agile import AgileApi
from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import SiteConnection
from mcp_atl.client.jira import jira
from mcp_atl.client.service import ServiceApi
from mcp_atl.command import CommandCall, ListParameters, reads
from mcp_atl.convert.texts import to_markdown
from mcp_atl.resolve.fields import Fields
from mcp_atl.resolve.queries import (
    Scope,
    combine,
    is_query,
    products_for,
    quoted,
    restrict_cql,
    restrict_jql,
    scope_of,
    split_order,
    words_as_cql,
    words_as_jql,
)
from mcp_atl.site import Product
from toolcharter import Example


class Search(ListParameters):
    """The parameters of search."""

    count_only: bool = Field(default=False, description="Only the number of results.")


@reads(
    Search,
    subject="JQL, CQL, plain words, or a scope: project:KEY, board:ID, sprint:ID, space:KEY, filter:ID + words.",
    takes="limit, cursor, count_only, format (table).",
    tags=["issues", "pages"],
    examples=[
        Example(
            "Open bugs",
            {
                "product": "jira",
                "subject": "project = APP AND type = Bug AND status = 'To Do' ORDER BY key",
                "response_fields": ["key", "status.name"],
            },
            {"issues": [{"key": "APP-6", "status": {"name": "To Do"}}]},
        )
    ],
)
async def search(call: CommandCall[Search]) -> Listing | Item | list[Listing]:
    """Search Jira issues and Confluence pages.

    Use this to find or count tickets, bugs or pages by words, query or status: what is open, overdue, assigned to
    somebody or in a queue.

    Returns:
        Issues or pages, and next_cursor.
    """
    text, options = call.required_subject, call.parameters
    products = products_for(call.product, text)
    if options.count_only:
        counts = await asyncio.gather(*(_count(call, product, text) for product in products))
        return Item(dict(zip((_KINDS[product] for product in products), counts, strict=True)))
    places = unpack(options.cursor, list(products))
    shown = _divide_fields(call.fields) if len(products) > 1 else {str(product): call.fields for product in products}
    searches = [_SEARCHES[product](call, text, places[product], shown[product]) for product in places]
    lists = await asyncio.gather(*searches)
    cursor = pack({product: one.next_cursor for product, one in zip(places, lists, strict=True)})
    return [one._replace(next_cursor=cursor) for one in lists]


def _divide_fields(fields: tuple[str, ...] | None) -> dict[str, tuple[str, ...] | None]:
    """The fields of issues and those of pages, where both are searched: few fields are of both.

    A field that pages do not have is one of Jira, which has fields of its own, or reports that it has none.
    """
    if fields is None:
        return {"jira": None, "confluence": None}
    of_pages = {field for field in fields if field.partition(".")[0] in FOUND_SHAPE}
    of_issues = {field for field in fields if field.partition(".")[0] in SHAPE or field not in of_pages}
    return {
        "jira": tuple(field for field in fields if field in of_issues) or ("key",),
        "confluence": tuple(field for field in fields if field in of_pages) or ("id",),
    }


async def _issues(call: CommandCall[Search], text: str, cursor: str | None, shown: tuple[str, ...] | None) -> Listing:
    connection = call.connection
    fields = Fields(connection)
    wanted = first_names(shown) if shown is not None else list(SEARCH_FIELDS)
    names = {await fields.id_of(name): name for name in wanted if name not in ("key", "id")}
    jql = restrict_jql(connection.site, await _jql(connection, text))
    found = await jira(connection).search(jql, fields=list(names), limit=call.parameters.limit, cursor=cursor)
    ids = {"id": "id"} if "id" in wanted else {}
    items = [
        compact_issue(issue, ids | names, lambda text: to_markdown(connection.site, "jira", text))
        for issue in found.items
    ]
    shape = {**dict.fromkeys(names.values()), **SHAPE}
    return Listing("issues", items, found.next_cursor, found.total, shape, fields=shown)


async def _pages(call: CommandCall[Search], text: str, cursor: str | None, shown: tuple[str, ...] | None) -> Listing:
    connection = call.connection
    cql = restrict_cql(connection.site, _cql(text))
    found = await confluence(connection).search(cql, limit=call.parameters.limit, cursor=cursor)
    pages = [found_page(one) for one in found.items]
    return Listing("pages", pages, found.next_cursor, None, FOUND_SHAPE, fields=shown)


async def _count(call: CommandCall[Search], product: Product, text: str) -> int:
    connection = call.connection
    if product == "jira":
        return await jira(connection).count(restrict_jql(connection.site, await _jql(connection, text)))
    found = await confluence(connection).search(restrict_cql(connection.site, _cql(text)), limit=1)
    return found.total if found.total is not None else len(found.items)


async def _jql(connection: SiteConnection, text: str) -> str:
    """The query for a subject."""
    scope = scope_of(text)
    if scope is None:
        return text if is_query(text) else words_as_jql(text)
    rest = scope.rest if is_query(scope.rest) else words_as_jql(scope.rest)
    return combine(await _scope_condition(connection, scope), rest)


async def _scope_condition(connection: SiteConnection, scope: Scope) -> str:
    match scope.kind:
        case "sprint" | "filter":
            return f"{scope.kind} = {quoted(scope.id)}"
        case "label":
            return f"labels = {quoted(scope.id)}"
        case "board":
            return f"filter = {quoted(await AgileApi(connection).board_filter(scope.id))}"
        case "queue":
            where, _ = split_order(await ServiceApi(connection).queue_jql(scope.id))
            return f"({where})"
        case _:
            return f"project = {quoted(scope.id)}"


def _cql(text: str) -> str:
    scope = scope_of(text)
    if scope is None:
        return text if is_query(text) else words_as_cql(text)
    rest = scope.rest if is_query(scope.rest) else words_as_cql(scope.rest)
    return combine(f"{scope.kind} = {quoted(scope.id)}", rest)


_KINDS: dict[Product, str] = {"jira": "issues", "confluence": "pages"}
_SEARCHES = {"jira": _issues, "confluence": _pages}
