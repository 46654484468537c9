"""Documents: text decoded from any common encoding, and front matter."""

import codecs
import re
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b

from mcp_guide.content.files import MAX_DOCUMENT_BYTES, Stamp
from mcp_guide.content.front_matter import FrontMatter, split_front_matter
from mcp_guide.content.patterns import stem

_HEADING = re.compile(r"^#[ \t]++(.*[^ \t#\n])[ \t#]*$", re.MULTILINE)
_MAX_HEADING_PLACE = 2_000
_NOT_IN_TEXT = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
# UTF-32 before UTF-16: its byte order mark begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """A document. `text` does not include the front matter; it is None if the document is not readable text."""

    path: str
    text: str | None
    front: FrontMatter
    size: int
    modified: float
    is_text: bool | None
    """None if the document is too large to check."""
    warnings: tuple[str, ...] = ()
    head: str = ""
    """The front matter as it is written."""

    @property
    def version(self) -> str:
        """Changes with every change of the document."""
        return blake2b(f"{self.head}{self.text}".encode(errors="surrogatepass"), digest_size=5).hexdigest()

    @property
    def title(self) -> str:
        """Its title in the front matter, else its first heading, else its name."""
        if self.front.title:
            return self.front.title
        heading = _HEADING.search(self.text or "", 0, _MAX_HEADING_PLACE)
        return heading[1] if heading else stem(self.path.rpartition("/")[2])


def make_document(path: str, data: bytes, modified: float, size: int | None = None) -> Document:
    """Make a document from its bytes. `size` is the file size, if not all of it was read."""
    size = len(data) if size is None else max(size, len(data))
    if len(data) > MAX_DOCUMENT_BYTES:
        reason = f"The document has {size:,} bytes, more than the limit of {MAX_DOCUMENT_BYTES:,}."
        return Document(path, None, FrontMatter(), size, modified, None, (reason,))
    text, note = decode(data)
    if text is None:
        return Document(path, None, FrontMatter(), size, modified, is_text=False, warnings=(note,))
    parts = split_front_matter(text)
    notes = (note,) if note else ()
    warnings, head = notes + parts.warnings, text[: len(text) - len(parts.text)]
    return Document(path, parts.text, parts.front, size, modified, is_text=True, warnings=warnings, head=head)


def decode(data: bytes) -> tuple[str | None, str]:
    """The decoded text and a warning, if any. The text is None if the data is not text."""
    for mark, encoding in _BYTE_ORDER_MARKS:
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
        return data.decode("cp1252"), "The document is not UTF-8. It was read as Windows-1252; characters may be wrong."
    except UnicodeDecodeError:
        return None, f"The encoding of the document is unknown: {len(data):,} bytes."


class DocumentCache:
    """The most recently used documents, up to a limit of bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._entries: OrderedDict[str, tuple[Stamp, Document]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: str) -> tuple[Stamp, Document] | None:
        with self._lock:
            entry = self._entries.get(path)
            if entry is not None:
                self._entries.move_to_end(path)
            return entry

    def put(self, path: str, stamp: Stamp, document: Document) -> None:
        with self._lock:
            self._drop(path)
            self._entries[path] = (stamp, document)
            self._bytes += _memory_size(document)
            while self._bytes > self._limit and self._entries:
                self._drop(next(iter(self._entries)))

    def drop(self, path: str) -> None:
        with self._lock:
            self._drop(path)

    def _drop(self, path: str) -> None:
        if (entry := self._entries.pop(path, None)) is not None:
            self._bytes -= _memory_size(entry[1])


def _memory_size(document: Document) -> int:
    # A character takes up to four bytes; the record itself takes about 2,000.

    return 2_000 + 4 * len(document.text or "")
