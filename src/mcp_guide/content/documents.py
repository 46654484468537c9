"""A document: its text in whatever encoding it is, and what it says about itself."""

import base64
import binascii
import codecs
import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from mcp_core.errors import InvalidArguments, NotFound
from mcp_guide.content.files import LARGEST_DOCUMENT, Stamp
from mcp_guide.content.front_matter import FrontMatter, split

_NOT_IN_TEXT = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
# The longer mark first: that of UTF-32 starts like that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """A document. `text` is without the front matter, and None where there is none to show."""

    path: str
    text: str | None
    front: FrontMatter
    size: int
    modified: float
    is_text: bool | None
    """None where nobody looked, because it is too large."""
    warnings: tuple[str, ...] = ()


def make_document(path: str, data: bytes, modified: float, size: int | None = None) -> Document:
    """The document with these bytes. `size` is the file's, where not all of it was read."""
    size = len(data) if size is None else max(size, len(data))
    if len(data) > LARGEST_DOCUMENT:
        reason = f"The document has {size:,} bytes; documents of more than {LARGEST_DOCUMENT:,} are not read."
        return Document(path, None, FrontMatter(), size, modified, None, (reason,))
    text, note = decode(data)
    if text is None:
        return Document(path, None, FrontMatter(), size, modified, is_text=False, warnings=(note,))
    parts = split(text)
    notes = (note,) if note else ()
    return Document(path, parts.text, parts.front, size, modified, is_text=True, warnings=notes + parts.warnings)


def decode(data: bytes) -> tuple[str | None, str]:
    """The text, and what there is to say about it. None is what is not text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            with suppress(UnicodeDecodeError):
                text = data.decode(encoding)
                if not _NOT_IN_TEXT.search(text.encode(errors="replace")):
                    return text, ""
            break
    if _NOT_IN_TEXT.search(data):
        return None, f"The document is not text: {len(data):,} bytes."
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252"), "The document is not UTF-8, and was read as Windows-1252: letters may be wrong."
    except UnicodeDecodeError:
        return None, f"The document is in an encoding that is not known: {len(data):,} bytes."


class DocumentCache:
    """Documents that were read, the latest used, up to so many bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[Stamp, Document]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: str) -> tuple[Stamp, Document] | None:
        with self._lock:
            kept = self._kept.get(path)
            if kept is not None:
                self._kept.move_to_end(path)
            return kept

    def keep(self, path: str, stamp: Stamp, document: Document) -> None:
        with self._lock:
            self._drop(path)
            self._kept[path] = (stamp, document)
            self._bytes += _weight(document)
            while self._bytes > self._limit and self._kept:
                self._drop(next(iter(self._kept)))

    def drop(self, path: str) -> None:
        with self._lock:
            self._drop(path)

    def _drop(self, path: str) -> None:
        if (kept := self._kept.pop(path, None)) is not None:
            self._bytes -= _weight(kept[1])


def _weight(document: Document) -> int:
    # A letter takes up to four bytes, and the record about as much as a short text.
    return 2_000 + 4 * len(document.text or "")


# --- pages -------------------------------------------------------------------------------------------------


class Sized(Protocol):
    """What a list is made of."""

    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int: ...


Item = TypeVar("Item", bound=Sized)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a page holds: so many documents, and so many bytes, but never less than one document."""

    count: int = 100
    bytes: int = 400_000


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A part of a list, and what is not in it."""

    entries: tuple[Item, ...]
    next_cursor: str | None
    left_out: int
    """How many come after this page."""
    before: int
    """How many came before it."""
    is_changed: bool
    """Whether the list has changed before this page since the cursor was given."""

    @property
    def notice(self) -> str | None:
        """What to tell whoever asked; None where the page is everything."""
        total = self.before + len(self.entries) + self.left_out
        if len(self.entries) == total:
            return None
        first, last = self.before + 1, self.before + len(self.entries)
        told = f"Documents {first:,} to {last:,} of {total:,}."
        if self.left_out:
            told += f" {self.left_out:,} are left out: ask again with the cursor for more."
        if self.is_changed:
            told += " Documents before these were added or removed meanwhile: start without a cursor to see them."
        return told


def page(entries: Sequence[Item], cursor: str | None, limits: Limits | None = None, *, of: str = "") -> Page[Item]:
    """The part after the cursor, which was given for the same `of`. Raises InvalidArguments.

    What is gone by now is left out of the page. A list that changed is continued behind the last document shown.
    """
    limits = limits or Limits()
    start, is_changed = _start(entries, cursor, of) if cursor is not None else (0, False)
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
    left = len(entries) - position
    following = _cursor(of, position, [e.path for e in entries[position - 1 : position + 1]]) if left else None
    return Page(tuple(taken), following, left, start, is_changed)


def _cursor(of: str, position: int, paths: list[str]) -> str:
    content = json.dumps([_print(of), position, *paths], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def _start(entries: Sequence[Sized], cursor: str, of: str) -> tuple[int, bool]:
    """Where the page begins, and whether that is elsewhere than expected."""
    made_for, position, last, following = _opened(cursor)
    if made_for != _print(of):
        raise InvalidArguments("The cursor was given for another question. Ask without a cursor.", fields=("cursor",))
    if 0 < position <= len(entries) and entries[position - 1].path == last:
        return position, False
    places = {entry.path: place for place, entry in enumerate(entries)}
    if last in places:
        return places[last] + 1, True
    if following in places:
        return places[following], True
    raise InvalidArguments(
        f"The documents have changed: neither {last!r} nor {following!r} is there now. Ask without a cursor.",
        fields=("cursor",),
    )


def _opened(cursor: str) -> tuple[str, int, str, str]:
    try:
        content = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        content = None
    match content:
        case [str(), int(), str(), str()] if not isinstance(cast(list[object], content)[1], bool):
            return cast(tuple[str, int, str, str], tuple(cast(list[object], content)))
        case _:
            shown = cursor if len(cursor) < 50 else f"{cursor[:47]}..."  # noqa: PLR2004 - enough to know it by
            raise InvalidArguments(
                f"The cursor {shown!r} is none that was given. Ask without a cursor.", fields=("cursor",)
            )


def _print(of: str) -> str:
    return hashlib.sha256(of.encode(errors="surrogatepass")).hexdigest()[:12]
