"""Step 9: the handler runs, for as long as its response time allows."""

import asyncio
from collections.abc import Callable, Generator
from types import coroutine
from typing import Any, cast

from mcp_core.bound import BoundTool
from mcp_core.call import Permit
from mcp_core.errors import DeadlineExceeded


class HandlerQuit(Exception):
    """A handler raised what would end more than its own call."""


async def invoke(permit: Permit, tool: BoundTool) -> Any:
    """Whatever the handler returns. A handler past its deadline is cancelled.

    This is `asyncio.timeout` without its moving parts, and without a timer for a handler that never waits.
    """
    task = cast(asyncio.Task[Any], asyncio.current_task())
    loop, cancelling, expired, timer = task.get_loop(), task.cancelling(), False, None
    started = loop.time()

    def expire() -> None:
        nonlocal expired
        expired = True
        task.cancel()

    def start_timer() -> None:
        nonlocal timer
        timer = loop.call_at(started + tool.deadline, expire)

    try:
        running = tool.invoke(permit.arguments, permit.call.context).__await__()
        return await _noticing_a_wait(running, start_timer)
    except asyncio.CancelledError as error:
        if expired and task.cancelling() <= cancelling + 1:
            words = f"{tool.spec.name!r} took longer than {tool.deadline:g} seconds and was stopped."
            raise DeadlineExceeded(words) from error
        if task.cancelling():
            raise
        raise HandlerQuit("the handler ended itself with a cancellation that nobody asked for") from error
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise HandlerQuit(f"the handler tried to end the server: {error!r}") from error
    finally:
        if timer is not None:
            timer.cancel()
        if expired:
            task.uncancel()


@coroutine
def _noticing_a_wait(running: Generator[Any, Any, Any], waits: Callable[[], None]) -> Generator[Any, Any, Any]:
    """Await `running` to its end; say so when it first waits for something. Until then nothing could stop it."""
    try:
        future = running.send(None)
        waits()
        while True:  # as `yield from` does, which cannot begin after the first step
            try:
                sent = yield future
            except BaseException as error:  # noqa: BLE001 - a cancellation, mostly: it is the handler's
                future = running.throw(error)
            else:
                future = running.send(sent)
    except StopIteration as done:
        return done.value
