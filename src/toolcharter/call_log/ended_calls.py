"""The calls of a server that have ended, until the record of recent calls takes them.

Each call is counted as it ends, which takes 1 µs. Few are kept, as many as are written in full: to keep all of them
for a quarter of a second costs a busy server more than to count them, in cache misses and garbage collection.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_core.calling.bound import UNKNOWN
from mcp_core.calling.stages.record import EndedCall, estimate_tokens, redacted_arguments
from mcp_core.text import json_text
from toolcharter.call_log.counts import MINUTE, Counts, bucket_of
from toolcharter.call_log.entry import FAILURES, CallEntry, FindLines

MAX_IN_BATCH = 50
"""Calls of a server that are kept in full each time: up to 200 a second."""
MAX_FAILURES = MAX_IN_BATCH // 2
"""Failures that come before all other calls."""
MAX_NAME_LENGTH = 128
MAX_ARGUMENTS_LENGTH = 16_000
"""In characters of JSON. Longer ones are left out."""
MAX_ERROR_LENGTH = 2000


class EndedCalls:
    """The calls of one server that have ended and are not written yet."""

    def __init__(self, server: str, counts: Counts) -> None:
        self.server, self._counts = server, counts
        self._begin_again()

    def _begin_again(self) -> None:
        self._ended, self._distance = 0, 1
        self._sample: list[tuple[int, EndedCall]] = []
        """Calls at equal distances."""
        self._failures: list[tuple[int, EndedCall]] = []

    def add(self, ended: EndedCall) -> None:
        """Count a call, and keep it if it is one of a few."""
        call, summary, seconds, now = ended
        outcome = summary.outcome
        # By its final name: callers choose the names of tools that do not exist.
        tool, caller, agent = call.final_name, call.request.caller.key, call.context.agent_id[:MAX_NAME_LENGTH]
        cached, bucket = bool(summary.cached), bucket_of(seconds)
        key = (int(now) // MINUTE, self.server, tool, caller, agent, outcome, cached, bucket)
        self._counts.add(key, (summary.size + 3) // 4)
        number = self._ended
        self._ended = number + 1
        if outcome in FAILURES and len(self._failures) < MAX_FAILURES:
            self._failures.append((number, ended))
        elif not number % self._distance:
            self._sample.append((number, ended))
            if len(self._sample) >= 2 * MAX_IN_BATCH:
                del self._sample[1::2]
                self._distance *= 2

    def take(self, most: int) -> tuple[Sequence[EndedCall], int]:
        """Those of the calls since the last time that are written in full, and how many there were."""
        ended, sample, failures = self._ended, self._sample, self._failures
        self._begin_again()
        chosen, others = failures[: most // 2], sorted([*failures[most // 2 :], *sample], key=_number)
        rest = most - len(chosen)
        if len(others) > rest:
            others = [others[at * len(others) // rest] for at in range(rest)]
        for _, (_, summary, *_) in (*sample, *failures):
            # An error refers to the frames that it passed, and these to the summary. By now such a cycle is old, and
            # would stay until a full collection.
            summary.error = None
        return [one for _, one in sorted([*chosen, *others], key=_number)], ended

    def entry(self, ended: EndedCall, find_lines: FindLines) -> CallEntry:
        call, summary, seconds, now = ended
        context, failure = call.context, summary.failure
        lines = find_lines(context.trace_id, context.correlation_id)
        return CallEntry(
            time=now,
            server=self.server,
            tool=call.request.tool[:MAX_NAME_LENGTH] if call.final_name == UNKNOWN else call.final_name,
            caller=call.request.caller.key,
            agent=f"{context.agent_id} {context.agent_version}"[:MAX_NAME_LENGTH],
            outcome=summary.outcome,
            ms=round(seconds * 1000, 3),
            tokens=estimate_tokens(summary.size),
            cached=bool(summary.cached),
            trace_id=context.trace_id,
            correlation_id=context.correlation_id,
            error_type=failure and failure.error_type,
            error=failure and failure.error[:MAX_ERROR_LENGTH],
            error_id=failure and failure.error_id,
            details=_details(ended, lines),
        )


def _number(numbered: tuple[int, EndedCall]) -> int:
    return numbered[0]


def _details(ended: EndedCall, lines: list[str]) -> Mapping[str, Any]:
    call, summary, *_ = ended
    arguments = redacted_arguments(call)
    details: dict[str, Any] = {"steps": _steps(ended)}
    if len(_json(arguments)) <= MAX_ARGUMENTS_LENGTH:
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
        return " " * (MAX_ARGUMENTS_LENGTH + 1)  # without a JSON form, they are left out


def _steps(ended: EndedCall) -> dict[str, float]:
    """The time of each step in milliseconds. A call that was refused has only passed gates."""
    _, summary, seconds, _ = ended
    started = summary.started
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
