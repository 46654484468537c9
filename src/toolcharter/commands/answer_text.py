"""Prints the result of a call for a person: the value, the message, and what to do next."""

import json
from collections.abc import Mapping
from typing import Any, cast

from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.markup import escape as escape_markup

from mcp_core.calling.records import Answer
from mcp_core.declare.charter import META
from toolcharter.output.terminal import escape_lines

JsonObject = dict[str, Any]


def print_answer(answer: Answer, console: Console | None = None) -> None:
    """Print the result of a call, whatever its wire format."""
    out = console or Console()
    try:
        body: Any = json.loads(answer.text)
    except (ValueError, RecursionError):
        if answer.text:
            out.print(_escape(answer.text))
        _print_blocks(answer, out)
        return
    fields = cast(JsonObject, body) if isinstance(body, dict) else {}
    beside = answer.meta or {}  # a bare answer has these in its metadata
    if answer.is_error:
        out.print(f"[bold red]{_escape(_error(fields, beside) or answer.text)}[/]")
    else:
        text = escape_lines(json.dumps(_value(body, fields), indent=2, ensure_ascii=False))
        out.print(JSONHighlighter()(text), soft_wrap=True)
    _print_blocks(answer, out)
    for channel in ("message", "instruction"):
        if text := fields.get(channel) or beside.get(META + channel):
            out.print(f"[dim]{channel}:[/] {_escape(str(text))}")
    _print_hints(fields.get("agentHints"), out)


def _print_blocks(answer: Answer, out: Console) -> None:
    """Print the blocks beside the text, such as images: their type and size."""
    for block in answer.content():
        if block["type"] != "text":
            size = len(str(block.get("data", ""))) * 3 // 4
            out.print(f"[dim]{block['type']}:[/] {_escape(str(block.get('mimeType', '')))}, about {size:,} bytes")


def _escape(text: str) -> str:
    return escape_markup(escape_lines(text))


def _value(body: Any, fields: JsonObject) -> Any:
    """The value inside the envelope, or the whole body if there is no envelope."""
    if "agentHints" in fields:
        return fields.get("data")
    return fields.get("value") if "success" in fields else body


def _error(fields: JsonObject, beside: Mapping[str, Any]) -> str:
    error: Any = fields.get("error")
    if isinstance(error, dict):
        details = cast(JsonObject, error)
        return f"{details.get('type')}: {details.get('message')}"
    kind = fields.get("error_type") or beside.get(META + "error-type")
    return f"{kind}: {error}" if kind else str(error or "")


def _print_hints(hints: Any, out: Console) -> None:
    if not isinstance(hints, dict):
        return
    fields = cast(JsonObject, hints)
    for step in _objects(fields.get("suggestedNextActions")):
        arguments = step.get("data")
        pairs = cast(JsonObject, arguments).items() if isinstance(arguments, dict) else ()
        text = " ".join(f"{key}={json.dumps(value)}" for key, value in pairs)
        out.print(f"[dim]next:[/] {_escape(str(step.get('action')))} {_escape(text)}")
    for warning in _objects(fields.get("warnings")):
        out.print(f"[yellow]warning:[/] {_escape(str(warning.get('message')))}")
    out.print(f"[dim]{_escape(str(fields.get('reasoning', '')))}[/]")


def _objects(value: Any) -> list[JsonObject]:
    """The objects in a list. What a server sends may be anything."""
    items = cast(list[Any], value) if isinstance(value, list) else []
    return [cast(JsonObject, item) for item in items if isinstance(item, dict)]
