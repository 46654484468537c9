"""Around step 9: a mutation that comes with an idempotency key is carried out once, however often it is sent.

The key is looked up after the arguments are parsed, so that a repeated call has passed limit, permissions and
validation. It gets the first answer, and the person is not asked again about what is done already.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.records import Call
from mcp_core.declare.charter import META
from mcp_core.errors import (
    Busy,
    DeadlineExceeded,
    IdempotencyConflict,
    InProgress,
    InvalidArguments,
    OutcomeUnknown,
    Unavailable,
)
from mcp_core.idempotency.keys import KeyBusy, KeyedCall, KeyRecord, KeyStore, KeyTaken
from mcp_core.result import Body
from mcp_core.state.interface import StateUnavailable

KEY = META + "idempotency-key"
"""In the `_meta` of a call."""
REPEATED = META + "repeated"
"""In the `_meta` of an answer that an earlier call with the same key was given."""
MAX_KEY_LENGTH = 255

WithinDeadline = Callable[[Coroutine[Any, Any, None]], Awaitable[None]]
"""Awaits what belongs to a call, and raises DeadlineExceeded."""


def keyed_call(call: Call, tool: BoundTool, arguments_json: str) -> KeyedCall:
    """The call with its key. Raises InvalidArguments if the key is not valid."""
    key: Any = call.request.meta[KEY]
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_LENGTH or not key.isprintable():
        raise InvalidArguments(
            f"The idempotency key {_quoted(key)} is not valid: send a text of 1 to {MAX_KEY_LENGTH} printable "
            "characters, such as a UUID."
        )
    # Headers may be credentials for another system: without the same ones, nobody gets the answer.
    parts = [tool.final_name, arguments_json, sorted(call.request.headers.items())]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return KeyedCall(call.request.caller.key, key, tool.final_name, digest, tool.deadline, tool.spec.idempotent)


async def first_answer(call: KeyedCall, keys: KeyStore) -> Body | None:
    """The answer to an earlier call with the same key; None if this is the first."""
    try:
        record = await keys.find(call)
    except StateUnavailable as error:
        raise _cannot_check() from error
    return None if record is None else _answer(call, record)


async def carry_out_once(
    call: KeyedCall, keys: KeyStore, act: Callable[[], Awaitable[Body]], within_deadline: WithinDeadline
) -> tuple[Body, bool]:
    """The answer, and whether it is that of another call with the same key, which was faster."""
    try:
        async with keys.claim(call) as claim:
            body = await act()
            failure = body.failure
            if failure is None or failure.kind != "system":
                await _complete(call, within_deadline(claim.complete(body.to_text(), failed=failure is not None)))
            elif failure.error_type == Busy.error_type:
                claim.abandon()
            return body, False
    except KeyTaken as taken:
        return _answer(call, taken.record), True
    except KeyBusy:
        raise _in_progress(call) from None
    except StateUnavailable as error:
        raise _cannot_check() from error


async def _complete(call: KeyedCall, completion: Awaitable[None]) -> None:
    try:
        await completion
    except DeadlineExceeded as error:
        raise OutcomeUnknown(
            f"The database has not confirmed what {call.tool!r} changed: it may have been done or not.",
            instruction="Call this tool again with the same idempotency key and arguments to get the answer.",
        ) from error


def _answer(call: KeyedCall, record: KeyRecord) -> Body:
    if record.digest != call.digest:
        raise IdempotencyConflict(
            f"The idempotency key {_quoted(call.key)} was used for another call. Nothing was done. "
            "Send a new key with a new call, and the same tool and arguments with the same key."
        )
    if record.answer is not None:
        return Body.from_text(record.answer)
    if record.in_progress:
        raise _in_progress(call)
    raise OutcomeUnknown(
        f"An earlier call of {call.tool!r} with the idempotency key {_quoted(call.key)} was interrupted: it may have "
        "been carried out or not. This call did nothing. Look at what is there before you call again with a new key."
    )


def _in_progress(call: KeyedCall) -> InProgress:
    return InProgress(
        f"Another call of {call.tool!r} with the idempotency key {_quoted(call.key)} is in progress, or the database "
        "is busy. This call did nothing. Call again with the same key."
    )


def _cannot_check() -> Unavailable:
    return Unavailable("The idempotency key cannot be checked right now. Nothing was done.")


def _quoted(key: Any) -> str:
    text = repr(key)
    return text if len(text) <= MAX_KEY_LENGTH + 2 else f"{text[:60]}... ({len(text):,} characters)"
