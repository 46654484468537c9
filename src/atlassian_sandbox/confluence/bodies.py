"""The body of a page in the format that a client asks for."""

import json
from html import escape
from typing import Any, cast

from atlassian_sandbox.documents import plain_text
from atlassian_sandbox.http import JsonObject, Kind, Refusal
from atlassian_sandbox.model import RichText
from atlassian_sandbox.storage_format import StorageWriter
from atlassian_sandbox.storage_reader import parse_storage, read_storage

FORMATS = (
    "storage",
    "atlas_doc_format",
    "view",
    "export_view",
    "styled_view",
    "editor",
    "anonymous_export_view",
    "wiki",
)


def document_of(body: RichText) -> JsonObject:
    if body.format == "atlas_doc_format":
        return cast(JsonObject, json.loads(body.value))
    return read_storage(body.value)


def body_as(kind: Kind, body: RichText, wanted: str) -> str:
    """The value of a body in another format; in the one in which it was written, exactly as it was."""
    if wanted == body.format:
        return body.value
    if wanted == "atlas_doc_format":
        return json.dumps(document_of(body), ensure_ascii=False, separators=(",", ":"))
    if body.format == "atlas_doc_format":
        return StorageWriter(kind).write(document_of(body))
    return body.value


def text_of(body: RichText) -> str:
    return plain_text(document_of(body))


def read_body(kind: Kind, value: Any, representation: str) -> RichText:
    """A body that a client sends. Raises Refusal 400 if it is not valid in its format."""
    if not isinstance(value, str):
        raise Refusal(400, "The value of the body must be a string.")
    if representation == "storage":
        parse_storage(value)
        return RichText("storage", value)
    if representation == "wiki":
        return RichText("storage", f"<p>{escape(value)}</p>")
    if representation == "atlas_doc_format" and kind == "cloud":
        try:
            document = json.loads(value)
        except ValueError:
            raise Refusal(400, "The value of the body is not a JSON document.") from None
        if not isinstance(document, dict) or cast(JsonObject, document).get("type") != "doc":
            raise Refusal(400, "The value of the body is not an Atlassian Document.")
        return RichText("atlas_doc_format", value)
    raise Refusal(400, f"Unsupported representation '{representation}'.")
