"""Several apps on one HTTP port, with a page that shows them, health and metrics."""

import errno
import importlib
import importlib.util
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mcp_core.app import App
from mcp_core.errors import CannotStart
from mcp_core.hosts.lane.http import HttpLane
from mcp_core.hosts.site.page import render_page, terminal_text
from mcp_core.settings import Settings
from mcp_core.telemetry import prometheus

_BACKLOG = 2048
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound to


class Site:
    """An ASGI application: each app at `/NAME/mcp`, a single one at `/mcp` as well, and the pages around them.

    Calls go straight to their app: a router would cost each of them as much as the call itself.
    """

    def __init__(self, apps: Sequence[App], base_url: str, greet: Callable[[], object] | None = None) -> None:
        """`greet` is called when all apps are open."""
        fronts = {app.name: _front(app) for app in apps}
        self._fronts = {f"/{name}/mcp": (f"/{name}", front) for name, front in fronts.items()}
        if len(apps) == 1:
            self._fronts["/mcp"] = ("", fronts[apps[0].name])
        self._opening = list(fronts.values())
        self._greet = greet
        self._failure: str | None = None
        self.pages = _pages(apps, base_url, self._lifespan)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        root, front = self._fronts.get(scope.get("path", ""), ("", None))
        if scope["type"] == "lifespan":
            return await self.pages(scope, receive, lambda message: send(self._in_words(message)))
        if front is None or scope["type"] != "http":
            return await self.pages(scope, receive, send)
        scope["root_path"] = root
        return await front(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            try:
                for front in self._opening:
                    await stack.enter_async_context(front.lifespan())
            except CannotStart as error:
                self._failure = str(error)
                raise
            if self._greet is not None:
                self._greet()
            yield

    def _in_words(self, message: Any) -> Any:
        """What is missing, instead of the stack that led there."""
        failed = self._failure is not None and message["type"] == "lifespan.startup.failed"
        return {**message, "message": self._failure} if failed else message


def _pages(apps: Sequence[App], base_url: str, lifespan: Callable[[Starlette], Any]) -> Starlette:
    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "servers": {app.name: app.version for app in apps}})

    async def metrics(_: Request) -> Response:
        return PlainTextResponse(prometheus(app.telemetry for app in apps), media_type="text/plain; version=0.0.4")

    async def page(_: Request) -> Response:
        return HTMLResponse(render_page(apps, base_url))

    routes = [Route("/", page), Route("/health", health), Route("/metrics", metrics)]
    return Starlette(routes=routes, lifespan=lifespan)


def _front(app: App) -> Any:
    """What answers at an app's address. The SDK is loaded only where it is asked for."""
    if app.settings.lane == "fast":
        return HttpLane(app)
    return importlib.import_module("mcp_core.hosts.sdk.server").HttpFront(app)


def serve_http(apps: Sequence[App], settings: Settings) -> None:
    """Serve until told to stop."""
    _refuse_open_doors(apps, settings)
    listener = _listen(settings)
    host, port = listener.getsockname()[:2]
    shown = settings.host if settings.host not in _EVERYWHERE else host
    base_url = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"

    def greet() -> None:
        sys.stderr.write(terminal_text(apps, base_url) + "\n")
        sys.stderr.flush()

    config = uvicorn.Config(Site(apps, base_url, greet), timeout_graceful_shutdown=5, **uvicorn_options())
    server = _Server(config)
    server.run(sockets=[listener])
    if server.interrupted:
        raise KeyboardInterrupt


class _Server(uvicorn.Server):
    """Remembers Ctrl+C, which uvicorn raises again at the end, where an event loop that closes may miss it."""

    interrupted = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.interrupted = self.interrupted or sig == signal.SIGINT
        super().handle_exit(sig, frame)


def uvicorn_options() -> dict[str, Any]:
    """How uvicorn serves us: quietly, without web sockets, and believing no header about where a caller sits."""
    options: dict[str, Any] = {"log_config": None, "access_log": False, "ws": "none", "proxy_headers": False}
    if importlib.util.find_spec("httptools") is not None:
        options["http"] = importlib.import_module("mcp_core.hosts.site.corked").CorkedProtocol
    return options


def _refuse_open_doors(apps: Sequence[App], settings: Settings) -> None:
    """Everyone on the network, with every permission: not by accident."""
    if settings.host in _LOOPBACK or settings.grants is not None or all(app.verifier for app in apps):
        return
    raise SystemExit(
        f"Refusing to listen on {settings.host}: anyone who reaches it could call every tool.\n"
        "Give --tokens FILE to let in only callers with a token, or --grants to say what everyone may do."
    )


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named TCP, so that asyncio turns Nagle's algorithm off: it would hold each answer back for 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        # From here on clients may connect: whoever reads the printed address can use it at once.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise SystemExit(f"Port {settings.port} on {settings.host} {reason}. Choose another with --port.") from None
    return listener
