"""Content blocks: a text, an image, a sound, a file, or a link to a resource.

A tool returns one, a list of them and of texts, or a `Result` with them beside its value. A prompt has them in its
messages.
"""

import base64
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, cast

MAX_BLOCKS = 100
"""Of one answer or one prompt."""
MAX_CONTENT_BYTES = 20_000_000
"""All data and texts of one answer together, before they are encoded."""
MAX_URI_LENGTH = 4096
_MIME_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9!#$&^_.+-]{1,100}(;[ -~]{1,100})?")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f]+")
_SIGNATURES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "audio/wav": re.compile(rb"RIFF....WAVE", re.DOTALL),
    "audio/ogg": re.compile(rb"OggS"),
    "audio/flac": re.compile(rb"fLaC"),
    "audio/mpeg": re.compile(rb"ID3"),
}
"""The first bytes of files whose type they show. Models refuse a picture whose type is not the one that is named."""
_SAME_TYPE = {
    "image/jpg": "image/jpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/mp3": "audio/mpeg",
}

WireBlock = dict[str, Any]


class InvalidContent(ValueError):
    """A content block that cannot be sent. The message is for the log."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """For whom a block is, and how important it is."""

    audience: Sequence[Literal["user", "assistant"]] = ()
    priority: float | None = None
    """From 0, which is optional, to 1, which is required."""
    last_modified: str | None = None
    """A time such as 2026-11-16T09:00:00Z."""

    def to_wire(self) -> WireBlock:
        """The annotations as the protocol writes them. Raises InvalidContent."""
        if not set(self.audience) <= {"user", "assistant"}:
            raise InvalidContent(f"an audience of {list(self.audience)}; it has user, assistant or both")
        if self.priority is not None and not 0 <= self.priority <= 1:
            raise InvalidContent(f"a priority of {self.priority}; it is between 0 and 1")
        fields = {"audience": list(self.audience), "priority": self.priority, "lastModified": self.last_modified}
        return {name: value for name, value in fields.items() if value not in (None, [])}


class Block:
    """A part of an answer or of a message."""

    __slots__ = ()
    annotations: Annotations | None
    kind: ClassVar[str]

    def to_wire(self) -> WireBlock:
        """The block as the protocol writes it. Raises InvalidContent."""
        fields = {"type": self.kind, **self._fields()}
        annotations = self.annotations.to_wire() if self.annotations is not None else None
        return {**fields, "annotations": annotations} if annotations else fields

    def in_words(self) -> str:
        """The text form, for a client that cannot show the block."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The length of the data or text."""
        return 0

    def _fields(self) -> WireBlock:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Text(Block):
    """A text block of its own. A plain `str` is one without annotations."""

    text: str
    annotations: Annotations | None = None
    kind = "text"

    def in_words(self) -> str:
        return self.text

    @property
    def size(self) -> int:
        return len(self.text)

    def _fields(self) -> WireBlock:
        return {"text": self.text}


@dataclass(frozen=True, slots=True)
class _Media(Block):
    data: bytes
    mime_type: str = ""
    """Without one, the first bytes of the data decide."""
    annotations: Annotations | None = None
    usual_type: ClassVar[str]

    def __post_init__(self) -> None:
        if not self.mime_type and isinstance(self.data, bytes):  # pyright: ignore[reportUnnecessaryIsInstance] - authors may not check
            object.__setattr__(self, "mime_type", type_of_data(self.data, self.kind) or self.usual_type)

    @classmethod
    def from_file(cls, path: str | Path, annotations: Annotations | None = None) -> Self:
        """The content of a file. Its name says of which type it is."""
        return cls(Path(path).read_bytes(), mimetypes.guess_type(str(path))[0] or "", annotations)

    def in_words(self) -> str:
        return f"{self.mime_type}, {len(self.data):,} bytes"

    @property
    def size(self) -> int:
        return len(self.data)

    def _fields(self) -> WireBlock:
        if not isinstance(self.data, bytes):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
            raise InvalidContent(f"an {type(self).__name__} with {type(self.data).__name__} in place of bytes")
        if not self.mime_type.startswith(f"{self.kind}/") or not _MIME_TYPE.fullmatch(self.mime_type):
            example = f"give it a type such as {self.usual_type}"
            raise InvalidContent(f"an {type(self).__name__} of the type {self.mime_type!r}; {example}")
        found = type_of_data(self.data, self.kind)
        if found is not None and found != _SAME_TYPE.get(self.mime_type, self.mime_type):
            raise InvalidContent(f"an {type(self).__name__} of the type {self.mime_type!r} whose data is {found}")
        return {"data": base64.b64encode(self.data).decode(), "mimeType": self.mime_type}


@dataclass(frozen=True, slots=True)
class Image(_Media):
    """A picture: its bytes and its type, such as image/png."""

    kind = "image"
    usual_type = "image/png"


@dataclass(frozen=True, slots=True)
class Audio(_Media):
    """A sound: its bytes and its type, such as audio/wav."""

    kind = "audio"
    usual_type = "audio/wav"


@dataclass(frozen=True, slots=True)
class File(Block):
    """A file with its content, text or bytes, under the URI of a resource."""

    uri: str
    content: str | bytes
    mime_type: str = ""
    """Without one, the ending of the URI decides."""
    annotations: Annotations | None = None
    kind = "resource"

    def __post_init__(self) -> None:
        if not self.mime_type:
            usual = "text/plain" if isinstance(self.content, str) else "application/octet-stream"
            object.__setattr__(self, "mime_type", mimetypes.guess_type(self.uri)[0] or usual)

    def in_words(self) -> str:
        unit = "characters" if isinstance(self.content, str) else "bytes"
        return f"{self.uri}: {self.mime_type}, {len(self.content):,} {unit}"

    @property
    def size(self) -> int:
        return len(self.content)

    def _fields(self) -> WireBlock:
        if not isinstance(self.content, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance] - authors may not check
            raise InvalidContent(f"a File with {type(self.content).__name__} in place of a text or bytes")
        return {"resource": contents(_checked_uri(self.uri), self.content, _checked_type(self.mime_type))}


@dataclass(frozen=True, slots=True)
class ResourceLink(Block):
    """The URI of a resource, for the client to read or to show."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size_bytes: int | None = None
    annotations: Annotations | None = None
    kind = "resource_link"

    def in_words(self) -> str:
        about = f" - {self.description}" if self.description else ""
        return f"{self.title or self.name}: {self.uri}{about}"

    def _fields(self) -> WireBlock:
        fields = {
            "uri": _checked_uri(self.uri),
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": None if self.mime_type is None else _checked_type(self.mime_type),
            "size": self.size_bytes,
        }
        return {name: value for name, value in fields.items() if value is not None}


TextOrBlock = str | Block


def contents(uri: str, content: str | bytes, mime_type: str | None) -> WireBlock:
    """The content of a resource as the protocol writes it."""
    body = {"text": content} if isinstance(content, str) else {"blob": base64.b64encode(content).decode()}
    return {"uri": uri, "mimeType": mime_type, **body}


def is_content(value: Any) -> bool:
    """Whether a value is a block, or a list of blocks and texts with at least one block."""
    if isinstance(value, list | tuple):
        items = cast(Sequence[Any], value)
        return any(isinstance(item, Block) for item in items) and all(isinstance(item, TextOrBlock) for item in items)
    return isinstance(value, Block)


def write_blocks(content: Sequence[Any]) -> list[WireBlock]:
    """The blocks as the protocol writes them. Raises InvalidContent."""
    if len(content) > MAX_BLOCKS:
        raise InvalidContent(f"{len(content)} content blocks; {MAX_BLOCKS} are allowed")
    blocks = [Text(item) if isinstance(item, str) else item for item in content]
    for block in blocks:
        if not isinstance(block, Block):
            raise InvalidContent(f"content with {block!r:.80} in place of an Image, Audio, File, ResourceLink or text")
    if (size := sum(block.size for block in blocks)) > MAX_CONTENT_BYTES:
        raise InvalidContent(f"content of {size:,} bytes; {MAX_CONTENT_BYTES:,} are allowed")
    return [block.to_wire() for block in blocks]


def in_words(content: Sequence[TextOrBlock]) -> str:
    """The text form of several blocks."""
    return "\n".join(item if isinstance(item, str) else item.in_words() for item in content)


def type_of_data(data: bytes, kind: str) -> str | None:
    """The type that the first bytes show, of images or of sounds."""
    found = (name for name, signature in _SIGNATURES.items() if signature.match(data))
    return next((name for name in found if name.startswith(kind)), None)


def is_media_type(text: str) -> bool:
    """Whether a text has the form of a media type such as text/plain."""
    return _MIME_TYPE.fullmatch(text) is not None


def _checked_type(mime_type: str) -> str:
    if not is_media_type(mime_type):
        raise InvalidContent(f"the type {mime_type!r}, which is not a media type such as text/plain")
    return mime_type


def _checked_uri(uri: str) -> str:
    if len(uri) > MAX_URI_LENGTH or not _URI.fullmatch(uri):
        raise InvalidContent(f"the address {uri[:80]!r}, which is not a URI such as note://1 or https://example.com")
    return uri
