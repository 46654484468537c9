"""Calls the tools of a server, correctly and incorrectly, and records the results."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mcp_core.declare.charter import META
from mcp_core.declare.listed import ListedTool
from toolcharter.verify.live.arguments import UNKNOWN, valid_arguments, wrong_value
from toolcharter.verify.live.environment import unjudged_tools
from toolcharter.verify.live.observations import CallKind, Exchange, Observations
from toolcharter.verify.model import Server, Tool

if TYPE_CHECKING:
    from mcp_core.calling.records import Answer

TIMEOUT = 10.0
"""Seconds that a call may take."""
TOTAL_TIMEOUT = 900.0
"""Seconds after which no further tool is called."""
_MAX_VALID_CALLS, _MAX_WRONG_TYPES = 5, 3
"""Limits for one tool: further calls show little more."""


class RunningServer(Protocol):
    """A server that can be called."""

    async def list_tools(self) -> list[ListedTool]:
        """All tools."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> "Answer":
        """Call a tool."""
        ...


class PlannedCall(NamedTuple):
    """A call to make."""

    kind: CallKind
    arguments: Mapping[str, Any]
    argument: str = ""


async def probe_server(
    server: Server,
    running: RunningServer,
    *,
    all_tools: bool = False,
    on_step: Callable[[str], object] = lambda _: None,
    call_timeout: float = TIMEOUT,
    total_timeout: float = TOTAL_TIMEOUT,
    command: Sequence[str] = (),
) -> Observations:
    """Call the tools that are declared read-only, or all tools."""
    exchanges: list[Exchange] = []
    crash: Exchange | None = None
    chosen = [tool for tool in server.tools if all_tools or tool.hint("readOnlyHint") is True]
    end = time.monotonic() + total_timeout
    called: list[str] = []
    for tool in chosen:
        if crash is not None or time.monotonic() >= end:
            break
        on_step(tool.name)
        called.append(tool.name)
        crash = await _probe_tool(tool, running, call_timeout, exchanges)
    first = [tool.listed for tool in server.tools]
    again = [] if crash else [await _list(running, call_timeout), await _list(running, call_timeout)]
    unjudged = unjudged_tools(exchanges)
    return Observations(
        [exchange for exchange in exchanges if exchange.tool not in unjudged],
        [first, *(tools for tools in again if tools is not None)],
        crash,
        call_timeout,
        frozenset(called) - unjudged.keys(),
        unjudged,
        command,
        ran_out_of_time=crash is None and len(called) < len(chosen),
    )


async def _probe_tool(tool: Tool, running: RunningServer, limit: float, exchanges: list[Exchange]) -> Exchange | None:
    """Make all calls of a tool. Returns the call after which the server no longer answered, if any."""
    for planned in planned_calls(tool):
        exchange = await _call(tool.name, planned, running, limit)
        exchanges.append(exchange)
        if exchange.failure and await _list(running, limit) is None:
            return exchange
        if exchange.timed_out:
            break  # the next call would time out as well
    return None


def planned_calls(tool: Tool) -> Iterator[PlannedCall]:
    """The calls to make: valid ones, and each kind of invalid one."""
    valid = _valid_arguments(tool)
    yield from (PlannedCall("valid", arguments) for arguments in valid)
    base: Mapping[str, Any] = valid[0] if valid else {}
    filled = tool.listed.meta.get(META + "userArgument")  # the server may fill it from the caller
    required = [argument for argument in tool.arguments if argument.required and argument.name != filled]
    for argument in required[:1]:
        rest = {name: value for name, value in base.items() if name != argument.name}
        yield PlannedCall("missing", rest, argument.name)
    for argument in sorted(tool.arguments, key=lambda one: not one.required)[:_MAX_WRONG_TYPES]:
        if (wrong := wrong_value(argument.types, argument.schema)) is not None:
            yield PlannedCall("wrong type", {**base, argument.name: wrong}, argument.name)
    if valid:
        yield PlannedCall("unknown", {**base, UNKNOWN: 1}, UNKNOWN)


def _valid_arguments(tool: Tool) -> list[Mapping[str, Any]]:
    """The declared examples, or else arguments generated from the schema."""
    if tool.spec is not None and tool.spec.examples:
        return [dict(example.params) for example in tool.spec.examples[:_MAX_VALID_CALLS]]
    generated = valid_arguments(tool.schema)
    return [] if generated is None else [generated]


async def _call(tool: str, planned: PlannedCall, running: RunningServer, limit: float) -> Exchange:
    exchange = Exchange(tool, planned.kind, planned.arguments, planned.argument)
    try:
        async with asyncio.timeout(limit):
            return exchange._replace(answer=await running.call(tool, planned.arguments))
    except TimeoutError:
        return exchange._replace(failure=f"no answer within {limit:g} s", timed_out=True)
    except Exception as error:  # noqa: BLE001 - whatever a server does to its client is a finding
        return exchange._replace(failure=_reason(error))


async def _list(running: RunningServer, limit: float) -> list[ListedTool] | None:
    """The tools; None if the server does not answer."""
    try:
        async with asyncio.timeout(limit):
            return await running.list_tools()
    except Exception:  # noqa: BLE001 - the same
        return None


def _reason(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return _reason(error.exceptions[0])  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return str(error) or type(error).__name__
