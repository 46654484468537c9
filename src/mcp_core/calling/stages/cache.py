"""Steps 8 and 11: answers of queries are reused while they are fresh; a mutation invalidates those it affects.

A key holds caller, tool, version, arguments, and the generation of the tool's tags. A mutation raises the
generation of its own tags, so that earlier answers are no longer found. A query that runs at the same time
stores its answer under the old generation, where it is never found.
"""

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.records import Body, Permit
from mcp_core.mcp_log import get_logger
from mcp_core.state.interface import CachedAnswer, State, StateUnavailable

logger = get_logger(__name__)


async def recall(permit: Permit, tool: BoundTool, state: State) -> tuple[str | None, Body | None]:
    """The cache key of this call, and the fresh answer if there is one. Without a key nothing is cached."""
    try:
        generation = await state.generation(tool.spec.tags)
        caller, version = permit.call.request.caller.key, tool.spec.declaration.version
        key = f"{caller}\0{tool.final_name}\0{version}\0{generation}\0{permit.arguments_json}"
        known = await state.recall(key)
        return key, None if known is None else Body(known.data, None, *known[1:])
    except StateUnavailable as error:
        logger.warning("The cache cannot be reached; the call goes on without it: %s", error.__cause__)
        return None, None


async def remember(key: str, body: Body, tool: BoundTool, state: State) -> None:
    """Cache a successful answer."""
    if body.failure is not None or tool.cache_ttl is None:
        return
    try:
        answer = CachedAnswer(body.data, *body[2:])
        await state.remember(key, answer, tool.cache_ttl)
    except StateUnavailable as error:
        logger.warning("The cache cannot be reached; the answer is not cached: %s", error.__cause__)


async def forget(tool: BoundTool, state: State) -> None:
    """Invalidate the answers behind the tags of a mutation, also after one that failed half way."""
    try:
        await state.forget(tool.forgets)
    except StateUnavailable as error:
        message = "The cache cannot be reached; answers from before %s may be reused until they expire: %s"
        logger.error(message, tool.spec.name, error.__cause__)
