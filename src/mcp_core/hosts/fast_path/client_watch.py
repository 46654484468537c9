"""Looks after the client of a call that may take a while."""

import asyncio
from typing import Any, cast

from mcp_core.hosts.fast_path.asgi import EventStream, Receive, wait_for_disconnect

_BEGIN_SECONDS = 0.05
"""Most calls have ended by then. To watch their clients would take two tasks more for each."""


class ClientWatch:
    """Pings the client of the current task while its call is silent, and cancels the task when the client leaves."""

    def __init__(self, receive: Receive, stream: EventStream, ping_seconds: float) -> None:
        self._receive, self._stream, self._ping_seconds = receive, stream, ping_seconds
        self.call = cast("asyncio.Task[Any]", asyncio.current_task())
        self.client_left = False
        self._task: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(_BEGIN_SECONDS, self._begin)

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        disconnect = asyncio.ensure_future(wait_for_disconnect(self._receive))
        try:
            while not (await asyncio.wait([disconnect], timeout=self._ping_seconds))[0]:
                await self._stream.ping()
        finally:
            disconnect.cancel()
        self.client_left = True
        self.call.cancel()

    async def end(self) -> None:
        """The call has ended."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
