"""Step 4: no caller may use a tool more often than its rate limit allows."""

from typing import Literal

from mcp_core.calling.records import Body, Call
from mcp_core.calling.stages.cache import CachePlace, cache_key, place_and_answer
from mcp_core.declare.spec import RateLimit
from mcp_core.errors import RateLimited, Unavailable
from mcp_core.mcp_log import get_logger
from mcp_core.plurals import count
from mcp_core.state.interface import State, StateUnavailable
from mcp_core.state.memory import MemoryState

logger = get_logger(__name__)

WithoutRedis = Literal["open", "closed"]
"""What a limit does while the shared store cannot be reached: let calls pass, or refuse them."""


async def limit(
    call: Call, allowed: RateLimit, state: State, without_redis: WithoutRedis, counted_as: str | None = None
) -> None:
    """Count the call, or refuse it. It counts under the name of its tool, or another one."""
    try:
        wait = await state.hit(_key(call, counted_as), allowed)
    except StateUnavailable as error:
        _without_state(error, without_redis)
        return
    if wait > 0:
        raise _refusal(call, allowed, wait)


async def limit_and_recall(
    call: Call, allowed: RateLimit, arguments_json: str, state: State, without_redis: WithoutRedis
) -> tuple[CachePlace | None, Body | None]:
    """Steps 4 and 8 in one request to the shared store: count the call or refuse it, and recall its answer."""
    key = cache_key(call, arguments_json)
    try:
        wait, recalled = await state.hit_and_recall(_key(call), allowed, key, call.spec.tags)
    except StateUnavailable as error:
        _without_state(error, without_redis)
        return None, None
    if wait > 0:
        raise _refusal(call, allowed, wait)
    return place_and_answer(key, recalled)


def limit_and_recall_now(
    call: Call, allowed: RateLimit | None, arguments_json: str, state: MemoryState
) -> tuple[CachePlace, Body | None]:
    """The same with the store in memory, which never waits, and also without a limit."""
    if allowed is not None and (wait := state.hit_now(_key(call), allowed)) > 0:
        raise _refusal(call, allowed, wait)
    key = cache_key(call, arguments_json)
    return place_and_answer(key, state.recall_now(key, call.spec.tags))


def _key(call: Call, counted_as: str | None = None) -> str:
    return f"{call.request.caller.key}\0{counted_as or call.final_name}"


def _without_state(error: StateUnavailable, without_redis: WithoutRedis) -> None:
    log = logger.debug if error.is_known else logger.error
    log("Rate limits cannot be read and fail %s: %s", without_redis, error.__cause__)
    if without_redis == "closed":
        raise Unavailable("The rate limit of this tool cannot be checked right now. Try again later.") from error


def _refusal(call: Call, allowed: RateLimit, wait: float) -> RateLimited:
    allowance = f"{count(allowed.max_calls, 'call')} in {count(allowed.window_ms / 1000, 'second')}"
    return RateLimited(
        f"Rate limit of {call.final_name!r} reached: {allowance}. Try again in {wait:.1f} seconds.",
        retry_after=wait,
    )
