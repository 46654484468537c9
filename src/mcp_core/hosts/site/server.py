"""Several apps on one HTTP port, with a page that shows them, health and metrics."""

import errno
import importlib.util
import logging
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mcp_core.app import App
from mcp_core.hosts.callers import allowed_hosts, is_allowed
from mcp_core.hosts.lane.asgi import TOO_LARGE, HttpResponse
from mcp_core.hosts.lane.http import HttpLane
from mcp_core.hosts.sdk import loading_sdk
from mcp_core.hosts.site import cors
from mcp_core.hosts.site.calls import Calls, HttpCounts, refusal
from mcp_core.hosts.site.page import render_page, terminal_text
from mcp_core.interrupt import exit_after
from mcp_core.settings import Settings
from mcp_core.start_errors import CannotStart, InvalidSetting
from mcp_core.telemetry import prometheus

if TYPE_CHECKING:
    from mcp_core.hosts.sdk.server import HttpFront

_BACKLOG = 2048
DRAIN_SECONDS = 5
"""How long running calls may go on after the server was stopped."""
_EXIT_SECONDS = 2.0
"""How long closing may take after that."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound to


class Site:
    """An ASGI application: each app at `/NAME/mcp`, a single one at `/mcp` as well, and the pages.

    Requests go straight to their app: a router would cost each call as much as the call itself.
    """

    def __init__(self, apps: Sequence[App], base_url: str, on_open: Callable[[], object] | None = None) -> None:
        """`on_open` is called when all apps are open."""
        fronts = {app.name: _front(app) for app in apps}
        self._fronts = {f"/{name}/mcp": (f"/{name}", front) for name, front in fronts.items()}
        if len(apps) == 1:
            self._fronts["/mcp"] = ("", fronts[apps[0].name])
        settings = apps[0].settings
        self._hosts = frozenset(allowed_hosts(settings))
        self._browser_origins = frozenset(settings.allow_origins)
        self._lifespans = [front.lifespan for front in fronts.values()]
        self._on_open = on_open
        self.counts = HttpCounts()
        self.calls = Calls(settings.max_calls, self.counts)
        self._max_body = settings.max_body_bytes
        self.pages = _pages(apps, base_url, lambda _: self.open(), self.counts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        root, front = self._fronts.get(scope.get("path", ""), ("", None))
        if scope["type"] == "lifespan":
            return await self.pages(scope, receive, send)
        if front is None or scope["type"] != "http":
            # /health and /metrics stay open: probes and collectors use the address of the machine.
            if scope.get("path") == "/" and not is_allowed(_header(scope, b"host"), self._hosts):
                return await PlainTextResponse("Invalid Host header", 421)(scope, receive, send)
            return await self.pages(scope, receive, send)
        if self._browser_origins and (origin := _header(scope, b"origin")) in self._browser_origins:
            if scope["method"] == "OPTIONS":
                return await cors.preflight(scope, origin)(scope, receive, send)
            send = cors.with_headers(send, origin)
        if not self.calls.accepted:
            return await self.calls.refusal().send(send)
        length = _header(scope, b"content-length")
        if length.isdecimal() and int(length) > self._max_body:
            return await self._body_too_large().send(send)
        if _header(scope, b"transfer-encoding"):
            send = self._with_body_limit(send)
        scope["root_path"] = root
        self.calls.begin()
        try:
            await front(scope, receive, send)
        finally:
            self.calls.end()

    def _body_too_large(self) -> HttpResponse:
        message = f"The body is larger than {self._max_body} bytes. Send less in one request."
        return refusal(TOO_LARGE, "body_too_large", message, self.counts)

    def _with_body_limit(self, send: Any) -> Any:
        """A `send` for a body of unknown length: the 413 of whoever reads the body is sent as ours."""

        async def send_limited(message: Any) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and message["status"] == TOO_LARGE:
                refused = True
                await self._body_too_large().send(send)
            elif not refused:
                await send(message)

        refused = False
        return send_limited

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open all apps, and close them at the end."""
        async with AsyncExitStack() as stack:
            for lifespan in self._lifespans:
                await stack.enter_async_context(lifespan())
            if self._on_open is not None:
                self._on_open()
            yield


def _header(scope: Any, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _pages(apps: Sequence[App], base_url: str, lifespan: Callable[[Starlette], Any], counts: HttpCounts) -> Starlette:
    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "servers": {app.name: app.version for app in apps}})

    async def metrics(_: Request) -> Response:
        text = prometheus([*(app.telemetry for app in apps), counts.telemetry])
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def page(_: Request) -> Response:
        return HTMLResponse(render_page(apps, base_url))

    routes = [Route("/", page), Route("/health", health), Route("/metrics", metrics)]
    return Starlette(routes=routes, lifespan=lifespan)


def _front(app: App) -> "HttpLane | HttpFront":
    """The application at an app's address."""
    if app.settings.lane == "fast":
        return HttpLane(app)
    with loading_sdk():
        from mcp_core.hosts.sdk.server import HttpFront  # noqa: PLC0415 - 450 ms, and the fast lane is the default
    return HttpFront(app)


def serve_http(apps: Sequence[App], settings: Settings) -> None:
    """Serve until a signal stops the process."""
    _refuse_open_server(apps, settings)
    with _listen(settings) as listener:
        base_url = _base_url(settings, listener)

        def print_addresses() -> None:
            sys.stderr.write(terminal_text(apps, base_url) + "\n")
            sys.stderr.flush()

        site = Site(apps, base_url, print_addresses)
        config = uvicorn.Config(site, lifespan="off", timeout_graceful_shutdown=DRAIN_SECONDS, **uvicorn_options())
        server = _Server(site, config)
        server.run(sockets=[listener])
    if server.interrupted:
        raise KeyboardInterrupt


def _base_url(settings: Settings, listener: socket.socket) -> str:
    address, port = listener.getsockname()[:2]
    host = settings.host if settings.host not in _EVERYWHERE else address
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class _Server(uvicorn.Server):
    """Opens the apps itself, as uvicorn would log why they cannot start, and exit with a code of its own.

    Remembers Ctrl+C: uvicorn raises it again at the end, where a closing event loop may lose it.
    """

    interrupted = False

    def __init__(self, site: Site, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._site, self._stack = site, AsyncExitStack()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self._stack.enter_async_context(self._site.open())
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if running := len(self.server_state.tasks):
            calls = "1 call that is" if running == 1 else f"{running} calls that are"
            sys.stderr.write(f"Waiting up to {DRAIN_SECONDS} seconds for {calls} running. Ctrl+C stops at once.\n")
        # uvicorn logs each call that it ends, with its stack.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)
        await self._stack.aclose()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # A second Ctrl+C ends the calls that still run.
        exit_after(_EXIT_SECONDS + (0 if self.should_exit else DRAIN_SECONDS), sig)
        self.interrupted = self.interrupted or sig == signal.SIGINT
        super().handle_exit(sig, frame)


def uvicorn_options() -> dict[str, Any]:
    """Options for uvicorn: no logs, no web sockets, and no trust in headers that name the caller's address."""
    options: dict[str, Any] = {"log_config": None, "access_log": False, "ws": "none", "proxy_headers": False}
    if importlib.util.find_spec("httptools") is not None:
        from mcp_core.hosts.site.corked import CorkedProtocol  # noqa: PLC0415 - needs httptools, an extra

        options["http"] = CorkedProtocol
    return options


def _refuse_open_server(apps: Sequence[App], settings: Settings) -> None:
    """A server must not give everyone on the network every permission by accident."""
    if settings.host in _LOOPBACK or settings.grants is not None or all(app.verifier for app in apps):
        return
    raise InvalidSetting(
        f"Refusing to listen on {settings.host}: anyone who reaches it could call every tool.\n"
        "Give --tokens FILE to let in only callers with a token, or --grants to say what everyone may do."
    )


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With TCP named, asyncio turns Nagle's algorithm off, which would delay each response by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        # Clients can connect from here on, so the address works as soon as it is printed.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise CannotStart(f"Port {settings.port} on {settings.host} {reason}. Choose another with --port.") from None
    return listener
