"""Step 7: the person must have agreed to this call, where the tool demands it.

The `explicit_action` literal is part of the schema, and has been checked by then. This step asks the person, where
the client can. Some clients can be asked during a call. Others get the question as the answer, with a seal; they
call again with the reply, and the seal proves that it belongs to these arguments and this target.
"""

import asyncio
import time

from pydantic import BaseModel

from mcp_core import json_text
from mcp_core.calling import seal
from mcp_core.calling.bound import BoundTool
from mcp_core.calling.records import Call, Question, Reply
from mcp_core.errors import ConsentRequired, ElicitationUnsupported, ForgedReply, Unavailable
from mcp_core.mcp_log import get_logger, redact
from mcp_core.state.interface import State, StateUnavailable

logger = get_logger(__name__)

ANSWER_SECONDS = 600.0
"""How long a person has to answer."""
MAX_CLOCK_DIFFERENCE = 300.0
"""Of two processes that share their state. A used seal is remembered until it has expired by each clock."""
_LONGEST_QUESTION = 1000


async def consent(
    call: Call, tool: BoundTool, arguments: BaseModel, arguments_json: str, state: State
) -> Question | bool:
    """Whether the person was asked and has agreed, or the question to be answered first. Raises ConsentRequired."""
    request = call.request
    if request.reply is not None:
        await _check_seal(call, request.reply, state)
    target = await _target(call, tool, arguments)
    if target is None and request.reply is None:
        return False
    if request.ask is not None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                accepted = await request.ask(question(call, arguments, target or ""))
        except TimeoutError as error:
            raise ConsentRequired(
                f"The user has not answered the question about {call.final_name!r}. Nothing was done."
            ) from error
        if not accepted:
            raise _declined(call)
        if await _target(call, tool, arguments) != target:
            raise _not_valid(call)
        return True
    if request.can_return_questions:
        return await _check_reply(call, arguments, arguments_json, target or "", state)
    if call.spec.declaration.confirm == "required":
        refusal = ElicitationUnsupported if request.must_declare else ConsentRequired
        raise refusal(
            f"{call.final_name!r} runs only after the user has confirmed it, and this client cannot ask them. "
            "Use a client that supports elicitation."
        )
    return False


async def check_repeated(call: Call, state: State) -> None:
    """Check the reply that came with a call that was carried out before. The person agreed then, and is not asked."""
    reply = call.request.reply
    if reply is None:
        return
    await _check_seal(call, reply, state)
    if not reply.accepted:
        raise ConsentRequired(
            f"The user did not agree to {call.final_name!r}. This call did nothing; an earlier one with the same "
            "idempotency key was carried out."
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
    """What the call is about beside its arguments, as it is now. Empty where the tool declares no target.

    None if nobody has to confirm this call.
    """
    if tool.target is None:
        return ""
    async with asyncio.timeout(tool.deadline):
        return await tool.target(arguments, call.context)


async def _check_reply(
    call: Call, arguments: BaseModel, arguments_json: str, target: str, state: State
) -> Question | bool:
    reply, version = call.request.reply, call.spec.declaration.version
    binding = seal.bind(call.request.caller.key, call.final_name, version, arguments_json, target)
    try:
        key = await state.seal_key()
        if reply is None:
            if (health := await state.check_health()) is not None and not health.ok:
                raise _cannot_check()  # the person would be asked in vain
            return Question(question(call, arguments, target), seal.make(key, binding, time.time() + ANSWER_SECONDS))
        opened = seal.open_seal(key, binding, reply.state, time.time())
        if isinstance(opened, str):
            logger.warning("Confirmation of %s refused: %s", call.spec.name, opened)
            raise _not_valid(call)
        if not await state.claim(opened.nonce, opened.expires - time.time() + MAX_CLOCK_DIFFERENCE):
            logger.warning("Confirmation of %s refused: used before", call.spec.name)
            raise _not_valid(call)
        if not reply.accepted:
            raise _declined(call)
    except StateUnavailable as error:
        raise _cannot_check() from error
    return True


def question(call: Call, arguments: BaseModel, target: str = "") -> str:
    """The question to the person: the tool's own, or one made from its summary and arguments."""
    spec = call.spec
    redacted = redact(arguments.model_dump(mode="json", by_alias=True), spec.secret_fields)
    if spec.declaration.question:
        text = spec.declaration.question.format_map(redacted | ({"target": target} if target else {}))
    else:
        about = f", {target}" if target else ""
        text = f"{spec.doc.summary} ({call.final_name} with {json_text.to_text(redacted)}{about}) Go ahead?"
    return text if len(text) <= _LONGEST_QUESTION else text[:_LONGEST_QUESTION] + "..."


def _declined(call: Call) -> ConsentRequired:
    return ConsentRequired(f"The user did not agree to {call.final_name!r}. Nothing was done.")


def _not_valid(call: Call) -> ConsentRequired:
    return ConsentRequired(
        f"The confirmation for {call.final_name!r} is not valid: it has expired, was used before, or is about another "
        "call. Nothing was done. Call the tool again without it, and the user is asked again."
    )


def _cannot_check() -> Unavailable:
    return Unavailable("The confirmation cannot be checked right now. Nothing was done.")
