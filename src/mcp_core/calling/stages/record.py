"""Step 12: log lines, metrics and an audit entry for each call; exactly once, also when it is cancelled."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from json.encoder import encode_basestring as quoted
from typing import Any

from pydantic_core import to_json

from mcp_core.audit import AuditTrail
from mcp_core.calling.bound import UNKNOWN
from mcp_core.calling.records import Call, CallOutcome
from mcp_core.calling.shares import CallShares
from mcp_core.errors import Busy, DeadlineExceeded, ToolError
from mcp_core.foreign.budget import TooLarge, check_size
from mcp_core.logs.telemetry import Telemetry
from mcp_core.mcp_log import JSON_ESCAPES, get_logger, redact
from mcp_core.result import Failure

logger = get_logger(__name__)

_STACK_SECONDS = 60.0
_MAX_STACKS = 100
_MAX_CAUSES = 20
_NUMBERS = (int, bool)
_MAX_RECORDED_VALUES, _MAX_RECORDED_LENGTH = 5_000, 200_000
"""Arguments of a call that are redacted: at most 40 ms of work for the values, and 30 ms for the characters."""
_MAX_NAME_LENGTH = 128
TOO_LARGE = "too large to be recorded"
"""Stands for arguments that were not redacted."""


class CallRecord:
    """How a call went, filled in while it runs. The defaults are those of the class, so that a new one costs little."""

    outcome: CallOutcome = "cancelled"
    cached: bool | None = None
    repeated: bool = False
    """Whether the answer is that of an earlier call with the same idempotency key."""
    notes: str | None = None
    """How arguments that were not valid were read; None for valid ones."""
    invoked: bool = False
    failure: Failure | None = None
    error: Exception | None = None
    size: int = 0
    arguments_json: str = ""
    """The validated arguments; empty before they are validated."""
    started: float = 0.0
    began: float = 0.0
    """When the time of its deadline began, by the clock of `time.perf_counter`."""
    person_seconds: float = 0.0
    """How long a person was asked during the call."""
    answered_by: str | None = None
    """Who answered in the console whether the call may be carried out: the key of a caller."""
    handler_began: float = 0.0
    handler_ended: float = 0.0
    """By the clock of `time.perf_counter`; 0 if the call did not get there."""
    handler_waited: bool = False
    """Whether the handler let other calls go on. One that did not held the event loop for as long as it ran."""


EndedCall = tuple[Call, CallRecord, float, float]
"""The call, how it went, its seconds, and when it ended."""


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
        if len(self._logged) >= _MAX_STACKS:
            self._logged.clear()
        self._logged[key] = now
        return True


class Recorder:
    """The recorder of the calls of one server."""

    def __init__(
        self, telemetry: Telemetry, audit: AuditTrail | None, level: int, clock: Callable[[], float] = time.time
    ) -> None:
        """`level` is the log level of the beginning and the success of a call."""
        self.telemetry, self.audit, self.level, self.clock = telemetry, audit, level, clock
        self.success_level: int | None = None
        """The log level of a success, where it has one of its own."""
        self.stacks = StackLimit()
        self.shares = CallShares(sys.maxsize, telemetry)
        """The calls of each caller; over HTTP those of all apps of the site, which has the limit."""
        self.keep: Callable[[EndedCall], None] | None = None
        """Takes each call that has ended for the record of recent calls, if there is one."""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it, the last link first."""
    link: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if link is None:
            return
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _raised_at(error: BaseException) -> str:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return "" if last is None else f" {last.tb_frame.f_code.co_filename}:{last.tb_lineno}"


def begin(call: Call, level: int) -> None:
    """Log the start of a call."""
    if logger.isEnabledFor(level):
        logger.log(level, "Tool called: %s", call.spec.name, extra={"arguments": redacted_arguments(call)})
    if call.spec.declaration.deprecated:
        logger.warning("Tool %s is deprecated: %s", call.spec.name, call.spec.declaration.deprecated.sentence())


def record(call: Call, summary: CallRecord, seconds: float, recorder: Recorder) -> None:
    """Log the end of a call, count it, and write its audit entry."""
    level = recorder.success_level or (recorder.level if call.spec.signature.is_async else logging.DEBUG)
    if summary.failure is not None or logger.isEnabledFor(level):
        _log_end(call, summary, seconds, level, recorder.stacks)
    recorder.telemetry.record(call.spec.name, summary.outcome, seconds, cached=summary.cached)
    if recorder.audit is not None:
        _audit(call, summary, seconds, recorder.audit)
    if recorder.keep is not None:
        recorder.keep((call, summary, seconds, time.time()))


def _log_end(call: Call, summary: CallRecord, seconds: float, level: int, stacks: StackLimit) -> None:
    name, failure = call.spec.name, summary.failure
    if failure is None:
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
        is_deadline = isinstance(error, DeadlineExceeded)
        root = error if is_deadline else tuple(_causes(error))[-1]
        reason = "" if root is error else f" ({type(root).__name__}: {root})"
        with_stack = root is not error and (logger.isEnabledFor(logging.DEBUG) or stacks.allows(error))
        level = logging.ERROR if is_deadline or error.__cause__ is not None else logging.WARNING
        logger.log(level, "%s failed: %s%s", what, error, reason, exc_info=error if with_stack else None)
    else:
        extra = {"errorId": failure.error_id} if failure.error_id else {}
        logger.error("%s failed: %s", what, error or failure.error, exc_info=error, extra=extra)


def failure_level(failure: Failure, *, invoked: bool) -> int:
    """The log level of a failure: a handler that fails is an ERROR, a mistake of the agent INFO, a gate WARNING."""
    if invoked:
        return logging.ERROR
    return logging.INFO if failure.kind == "validation" else logging.WARNING


def redacted_arguments(call: Call) -> Any:
    """The arguments without secrets. They may not be valid, and what is too large is left out."""
    if call.final_name == UNKNOWN:
        return None  # no tool says which of them are secret
    arguments = dict(call.request.arguments)
    try:
        check_size(arguments, nodes=_MAX_RECORDED_VALUES, length=_MAX_RECORDED_LENGTH)
    except TooLarge:
        return TOO_LARGE
    return redact(arguments, call.spec.secret_fields)


# --- the audit record --------------------------------------------------------------------------------------


def _audit(call: Call, summary: CallRecord, seconds: float, audit: AuditTrail) -> None:
    """Write the audit record of a call."""
    context, request, failure, unknown = call.context, call.request, summary.failure, call.final_name == UNKNOWN
    tool, caller = request.tool[:_MAX_NAME_LENGTH] if unknown else call.final_name, request.caller.key
    version = None if unknown else call.spec.declaration.version
    digest, arguments = _audited_arguments(call, summary, audit)
    members = (
        f'"time":"{context.timestamp}",{_who_and_what(tool, version, caller, context.agent_id, context.agent_version)},'
        f'"outcome":"{summary.outcome}","ms":{seconds * 1000:.3f},"cached":{"true" if summary.cached else "false"},'
        f'"tokens":{estimate_tokens(summary.size)},"traceId":"{context.trace_id}",'
        f'"correlationId":{quoted(context.correlation_id)},"argumentsDigest":{digest}{arguments}'
    )
    if summary.repeated:
        members += ',"repeated":true'
    if summary.answered_by is not None:
        members += f',"answeredBy":{quoted(summary.answered_by)}'
    if failure is not None:
        error_id = "null" if failure.error_id is None else quoted(failure.error_id)
        members += f',"error":{quoted(failure.error)},"errorType":{quoted(failure.error_type)},"errorId":{error_id}'
    audit.append(escape_breaks(members), context.timestamp, tool, caller, summary.outcome)


@lru_cache(maxsize=256)
def _who_and_what(tool: str, version: str | None, caller: str, agent_id: str, agent_version: str) -> str:
    """The members that many records of a client have in common."""
    return (
        f'"method":"tools/call","tool":{quoted(tool)},"version":{"null" if version is None else quoted(version)},'
        f'"caller":{quoted(caller)},"agent":{quoted(f"{agent_id} {agent_version}")}'
    )


def _audited_arguments(call: Call, summary: CallRecord, audit: AuditTrail) -> tuple[str, str]:
    """The digest of the arguments as JSON, and the redacted arguments as a further member, if they are wanted."""
    valid = summary.arguments_json
    if valid and not call.spec.secret_fields:
        digest = f'"{audit.chain.digest(valid)}"'
        if not audit.with_arguments:
            return digest, ""
        # Numbers hold no secret, so they are not redacted, which takes longer than everything else here.
        if all(type(value) in _NUMBERS for value in call.request.arguments.values()):
            return digest, f',"arguments":{valid}'
        return digest, f',"arguments":{_json(redacted_arguments(call))}'
    if call.final_name == UNKNOWN:
        return "null", ',"arguments":null' if audit.with_arguments else ""
    # The digest of a short secret could be guessed by trying, so that of the redacted arguments is written.
    arguments = redacted_arguments(call)
    redacted = _json(arguments)
    digest = "null" if arguments is TOO_LARGE else f'"{audit.chain.digest(redacted)}"'
    return digest, f',"arguments":{redacted}' if audit.with_arguments else ""


def _json(value: Any) -> str:
    try:
        return to_json(value, inf_nan_mode="null").decode()
    except ValueError:
        # A lone surrogate, or nesting that is too deep: arguments without a JSON form are left out.
        return '"not valid JSON"'


def estimate_tokens(characters: int) -> int:
    """About how many tokens a text costs the agent: one for four characters."""
    return (characters + 3) // 4


def escape_breaks(text: str) -> str:
    """JSON text without characters at which some readers split lines, or that control a terminal."""
    return text if text.isascii() else text.translate(JSON_ESCAPES)
