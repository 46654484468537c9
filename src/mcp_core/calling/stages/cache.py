"""Steps 8 and 11: answers of queries are reused while they are fresh; a mutation invalidates those it affects.

A key holds caller, tool, version and arguments. An answer is stored with the generation that the tool's tags had
when it was looked up, and is found only while they still have it. A mutation gives its own tags a new generation,
so that earlier answers are no longer found, nor those of queries that ran at the same time.
"""

from typing import NamedTuple

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.records import Call
from mcp_core.mcp_log import get_logger
from mcp_core.result import Body
from mcp_core.state.interface import State, StateUnavailable

logger = get_logger(__name__)


class CachePlace(NamedTuple):
    """The place of the answer of a call in the cache."""

    key: str
    generation: str


async def lookup(
    call: Call, tool: BoundTool, arguments_json: str, state: State
) -> tuple[CachePlace | None, Body | None]:
    """The fresh answer if there is one, and where to cache a new one. Without a place nothing is cached."""
    key = f"{call.request.caller.key}\0{call.final_name}\0{call.spec.declaration.version}\0{arguments_json}"
    try:
        generation, known = await state.lookup(key, tool.cache_tags)
    except StateUnavailable as error:
        log = logger.debug if error.is_known else logger.warning
        log("The cache cannot be reached; calls go on without it: %s", error.__cause__)
        return None, None
    return CachePlace(key, generation), known


async def store(place: CachePlace, body: Body, tool: BoundTool, state: State) -> None:
    """Cache a successful answer."""
    if body.failure is not None or tool.cache_ttl is None:
        return
    try:
        await state.store(place.key, place.generation, body, tool.cache_ttl)
    except StateUnavailable as error:
        logger.debug("The cache cannot be reached; the answer is not cached: %s", error.__cause__)


async def invalidate(tool: BoundTool, state: State) -> None:
    """Invalidate the answers behind the tags of a mutation, also after one that failed half way."""
    try:
        await state.invalidate(tool.forgets)
    except StateUnavailable as error:
        log = logger.debug if error.is_known else logger.error
        message = "The cache cannot be reached; answers from before %s are invalidated when it is back: %s"
        log(message, tool.spec.name, error.__cause__)
