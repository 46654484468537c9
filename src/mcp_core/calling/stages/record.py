"""Step 12: what is left of a call: log lines, counts, an audit entry. Exactly once, also when it is cancelled."""

import json
import logging
import os
from dataclasses import dataclass
from json.encoder import encode_basestring as quoted
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from mcp_core.calling.records import Call, Failure, Outcome
from mcp_core.mcp_log import TRACE_LEVEL, get_logger, redact
from mcp_core.telemetry import Telemetry

logger = get_logger(__name__)

_NUMBERS = (int, bool)


@dataclass(slots=True)
class Trail:
    """What has become of a call so far; the one record that is filled in while it runs."""

    outcome: Outcome = "cancelled"
    cached: bool | None = None
    invoked: bool = False
    failure: Failure | None = None
    error: Exception | None = None
    size: int = 0
    arguments_json: str = ""
    """The arguments as they were validated; empty before that."""


class AuditTrail:
    """One JSON line for each call, appended to a file only its owner can read."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, line: bytes) -> None:
        """Append a line; one write, so that processes sharing the file do not mix their lines."""
        os.write(self._file, line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def begin(call: Call) -> None:
    """The line before the tool runs."""
    if logger.isEnabledFor(TRACE_LEVEL):
        logger.trace("Tool called: %s", call.spec.name, extra={"arguments": _shown(call)})
    if call.spec.declaration.deprecated:
        logger.warning("Tool %s is deprecated: %s", call.spec.name, call.spec.declaration.deprecated.sentence())


def record(call: Call, trail: Trail, seconds: float, *, telemetry: Telemetry, audit: AuditTrail | None) -> None:
    """Log the end, count the call, and write it down."""
    _log_end(call, trail, seconds)
    telemetry.record(call.spec.name, trail.outcome, seconds, cached=trail.cached)
    if audit is not None:
        try:
            audit.write(_plain_line(call, trail, seconds) or _line(_entry(call, trail, seconds)))
        except OSError as error:
            logger.error("Tool %s is missing from the audit file: %s", call.spec.name, error)


def _log_end(call: Call, trail: Trail, seconds: float) -> None:
    name, failure = call.spec.name, trail.failure
    if failure is None:
        level = TRACE_LEVEL if call.spec.signature.is_async else logging.DEBUG
        if not logger.isEnabledFor(level):
            return
        summary = {"outcome": trail.outcome, "ms": round(seconds * 1000, 3), "chars": trail.size}
        message = "Tool %s completed successfully" if trail.outcome == "ok" else f"Tool %s ended: {trail.outcome}"
        logger.log(level, message, name, extra={"summary": summary | {"cached": bool(trail.cached)}})
    elif failure.kind == "system":
        extra = {"errorId": failure.error_id} if failure.error_id else {}
        logger.error("Tool %s failed: %s", name, trail.error or failure.error, exc_info=trail.error, extra=extra)
    elif trail.invoked:
        logger.error("Tool %s failed: %s", name, failure.error)
    else:
        logger.warning("Tool %s refused: %s", name, failure.error)


def _shown(call: Call) -> Any:
    """The arguments without secrets. They may not have been checked yet."""
    try:
        return redact(dict(call.request.arguments), call.spec.secret_fields)
    except RecursionError:
        return "nested too deeply"


def _plain_line(call: Call, trail: Trail, seconds: float) -> bytes | None:
    """The line of a call that succeeded with nothing but numbers: there is nothing to hide, and little to write."""
    if trail.failure is not None or call.spec.secret_fields or not trail.arguments_json:
        return None
    if any(type(value) not in _NUMBERS for value in call.request.arguments.values()):
        return None
    context, cached = call.context, "true" if trail.cached else "false"
    return (
        f'{{"time":"{context.timestamp}","tool":{quoted(call.final_name)},'
        f'"version":{quoted(call.spec.declaration.version)},"caller":{quoted(call.request.caller.key)},'
        f'"agent":{quoted(f"{context.agent_id} {context.agent_version}")},"outcome":"{trail.outcome}",'
        f'"ms":{seconds * 1000:.3f},"cached":{cached},"traceId":"{context.trace_id}",'
        f'"correlationId":{quoted(context.correlation_id)},"arguments":{trail.arguments_json}}}\n'
    ).encode("utf-8", "replace")


def _line(entry: dict[str, Any]) -> bytes:
    try:
        return to_json(entry, inf_nan_mode="null") + b"\n"
    except ValueError:
        # Half a character, or nesting that is too deep: what has no JSON form is left out.
        return json.dumps(entry | {"arguments": "not valid JSON"}).encode() + b"\n"


def _entry(call: Call, trail: Trail, seconds: float) -> dict[str, Any]:
    context, failure = call.context, trail.failure
    entry: dict[str, Any] = {
        "time": context.timestamp,
        "tool": call.final_name,
        "version": call.spec.declaration.version,
        "caller": call.request.caller.key,
        "agent": f"{context.agent_id} {context.agent_version}",
        "outcome": trail.outcome,
        "ms": round(seconds * 1000, 3),
        "cached": bool(trail.cached),
        "traceId": context.trace_id,
        "correlationId": context.correlation_id,
        "arguments": _shown(call),
    }
    if failure is not None:
        entry |= {"error": failure.error, "errorType": failure.error_type, "errorId": failure.error_id}
    return entry
