"""Calls a server's tools, as they should be called and as they should not, and keeps what came back."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from mcp_core.calling.records import Answer
from mcp_core.declare.listed import ListedTool
from toolcharter.verify.live.arguments import UNKNOWN, valid_arguments, wrong_value
from toolcharter.verify.observed import Exchange, Kind, Observed
from toolcharter.verify.subject import Server, Tool

SECONDS = 10.0
_MOST_VALID, _MOST_WRONG = 5, 3
"""Calls of one tool: more show little more."""


class Running(Protocol):
    """A server that can be asked."""

    async def list_tools(self) -> list[ListedTool]:
        """All tools."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool."""
        ...


class Attempt(NamedTuple):
    """A call to be made."""

    kind: Kind
    arguments: Mapping[str, Any]
    argument: str = ""


async def observe(
    server: Server, running: Running, *, all_tools: bool, step: Callable[[str], object], seconds: float
) -> Observed:
    """Call the tools that are declared read-only, or all of them."""
    exchanges: list[Exchange] = []
    gone: Exchange | None = None
    for tool in server.tools:
        if gone is None and (all_tools or tool.hint("readOnlyHint") is True):
            step(tool.name)
            gone = await _call_all(tool, running, seconds, exchanges)
    first = [tool.listed for tool in server.tools]
    again = [] if gone else [await _list(running, seconds), await _list(running, seconds)]
    return Observed(exchanges, [first, *(listed for listed in again if listed is not None)], gone, seconds)


async def _call_all(tool: Tool, running: Running, seconds: float, seen: list[Exchange]) -> Exchange | None:
    """Call a tool in all ways, and say after which of them the server was gone."""
    for attempt in attempts(tool):
        exchange = await _call(tool.name, attempt, running, seconds)
        seen.append(exchange)
        if exchange.failure and await _list(running, seconds) is None:
            return exchange
        if exchange.timed_out:
            break  # the next would wait as long
    return None


def attempts(tool: Tool) -> Iterator[Attempt]:
    """The calls that are made of a tool: valid ones, and each kind of faulty one."""
    valid = _valid(tool)
    yield from (Attempt("valid", arguments) for arguments in valid)
    base: Mapping[str, Any] = valid[0] if valid else {}
    required = [argument for argument in tool.arguments if argument.required]
    for argument in required[:1]:
        rest = {name: value for name, value in base.items() if name != argument.name}
        yield Attempt("missing", rest, argument.name)
    for argument in sorted(tool.arguments, key=lambda one: not one.required)[:_MOST_WRONG]:
        if (wrong := wrong_value(argument.types, argument.schema)) is not None:
            yield Attempt("wrong type", {**base, argument.name: wrong}, argument.name)
    if valid:
        yield Attempt("unknown", {**base, UNKNOWN: 1}, UNKNOWN)


def _valid(tool: Tool) -> list[Mapping[str, Any]]:
    """The declared examples, else arguments made up from the schema."""
    if tool.spec is not None and tool.spec.examples:
        return [dict(example.params) for example in tool.spec.examples[:_MOST_VALID]]
    made = valid_arguments(tool.schema)
    return [] if made is None else [made]


async def _call(tool: str, attempt: Attempt, running: Running, seconds: float) -> Exchange:
    exchange = Exchange(tool, attempt.kind, attempt.arguments, attempt.argument)
    try:
        async with asyncio.timeout(seconds):
            return exchange._replace(answer=await running.call(tool, attempt.arguments))
    except TimeoutError:
        return exchange._replace(failure=f"no answer within {seconds:g} s", timed_out=True)
    except Exception as error:  # noqa: BLE001 - whatever a server does to its client is a finding, not our end
        return exchange._replace(failure=_reason(error))


async def _list(running: Running, seconds: float) -> list[ListedTool] | None:
    """The tools; None where the server does not answer."""
    try:
        async with asyncio.timeout(seconds):
            return await running.list_tools()
    except Exception:  # noqa: BLE001 - the same
        return None


def _reason(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return _reason(error.exceptions[0])  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return str(error) or type(error).__name__
