"""The SDK's application behind the fast path, for the requests that the fast path does not handle."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from mcp_core.app import App
from mcp_core.mcp_log import get_logger

if TYPE_CHECKING:
    from mcp_core.hosts.sdk.server import HttpFront

logger = get_logger(__name__)


class SdkFallback:
    """Loads and opens the SDK's application when the first request needs it, in a task that also closes it.

    A failure is logged, and the next request tries again.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._opened: asyncio.Future[HttpFront | None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Closes the application at the end, if it was opened."""
        try:
            yield
        finally:
            self._closing.set()
            if self._task is not None:
                with suppress(asyncio.CancelledError):
                    await self._task

    async def application(self) -> "HttpFront | None":
        """The open application; None where it cannot be opened."""
        if self._opened is None or self._task is None or self._task.done():
            self._opened = asyncio.get_running_loop().create_future()
            self._task = asyncio.ensure_future(self._run(self._opened))
        return await asyncio.shield(self._opened)

    async def _run(self, opened: "asyncio.Future[HttpFront | None]") -> None:
        try:
            from mcp_core.hosts.sdk.server import HttpFront  # noqa: PLC0415 - 450 ms, and most clients never need it

            front = HttpFront(self._app)
            async with front.lifespan():
                opened.set_result(front)
                await self._closing.wait()
        except Exception:
            logger.exception("The MCP SDK could not be loaded; the next request that needs it tries again")
        finally:
            if not opened.done():
                opened.set_result(None)
