"""Several documents as one text or list: plain text, MIME multipart or JSON."""

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, overload
from urllib.parse import quote

from mcp_guide.content.documents import Document
from mcp_guide.content.front_matter import FrontMatter

Format = Literal["plain", "markdown", "mime", "json"]
"""`markdown` is plain text in a content block of its own, outside the JSON."""

_MAX_SEPARATOR_LENGTH = 60
_MEDIA_TYPES = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "html": "text/html",
    "css": "text/css",
    "csv": "text/csv",
    "json": "application/json",
    "yaml": "application/yaml",
    "yml": "application/yaml",
}


@overload
def render(documents: Sequence[Document], format: Literal["plain", "markdown", "mime"]) -> str: ...
@overload
def render(documents: Sequence[Document], format: Literal["json"]) -> list[dict[str, Any]]: ...
@overload
def render(documents: Sequence[Document], format: Format) -> str | list[dict[str, Any]]: ...
def render(documents: Sequence[Document], format: Format) -> str | list[dict[str, Any]]:
    """Render documents in a format, in order."""
    if format == "json":
        return [_record(document) for document in documents]
    return _mime(documents) if format == "mime" else _plain(documents)


def media_type(document: Document) -> str:
    """The media type of a document, by its extension."""
    if document.is_text is False:
        return "application/octet-stream"
    return _MEDIA_TYPES.get(document.path.rpartition(".")[2].lower(), "text/plain")


def _plain(documents: Sequence[Document]) -> str:
    """One document is its text alone. Each of several has a separator line before it that occurs in none of them."""
    if len(documents) == 1:
        return _text_or_reason(documents[0])
    texts = [_text_or_reason(document) for document in documents]
    separator = "====="
    while len(separator) < _MAX_SEPARATOR_LENGTH and any(f"{separator} " in text for text in texts):
        separator += "="
    parts = zip(documents, texts, strict=True)
    return "\n\n".join(f"{separator} {document.path} {separator}\n{text.rstrip()}" for document, text in parts)


def _text_or_reason(document: Document) -> str:
    return document.text if document.text is not None else f"({document.warnings[0]})"


def _mime(documents: Sequence[Document]) -> str:
    """RFC 2046 multipart. Each part is the unchanged text; its Content-Location is the path."""
    texts = [document.text or "" for document in documents]
    boundary = _boundary(texts)
    parts = [
        f"--{boundary}\r\n{_head(document)}\r\n{text}\r\n" for document, text in zip(documents, texts, strict=True)
    ]
    head = f'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="{boundary}"\r\n\r\n'
    return f"{head}{''.join(parts)}--{boundary}--\r\n"


def _head(document: Document) -> str:
    charset = "" if document.text is None else "; charset=utf-8"
    lines = [
        f"Content-Type: {media_type(document)}{charset}",
        "Content-Transfer-Encoding: binary",
        f"Content-Location: {quote(document.path)}",
    ]
    if document.text is None:
        lines.append(f"Content-Description: {document.warnings[0]}")
    return "".join(f"{line}\r\n" for line in lines)


def _boundary(texts: Sequence[str]) -> str:
    seed = hashlib.sha256("\0".join(texts).encode(errors="surrogatepass"))
    while any((boundary := f"document-{seed.hexdigest()[:24]}") in text for text in texts):
        seed.update(b"again")
    return boundary if texts else "document-none"


def front_matter(front: FrontMatter) -> dict[str, Any]:
    """The fields of front matter that have a value."""
    fields = {
        "title": front.title,
        "description": front.description,
        "tags": list(front.tags),
        "type": front.type,
        "instruction": front.instruction,
        "requires": list(front.requires),
        "extra": dict(front.extra),
    }
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


def _record(document: Document) -> dict[str, Any]:
    fields = {
        "path": document.path,
        **front_matter(document.front),
        "text": document.text,
        "is_text": document.is_text,
        "size": document.size,
        "warnings": list(document.warnings),
    }
    # Empty fields are left out, except a missing text.
    return {name: value for name, value in fields.items() if name == "text" or value not in (None, [], {})}
