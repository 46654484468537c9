"""Lists in pages, as clients and proxies refuse a message that is too large."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from mcp_core.hosts.names import INVALID_PARAMS
from mcp_core.hosts.protocol import RpcError
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject

T = TypeVar("T")
Pages = Mapping[str | None, T]
"""The pages of a list, by their cursor; the first has none."""

MAX_PAGE_BYTES = 200_000
"""Of the items of a page. An item that is larger has a page of its own."""


def list_pages(member: str, items: Sequence[JsonObject]) -> Pages[JsonObject]:
    """The results of a list method: the items in `member`, and where the next page begins."""
    starts, size = [0], 0
    for number, item in enumerate(items):
        length = len(json_text.to_text(item).encode())
        if size + length > MAX_PAGE_BYTES and number > starts[-1]:
            starts.append(number)
            size = 0
        size += length
    pages: dict[str | None, JsonObject] = {}
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        more = {} if end is None else {"nextCursor": str(end)}
        pages[str(start) if start else None] = {member: list(items[start:end]), **more}
    return pages


def page_at(pages: Pages[T], cursor: Any) -> T:
    """The page that a cursor leads to. Raises RpcError."""
    page = pages.get(cursor)
    if page is None:
        shown = repr(str(cursor)[:60])
        raise RpcError(INVALID_PARAMS, f"The cursor {shown} does not belong to this list. Begin without a cursor.")
    return page
