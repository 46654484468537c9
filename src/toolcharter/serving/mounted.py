"""An app inside another ASGI application, such as one of Starlette or FastAPI."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse

from mcp_core.app import App
from toolcharter.serving.server import front_of

_PATHS = ("", "/", "/mcp")
"""The path below its prefix."""


class MountedApp:
    """An ASGI application that serves one app: at `/mcp`, or at its prefix.

    Pass `lifespan` to the outer application, which opens the app with it; otherwise the first request opens the app.
    """

    def __init__(self, app: App) -> None:
        self._front = front_of(app)
        self._is_open = False
        self._opened: asyncio.Future[None] | None = None
        self._holding: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def lifespan(self, _: Any = None) -> AsyncGenerator[None]:
        """Opens the app, and closes it at the end."""
        async with self._front.lifespan():
            self._is_open = True
            try:
                yield
            finally:
                self._is_open = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":  # it is the outermost application
            return await Starlette(lifespan=self.lifespan)(scope, receive, send)
        root = scope.get("root_path", "")
        if scope["type"] != "http" or scope["path"].removeprefix(root) not in _PATHS:
            return await PlainTextResponse("Not Found", 404)(scope, receive, send)
        if not self._is_open:
            await self._open()
        return await self._front({**scope, "path": f"{root}/mcp"}, receive, send)

    async def _open(self) -> None:
        """Open the app in a task that closes it when the event loop ends its tasks."""
        if self._opened is None or self._holding is None or self._holding.done():
            self._opened = asyncio.get_running_loop().create_future()
            self._holding = asyncio.ensure_future(self._hold_open(self._opened))
        await asyncio.shield(self._opened)

    async def _hold_open(self, opened: asyncio.Future[None]) -> None:
        try:
            async with self.lifespan():
                opened.set_result(None)
                await asyncio.Event().wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)
