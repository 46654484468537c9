"""Steps 8 and 11: answers of queries are reused while they are fresh; a mutation forgets what it touches.

A key names caller, tool, version, arguments, and the generation of the tool's tags. A mutation raises the
generation of its own tags, so that answers from before can no longer be found. A query that was under way
meanwhile stores its answer under the old generation, where nobody looks.
"""

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.records import Body, Permit
from mcp_core.mcp_log import get_logger
from mcp_core.state.interface import CachedAnswer, State, StateUnavailable

logger = get_logger(__name__)


async def recall(permit: Permit, tool: BoundTool, state: State) -> tuple[str | None, Body | None]:
    """The key of this call, and the answer that is still fresh, if there is one. No key: no cache."""
    try:
        generation = await state.generation(tool.spec.tags)
        caller, version = permit.call.request.caller.key, tool.spec.declaration.version
        key = f"{caller}\0{tool.final_name}\0{version}\0{generation}\0{permit.arguments_json}"
        known = await state.recall(key)
        return key, None if known is None else Body(known.data, None, *known[1:])
    except StateUnavailable as error:
        logger.warning("The cache is away, going on without it: %s", error.__cause__)
        return None, None


async def remember(key: str, body: Body, tool: BoundTool, state: State) -> None:
    """Keep a successful answer."""
    if body.failure is not None or tool.cache_ttl is None:
        return
    try:
        kept = CachedAnswer(body.data, body.message, body.instruction, body.hints)
        await state.remember(key, kept, tool.cache_ttl)
    except StateUnavailable as error:
        logger.warning("The cache is away, the answer is not kept: %s", error.__cause__)


async def forget(tool: BoundTool, state: State) -> None:
    """After a mutation, also one that failed half way: what was cached behind its tags no longer holds."""
    try:
        await state.forget(tool.forgets)
    except StateUnavailable as error:
        words = "The cache is away: answers from before %s may be shown until they expire: %s"
        logger.error(words, tool.spec.name, error.__cause__)
