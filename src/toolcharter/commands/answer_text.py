"""Prints the result of a call for a person: the value, the message, and what to do next."""

import json
from collections.abc import Mapping
from typing import Any, cast

from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.markup import escape as escape_markup

from mcp_core.calling.records import Answer
from mcp_core.declare.charter import META
from mcp_core.foreign.terminal import escape_lines
from toolcharter.commands.saved_files import attachments
from toolcharter.output.terminal import TerminalConsole

JsonObject = dict[str, Any]


def print_answer(answer: Answer, console: Console | None = None, *, can_save: bool = False) -> None:
    """Print the result of a call, whatever its wire format. With `can_save`, say how its files can be saved."""
    out = console or TerminalConsole()
    try:
        body: Any = json.loads(answer.text or ("" if answer.blocks else answer.structured_json or ""))
    except (ValueError, RecursionError):
        if answer.text:
            out.print(_escape(answer.text))
        _print_blocks(answer, out, can_save=can_save)
        return
    fields = cast(JsonObject, body) if isinstance(body, dict) else {}
    beside = answer.meta or {}  # a bare answer has these in its metadata
    if answer.is_error:
        out.print(f"[bold red]{_escape(_error(fields, beside) or answer.text)}[/]")
    else:
        text = escape_lines(json.dumps(_value(body, fields), indent=2, ensure_ascii=False))
        out.print(JSONHighlighter()(text), soft_wrap=True)
    _print_blocks(answer, out, can_save=can_save)
    for channel in ("message", "instruction"):
        if text := fields.get(channel) or beside.get(META + channel):
            out.print(f"[dim]{channel}:[/] {_escape(str(text))}")
    _print_hints(fields.get("agentHints"), out)


def _print_blocks(answer: Answer, out: Console, *, can_save: bool) -> None:
    """Print the blocks beside the first text: texts, and of others, such as images, their type, address and size."""
    texts = [block for block in answer.content() if block.get("type") == "text"]
    for text in texts[1:] if answer.text else texts:
        out.print(_escape(str(text.get("text", ""))))
    for block in attachments(answer.content()):
        size = f"about {block.size:,} bytes" if block.has_data else ""
        words = ", ".join(word for word in (block.mime_type, block.uri, size) if word)
        hint = " [dim](--save FOLDER writes it to a file)[/]" if can_save and block.has_data else ""
        out.print(f"[dim]{_escape(block.kind)}:[/] {_escape(words)}{hint}", soft_wrap=True)


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
