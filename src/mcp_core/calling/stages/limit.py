"""Step 4: no caller may use a tool more often than its rate limit allows."""

from typing import Literal

from mcp_core.calling.records import Call
from mcp_core.errors import RateLimited, Unavailable
from mcp_core.mcp_log import get_logger
from mcp_core.plurals import count
from mcp_core.state.interface import State, StateUnavailable

logger = get_logger(__name__)

WithoutRedis = Literal["open", "closed"]
"""What a limit does while the shared store cannot be reached: let calls pass, or refuse them."""


async def limit(call: Call, state: State, without_redis: WithoutRedis) -> None:
    """Count the call, or refuse it."""
    allowed = call.spec.declaration.rate_limit
    if allowed is None:
        return
    try:
        wait = await state.hit(f"{call.request.caller.key}\0{call.final_name}", allowed)
    except StateUnavailable as error:
        logger.error("Rate limits cannot be read and fail %s: %s", without_redis, error.__cause__)
        if without_redis == "closed":
            raise Unavailable("The rate limit of this tool cannot be checked right now. Try again later.") from error
        return
    if wait > 0:
        allowance = f"{count(allowed.max_calls, 'call')} in {count(allowed.window_ms / 1000, 'second')}"
        raise RateLimited(
            f"Rate limit of {call.final_name!r} reached: {allowance}. Try again in {wait:.1f} seconds.",
            retry_after=wait,
        )
