"""An answer as a person wants to read it: what came back, what was said, what could be done next."""

import json
from typing import Any, cast

from rich.console import Console
from rich.markup import escape

from mcp_core.calling.records import Answer

Fields = dict[str, Any]


def show(answer: Answer, console: Console | None = None) -> None:
    """Print an answer, whatever its wire format."""
    out = console or Console()
    try:
        body: Any = json.loads(answer.text)
    except ValueError:
        out.print(escape(answer.text))
        return
    fields = cast(Fields, body) if isinstance(body, dict) else {}
    if answer.is_error:
        out.print(f"[bold red]{escape(_error(fields) or answer.text)}[/]")
    else:
        out.print_json(data=_value(body, fields), ensure_ascii=False)
    for channel in ("message", "instruction"):
        if fields.get(channel):
            out.print(f"[dim]{channel}:[/] {escape(str(fields[channel]))}")
    _next(fields.get("agentHints"), out)


def _value(body: Any, fields: Fields) -> Any:
    """The value inside the envelope; an answer without one is the value itself."""
    if "agentHints" in fields:
        return fields.get("data")
    return fields.get("value") if "success" in fields else body


def _error(fields: Fields) -> str:
    error: Any = fields.get("error")
    if isinstance(error, dict):
        named = cast(Fields, error)
        return f"{named.get('type')}: {named.get('message')}"
    kind = fields.get("error_type")
    return f"{kind}: {error}" if kind else str(error or "")


def _next(hints: Fields | None, out: Console) -> None:
    if not hints:
        return
    for step in hints.get("suggestedNextActions", ()):
        ready = cast(Fields, step.get("data") or {})
        words = " ".join(f"{key}={json.dumps(value)}" for key, value in ready.items())
        out.print(f"[dim]next:[/] {escape(str(step['action']))} {escape(words)}")
    for warning in hints.get("warnings", ()):
        out.print(f"[yellow]warning:[/] {escape(str(warning['message']))}")
    out.print(f"[dim]{escape(str(hints.get('reasoning', '')))}[/]")
