"""Opens an app over stdio after its tools were listed: a client that starts a server waits for that list."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp_core.app import App

DELAY_SECONDS = 0.02
"""The time between the request for the list and the opening, so that the list is written first."""
MAX_DELAY_SECONDS = 1.0
"""After this time, the app is opened without any request, so that an error at its start is not hidden."""


class Opening:
    """When an app is opened: soon after its tools were listed, at once for a call, or after `MAX_DELAY_SECONDS`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = self._loop.create_future()
        """Done when the app is open."""
        self.begun = asyncio.Event()
        self._loop.call_later(MAX_DELAY_SECONDS, self.begun.set)

    def begin_soon(self) -> None:
        """Open the app, but let the answer that is being made be written first."""
        if not self.begun.is_set():
            self._loop.call_later(DELAY_SECONDS, self.begun.set)

    @property
    def is_done(self) -> bool:
        """Whether the app is open."""
        return self.opened.done()

    async def wait(self) -> None:
        """Open the app now, and return when it is open."""
        self.begun.set()
        await asyncio.shield(self.opened)


@asynccontextmanager
async def open_in_background(app: App) -> AsyncGenerator[Opening]:
    """Open an app in a task of its own, and close it at the end in the same task.

    An error on opening ends the block and is raised, at the end of the block if nothing opened the app earlier.
    """
    opening = Opening()
    closing = asyncio.Event()
    user = asyncio.current_task()

    async def run() -> None:
        await opening.begun.wait()
        try:
            async with app:
                opening.opened.set_result(None)
                await closing.wait()
        except BaseException:
            if not opening.opened.done() and user is not None:
                opening.opened.cancel()
                user.cancel()
            raise

    task = asyncio.ensure_future(run())
    try:
        yield opening
    except asyncio.CancelledError:
        if task.done() and not task.cancelled() and task.exception() is not None and user is not None:
            user.uncancel()
        else:
            raise
    finally:
        closing.set()
        opening.begun.set()
        await task
