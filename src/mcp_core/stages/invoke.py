"""Step 9: the handler runs, for as long as its response time allows."""

import asyncio
from typing import Any

from mcp_core.bound import BoundTool
from mcp_core.call import Permit
from mcp_core.errors import DeadlineExceeded


class HandlerQuit(Exception):
    """A handler raised what would end more than its own call."""


async def invoke(permit: Permit, tool: BoundTool) -> Any:
    """Whatever the handler returns. A handler past its deadline is cancelled."""
    deadline = asyncio.timeout(tool.deadline)
    try:
        async with deadline:
            return await tool.invoke(permit.arguments, permit.call.context)
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise DeadlineExceeded(
            f"{tool.spec.name!r} took longer than {tool.deadline:g} seconds and was stopped."
        ) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise HandlerQuit("the handler ended itself with a cancellation that nobody asked for") from error
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise HandlerQuit(f"the handler tried to end the server: {error!r}") from error
