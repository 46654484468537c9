"""Several apps on one HTTP port, with a console for people, health and metrics."""

import asyncio
import importlib.util
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute

from mcp_core.app import App
from mcp_core.hosts.addresses import paths
from mcp_core.hosts.callers import allowed_hosts, is_allowed, record_http
from mcp_core.hosts.fast_path.asgi import TOO_LARGE, HttpResponse
from mcp_core.hosts.fast_path.http import HttpFastPath
from mcp_core.hosts.sdk import loading_sdk
from mcp_core.logs.telemetry import LoopLag, prometheus
from toolcharter.call_log import CallLog
from toolcharter.call_log.opening import DEFAULT_SECONDS, keep_calls
from toolcharter.serving import cors
from toolcharter.serving.calls import Calls, HttpCounts, refusal
from toolcharter.serving.connections import ConnectionLimits, Connections
from toolcharter.serving.proxies import TrustedProxies
from toolcharter.serving.routes import Phase, Routes

if TYPE_CHECKING:
    from mcp_core.hosts.sdk.server import HttpFront


_VERSIONS = ("1.1", "1.0")
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]++\]|[^\[\]:@/\s]*+)(?::[0-9]{0,5})?")
_FOR_PROBES = ("/health", "/metrics", "/.well-known/")
"""Probes and collectors use the address of the machine, so these paths are served under every name."""


class WebConsole(Protocol):
    """The web console: pages at `/` and below `/console/`."""

    def routes(self) -> Sequence[BaseRoute]:
        """Its routes. It checks its callers itself; the Host header was checked before."""
        ...

    def open(self) -> AbstractAsyncContextManager[None]:
        """Entered after the apps are open, and left before they close."""
        ...

    def stop(self) -> None:
        """End what would never end by itself: the server drains."""
        ...


MakeConsole = Callable[["Site"], WebConsole]
"""Calls that people make in the console go to the site itself, an ASGI application, as those of all other clients."""


class Site:
    """An ASGI application: each app at `/NAME/mcp`, a single one at `/mcp` as well, and the console.

    Requests go straight to their app: a router would cost each call as much as the call itself.
    """

    def __init__(
        self,
        apps: Sequence[App],
        base_url: str,
        on_open: Callable[[], object] | None = None,
        metrics: Callable[[], Awaitable[str]] | None = None,
        console: MakeConsole | None = None,
    ) -> None:
        """`on_open` is called when all apps are open. `metrics` gives the text of /metrics instead of this process."""
        fronts = {app.name: front_of(app) for app in apps}
        self._apps_by_path = {path: app for app in apps for path in paths(app, apps)}
        self._fronts = {path: (path.removesuffix("/mcp"), fronts[app.name]) for path, app in self._apps_by_path.items()}
        settings = self.settings = apps[0].settings
        self._hosts = frozenset(allowed_hosts(settings))
        self._browser_origins = frozenset(settings.allow_origins)
        self._lifespans = [front.lifespan for front in fronts.values()]
        self.apps, self.base_url, self._on_open = apps, base_url, on_open
        self.proxies = TrustedProxies(settings.trusted_proxies) if settings.trusted_proxies else None
        self.phase: Phase = "starting"
        self.call_log: CallLog | None = None
        """The record of recent calls of all apps; None if none is kept."""
        self.counts = HttpCounts()
        self.calls = Calls(settings.max_calls, self.counts)
        self.connections = Connections(ConnectionLimits.of(settings), self.counts, self.proxies)
        self._max_body = settings.max_body_bytes
        self._console = console(self) if console is not None and not settings.no_console else None
        routes = Routes(
            apps,
            base_url,
            phase=lambda: self.phase,
            metrics=metrics or self.metrics,
            console=self._console.routes() if self._console is not None else (),
        )
        self.pages = routes.application(lambda _: self.open())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        root, front = self._fronts.get(scope.get("path", ""), ("", None))
        if scope["type"] == "lifespan":
            return await self.pages(scope, receive, send)
        if scope["type"] == "http" and (problem := _head_problem(scope)):
            return await problem(scope, receive, send)
        if self.proxies is not None:
            self.proxies.apply(scope)
        if front is None or scope["type"] != "http":
            if not scope["path"].startswith(_FOR_PROBES) and not is_allowed(_header(scope, b"host"), self._hosts):
                return await PlainTextResponse("Invalid Host header", 421)(scope, receive, send)
            return await self.pages(scope, receive, send)
        if self._browser_origins and (origin := _header(scope, b"origin")) in self._browser_origins:
            if scope["method"] == "OPTIONS":
                return await cors.preflight(scope, origin)(scope, receive, send)
            send = cors.with_headers(send, origin)
        if not self.calls.begin():
            return await self._refuse(self.calls.refusal(), scope, send)
        try:
            await self._answer_call(front, root, scope, receive, send)
        finally:
            self.calls.end()

    async def _answer_call(
        self, front: "HttpFastPath | HttpFront", root: str, scope: Any, receive: Any, send: Any
    ) -> None:
        """Answer a request within the limits of its body, also if the end of the server cuts it off."""
        length = _header(scope, b"content-length")
        if length.isdecimal() and int(length) > self._max_body:
            return await self._refuse(self._body_too_large(), scope, send)
        if _header(scope, b"transfer-encoding"):
            send = self._with_body_limit(send)
        scope["root_path"] = root
        try:
            await front(scope, receive, send)
        except asyncio.CancelledError:
            if not self.calls.draining:
                raise
            with suppress(RuntimeError):  # the response has begun
                await self.calls.refusal().send(send)

    async def _refuse(self, response: HttpResponse, scope: Any, send: Any) -> None:
        record_http(self._apps_by_path[scope["path"]], scope, response.status)
        await response.send(send)

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

    def fast_path_at(self, path: str, origin: str | None) -> HttpFastPath | None:
        """The app that answers a URL without ASGI; None where its requests need what only this class does."""
        _, front = self._fronts.get(path, ("", None))
        if self.settings.fast_path != "on" or origin in self._browser_origins:
            return None
        return front if isinstance(front, HttpFastPath) else None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open all apps, and close them at the end."""
        async with AsyncExitStack() as stack:
            for lifespan in self._lifespans:
                await stack.enter_async_context(lifespan())
            for app in self.apps:
                stack.enter_context(app.share_calls(self.calls.shares))
            by_default = 0.0 if self._console is None else DEFAULT_SECONDS
            self.call_log = await stack.enter_async_context(keep_calls(self.apps, self.settings, by_default))
            if self._console is not None:
                await stack.enter_async_context(self._console.open())
            lag = LoopLag()
            lag.start()
            stack.callback(lag.stop)
            self.counts.telemetry.add_source(lag.samples)
            stack.callback(self.counts.telemetry.remove_source, lag.samples)
            self.phase = "serving"
            if self._on_open is not None:
                self._on_open()
            yield

    def stop(self) -> None:
        """Refuse calls from now on, and answer that the server is not ready. Calls in progress go on."""
        self.phase = "stopping"
        self.calls.draining = True
        if self._console is not None:
            self._console.stop()
        for app in self.apps:
            if app.changes is not None:
                app.changes.stop()

    async def metrics(self) -> str:
        """The figures of this process, for Prometheus."""
        return prometheus([*(app.telemetry for app in self.apps), self.counts.telemetry])


def _head_problem(scope: Any) -> PlainTextResponse | None:
    """The error for a head that two servers could understand in two ways."""
    if scope["http_version"] not in _VERSIONS:
        return PlainTextResponse("Send HTTP/1.1.", HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
    if sum(name == b"host" for name, _ in scope["headers"]) > 1:
        return PlainTextResponse("Send one Host header.", HTTPStatus.BAD_REQUEST)
    if not _HOST.fullmatch(_header(scope, b"host")):
        return PlainTextResponse("The Host header is not a name and a port.", HTTPStatus.BAD_REQUEST)
    return None


def _header(scope: Any, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def front_of(app: App) -> "HttpFastPath | HttpFront":
    """The application at an app's address."""
    if app.settings.fast_path != "off":
        return HttpFastPath(app)
    with loading_sdk():
        from mcp_core.hosts.sdk.server import HttpFront  # noqa: PLC0415 - 450 ms, and the fast path is the default
    return HttpFront(app)


def uvicorn_options(site: Site) -> dict[str, Any]:
    """Options for uvicorn: no logs, no web sockets, no trust in headers that name the caller's address, and limits."""
    options: dict[str, Any] = {"log_config": None, "access_log": False, "ws": "none", "proxy_headers": False}
    if importlib.util.find_spec("httptools") is None:
        from toolcharter.serving.h11_protocol import LimitedH11Protocol  # noqa: PLC0415 - only without httptools

        protocol = partial(LimitedH11Protocol, connections_open=site.connections)
        return options | {"http": protocol, "h11_max_incomplete_event_size": site.settings.max_head_bytes}
    from toolcharter.serving.direct_calls import DirectCalls  # noqa: PLC0415 - the same
    from toolcharter.serving.direct_heads import DirectHeads  # noqa: PLC0415 - the same
    from toolcharter.serving.http_protocol import HttpProtocol  # noqa: PLC0415 - needs httptools, an extra

    heads = DirectHeads(site.fast_path_at, ConnectionLimits.of(site.settings), site.proxies)
    direct = DirectCalls(heads, site.calls, [app.requests for app in site.apps])
    return options | {"http": partial(HttpProtocol, connections_open=site.connections, direct=direct)}
