"""The calls of a server that have ended, until the record of recent calls takes them.

A pipeline adds a plain tuple, which takes 0.3 µs. What is kept of it is worked out later, for many calls at once.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from mcp_core import json_text
from mcp_core.call_log import CallEntry, CallFigures
from mcp_core.call_log.entry import FindLines
from mcp_core.calling.bound import UNKNOWN
from mcp_core.calling.records import Call
from mcp_core.calling.stages.record import CallSummary, estimate_tokens, redacted_arguments

EndedCall = tuple[Call, CallSummary, float, float, float]
"""The call, how it went, when it began by the clock of `time.perf_counter`, its seconds, and when it ended."""

MOST_ENDED = 20_000
"""Calls that may wait to be taken. Of more, the oldest are dropped."""
LONGEST_NAME = 128
LONGEST_ARGUMENTS = 16_000
"""In characters of JSON. Longer ones are left out."""
LONGEST_ERROR = 2000


class EndedCalls:
    """Calls that have ended, as a source of the record of recent calls."""

    def __init__(self, server: str) -> None:
        self.server = server
        self._ended: deque[EndedCall] = deque(maxlen=MOST_ENDED)
        self.add: Callable[[EndedCall], None] = self._ended.append
        """Add a call."""

    def take(self) -> list[EndedCall]:
        taken = list(self._ended)
        self._ended.clear()
        for _, summary, *_ in taken:
            # An error refers to the frames that it passed, and these to the summary. By now such a cycle is old, and
            # would stay until a full collection.
            summary.error = None
        return taken

    def figures(self, ended: EndedCall) -> CallFigures:
        call, summary, _, seconds, now = ended
        # By its final name: callers choose the names of tools that do not exist.
        tool, caller, agent = call.final_name, call.request.caller.key, call.context.agent_id[:LONGEST_NAME]
        return now, tool, caller, agent, summary.outcome, bool(summary.cached), seconds, (summary.size + 3) // 4

    def entry(self, ended: EndedCall, find_lines: FindLines) -> CallEntry:
        call, summary, _, seconds, now = ended
        context, failure = call.context, summary.failure
        lines = find_lines(context.trace_id, context.correlation_id)
        return CallEntry(
            time=now,
            server=self.server,
            tool=call.request.tool[:LONGEST_NAME] if call.final_name == UNKNOWN else call.final_name,
            caller=call.request.caller.key,
            agent=f"{context.agent_id} {context.agent_version}"[:LONGEST_NAME],
            outcome=summary.outcome,
            ms=round(seconds * 1000, 3),
            tokens=estimate_tokens(summary.size),
            cached=bool(summary.cached),
            trace_id=context.trace_id,
            correlation_id=context.correlation_id,
            error_type=failure and failure.error_type,
            error=failure and failure.error[:LONGEST_ERROR],
            error_id=failure and failure.error_id,
            details=_details(ended, lines),
        )


def _details(ended: EndedCall, lines: list[str]) -> Mapping[str, Any]:
    call, summary, *_ = ended
    arguments = redacted_arguments(call)
    details: dict[str, Any] = {"steps": _steps(ended)}
    if len(_json(arguments)) <= LONGEST_ARGUMENTS:
        details["arguments"] = arguments
    if lines:
        details["lines"] = lines
    if summary.repeated:
        details["repeated"] = True
    if summary.answered_by is not None:
        details["answeredBy"] = summary.answered_by
    if call.final_name != UNKNOWN:
        details["version"] = call.spec.declaration.version
    return details


def _json(arguments: Any) -> str:
    try:
        return json_text.to_text(arguments)
    except (TypeError, ValueError, RecursionError):
        return " " * (LONGEST_ARGUMENTS + 1)  # without a JSON form, they are left out


def _steps(ended: EndedCall) -> dict[str, float]:
    """Where the time went, in milliseconds. A call that was refused has only passed gates."""
    _, summary, started, seconds, _ = ended
    person, began, finished = summary.person_seconds, summary.handler_began, summary.handler_ended
    gates = (began or started + seconds) - started - person
    steps = {"gates": gates}
    if person:
        steps["confirmation"] = person
    if began:
        steps["handler"] = (finished or started + seconds) - began
    if finished:
        steps["answer"] = started + seconds - finished
    return {name: round(max(0.0, value) * 1000, 3) for name, value in steps.items()}
