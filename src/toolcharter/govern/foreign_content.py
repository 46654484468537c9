"""Content of upstreams, checked as our own is. A block that cannot be sent becomes a text that says why."""

import base64
from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast

from mcp_core.content.blocks import (
    MAX_BLOCKS,
    MAX_CONTENT_BYTES,
    MAX_URI_LENGTH,
    Audio,
    Image,
    InvalidContent,
    is_media_type,
    type_of_data,
)
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.metadata import with_foreign_meta
from toolcharter.govern.upstream.transport import as_object

_MEDIA = {"image": Image, "audio": Audio}
_LINK_TEXTS = ("title", "description")
_READABLE = ("text/", "application/json", "application/xml", "application/yaml")


def foreign_blocks(blocks: Sequence[Any]) -> list[JsonObject]:
    """The content blocks of an answer or a prompt, as many as there were."""
    return list(_checked_blocks(blocks))


def _checked_blocks(blocks: Sequence[Any]) -> Iterator[JsonObject]:
    size = count = 0
    for value in blocks:
        block = as_object(value)
        try:
            checked = _block(block)
            if checked["type"] != "text":
                count += 1
                size += _size(checked)
                if count > MAX_BLOCKS or size > MAX_CONTENT_BYTES:
                    allowed = f"{MAX_BLOCKS} blocks and {MAX_CONTENT_BYTES:,} bytes"
                    raise InvalidContent(f"content over the limit of {allowed}")
        except InvalidContent as error:
            checked = {"type": "text", "text": left_out(error)}
        yield checked


def left_out(error: InvalidContent) -> str:
    """The text in place of content that cannot be sent."""
    return f"(The governor left out a part of this answer: {error}.)"


def _block(block: JsonObject) -> JsonObject:
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        fields: JsonObject = {"text": block["text"]}
    elif isinstance(kind, str) and kind in _MEDIA:
        fields = _media(kind, block)
    elif kind == "resource":
        fields = {"resource": foreign_contents(as_object(block.get("resource")))}
    elif kind == "resource_link":
        fields = _link(block)
    else:
        raise InvalidContent(
            f"content of the type {kind[:60]!r}" if isinstance(kind, str) else "content without a type"
        )
    about = _annotations(as_object(block.get("annotations")))
    more = {name: block[name] for name in ("_meta", "icons") if name in block}
    return with_foreign_meta({"type": kind, **fields, **({"annotations": about} if about else {}), **more})


def _media(kind: str, block: JsonObject) -> JsonObject:
    data = _decoded(block.get("data"), kind)
    # The data is right where the two differ: models refuse a picture whose type is not the one that is named.
    media_type = type_of_data(data, kind) or str(block.get("mimeType"))[:200]
    return _MEDIA[kind](data, media_type).to_wire()


def _decoded(data: Any, kind: str) -> bytes:
    try:
        # Some servers break the lines.
        return base64.b64decode("".join(data.split()), validate=True)
    except (AttributeError, ValueError):
        raise InvalidContent(f"{kind} data that is not base64") from None


def foreign_contents(contents: JsonObject) -> JsonObject:
    """The text or data of a resource. Raises InvalidContent."""
    text, blob = contents.get("text"), contents.get("blob")
    fields: JsonObject = {"uri": _uri(contents), **_media_type(contents)}
    if isinstance(text, str):
        fields["text"] = text
    else:
        fields["blob"] = base64.b64encode(_decoded(blob, "resource")).decode()
    return with_foreign_meta({**fields, **({"_meta": contents["_meta"]} if "_meta" in contents else {})})


def _link(block: JsonObject) -> JsonObject:
    uri, name, size = _uri(block), block.get("name"), block.get("size")
    texts = {key: text for key in _LINK_TEXTS if isinstance(text := block.get(key), str)}
    fields = {"uri": uri, "name": name if isinstance(name, str) else uri, **texts, **_media_type(block)}
    return {**fields, "size": size} if isinstance(size, int) and size >= 0 else fields


def _uri(fields: JsonObject) -> str:
    uri = fields.get("uri")
    if not isinstance(uri, str) or not uri or len(uri) > MAX_URI_LENGTH:
        raise InvalidContent(f"a resource with the address {str(uri)[:80]!r}")
    return uri


def _media_type(fields: JsonObject) -> JsonObject:
    named = fields.get("mimeType")
    return {"mimeType": named} if isinstance(named, str) and is_media_type(named) else {}


def _annotations(given: JsonObject) -> JsonObject:
    audience, priority, modified = given.get("audience"), given.get("priority"), given.get("lastModified")
    kept: JsonObject = {}
    if isinstance(audience, list):
        kept["audience"] = [role for role in ("user", "assistant") if role in cast(list[Any], audience)]
    if isinstance(priority, int | float) and 0 <= priority <= 1:
        kept["priority"] = priority
    if isinstance(modified, str):
        kept["lastModified"] = modified[:60]
    return kept


def _size(block: JsonObject) -> int:
    """The size of the data, about: base64 has four characters for three bytes."""
    resource = as_object(block.get("resource"))
    return len(block.get("data") or resource.get("blob") or "") * 3 // 4 + len(resource.get("text") or "")


def readable_text(contents: JsonObject, errors: Literal["replace", "surrogateescape"] = "replace") -> str | None:
    """The text of a resource, also where it is sent as data."""
    text, blob = contents.get("text"), contents.get("blob")
    if isinstance(text, str) or not isinstance(blob, str):
        return text if isinstance(text, str) else None
    if not str(contents.get("mimeType")).startswith(_READABLE):
        return None
    try:
        return base64.b64decode(blob).decode("utf-8", errors)
    except ValueError:
        return None


def with_text(contents: JsonObject, text: str) -> JsonObject:
    """The resource with another text, sent as it was. Bytes that are no text were read with `surrogateescape`."""
    if isinstance(contents.get("text"), str):
        return {**contents, "text": text}
    return {**contents, "blob": base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()}
