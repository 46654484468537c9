"""The only way a tool runs, in tests too.

    1 receive -> 2 observe -> 3 resolve -> 4 limit -> 5 parse -> 6 authorize -> 7 consent -> 8 recall
    -> 9 invoke -> 10 check -> 11 remember -> 12 record -> 13 render

All gates come before any data. A step that a tool does not use costs it nothing.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

from mcp_core.bound import BoundTool, Resources, bind
from mcp_core.call import Answer, Body, Call, Failure, Question, Request
from mcp_core.context import ToolContext
from mcp_core.errors import ToolError
from mcp_core.mcp_log import REDACTED, CallMark, get_logger, mark_call, redact_text, unmark_call
from mcp_core.registry import ToolRegistry
from mcp_core.render import Format, render
from mcp_core.spec import ResponseTime, ToolSpec
from mcp_core.stages.authorize import authorize
from mcp_core.stages.cache import forget, recall, remember
from mcp_core.stages.check import BrokenResult, check, failure_hints
from mcp_core.stages.consent import consent
from mcp_core.stages.invoke import invoke
from mcp_core.stages.limit import WhenAway, limit
from mcp_core.stages.parse import parse
from mcp_core.stages.record import AuditTrail, Trail, begin, record
from mcp_core.state import State
from mcp_core.telemetry import Span, Telemetry, end_span, trace_id_of
from mcp_core.tool_result import ToolMetadata

logger = get_logger(__name__)

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")

_LONGEST_ID = 128

DEADLINES: Mapping[ResponseTime, float] = {"fast": 1.0, "medium": 10.0, "slow": 120.0}
"""Seconds. Generous: a deadline ends what hangs, it does not punish what is a little late."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How a server answers, and what it does in trouble."""

    format: Format = "result"
    service_version: str = "0.0.0"
    structured: bool = False
    deadlines: Mapping[ResponseTime, float] = field(default_factory=lambda: DEADLINES)
    limits_when_away: WhenAway = "open"


class Pipeline:
    """Runs the tools of one server."""

    def __init__(
        self,
        registry: ToolRegistry,
        policy: Policy,
        *,
        state: State,
        telemetry: Telemetry,
        resources: Resources,
        audit: AuditTrail | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._registry, self._policy, self._clock = registry, policy, clock
        self._state, self._telemetry, self._audit = state, telemetry, audit
        self._names = registry.final_names() if policy.format == "hints" else None
        self._tools = {
            final: bind(registry.resolve(final), final, resources, policy.deadlines)
            for final in registry.final_names().values()
        }

    async def run(self, request: Request) -> Answer | Question:
        """Answer one call. Raises only UnknownTool, which is the host's to report."""
        started = time.perf_counter()
        tool = self._tools.get(request.tool) or self._tools[self._unknown(request.tool)]
        trail = Trail()
        with self._span(tool, request) as span:
            call = self._observe(request, tool, span)
            token = mark_call(_mark(call))
            try:
                begin(call)
                body = await self._pass_gates_and_invoke(call, tool, trail)
                if isinstance(body, Question):
                    return body
                answer = render(
                    body, self._policy.format, self._metadata(call, trail, started), structured=self._policy.structured
                )
                trail.size = len(answer.text)
                return answer
            finally:
                record(call, trail, time.perf_counter() - started, telemetry=self._telemetry, audit=self._audit)
                if span is not None:
                    error_type = trail.failure.error_type if trail.failure else None
                    end_span(span, trail.outcome, cached=trail.cached, error_type=error_type)
                unmark_call(token)

    async def _pass_gates_and_invoke(self, call: Call, tool: BoundTool, trail: Trail) -> Body | Question:
        state, key = self._state, None
        try:
            await limit(call, state, self._policy.limits_when_away)
            arguments, arguments_json = parse(tool, call.request.arguments)
            authorize(call, tool.permissions)
            permit = await consent(call, arguments, arguments_json, state)
            if isinstance(permit, Question):
                trail.outcome = "asked"
                return permit
            if tool.cache_ttl is not None:
                key, known = await recall(permit, tool, state)
                trail.cached = known is not None
                if known is not None:
                    trail.outcome = "ok"
                    return known
            trail.invoked = True
            try:
                raw = await invoke(permit, tool)
            finally:
                if tool.forgets:
                    await forget(tool, state)
            body = check(raw, permit, tool, self._names)
            if key is not None:
                await remember(key, body, tool, state)
        except ToolError as error:
            body = self._failed(error, call)
            trail.error = error
        except Exception as error:  # noqa: BLE001 - the one place where whatever a handler raises becomes an answer
            body = self._broken(error, call)
            trail.error = error
        if body.failure is not None:
            body = _without_secrets(body, body.failure, call, invoked=trail.invoked)
        trail.failure = body.failure
        trail.outcome = body.failure.kind if body.failure else "ok"
        return body

    def _unknown(self, name: str) -> str:
        """Raises UnknownTool, which names the nearest."""
        return self._registry.final_name(self._registry.resolve(name))

    def _observe(self, request: Request, tool: BoundTool, span: Span | None) -> Call:
        meta, fresh = request.meta, os.urandom(32).hex()
        context = ToolContext(
            correlation_id=_correlation_id(meta) or fresh[:32],
            trace_id=(_trace_id(meta) if span is None else trace_id_of(span)) or fresh[32:],
            agent_id=request.agent_id,
            agent_version=request.agent_version,
            timestamp=self._clock().isoformat(timespec="milliseconds"),
            user_id=request.caller.user_id,
            session_id=request.session_id,
            metadata=meta,
            read_only=tool.read_only,
            progress=request.progress,
        )
        return Call(request, tool.spec, tool.final_name, context)

    def _span(self, tool: BoundTool, request: Request) -> AbstractContextManager[Span | None]:
        if not self._telemetry.traced:
            return nullcontext()
        return self._telemetry.span(tool.spec.name, tool.spec.category, request.meta)

    def _metadata(self, call: Call, trail: Trail, started: float) -> ToolMetadata | None:
        if self._names is None:
            return None
        return ToolMetadata(
            tool_version=call.spec.declaration.version,
            service_version=self._policy.service_version,
            timestamp=call.context.timestamp,
            execution_time=round((time.perf_counter() - started) * 1000, 3),
            trace_id=call.context.trace_id,
            correlation_id=call.context.correlation_id,
            cached=bool(trail.cached),
        )

    def _failed(self, error: ToolError, call: Call) -> Body:
        failure = Failure(str(error), error.error_type, error.kind)
        return self._failure_body(failure, call, error.message, error.instruction, error)

    def _broken(self, error: Exception, call: Call) -> Body:
        error_id = f"err-{os.urandom(6).hex()}"
        if isinstance(error, BrokenResult):
            words, error_type = "gave an answer that breaks its own contract", "ResultError"
        else:
            words, error_type = "failed for a reason that lies with the server", "SystemError"
        text = f"{call.spec.name!r} {words}. Error id {error_id}: the server's log explains it."
        return self._failure_body(
            Failure(text, error_type, "system", error_id), call, None, ToolError.default_instruction, error
        )

    def _failure_body(
        self, failure: Failure, call: Call, message: str | None, instruction: str | None, error: Exception
    ) -> Body:
        made = None
        if self._names is not None:
            arguments = call.request.arguments if not call.spec.secret_fields else None
            made = failure_hints(failure, call.spec, self._names, arguments, error)
        return Body(failure=failure, message=message, instruction=instruction, hints=made)


def _trace_id(meta: Mapping[str, Any]) -> str | None:
    """The trace id of a W3C traceparent."""
    header = meta.get("traceparent")
    found = _TRACEPARENT.match(header) if isinstance(header, str) else None
    return found[1] if found and int(found[1], 16) else None


def _correlation_id(meta: Mapping[str, Any]) -> str | None:
    """The caller's own id, unless it would break a log line."""
    given = meta.get("correlationId")
    usable = isinstance(given, str) and 0 < len(given) <= _LONGEST_ID and given.isprintable()
    return given if usable else None


def _secrets(call: Call) -> tuple[str, ...]:
    """The values of this call that no log and no error may show."""
    spec: ToolSpec = call.spec
    if not spec.secret_fields:
        return ()
    found: list[str] = []
    rest: list[Any] = [call.request.arguments.get(name) for name in spec.secret_fields]
    while rest:
        value = rest.pop()
        if isinstance(value, Mapping):
            rest += cast(Mapping[Any, Any], value).values()
        elif isinstance(value, list | tuple):
            rest += cast(list[Any], value)
        elif isinstance(value, str) and value:
            found.append(value)
        elif type(value) is int and value.bit_length() <= _LONGEST_ID:
            found.append(str(value))
    return tuple(sorted(found, key=len, reverse=True))  # a secret may be the beginning of another


def _without_secrets(body: Body, failure: Failure, call: Call, *, invoked: bool) -> Body:
    """What a gate says quotes no credential, but may name one; what a handler says may hold anything."""
    secrets = _secrets(call)

    def clean(words: str) -> str:
        if invoked:
            return redact_text(str(words), secrets)
        for secret in secrets:
            words = words.replace(secret, REDACTED)
        return words

    return replace(
        body,
        failure=replace(failure, error=clean(failure.error)),
        message=None if body.message is None else clean(body.message),
        instruction=None if body.instruction is None else clean(body.instruction),
    )


def _mark(call: Call) -> CallMark:
    return CallMark(call.context.trace_id, call.context.correlation_id, _secrets(call))
