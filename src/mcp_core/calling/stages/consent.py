"""Step 7: the person must have agreed to this call, where the tool demands it.

The `explicit_action` literal is part of the schema, and has been checked by then. This step asks the person, where
the client can. Some clients can be asked during a call. Others get the question as the answer, with a seal; they
call again with the reply, and the seal proves that it belongs to these arguments and this target.

With a console, the person can answer there as well; the first answer holds. A call of a client that cannot ask may
wait for the console alone.
"""

import asyncio
import secrets
import time
from typing import Any, NamedTuple

from pydantic import BaseModel

from mcp_core import instructions
from mcp_core.calling.bound import BoundTool
from mcp_core.calling.people import Approvals, Verdict, Waiting, seal
from mcp_core.calling.people.asking import ANSWER_SECONDS
from mcp_core.calling.records import Call, Question, Reply
from mcp_core.errors import ConsentRequired, ElicitationUnsupported, ForgedReply, ServerStopping, Unavailable
from mcp_core.foreign.budget import TooLarge, check_size, shorten
from mcp_core.mcp_log import get_logger, redact
from mcp_core.state.interface import State, StateUnavailable
from mcp_core.text import json_text

logger = get_logger(__name__)

MAX_CLOCK_DIFFERENCE = 300.0
"""Of two processes that share their state. A used seal is remembered until it has expired by each clock."""
_MAX_QUESTION_LENGTH = 1000
_MAX_SHOWN_VALUES, _MAX_SHOWN_LENGTH = 20_000, 200_000
"""The length is in characters of JSON. What is longer can be confirmed only in the client."""
_GRACE_SECONDS = 5.0


class ConsentPlaces(NamedTuple):
    """The places where a person can answer, besides the client."""

    state: State
    server: str
    approvals: Approvals | None = None
    """The confirmations that wait in the console; None without a console."""
    console_seconds: float = 0.0
    """How long a call whose client cannot ask waits for an answer in the console; 0 if it is refused at once."""


async def consent(
    call: Call, tool: BoundTool, arguments: BaseModel, arguments_json: str, places: ConsentPlaces
) -> Question | Verdict | None:
    """The answer of the person, who has agreed, or the question to be answered first. Raises ConsentRequired.

    None if nobody was asked.
    """
    request = call.request
    if request.reply is not None:
        await _check_seal(call, request.reply, places.state)
    target = await _target(call, tool, arguments)
    if target is None and request.reply is None:
        return None
    asked = _Asked(call, arguments, arguments_json, target or "", places)
    # Where a person can be asked in the console, even a confirmation that is wanted only if possible is possible.
    if request.ask is not None or (places.console_seconds and not request.can_return_questions):
        verdict = await asked.during_call()
        if await _target(call, tool, arguments) != target:
            raise _not_valid(call)
        return verdict
    if request.can_return_questions:
        return await asked.with_question()
    confirm = call.spec.declaration.confirm
    if confirm is not None and confirm.required:
        refusal = ElicitationUnsupported if request.must_declare else ConsentRequired
        raise refusal(
            f"{call.final_name!r} runs only after the user has confirmed it, and this client cannot ask them. "
            "Use a client that supports elicitation."
        )
    return None


async def check_repeated(call: Call, state: State) -> None:
    """Check the reply that came with a call that was carried out before. The person agreed then, and is not asked."""
    reply = call.request.reply
    if reply is None:
        return
    await _check_seal(call, reply, state)
    if not reply.accepted:
        raise ConsentRequired(
            f"The user did not agree to {call.final_name!r}. This call did nothing; an earlier one with the same "
            "idempotency key was carried out.",
            instruction=instructions.DECLINED,
        )


async def _check_seal(call: Call, reply: Reply, state: State) -> None:
    """A seal that this server did not make is a protocol error: it was forged, or made by another server."""
    try:
        key = await state.seal_key()
    except StateUnavailable as error:
        raise _cannot_check() from error
    if not seal.is_genuine(key, reply.state):
        raise ForgedReply(f"The confirmation for {call.final_name!r} was not made by this server. Nothing was done.")


async def _target(call: Call, tool: BoundTool, arguments: BaseModel) -> str | None:
    """The present target of the call beside its arguments. Empty if the tool declares no target.

    None if nobody has to confirm this call.
    """
    if tool.target is None:
        return ""
    async with asyncio.timeout(tool.deadline):
        return await tool.target(arguments, call.context)


class _Asked(NamedTuple):
    """A call that a person is asked about."""

    call: Call
    arguments: BaseModel
    arguments_json: str
    target: str
    places: ConsentPlaces

    async def during_call(self) -> Verdict:
        """Wait for the answer: of the client, in the console, or for the first of both."""
        call, approvals = self.call, self.places.approvals
        ask, seconds = call.request.ask, ANSWER_SECONDS if call.request.ask else self.places.console_seconds
        text = question(call, self.arguments, self.target)
        waiting = self._waiting(seconds, is_held=True) if approvals is not None else None
        try:
            async with asyncio.timeout(seconds + _GRACE_SECONDS):
                if approvals is not None and waiting is not None:
                    verdict = await approvals.ask(waiting, ask(text) if ask else None)
                else:
                    verdict = Verdict(await ask(text)) if ask else None
        except TimeoutError as error:
            raise _not_answered(call) from error
        except StateUnavailable as error:
            raise _cannot_check() from error
        if verdict is None and approvals is not None and approvals.stopped:
            raise ServerStopping(f"The server is stopping before {call.final_name!r} was confirmed. Nothing was done.")
        if verdict is None:
            raise _not_answered(call)
        if not verdict.accepted:
            raise _declined(call, verdict.by)
        return verdict

    async def with_question(self) -> Question | Verdict:
        """The question as the answer; or, with a call that brings the reply or that was answered, the answer."""
        call, state, approvals = self.call, self.places.state, self.places.approvals
        reply, version = call.request.reply, call.spec.declaration.version
        binding = seal.bind(call.request.caller.key, call.final_name, version, self.arguments_json, self.target)
        try:
            key = await state.seal_key()
            if reply is not None:
                return await self._check_reply(reply, key, binding)
            if approvals is not None and (given := await approvals.take_given(binding)) is not None:
                if not given.accepted:
                    raise _declined(call, given.by)
                return given
            if (health := await state.check_health()) is not None and not health.ok:
                raise _cannot_check()  # the person would be asked in vain
            sealed = seal.make(key, binding, time.time() + ANSWER_SECONDS)
            if approvals is not None and (waiting := self._waiting(ANSWER_SECONDS, is_held=False)) is not None:
                await approvals.offer(binding, waiting)
            return Question(question(call, self.arguments, self.target), sealed)
        except StateUnavailable as error:
            raise _cannot_check() from error

    async def _check_reply(self, reply: Reply, key: bytes, binding: str) -> Verdict:
        call, state, approvals = self.call, self.places.state, self.places.approvals
        opened = seal.open_seal(key, binding, reply.state, time.time())
        if isinstance(opened, str):
            logger.warning("Confirmation of %s refused: %s", call.spec.name, opened)
            raise _not_valid(call)
        verdict: Verdict | None = Verdict(reply.accepted)
        if not await state.claim(opened.nonce, opened.expires - time.time() + MAX_CLOCK_DIFFERENCE):
            verdict = None
        elif approvals is not None:
            asked = opened.expires - ANSWER_SECONDS
            verdict = await approvals.take_client_answer(binding, verdict, asked, opened.expires)
        if verdict is None:
            logger.warning("Confirmation of %s refused: used before", call.spec.name)
            raise _not_valid(call)
        if not verdict.accepted or not reply.accepted:
            raise _declined(call, verdict.by)
        return verdict

    def _waiting(self, seconds: float, *, is_held: bool) -> Waiting | None:
        """The confirmation that the console shows; None if it would be too long to be shown in full."""
        call, context, now = self.call, self.call.context, time.time()
        arguments = _as_json(self.arguments)
        try:
            check_size(arguments, nodes=_MAX_SHOWN_VALUES, length=_MAX_SHOWN_LENGTH)
        except TooLarge:
            return None
        waiting = Waiting(
            id=secrets.token_urlsafe(16),
            server=self.places.server,
            tool=call.final_name,
            question=question(call, self.arguments, self.target),
            arguments=redact(arguments, call.spec.secret_fields),
            target=self.target,
            caller=call.request.caller.key,
            agent=f"{context.agent_id} {context.agent_version}",
            asked=now,
            expires=now + seconds,
            trace_id=context.trace_id,
            correlation_id=context.correlation_id,
            is_held=is_held,
        )
        return waiting if len(json_text.to_text(waiting)) <= _MAX_SHOWN_LENGTH else None


def question(call: Call, arguments: BaseModel, target: str = "") -> str:
    """The question to the person: the tool's own, or one made from its summary and arguments."""
    spec = call.spec
    # Twice as much as is shown, so that no secret is cut before it is recognised.
    short = shorten(_as_json(arguments), nodes=_MAX_QUESTION_LENGTH, length=2 * _MAX_QUESTION_LENGTH)
    redacted = redact(short, spec.secret_fields)
    ask = spec.declaration.confirm.ask if spec.declaration.confirm else True
    if isinstance(ask, str):
        text = ask.format_map(redacted | ({"target": target} if target else {}))
    else:
        about = f", {target}" if target else ""
        text = f"{spec.doc.summary} ({call.final_name} with {json_text.to_text(redacted)}{about}) Go ahead?"
    return text if len(text) <= _MAX_QUESTION_LENGTH else text[:_MAX_QUESTION_LENGTH] + "..."


def _as_json(arguments: BaseModel) -> dict[str, Any]:
    return arguments.model_dump(mode="json", by_alias=True)


def _declined(call: Call, by: str | None = None) -> ConsentRequired:
    declined = ConsentRequired(
        f"The user did not agree to {call.final_name!r}. Nothing was done.", instruction=instructions.DECLINED
    )
    declined.answered_by = by
    return declined


def _not_answered(call: Call) -> ConsentRequired:
    return ConsentRequired(f"The user has not answered the question about {call.final_name!r}. Nothing was done.")


def _not_valid(call: Call) -> ConsentRequired:
    return ConsentRequired(
        f"The confirmation for {call.final_name!r} is not valid: it has expired, was used before, or is about another "
        "call. Nothing was done. Call the tool again without it, and the user is asked again."
    )


def _cannot_check() -> Unavailable:
    return Unavailable("The confirmation cannot be checked right now. Nothing was done.")
