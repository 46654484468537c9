"""The only way a tool, a prompt or a resource runs, in tests too.

    1 receive -> 2 observe -> 3 resolve -> 4 limit -> 5 authorize -> 6 parse -> 7 consent -> 8 lookup
    -> 9 invoke -> 10 check -> 11 store -> 12 record -> 13 render

All gates come before any data. A step that a tool does not use costs nothing. A mutation with an idempotency key that
was carried out before gets its first answer after step 6, and nothing is done again.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from mcp_core.audit import AuditTrail
from mcp_core.calling.bound import BoundTool, bind, cache_tags, unknown_tool
from mcp_core.calling.policy import CallPolicy
from mcp_core.calling.provided import Provided
from mcp_core.calling.recording import Recording
from mcp_core.calling.records import Answer, Call, Permit, Question, Request
from mcp_core.calling.render import StructuredTools, render
from mcp_core.calling.running import MARK_SECONDS, MAX_HOLD_SECONDS, RunningHandlers
from mcp_core.calling.stages.authorize import authorize
from mcp_core.calling.stages.cache import invalidate, lookup, store
from mcp_core.calling.stages.check import check
from mcp_core.calling.stages.consent import ConsentPlaces, check_repeated, consent
from mcp_core.calling.stages.fail import fail, without_secrets
from mcp_core.calling.stages.hint import HintPolicy
from mcp_core.calling.stages.idempotency import KEY, REPEATED, carry_out_once, first_answer, keyed_call
from mcp_core.calling.stages.invoke import invoke, pass_gate
from mcp_core.calling.stages.limit import limit
from mcp_core.calling.stages.parse import parse
from mcp_core.calling.stages.record import CallRecord, Recorder
from mcp_core.calling.threads import HandlerThreads
from mcp_core.declare.spec import ToolSpec
from mcp_core.errors import (
    Busy,
    ConsentRequired,
    ElicitationUnsupported,
    ForgedReply,
    ServerStopping,
    TasksUnsupported,
    ToolError,
    Unavailable,
    UnknownTool,
)
from mcp_core.idempotency.keys import KeyedCall, KeyStore
from mcp_core.idempotency.state_store import StateKeyStore
from mcp_core.logs.telemetry import SHARE_REFUSALS, Telemetry
from mcp_core.mcp_log import TRACE_LEVEL
from mcp_core.registry import ToolRegistry
from mcp_core.result import Body, Failure
from mcp_core.state.interface import State
from mcp_core.state.memory import MemoryState
from mcp_core.text.plurals import count
from mcp_core.tool_result import metadata_json

T = TypeVar("T")
Check = Callable[[Any, Permit, BoundTool], T]
"""Step 10: from what a handler returned to a result that may leave the server."""

SHOW_BOTH = frozenset({"github-copilot-developer"})
"""Names of clients that hand a model both the text and the structured content, as far as docs/adr/0030 knows them."""
_PROTOCOL_ERRORS = (UnknownTool, ForgedReply, ElicitationUnsupported, TasksUnsupported)


class Pipeline:
    """Runs the tools, prompts and resources of one server."""

    def __init__(
        self,
        registry: ToolRegistry,
        policy: CallPolicy,
        *,
        state: State,
        telemetry: Telemetry,
        provided: Provided,
        threads: HandlerThreads | None = None,
        running: RunningHandlers | None = None,
        audit: AuditTrail | None = None,
        keys: KeyStore | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._registry, self._policy = registry, policy
        self._state, self._audit = state, audit
        self._running = RunningHandlers() if running is None else running
        self._keys = keys or StateKeyStore(state)
        self._hint_policy = HintPolicy.of(registry, policy.hints) if policy.format == "hints" else None
        # A server with hints logs each call at DEBUG, as its specification asks; others at TRACE, as theirs does.
        level = logging.DEBUG if policy.format == "hints" else TRACE_LEVEL
        self._check = partial(check, policy=self._hint_policy)
        self._never_waits = state.__class__ is MemoryState
        """Whether the store answers at once, so that no deadline is needed."""
        self.recorder = Recorder(telemetry, audit, level, clock)
        self._provided, self._threads = provided, threads
        self.consent_places = ConsentPlaces(state, telemetry.server)
        """The places where a person can confirm calls."""
        self.disabled: Mapping[str, frozenset[str | None]] = {}
        """The callers for whom a tool is switched off, by its undecorated name; None stands for all."""
        self._unknown_tool = unknown_tool()
        self.bind_tools()

    def bind_tools(self) -> None:
        """Bind the tools of the registry to what the app provides, again after they were replaced."""
        registry, structured = self._registry, self._policy.structured
        cached = (spec for spec in registry.get_all() if spec.cache_ttl is not None)
        self._cached_tags = frozenset(tag for spec in cached for tag in cache_tags(spec))
        self._tools = {
            final: self._switch(self.bind(registry.resolve(final), final, structured=structured))
            for final in registry.final_names().values()
        }
        self._rename = registry.mentions.rename if registry.mentions else None

    def _switch(self, tool: BoundTool) -> BoundTool:
        """A tool with those for whom it is switched off."""
        keys = self.disabled.get(tool.spec.name)
        return tool if keys is None else replace(tool, disabled_for=keys)

    def bind(
        self, spec: ToolSpec, final_name: str, *, check_returns: bool = True, structured: StructuredTools = "none"
    ) -> BoundTool:
        """A tool, a prompt or a resource, bound to the resources of this server."""
        return bind(
            spec,
            final_name,
            self._provided,
            self._policy.deadlines,
            threads=self._threads,
            check_returns=check_returns,
            format=self._policy.format,
            structured=structured,
            service_version=self._policy.service_version,
            cached_tags=self._cached_tags,
        )

    async def run(self, request: Request) -> Answer | Question:
        """Answer one call of a tool.

        Raises only what the host reports as a protocol error: UnknownTool, ForgedReply, ElicitationUnsupported and
        TasksUnsupported.
        """
        tool = self._tools.get(request.tool, self._unknown_tool)
        recording = Recording(self.recorder, request, tool)
        try:
            try:
                if tool is self._unknown_tool:
                    raise UnknownTool(request.tool, self._registry.nearest(request.tool))
                shares = self.recorder.shares
                if shares.running.in_flight > shares.most:
                    self.check_share(recording.call)
                if self._audit is not None and self._audit.failing:
                    self._audit.check()
                body = await self.carry_out(recording.call, tool, recording, self._check)
            except Exception as error:  # noqa: BLE001 - the one place where an exception becomes an answer
                body, recording.error = fail(error, recording.call, self._hint_policy), error
            if isinstance(body, Question):
                answer = body
            else:
                if body.failure is None:
                    recording.outcome = "ok"
                else:
                    body = self._fail(body, body.failure, recording)
                answer = self._render(body, tool, recording)
        finally:
            recording.end()
        if self._audit is not None and self._audit.refuses and not await self._audit.settled():
            return self._withhold(answer, tool, recording)
        return answer

    async def carry_out(self, call: Call, tool: BoundTool, record: CallRecord, check: Check[T]) -> T | Question:
        """Take steps 4 to 11, the same for tools, prompts and resources. Raises every failure."""
        if tool.rate_limit is not None:
            hit = limit(call, tool, tool.rate_limit, self._state, self._policy.limits_without_redis)
            await (hit if self._never_waits else self._within_deadline(tool, hit))
        if tool.permissions or tool.task == "always" or tool.disabled_for:
            authorize(call, tool)
        arguments, arguments_json = parse(tool, call.request.arguments, record, call.request.caller)
        keyed = keyed_call(call, tool, arguments_json) if KEY in call.request.meta and not tool.read_only else None
        if keyed is not None and (first := await self._within_deadline(tool, first_answer(keyed, self._keys))):
            record.arguments_json = arguments_json
            return cast(T, await self._repeat(first, call, tool, record))
        permit = Permit(call, arguments, arguments_json)
        if tool.confirmed:
            confirmed = await self._confirm(permit, tool, record)
            if isinstance(confirmed, Question):
                return confirmed
            permit = confirmed
        record.arguments_json, place = arguments_json, None
        # Headers may be credentials for another system: what it answers belongs to nobody else.
        if tool.cache_ttl is not None and not call.request.headers:
            query = lookup(call, tool, arguments_json, self._state)
            place, known = await (query if self._never_waits else self._within_deadline(tool, query))
            record.cached = known is not None
            if known is not None:
                return known  # pyright: ignore[reportReturnType] - the answer of a tool; to cast it takes 60 ns
        act = self._act(permit, tool, record, check)
        try:
            result = await act if keyed is None else await self._act_once(keyed, act, call, tool, record)
        finally:
            if tool.forgets:
                await invalidate(tool, self._state)
        if place is not None:
            await store(place, result, tool, self._state)  # pyright: ignore[reportArgumentType] - as above
        return result

    def check_share(self, call: Call) -> None:
        """Refuse the call of a caller who has most of the calls in progress, while there is little room for others."""
        shares, caller = self.recorder.shares, call.request.caller.key
        if shares.running.in_flight <= shares.most or not shares.exceeds(caller):
            return
        self.recorder.telemetry.count(SHARE_REFUSALS, "calls")
        raise Busy(
            f"{call.final_name!r} was refused: you have {count(shares.held[caller], 'call')} in progress, and the rest "
            "of the limit is kept for other callers. Nothing was done. Wait until some of your calls have ended."
        )

    def _within_deadline(self, tool: BoundTool, query: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """Await the answer of a store, no longer than the call may take."""
        return pass_gate(tool, query, self._running)

    async def _confirm(self, permit: Permit, tool: BoundTool, record: CallRecord) -> Permit | Question:
        """Step 7, with a note of who answered in the console."""
        asked = time.perf_counter()
        try:
            verdict = await consent(permit.call, tool, permit.arguments, permit.arguments_json, self.consent_places)
        except ConsentRequired as error:
            record.answered_by = error.answered_by
            raise
        finally:
            record.began = time.perf_counter()  # a person may take longer than the call
            record.person_seconds = record.began - asked
        if isinstance(verdict, Question):
            record.outcome = "asked"
            return verdict
        if verdict is None:
            return permit
        record.answered_by = verdict.by
        return permit._replace(call=permit.call.with_confirmation())

    async def _act(self, permit: Permit, tool: BoundTool, record: CallRecord, check: Check[T]) -> T:
        """Steps 9 and 10."""
        if tool.task != "never" and permit.call.request.task is not None:
            await permit.call.request.task.start()
        record.invoked, record.handler_began = True, (began := time.perf_counter())
        if began - self._running.marked > MARK_SECONDS:
            self._running.mark(began)
        try:
            result = check(await invoke(permit, tool, self._running, record.began, record), permit, tool)
        except Exception:
            self._note_hold(tool, record, time.perf_counter())
            raise
        record.handler_ended = ended = time.perf_counter()
        if ended - record.handler_began > MAX_HOLD_SECONDS:
            self._note_hold(tool, record, ended)
        return result

    def _note_hold(self, tool: BoundTool, record: CallRecord, ended: float) -> None:
        """Note a handler that held the event loop for long, as it never waited."""
        held = ended - record.handler_began
        if held > MAX_HOLD_SECONDS and not record.handler_waited:
            self._running.note_hold(tool.final_name, held, ended)

    async def _act_once(
        self, keyed: KeyedCall, act: Coroutine[Any, Any, T], call: Call, tool: BoundTool, record: CallRecord
    ) -> T:
        """Steps 9 and 10, once for an idempotency key. The failure of a call that acted is its answer too."""

        async def act_or_fail() -> Body:
            try:
                return cast(Body, await act)
            except ToolError as error:
                record.error = error
                body = fail(error, call, self._hint_policy)
                return without_secrets(body, cast(Failure, body.failure), call, invoked=True)

        with closing(act):  # it may never begin
            within_deadline = partial(self._within_deadline, tool)
            body, record.repeated = await carry_out_once(keyed, self._keys, act_or_fail, within_deadline)
            return cast(T, body)

    async def _repeat(self, first: Body, call: Call, tool: BoundTool, record: CallRecord) -> Body:
        """The first answer again. The process that gave it may have died before it invalidated cached answers."""
        await check_repeated(call, self._state)
        if tool.forgets:
            await invalidate(tool, self._state)
        record.repeated = True
        return first

    def _fail(self, body: Body, failure: Failure, recording: Recording) -> Body:
        """The failure without secrets, with its outcome in the record. Raises what the host reports."""
        error = recording.error
        body = without_secrets(body, failure, recording.call, invoked=recording.invoked)
        recording.failure = body.failure
        recording.outcome = "cancelled" if isinstance(error, ServerStopping) else failure.kind
        if isinstance(error, _PROTOCOL_ERRORS):
            raise error
        return body

    def _render(self, body: Body, tool: BoundTool, recording: Recording) -> Answer:
        if self._rename is not None:
            body = body.rename_tools(self._rename)
        metadata = None
        if self._hint_policy is not None:
            seconds = time.perf_counter() - recording.started
            metadata = metadata_json(
                tool.versions,
                recording.call.context,
                seconds,
                cached=recording.cached is True,
                lean=self._policy.hints == "lean",
            )
        answer = render(body, self._policy.format, metadata, structured=tool.structured)
        if tool.structured and recording.call.request.agent_id in SHOW_BOTH and not self._policy.repeat_text:
            answer = answer.without_copy()
        if recording.notes is not None:
            answer = answer.with_note(recording.notes)
        if recording.repeated:
            answer = answer._replace(meta={**(answer.meta or {}), REPEATED: True})
        recording.size = len(answer.text) + len(answer.blocks) if answer.text else answer.size
        return answer

    def _withhold(self, answer: Answer | Question, tool: BoundTool, recording: Recording) -> Answer | Question:
        """The answer to a call whose audit record could not be written, where the policy is to refuse."""
        if recording.failure is not None and not recording.invoked:
            return answer  # it was refused already, and holds no data
        done = "it was carried out. Check its outcome." if recording.invoked else "nothing was done."
        error = Unavailable(f"The audit record of {recording.call.final_name!r} could not be written: {done}")
        return self._render(fail(error, recording.call, self._hint_policy), tool, recording)
