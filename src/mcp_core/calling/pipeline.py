"""The only way a tool runs, in tests too.

    1 receive -> 2 observe -> 3 resolve -> 4 limit -> 5 authorize -> 6 parse -> 7 consent -> 8 recall
    -> 9 invoke -> 10 check -> 11 remember -> 12 record -> 13 render

All gates come before any data. A step that a tool does not use costs nothing. A mutation with an idempotency key that
was carried out before gets its first answer after step 6, and nothing is done again.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from mcp_core.audit import AuditTrail
from mcp_core.calling.bound import BoundTool, Resources, bind, unknown_tool
from mcp_core.calling.ended_calls import EndedCall
from mcp_core.calling.records import Answer, Body, Call, CallOutcome, Failure, Permit, Question, Request
from mcp_core.calling.render import Format, render
from mcp_core.calling.stages.authorize import authorize
from mcp_core.calling.stages.cache import CachePlace, forget, recall, remember, remember_now
from mcp_core.calling.stages.check import check
from mcp_core.calling.stages.consent import ConsentPlaces, check_repeated, consent
from mcp_core.calling.stages.fail import fail, without_secrets
from mcp_core.calling.stages.hint import HintDetail, HintPolicy
from mcp_core.calling.stages.idempotency import KEY, REPEATED, carry_out_once, first_answer, keyed_call
from mcp_core.calling.stages.invoke import RunningHandlers, invoke, pass_gate
from mcp_core.calling.stages.limit import WithoutRedis, limit, limit_and_recall, limit_and_recall_now
from mcp_core.calling.stages.observe import log_context, observe
from mcp_core.calling.stages.parse import parse
from mcp_core.calling.stages.record import CallSummary, StackLimit, begin, record
from mcp_core.calling.threads import HandlerThreads
from mcp_core.declare.spec import RateLimit, ResponseTime
from mcp_core.errors import (
    ConsentRequired,
    ElicitationUnsupported,
    ForgedReply,
    ServerStopping,
    ToolError,
    Unavailable,
    UnknownTool,
)
from mcp_core.idempotency import KeyedCall, KeyStore
from mcp_core.mcp_log import TRACE_LEVEL, reset_log_context, set_log_context
from mcp_core.registry import ToolRegistry
from mcp_core.state.idempotency import StateKeyStore
from mcp_core.state.interface import State
from mcp_core.state.memory import MemoryState
from mcp_core.telemetry import Span, Telemetry, end_span
from mcp_core.tool_result import metadata_json

T = TypeVar("T")

_PROTOCOL_ERRORS = (UnknownTool, ForgedReply, ElicitationUnsupported)

DEADLINES: Mapping[ResponseTime, float] = {"fast": 1.0, "medium": 10.0, "slow": 120.0}
"""In seconds. They are generous: a deadline ends calls that hang, not calls that are a little late."""


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How a server answers, and what it does without its shared state."""

    format: Format = "result"
    service_version: str = "0.0.0"
    structured: bool = False
    deadlines: Mapping[ResponseTime, float] = field(default_factory=lambda: DEADLINES)
    limits_without_redis: WithoutRedis = "open"
    hints: HintDetail = "full"


class Pipeline:
    """Runs the tools of one server."""

    def __init__(
        self,
        registry: ToolRegistry,
        policy: CallPolicy,
        *,
        state: State,
        telemetry: Telemetry,
        resources: Resources,
        threads: HandlerThreads | None = None,
        running: RunningHandlers | None = None,
        audit: AuditTrail | None = None,
        keys: KeyStore | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._registry, self._policy, self._clock = registry, policy, clock
        self._state, self._telemetry, self._audit = state, telemetry, audit
        self._memory = state if type(state) is MemoryState else None  # a subclass may wait
        self._running: RunningHandlers = set() if running is None else running
        self._keys = keys or StateKeyStore(state)
        self._hint_policy = HintPolicy.of(registry, policy.hints) if policy.format == "hints" else None
        # A server with hints logs each call at DEBUG, as its specification asks; others at TRACE, as theirs does.
        self._log_level = logging.DEBUG if policy.format == "hints" else TRACE_LEVEL
        self._resources, self._threads = resources, threads
        self.consent_places = ConsentPlaces(state, telemetry.server)
        """Where a person can confirm calls."""
        self.keep: Callable[[EndedCall], None] | None = None
        """Takes each call that has ended for the record of recent calls, if there is one."""
        self._unknown_tool = unknown_tool()
        self.bind_tools()
        self._stacks = StackLimit()

    def bind_tools(self) -> None:
        """Bind the tools of the registry to their resources, again after they were replaced."""
        registry, policy = self._registry, self._policy
        published = policy.format if policy.structured else None
        self._tools = {
            final: bind(
                registry.resolve(final),
                final,
                self._resources,
                policy.deadlines,
                threads=self._threads,
                service_version=policy.service_version,
                structured_format=published,
            )
            for final in registry.final_names().values()
        }
        self._mentions = registry.mentions

    def run(self, request: Request) -> Awaitable[Answer | Question]:
        """Answer one call.

        Raises only what the host reports as a protocol error: UnknownTool, ForgedReply and ElicitationUnsupported.
        """
        tool = self._tools.get(request.tool, self._unknown_tool)
        return self._run_in_span(request, tool) if self._telemetry.traced else self._run(request, tool, None)

    async def _run_in_span(self, request: Request, tool: BoundTool) -> Answer | Question:
        category = None if tool is self._unknown_tool else tool.spec.category
        with self._telemetry.span(tool.spec.name, category, request.meta) as span:
            return await self._run(request, tool, span)

    async def _run(self, request: Request, tool: BoundTool, span: Span | None) -> Answer | Question:
        started = time.perf_counter()
        summary = CallSummary()
        self._telemetry.in_flight += 1
        call = observe(request, tool, span, self._clock())
        token = set_log_context(log_context(call))
        try:
            begin(call, self._log_level)
            body = await self._pass_gates_and_invoke(call, tool, summary, started)
            if isinstance(summary.error, _PROTOCOL_ERRORS):
                raise summary.error
            answer = body if isinstance(body, Question) else self._render(body, call, tool, summary, started)
        finally:
            seconds, level = time.perf_counter() - started, self._log_level
            record(
                call,
                summary,
                seconds,
                level=level,
                stacks=self._stacks,
                telemetry=self._telemetry,
                audit=self._audit,
            )
            if self.keep is not None:
                self.keep((call, summary, started, seconds, time.time()))
            if span is not None:
                error_type = summary.failure.error_type if summary.failure else None
                end_span(span, summary.outcome, cached=summary.cached, error_type=error_type)
            reset_log_context(token)
            self._telemetry.in_flight -= 1
        if self._audit is not None and self._audit.refuses and not await self._audit.settled():
            return self._withhold(answer, call, tool, summary, started)
        return answer

    def _render(self, body: Body, call: Call, tool: BoundTool, summary: CallSummary, started: float) -> Answer:
        if self._mentions:
            body = body.rename_tools(self._mentions.rename)
        metadata = None
        if self._hint_policy is not None:
            seconds = time.perf_counter() - started
            metadata = metadata_json(tool.versions, call.context, seconds, cached=summary.cached is True)
        answer = render(body, self._policy.format, metadata, structured=tool.structured)
        if summary.repeated:
            answer = answer._replace(meta={**(answer.meta or {}), REPEATED: True})
        summary.size = len(answer.text) + len(answer.blocks)
        return answer

    def _withhold(
        self, answer: Answer | Question, call: Call, tool: BoundTool, summary: CallSummary, started: float
    ) -> Answer | Question:
        """The answer to a call whose audit record could not be written, where the policy is to refuse."""
        if summary.failure is not None and not summary.invoked:
            return answer  # it was refused already, and holds no data
        done = "it was carried out. Check its outcome." if summary.invoked else "nothing was done."
        error = Unavailable(f"The audit record of {call.final_name!r} could not be written: {done}")
        return self._render(fail(error, call, self._hint_policy), call, tool, summary, started)

    async def _pass_gates_and_invoke(  # noqa: C901 - the steps of a call, in their order
        self, call: Call, tool: BoundTool, summary: CallSummary, started: float
    ) -> Body | Question:
        place = None
        # Headers may be credentials for another system: what it answers belongs to nobody else.
        cached = tool.cache_ttl is not None and not call.request.headers
        try:
            self._resolve(call, tool)
            # A limit is looked up together with the cache, unless somebody is asked in between.
            late_limit = tool.rate_limit if cached and not tool.confirmed else None
            if tool.rate_limit is not late_limit:
                await self._limit(call, tool, tool.rate_limit)
            try:
                arguments, arguments_json = authorize_and_parse(call, tool)
            except Exception:
                await self._limit(call, tool, late_limit)  # a call that does not get there is counted too
                raise
            keyed = None if tool.read_only or KEY not in call.request.meta else keyed_call(call, tool, arguments_json)
            if keyed is not None and (first := await self._within_deadline(tool, first_answer(keyed, self._keys))):
                summary.arguments_json = arguments_json
                return await self._repeat(first, call, tool, summary)
            confirmation = (
                await self._confirm(call, tool, arguments, arguments_json, summary) if tool.confirmed else False
            )
            if isinstance(confirmation, Question):
                return confirmation
            if tool.confirmed:
                started = time.perf_counter()  # a person may take longer than the call
            if cached:
                place, known = (
                    limit_and_recall_now(call, late_limit, arguments_json, self._memory)
                    if self._memory is not None
                    else await pass_gate(tool, self._recall(call, arguments_json, late_limit), self._running)
                )
                summary.cached = known is not None
                if known is not None:
                    summary.outcome, summary.arguments_json = "ok", arguments_json
                    return known
            permit = Permit(call.with_confirmation() if confirmation else call, arguments, arguments_json)
            summary.arguments_json = arguments_json
            summary.invoked, summary.handler_began = True, time.perf_counter()
            body = (
                check(await invoke(permit, tool, self._running, started), permit, tool, self._hint_policy)
                if keyed is None and not tool.forgets
                else await self._act(permit, tool, started, keyed, summary)
            )
            summary.handler_ended = time.perf_counter()
            if place is not None and self._memory is not None:
                remember_now(place, body, tool, self._memory)
            elif place is not None:
                await remember(place, body, tool, self._state)
        except Exception as error:  # noqa: BLE001 - the one place where an exception becomes an answer
            body, summary.error = fail(error, call, self._hint_policy), error
        return _conclude(body, call, summary)

    async def _confirm(
        self, call: Call, tool: BoundTool, arguments: BaseModel, arguments_json: str, summary: CallSummary
    ) -> Question | bool:
        """Step 7, with a note of who answered in the console."""
        began = time.perf_counter()
        try:
            verdict = await consent(call, tool, arguments, arguments_json, self.consent_places)
        except ConsentRequired as error:
            summary.answered_by = error.answered_by
            raise
        finally:
            summary.person_seconds = time.perf_counter() - began
        if isinstance(verdict, Question):
            summary.outcome = "asked"
            return verdict
        summary.answered_by = verdict and verdict.by
        return verdict is not None

    async def _limit(self, call: Call, tool: BoundTool, rate_limit: RateLimit | None) -> None:
        if rate_limit is None:
            return
        gate = limit(call, rate_limit, self._state, self._policy.limits_without_redis)
        await self._pass_gate(tool, gate)

    def _pass_gate(self, tool: BoundTool, gate: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """A gate that asks the shared store, within the deadline of the call. A store in memory never waits."""
        return gate if self._memory is not None else pass_gate(tool, gate, self._running)

    def _within_deadline(self, tool: BoundTool, gate: Coroutine[Any, Any, T]) -> Awaitable[T]:
        return pass_gate(tool, gate, self._running)

    def _recall(
        self, call: Call, arguments_json: str, late_limit: RateLimit | None
    ) -> Coroutine[Any, Any, tuple[CachePlace | None, Body | None]]:
        """Step 8, and step 4 where it was left to this one."""
        if late_limit is None:
            return recall(call, arguments_json, self._state)
        return limit_and_recall(call, late_limit, arguments_json, self._state, self._policy.limits_without_redis)

    async def _act(
        self, permit: Permit, tool: BoundTool, started: float, keyed: KeyedCall | None, summary: CallSummary
    ) -> Body:
        """Steps 9 and 10, once for an idempotency key."""
        try:
            if keyed is None:
                return check(await invoke(permit, tool, self._running, started), permit, tool, self._hint_policy)
            act = partial(self._try, permit, tool, started, summary)
            within_deadline = partial(self._within_deadline, tool)
            body, summary.repeated = await carry_out_once(keyed, self._keys, act, within_deadline)
            return body
        finally:
            if tool.forgets:
                await forget(tool, self._state)

    async def _try(self, permit: Permit, tool: BoundTool, started: float, summary: CallSummary) -> Body:
        """The answer, also to a call that fails for a known reason."""
        try:
            return check(await invoke(permit, tool, self._running, started), permit, tool, self._hint_policy)
        except ToolError as error:
            summary.error = error
            body = fail(error, permit.call, self._hint_policy)
            return without_secrets(body, cast(Failure, body.failure), permit.call, invoked=True)

    async def _repeat(self, first: Body, call: Call, tool: BoundTool, summary: CallSummary) -> Body:
        """The first answer again. The process that gave it may have died before it invalidated cached answers."""
        await check_repeated(call, self._state)
        if tool.forgets:
            await forget(tool, self._state)
        summary.repeated, summary.failure = True, first.failure
        summary.outcome = _outcome(first, None)
        return first

    def _resolve(self, call: Call, tool: BoundTool) -> None:
        if tool is self._unknown_tool:
            raise UnknownTool(call.request.tool, self._registry.nearest(call.request.tool))
        if self._audit is not None:
            self._audit.check()


def authorize_and_parse(call: Call, tool: BoundTool) -> tuple[BaseModel, str]:
    """Steps 5 and 6."""
    if tool.permissions:
        authorize(call, tool.permissions)
    return parse(tool, call.request.arguments)


def _conclude(body: Body, call: Call, summary: CallSummary) -> Body:
    """The result without secrets, with its outcome in the summary."""
    if body.failure is not None:
        body = without_secrets(body, body.failure, call, invoked=summary.invoked)
    summary.failure = body.failure
    summary.outcome = _outcome(body, summary.error)
    return body


def _outcome(body: Body, error: Exception | None) -> CallOutcome:
    if body.failure is None:
        return "ok"
    return "cancelled" if isinstance(error, ServerStopping) else body.failure.kind
