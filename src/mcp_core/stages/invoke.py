"""Step 9: the handler runs, for as long as its response time allows."""

import asyncio
from typing import Any, cast

from mcp_core.bound import BoundTool
from mcp_core.call import Permit
from mcp_core.errors import DeadlineExceeded


class HandlerQuit(Exception):
    """A handler raised what would end more than its own call."""


async def invoke(permit: Permit, tool: BoundTool) -> Any:
    """Whatever the handler returns. A handler past its deadline is cancelled.

    This is `asyncio.timeout` without its moving parts, at half its price.
    """
    task = cast(asyncio.Task[Any], asyncio.current_task())
    cancelling, expired = task.cancelling(), False

    def expire() -> None:
        nonlocal expired
        expired = True
        task.cancel()

    timer = task.get_loop().call_later(tool.deadline, expire)
    try:
        return await tool.invoke(permit.arguments, permit.call.context)
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
        timer.cancel()
        if expired:
            task.uncancel()
