"""Shared parts of listings: the options that they need, and pages of lists that come all at once."""

from collections.abc import Sequence
from typing import Any

from mcp_atl.answers.cursors import bad_cursor
from mcp_atl.answers.listing import Listing
from mcp_atl.client.connection import Json, ResultPage
from mcp_atl.command import CommandCall
from toolcharter import InvalidArguments


def required_option(call: CommandCall[Any], name: str, why: str) -> str:
    """An option that this listing cannot do without."""
    if (value := getattr(call.parameters, name)) is None:
        raise InvalidArguments(
            f"parameters.{name}: is required to list {call.subject!r}: {why}.", fields=("parameters",)
        )
    return str(value)


def start_of(call: CommandCall[Any]) -> int:
    """The first position, for lists that are counted."""
    cursor: str | None = call.parameters.cursor
    if cursor is None:
        return 0
    if not cursor.isdigit():
        raise bad_cursor(cursor)
    return int(cursor)


def page_of(call: CommandCall[Any], kind: str, items: Sequence[Json]) -> Listing:
    """A page of a list that the site gives all at once, of the entries that match `text`."""
    text, start = call.parameters.text, start_of(call)
    matching = [one for one in items if not text or text.lower() in str(one.get("name") or one.get("key")).lower()]
    end = start + call.parameters.limit
    return Listing(kind, matching[start:end], str(end) if end < len(matching) else None, len(matching))


def listing(kind: str, page: ResultPage, items: Sequence[Json]) -> Listing:
    """A page as the site gave it."""
    return Listing(kind, items, page.next_cursor, page.total)
