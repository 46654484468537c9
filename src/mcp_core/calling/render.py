"""Step 13: the answer in one of three wire formats. A failure is an error on the wire in all of them.

    result   {"success", "value" | "error" + "error_type", "message", "instruction"}
    bare     the value itself, a text without quotes, or {"error"}; message and instruction travel in `_meta`
    hints    {"data", "error", "message", "instruction", "agentHints", "metadata"}

An answer is one block of compact JSON text, put together from parts that are JSON already. Images, sounds, files and
links follow it. In the bare format they may be the whole answer; their text form then comes last. Structured content,
where a server has it, is the same JSON as the text. The answer of another server is passed on as it is.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

from mcp_core.calling.records import Answer
from mcp_core.declare.charter import META
from mcp_core.declare.output import is_content_type, is_typed, value_schema
from mcp_core.declare.schema import JsonSchema
from mcp_core.result import Body
from mcp_core.text import json_text

Format = Literal["result", "bare", "hints"]
Structured = Literal["as_is", "wrapped"]
"""Structured content must be an object: a bare value that is none is put under `result`, as other servers do."""
StructuredTools = Literal["none", "typed", "all"]
"""Which tools answer with structured content: none, those that declare what they return, or all."""
WRAPPED = "x-fastmcp-wrap-result"
"""Marks a schema whose value stands under `result`. FastMCP's client then returns the value alone."""


def render(body: Body, format: Format, metadata: str | None, *, structured: Structured | None = None) -> Answer:
    """The answer in the server's format; `metadata` is JSON text.

    A failure has no structured content: its schema is that of a success.
    """
    if body.verbatim:
        meta = None if body.meta is None else json.loads(body.meta)
        return Answer("", body.failure is not None, body.data, meta, body.blocks)
    if body.is_content and format == "bare":
        return _content_alone(body)
    failed = body.failure is not None
    if format == "hints" and metadata is not None:
        text = _hints(body, metadata)
    elif format != "bare":
        text = _result(body)
    else:
        text = json_text.to_text({"error": body.failure.error}) if body.failure else body.data or "null"
    has_more = failed or body.message is not None or body.instruction is not None
    meta = _meta(body) if has_more and format == "bare" else None
    content = None
    if structured and not failed:
        content = f'{{"result":{text}}}' if structured == "wrapped" else text
    # A bare text is sent as it is. An empty one keeps its quotes: an answer is never empty.
    is_plain = format == "bare" and text[0] == '"' and text != '""'
    return Answer(json.loads(text) if is_plain else text, failed, content, meta, body.blocks, is_plain)


def _content_alone(body: Body) -> Answer:
    """An answer without a value. Its text form comes last, where no text is among the blocks."""
    has_text = any(block["type"] == "text" for block in json.loads(f"[{body.blocks}]"))
    words = "" if has_text else f',{{"type":"text","text":{body.data}}}'
    return Answer("", meta=_meta(body), blocks=body.blocks + words)


def structured_form(returns: Any, format: Format, which: StructuredTools) -> Structured | None:
    """How a value of the type that a function returns is structured. None if it is not.

    A bare value that need not be an object is put under `result`.
    """
    if which == "none" or (which == "typed" and not is_typed(returns)) or is_content_type(returns):
        return None
    return "wrapped" if format == "bare" and value_schema(returns).get("type") != "object" else "as_is"


def answer_schema(returns: Any, format: Format, which: StructuredTools) -> JsonSchema | None:
    """The schema of the structured content of a success, from what a function returns. None if there is none."""
    form, value = structured_form(returns, format, which), value_schema(returns)
    if form is None:
        return None
    if format == "bare":
        return {**_object({"result": value}, "result"), WRAPPED: True} if form == "wrapped" else value
    channels: JsonSchema = {
        "message": {"type": "string", "description": "For the person."},
        "instruction": {"type": "string", "description": "For the agent."},
    }
    if format == "result":
        return _object({"success": {"type": "boolean"}, "value": value, **channels}, "success")
    hints = {"type": "object", "description": "What to do next, and how sure that is."}
    metadata = {"type": "object", "description": "How and when the answer was made."}
    fields = {"data": value, **channels, "agentHints": hints, "metadata": metadata}
    return _object(fields, "data", "agentHints", "metadata")


def _object(properties: JsonSchema, *required: str) -> JsonSchema:
    return {"type": "object", "properties": properties, "required": list(required)}


def _channels(body: Body) -> str:
    text = f',"message":{json_text.to_text(body.message)}' if body.message is not None else ""
    return text + (f',"instruction":{json_text.to_text(body.instruction)}' if body.instruction is not None else "")


def _result(body: Body) -> str:
    failure = body.failure
    if failure is None:
        value = "" if body.data in (None, "null") else f',"value":{body.data}'
        return f'{{"success":true{value}{_channels(body)}}}'
    fields = {"success": False, "error": failure.error, "error_type": failure.error_type}
    if failure.exception_type:
        fields["exception_type"] = failure.exception_type
    if failure.error_id:
        fields["error_id"] = failure.error_id
    return f"{json_text.to_text(fields)[:-1]}{_channels(body)}}}"


def _meta(body: Body) -> dict[str, Any] | None:
    fields: dict[str, Any] = {}
    if body.message is not None:
        fields[META + "message"] = body.message
    if body.instruction is not None:
        fields[META + "instruction"] = body.instruction
    if body.failure:
        fields[META + "error-type"] = body.failure.error_type
    return fields or None


def _hints(body: Body, metadata: str) -> str:
    failure = body.failure
    error = ""
    if failure is not None:
        fields = {"type": failure.error_type, "kind": failure.kind, "message": failure.error}
        if failure.error_id:
            fields["errorId"] = failure.error_id
        error = f',"error":{json_text.to_text(fields)}'
    return f'{{"data":{body.data or "null"}{error}{_channels(body)},"agentHints":{body.hints},"metadata":{metadata}}}'


def value_in(text: str, format: Format, *, is_plain: bool = False) -> Any:
    """The value in the text of a success. A bare text that `is_plain`, or is not JSON, is the value itself."""
    if is_plain:
        return text
    try:
        body = json.loads(text) if text else None
    except ValueError:
        if format != "bare":
            raise
        return text
    return body if format == "bare" or body is None else body.get("value" if format == "result" else "data")


def failure_in(text: str, format: Format, meta: Mapping[str, Any]) -> tuple[str, str]:
    """The message and the type of the error in the text of a failure. `meta` came with it."""
    body = json.loads(text)
    if format == "hints":
        return body["error"]["message"], body["error"]["type"]
    return body["error"], meta.get(META + "error-type", "") if format == "bare" else body["error_type"]
