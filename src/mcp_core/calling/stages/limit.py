"""Step 4: no caller may use a tool more often than its rate limit allows."""

from collections.abc import Mapping

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.policy import WithoutRedis
from mcp_core.calling.records import Call
from mcp_core.declare.spec import RateLimit
from mcp_core.errors import RateLimited, Unavailable
from mcp_core.mcp_log import get_logger
from mcp_core.state.interface import State, StateUnavailable
from mcp_core.text.plurals import count

logger = get_logger(__name__)

_MEANWHILE: Mapping[WithoutRedis, str] = {
    "whole": "this process counts calls by itself, up to the whole limit",
    "share": "this process counts calls by itself, up to its share of the limit",
    "open": "calls pass without a limit",
    "closed": "calls with a limit are refused",
}


async def limit(call: Call, tool: BoundTool, allowed: RateLimit, state: State, without_redis: WithoutRedis) -> None:
    """Count the call, or refuse it. It counts under the name of its tool, or another one."""
    key = f"{call.request.caller.key}\0{tool.counted_as or call.final_name}"
    try:
        wait = await state.hit(key, allowed)
    except StateUnavailable as error:
        log = logger.debug if error.is_known else logger.error
        log("Rate limits cannot be read; %s: %s", _MEANWHILE[without_redis], error.__cause__)
        if without_redis == "closed":
            raise Unavailable("The rate limit of this tool cannot be checked right now. Try again later.") from error
        wait = 0.0 if without_redis == "open" else await state.hit_here(key, allowed)
    if wait > 0:
        allowance = f"{count(allowed.max_calls, 'call')} in {count(allowed.window_ms / 1000, 'second')}"
        raise RateLimited(
            f"Rate limit of {call.final_name!r} reached: {allowance}. Try again in {wait:.1f} seconds.",
            retry_after=wait,
        )
