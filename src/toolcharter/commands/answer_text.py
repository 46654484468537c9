"""Prints the result of a call for a person: the value, the message, and what to do next."""

import json
from typing import Any, cast

from rich.console import Console
from rich.markup import escape

from mcp_core.calling.records import Answer

JsonObject = dict[str, Any]


def print_answer(answer: Answer, console: Console | None = None) -> None:
    """Print the result of a call, whatever its wire format."""
    out = console or Console()
    try:
        body: Any = json.loads(answer.text)
    except ValueError:
        out.print(escape(answer.text))
        return
    fields = cast(JsonObject, body) if isinstance(body, dict) else {}
    if answer.is_error:
        out.print(f"[bold red]{escape(_error(fields) or answer.text)}[/]")
    else:
        out.print_json(data=_value(body, fields), ensure_ascii=False)
    for channel in ("message", "instruction"):
        if fields.get(channel):
            out.print(f"[dim]{channel}:[/] {escape(str(fields[channel]))}")
    _print_hints(fields.get("agentHints"), out)


def _value(body: Any, fields: JsonObject) -> Any:
    """The value inside the envelope, or the whole body if there is no envelope."""
    if "agentHints" in fields:
        return fields.get("data")
    return fields.get("value") if "success" in fields else body


def _error(fields: JsonObject) -> str:
    error: Any = fields.get("error")
    if isinstance(error, dict):
        details = cast(JsonObject, error)
        return f"{details.get('type')}: {details.get('message')}"
    kind = fields.get("error_type")
    return f"{kind}: {error}" if kind else str(error or "")


def _print_hints(hints: JsonObject | None, out: Console) -> None:
    if not hints:
        return
    for step in hints.get("suggestedNextActions", ()):
        arguments = cast(JsonObject, step.get("data") or {})
        text = " ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())
        out.print(f"[dim]next:[/] {escape(str(step['action']))} {escape(text)}")
    for warning in hints.get("warnings", ()):
        out.print(f"[yellow]warning:[/] {escape(str(warning['message']))}")
    out.print(f"[dim]{escape(str(hints.get('reasoning', '')))}[/]")
