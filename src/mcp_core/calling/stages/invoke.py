"""Step 9: the handler runs, for as long as its response time allows."""

import asyncio
from collections.abc import Generator
from types import coroutine
from typing import Any, cast

from mcp_core.calling.bound import BoundTool
from mcp_core.calling.records import Permit
from mcp_core.errors import DeadlineExceeded


class HandlerQuit(Exception):
    """A handler raised what would end more than its own call."""


async def invoke(permit: Permit, tool: BoundTool) -> Any:
    """Whatever the handler returns. A handler past its deadline is cancelled."""
    try:
        return await _in_time(tool, tool.invoke(permit.arguments, permit.call.context).__await__())
    except asyncio.CancelledError as error:
        if _this_task().cancelling():
            raise
        raise HandlerQuit("the handler ended itself with a cancellation that nobody asked for") from error
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise HandlerQuit(f"the handler tried to end the server: {error!r}") from error


@coroutine
def _in_time(tool: BoundTool, running: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Await a handler until its deadline. One that never waits could not be stopped, and gets no timer.

    This is `asyncio.timeout` without its moving parts, at half its price.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    try:
        future = running.send(None)
    except StopIteration as done:
        return done.value
    task, expired = _this_task(), False
    cancelling = task.cancelling()

    def expire() -> None:
        nonlocal expired
        expired = True
        task.cancel()

    timer = loop.call_at(started + tool.deadline, expire)
    try:
        return (yield from _resume(running, future))
    except asyncio.CancelledError as error:
        if expired and task.cancelling() <= cancelling + 1:
            words = f"{tool.spec.name!r} took longer than {tool.deadline:g} seconds and was stopped."
            raise DeadlineExceeded(words) from error
        raise
    finally:
        timer.cancel()
        if expired:
            task.uncancel()


def _resume(running: Generator[Any, Any, Any], future: Any) -> Generator[Any, Any, Any]:
    """What `yield from running` would do, from its second step on: it waits for `future` already."""
    try:
        while True:
            try:
                sent = yield future
            except BaseException as error:  # noqa: BLE001 - a cancellation, mostly: the handler's to deal with
                future = running.throw(error)
            else:
                future = running.send(sent)
    except StopIteration as done:
        return done.value


def _this_task() -> asyncio.Task[Any]:
    return cast(asyncio.Task[Any], asyncio.current_task())
