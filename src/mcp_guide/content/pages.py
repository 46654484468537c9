"""Pages of a list of documents, continued with a cursor even when the list changes."""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from mcp_guide.content.patterns import quote_text
from toolcharter import InvalidArguments, NotFound


class Sized(Protocol):
    """An item of a list."""

    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int: ...


Item = TypeVar("Item", bound=Sized)


@dataclass(frozen=True, slots=True)
class PageLimits:
    """The maximum size of a page. A page has at least one document, however large."""

    count: int = 100
    bytes: int = 400_000


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A part of a list."""

    entries: tuple[Item, ...]
    next_cursor: str | None
    remaining: int
    """The number of entries after this page."""
    before: int
    """The number of entries before this page."""
    is_changed: bool
    """Whether entries before this page have changed since the cursor was made."""

    @property
    def notice(self) -> str | None:
        """A sentence about the position of this page; None if it is the whole list."""
        total = self.before + len(self.entries) + self.remaining
        if len(self.entries) == total:
            return None
        first, last = self.before + 1, self.before + len(self.entries)
        notice = f"Documents {first:,} to {last:,} of {total:,}."
        if self.remaining:
            notice += f" {self.remaining:,} remain: call again with the cursor."
        if self.is_changed:
            notice += " Earlier documents were added or removed: start without a cursor to see them."
        return notice


def get_page(
    entries: Sequence[Item], cursor: str | None, limits: PageLimits | None = None, *, query: str = ""
) -> Page[Item]:
    """The page after the cursor, which must be from the same query. Raises InvalidArguments.

    Entries that no longer exist are skipped. A list that has changed continues after the last entry shown.
    """
    limits = limits or PageLimits()
    start, _, is_changed = get_start(entries, cursor, query)
    taken, taken_bytes, position = list[Item](), 0, start
    while position < len(entries) and len(taken) < limits.count:
        try:
            size = entries[position].size
        except NotFound:
            position += 1
            continue
        if taken and taken_bytes + size > limits.bytes:
            break
        taken.append(entries[position])
        taken_bytes += size
        position += 1
    remaining = len(entries) - position
    next_cursor = make_cursor(entries, query, position) if remaining else None
    return Page(tuple(taken), next_cursor, remaining, start, is_changed)


def make_cursor(entries: Sequence[Sized], query: str, position: int, offset: int = 0) -> str:
    """The cursor of the page that begins at this entry, and at this character of it."""
    last = entries[position - 1].path if position else ""
    fields = [_fingerprint(query), position, last, entries[position].path, offset]
    content = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def get_start(entries: Sequence[Sized], cursor: str | None, query: str) -> tuple[int, int, bool]:
    """The entry and the character where the page begins, and whether earlier entries have changed."""
    if cursor is None:
        return 0, 0, False
    fingerprint, position, last, following, offset = _decode_cursor(cursor)
    if fingerprint != _fingerprint(query):
        raise InvalidArguments("The cursor belongs to another query. Call again without a cursor.", fields=("cursor",))
    start, is_changed = _find_start(entries, position, last, following)
    is_inside = start < len(entries) and entries[start].path == following
    return start, max(0, offset) if is_inside else 0, is_changed


def _find_start(entries: Sequence[Sized], position: int, last: str, following: str) -> tuple[int, bool]:
    if 0 < position <= len(entries) and entries[position - 1].path == last:
        return position, False
    if position == 0 and entries and entries[0].path == following:
        return 0, False
    positions = {entry.path: number for number, entry in enumerate(entries)}
    if last in positions:
        return positions[last] + 1, True
    if following in positions:
        return positions[following], True
    raise InvalidArguments(
        f"The documents have changed: {last!r} and {following!r} no longer exist. Call again without a cursor.",
        fields=("cursor",),
    )


def _decode_cursor(cursor: str) -> tuple[str, int, str, str, int]:
    try:
        content = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        content = None
    match content:
        case [str(), int() as position, str(), str(), int() as offset] if bool not in (type(position), type(offset)):
            return cast(tuple[str, int, str, str, int], tuple(cast(list[object], content)))
        case _:
            raise InvalidArguments(
                f"The cursor {quote_text(cursor)} is not valid. Use next_cursor of the previous page, or none.",
                fields=("cursor",),
            )


def _fingerprint(query: str) -> str:
    return hashlib.sha256(query.encode(errors="surrogatepass")).hexdigest()[:12]
