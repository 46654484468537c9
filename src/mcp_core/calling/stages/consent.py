"""Step 7: the person has agreed to this very call, where the tool demands it.

The `explicit_action` literal has been checked by then: it is part of the schema. This step asks the person,
where the client can. A client that can be asked during a call answers at once. Others are given the question
as the answer, with a seal; they call again with the reply, and the seal shows that it is about these arguments.
"""

import asyncio
import time

from pydantic import BaseModel

from mcp_core import json_text
from mcp_core.calling import seal
from mcp_core.calling.records import Call, Question, Reply
from mcp_core.errors import ConsentRequired, ElicitationUnsupported, ForgedReply, Unavailable
from mcp_core.mcp_log import get_logger, redact
from mcp_core.state.interface import State, StateUnavailable

logger = get_logger(__name__)

ANSWER_SECONDS = 600.0
"""How long a person has to answer."""
_LONGEST_QUESTION = 1000


async def consent(call: Call, arguments: BaseModel, arguments_json: str, state: State) -> Question | None:
    """Nothing where the person has agreed, a question that must be answered first, or a refusal."""
    request = call.request
    if request.reply is not None:
        await _check_seal(call, request.reply, state)
    if request.ask is not None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                agreed = await request.ask(question(call, arguments))
        except TimeoutError as error:
            raise ConsentRequired(f"The user has not answered about {call.spec.name!r}. Nothing was done.") from error
        if not agreed:
            raise _refused(call)
        return None
    if request.can_return_questions:
        return await _by_seal(call, arguments, arguments_json, state)
    if call.spec.declaration.confirm == "required":
        refusal = ElicitationUnsupported if request.must_declare else ConsentRequired
        raise refusal(
            f"{call.spec.name!r} runs only after the user has confirmed it, and this client cannot ask them. "
            "Use a client that supports elicitation."
        )
    return None


async def _check_seal(call: Call, reply: Reply, state: State) -> None:
    """A seal that this server did not make is no matter for the agent: it is tampered with, or meant for another."""
    try:
        key = await state.seal_key()
    except StateUnavailable as error:
        raise _cannot_check() from error
    if not seal.is_genuine(key, reply.state):
        raise ForgedReply(f"The confirmation for {call.spec.name!r} was not made by this server. Nothing was done.")


async def _by_seal(call: Call, arguments: BaseModel, arguments_json: str, state: State) -> Question | None:
    reply = call.request.reply
    binding = seal.bind(call.request.caller.key, call.final_name, call.spec.declaration.version, arguments_json)
    try:
        key = await state.seal_key()
        if reply is None:
            return Question(question(call, arguments), seal.make(key, binding, time.time() + ANSWER_SECONDS))
        opened = seal.open_seal(key, binding, reply.state, time.time())
        if isinstance(opened, str):
            logger.warning("Confirmation of %s refused: %s", call.spec.name, opened)
            raise _not_valid(call)
        if not await state.claim(opened.nonce, opened.expires - time.time() + 1):
            logger.warning("Confirmation of %s refused: used before", call.spec.name)
            raise _not_valid(call)
        if not reply.accepted:
            raise _refused(call)
    except StateUnavailable as error:
        raise _cannot_check() from error
    return None


def question(call: Call, arguments: BaseModel) -> str:
    """What the person is asked: the tool's own question, or one made of what would be done."""
    spec = call.spec
    shown = redact(arguments.model_dump(mode="json", by_alias=True), spec.secret_fields)
    if spec.declaration.question:
        text = spec.declaration.question.format_map(shown)
    else:
        text = f"{spec.doc.summary} ({spec.name} with {json_text.to_text(shown)}) Go ahead?"
    return text if len(text) <= _LONGEST_QUESTION else text[:_LONGEST_QUESTION] + "..."


def _refused(call: Call) -> ConsentRequired:
    return ConsentRequired(f"The user did not agree to {call.spec.name!r}. Nothing was done.")


def _not_valid(call: Call) -> ConsentRequired:
    return ConsentRequired(
        f"The confirmation for {call.spec.name!r} is not valid: it has expired, was used before, or is about another "
        "call. Nothing was done. Call the tool again without it to be asked anew."
    )


def _cannot_check() -> Unavailable:
    return Unavailable("The confirmation cannot be checked right now. Nothing was done.")
