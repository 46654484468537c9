"""Several documents as one answer: plain text, MIME multipart, or a list for JSON."""

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, overload
from urllib.parse import quote

from mcp_guide.content.documents import Document

Format = Literal["plain", "mime", "json"]

_LONGEST_RULE = 60
_TYPES = {
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
def render(documents: Sequence[Document], format: Literal["plain", "mime"]) -> str: ...
@overload
def render(documents: Sequence[Document], format: Literal["json"]) -> list[dict[str, Any]]: ...
@overload
def render(documents: Sequence[Document], format: Format) -> str | list[dict[str, Any]]: ...
def render(documents: Sequence[Document], format: Format) -> str | list[dict[str, Any]]:
    """The documents in a form, in their order."""
    if format == "json":
        return [_record(document) for document in documents]
    return _mime(documents) if format == "mime" else _plain(documents)


def media_type(document: Document) -> str:
    """What kind of file it is, by its name."""
    if document.is_text is False:
        return "application/octet-stream"
    return _TYPES.get(document.path.rpartition(".")[2].lower(), "text/plain")


def _plain(documents: Sequence[Document]) -> str:
    """One document is its text. Before each of several stands a line that none of them has."""
    if len(documents) == 1:
        return _shown(documents[0])
    texts = [_shown(document) for document in documents]
    rule = "====="
    while len(rule) < _LONGEST_RULE and any(f"{rule} " in text for text in texts):
        rule += "="
    return "\n\n".join(f"{rule} {d.path} {rule}\n{text.rstrip()}" for d, text in zip(documents, texts, strict=True))


def _shown(document: Document) -> str:
    return document.text if document.text is not None else f"({document.warnings[0]})"


def _mime(documents: Sequence[Document]) -> str:
    """RFC 2046. A part is the text as it is; where it comes from is its Content-Location."""
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


def _record(document: Document) -> dict[str, Any]:
    front = document.front
    known = {
        "path": document.path,
        "title": front.title,
        "description": front.description,
        "tags": list(front.tags),
        "type": front.type,
        "instruction": front.instruction,
        "requires": list(front.requires),
        "extra": dict(front.extra),
        "text": document.text,
        "is_text": document.is_text,
        "size": document.size,
        "warnings": list(document.warnings),
    }
    # What a document does not say about itself takes no room; that it has no text is something to say.
    return {name: value for name, value in known.items() if name == "text" or value not in (None, [], {})}
