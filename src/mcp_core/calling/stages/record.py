"""Step 12: log lines, metrics and an audit entry for each call; exactly once, also when it is cancelled."""

import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from json.encoder import encode_basestring as quoted
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from mcp_core.calling.bound import UNKNOWN
from mcp_core.calling.records import Call, CallOutcome, Failure
from mcp_core.errors import Busy, DeadlineExceeded, ToolError
from mcp_core.mcp_log import JSON_ESCAPES, get_logger, redact
from mcp_core.start_errors import CannotStart
from mcp_core.telemetry import Telemetry

logger = get_logger(__name__)

_STACK_SECONDS = 60.0
_MOST_STACKS = 100
_MOST_CAUSES = 20
_NUMBERS = (int, bool)
_LONGEST_NAME = 128
_LINE_BREAKS = {chr(code).encode(): escape.encode() for code, escape in JSON_ESCAPES.items()}
"""They may stand in JSON text, but some readers split lines at them, or show the line in another order."""


@dataclass(slots=True)
class CallSummary:
    """How a call went, filled in while it runs."""

    outcome: CallOutcome = "cancelled"
    cached: bool | None = None
    repeated: bool = False
    """Whether the answer is that of an earlier call with the same idempotency key."""
    invoked: bool = False
    failure: Failure | None = None
    error: Exception | None = None
    size: int = 0
    arguments_json: str = ""
    """The validated arguments; empty before they are validated."""


class StackLimit:
    """Lets the stack of one and the same failure of a dependency into the log once a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged: dict[tuple[str, ...], float] = {}

    def allows(self, error: BaseException) -> bool:
        """Whether a stack like that of this error was not logged lately."""
        now = self._clock()
        key = tuple(f"{type(link).__qualname__}{_raised_at(link)}" for link in _causes(error))
        if now - self._logged.get(key, -_STACK_SECONDS) < _STACK_SECONDS:
            return False
        if len(self._logged) >= _MOST_STACKS:
            self._logged.clear()
        self._logged[key] = now
        return True


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it, the last link first."""
    link: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if link is None:
            return
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _raised_at(error: BaseException) -> str:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return "" if last is None else f" {last.tb_frame.f_code.co_filename}:{last.tb_lineno}"


class AuditTrail:
    """One JSON line for each call, appended to a file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            reason = f"The audit file {str(path)!r} cannot be written: {error.strerror}."
            raise CannotStart(f"{reason} Choose another with --audit-file.") from None

    def write(self, line: bytes) -> None:
        """Append a line in one write, so that processes that share the file do not mix their lines."""
        os.write(self._file, line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def begin(call: Call, level: int) -> None:
    """Log the start of a call."""
    if logger.isEnabledFor(level):
        logger.log(level, "Tool called: %s", call.spec.name, extra={"arguments": _arguments(call)})
    if call.spec.declaration.deprecated:
        logger.warning("Tool %s is deprecated: %s", call.spec.name, call.spec.declaration.deprecated.sentence())


def record(
    call: Call,
    summary: CallSummary,
    seconds: float,
    *,
    level: int,
    stacks: StackLimit,
    telemetry: Telemetry,
    audit: AuditTrail | None,
) -> None:
    """Log the end of a call, count it, and write its audit entry. `level` is that of a success."""
    _log_end(call, summary, seconds, level, stacks)
    telemetry.record(call.spec.name, summary.outcome, seconds, cached=summary.cached)
    if audit is not None:
        try:
            audit.write(_plain_line(call, summary, seconds) or _line(_entry(call, summary, seconds)))
        except OSError as error:
            logger.error("A call of tool %s could not be written to the audit file: %s", call.spec.name, error)


def _log_end(call: Call, summary: CallSummary, seconds: float, level: int, stacks: StackLimit) -> None:
    name, failure = call.spec.name, summary.failure
    if failure is None:
        level = level if call.spec.signature.is_async else logging.DEBUG
        if not logger.isEnabledFor(level):
            return
        fields = {"outcome": summary.outcome, "ms": round(seconds * 1000, 3), "chars": summary.size}
        message = "Tool %s completed successfully" if summary.outcome == "ok" else f"Tool %s ended: {summary.outcome}"
        logger.log(level, message, name, extra={"summary": fields | {"cached": bool(summary.cached)}})
    elif failure.kind == "system":
        log_system_failure(f"Tool {name}", summary.error, failure, stacks)
    else:
        verb = "failed" if summary.invoked else "refused"
        stack = summary.error if summary.invoked and logger.isEnabledFor(logging.DEBUG) else None
        level = failure_level(failure, invoked=summary.invoked)
        logger.log(level, "Tool %s %s: %s", name, verb, failure.error, exc_info=stack)


def log_system_failure(what: str, error: Exception | None, failure: Failure, stacks: StackLimit) -> None:
    """Log a failure of the server, or of something it needs, in one line; with a stack where that says more."""
    if isinstance(error, Busy):
        logger.warning("%s refused: %s", what, error)
    elif isinstance(error, ToolError):
        # A handler or a gate knows this failure. The stack is that of a library, and long: 111 lines for a database.
        root = error if isinstance(error, DeadlineExceeded) else tuple(_causes(error))[-1]
        reason = "" if root is error else f" ({type(root).__name__}: {root})"
        with_stack = root is not error and (logger.isEnabledFor(logging.DEBUG) or stacks.allows(error))
        logger.error("%s failed: %s%s", what, error, reason, exc_info=error if with_stack else None)
    else:
        extra = {"errorId": failure.error_id} if failure.error_id else {}
        logger.error("%s failed: %s", what, error or failure.error, exc_info=error, extra=extra)


def failure_level(failure: Failure, *, invoked: bool) -> int:
    """The log level of a failure that is not the server's: a mistake of the agent is INFO, a closed gate WARNING."""
    return logging.INFO if invoked or failure.kind == "validation" else logging.WARNING


def _arguments(call: Call) -> Any:
    """The arguments without secrets. They may not be valid."""
    if call.final_name == UNKNOWN:
        return None  # no tool says which of them are secret
    try:
        return redact(dict(call.request.arguments), call.spec.secret_fields)
    except RecursionError:
        return "nested too deeply"


def _plain_line(call: Call, summary: CallSummary, seconds: float) -> bytes | None:
    """The audit line of a success whose arguments are numbers: faster, as nothing in it has to be redacted."""
    if summary.failure is not None or call.spec.secret_fields or not summary.arguments_json:
        return None
    if any(type(value) not in _NUMBERS for value in call.request.arguments.values()):
        return None
    context, cached = call.context, "true" if summary.cached else "false"
    return (
        f'{{"time":"{context.timestamp}","tool":{quoted(call.final_name)},'
        f'"version":{quoted(call.spec.declaration.version)},"caller":{quoted(call.request.caller.key)},'
        f'"agent":{quoted(f"{context.agent_id} {context.agent_version}")},"outcome":"{summary.outcome}",'
        f'"ms":{seconds * 1000:.3f},"cached":{cached},"traceId":"{context.trace_id}",'
        f'"correlationId":{quoted(context.correlation_id)},"arguments":{summary.arguments_json}}}\n'
    ).encode("utf-8", "replace")


def _line(entry: dict[str, Any]) -> bytes:
    try:
        line = to_json(entry, inf_nan_mode="null")
        if not line.isascii():
            for character, escape in _LINE_BREAKS.items():
                line = line.replace(character, escape)
        return line + b"\n"
    except ValueError:
        # A lone surrogate, or nesting that is too deep: arguments without a JSON form are left out.
        return json.dumps(entry | {"arguments": "not valid JSON"}).encode() + b"\n"


def _entry(call: Call, summary: CallSummary, seconds: float) -> dict[str, Any]:
    context, failure = call.context, summary.failure
    entry: dict[str, Any] = {
        "time": context.timestamp,
        "tool": call.request.tool[:_LONGEST_NAME],
        "version": None if call.final_name == UNKNOWN else call.spec.declaration.version,
        "caller": call.request.caller.key,
        "agent": f"{context.agent_id} {context.agent_version}",
        "outcome": summary.outcome,
        "ms": round(seconds * 1000, 3),
        "cached": bool(summary.cached),
        "traceId": context.trace_id,
        "correlationId": context.correlation_id,
        "arguments": _arguments(call),
    }
    if failure is not None:
        entry |= {"error": failure.error, "errorType": failure.error_type, "errorId": failure.error_id}
    return entry
