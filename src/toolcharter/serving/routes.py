"""The routes beside the MCP endpoints: the console, health and metrics.

Where callers need a token, so do these. Everyone sees the status of the health, and nothing else of it, and
where to get an access token.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Literal, NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from mcp_core.app import App
from mcp_core.hosts.callers import NotIdentified, is_known, site_caller
from mcp_core.hosts.resource_metadata import WELL_KNOWN, metadata_document
from mcp_core.state.interface import DependencyHealth
from toolcharter.serving.own_routes import routes_of
from toolcharter.serving.terminal import address

Phase = Literal["starting", "serving", "stopping"]
Status = Literal["ok", "degraded", "starting", "stopping", "unavailable"]
Page = Callable[[Request], Awaitable[Response]]

_READY = frozenset({"ok", "degraded"})
_NOT_READY_CODE = 503
_NO_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Not found</title></head>'
    '<body><h1>Not found</h1><p>This page does not exist. <a href="/">Go to the first page</a>.</p></body></html>'
)
_EVERY_ORIGIN = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}


class Readiness(NamedTuple):
    """Whether a site can serve calls, and the state of what it depends on."""

    status: Status
    dependencies: Sequence[tuple[str, DependencyHealth]] = ()
    """Each with the name of the server that depends on it."""

    @property
    def code(self) -> int:
        """The HTTP status."""
        return 200 if self.status in _READY else _NOT_READY_CODE

    def to_json(self) -> list[dict[str, Any]]:
        """The dependencies as probes and people read them."""
        return [
            {
                "server": server,
                "name": health.name,
                "status": "ok" if health.ok else "unavailable",
                "since": datetime.fromtimestamp(health.since, UTC).isoformat(timespec="seconds"),
                **({"detail": health.detail} if health.detail else {}),
            }
            for server, health in self.dependencies
        ]


async def readiness(apps: Sequence[App], phase: Phase) -> Readiness:
    """Try everything that the apps depend on. Without shared state or the issuer of tokens, an app serves with less."""
    if phase != "serving":
        return Readiness(phase)
    dependencies = [(app.name, health) for app in apps for health in await app.check_health()]
    shared = [(app.name, health) for app in apps if (health := await app.state.check_health()) is not None]
    # Without its issuer, an app serves callers whose tokens or keys it knows.
    shared += [(app.name, health) for app in apps for health in app.known_health()]
    status: Status = "ok"
    if not all(health.ok for _, health in shared):
        status = "degraded"
    if not all(health.ok for _, health in dependencies):
        status = "unavailable"
    return Readiness(status, [*dependencies, *shared])


class Routes:
    """The routes at all addresses except those of the servers."""

    def __init__(
        self,
        apps: Sequence[App],
        base_url: str,
        *,
        phase: Callable[[], Phase],
        metrics: Callable[[], Awaitable[str]],
        console: Sequence[BaseRoute] = (),
    ) -> None:
        """`console` are the routes of the web console; without them, `/` has only the addresses of the servers."""
        self._console = console
        self._apps, self._base_url, self._phase, self._metrics = apps, base_url, phase, metrics
        self._guarded = [app for app in apps if app.verifier is not None]

    def application(self, lifespan: Callable[[Starlette], Any]) -> Starlette:
        """All of it as an ASGI application."""
        routes: list[BaseRoute] = [
            *(self._console or [Route("/", self._protected(self._addresses))]),
            Route("/metrics", self._protected(self._show_metrics)),
            Route("/health", self._health),
            Route("/health/live", self._live),
            Route("/health/ready", self._ready),
            Route(WELL_KNOWN, self._resource_metadata, methods=["GET", "OPTIONS"]),
            Route(f"{WELL_KNOWN}/{{path:path}}", self._resource_metadata, methods=["GET", "OPTIONS"]),
        ]
        for app in self._apps:
            routes += app.pages(self._base_url) if app.pages is not None else ()
            routes += routes_of(app)
        return Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPStatus.NOT_FOUND: _not_found})

    async def _resource_metadata(self, request: Request) -> Response:
        """The protected-resource metadata. Pages of all origins may read it: it is the same for everyone."""
        document = metadata_document(self._apps, request.url.path)
        if document is None:
            return JSONResponse({}, 404)
        if request.method == "OPTIONS":  # a browser asks because of the header with the protocol version
            return Response(status_code=204, headers=_EVERY_ORIGIN)
        return JSONResponse(document, headers=_EVERY_ORIGIN | {"Cache-Control": "max-age=300"})

    async def _addresses(self, _: Request) -> Response:
        lines = (f"{app.title} {app.version}   {address(app, self._base_url)}" for app in self._apps)
        return PlainTextResponse("\n".join(lines) + "\n")

    async def _show_metrics(self, _: Request) -> Response:
        return PlainTextResponse(await self._metrics(), media_type="text/plain; version=0.0.4")

    async def _live(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _ready(self, request: Request) -> Response:
        state = await readiness(self._apps, self._phase())
        details = {"dependencies": state.to_json()} if await self._shows_details(request) else {}
        return JSONResponse({"status": state.status, **details}, state.code)

    async def _health(self, request: Request) -> Response:
        state = await readiness(self._apps, self._phase())
        servers: dict[str, Any] = {"servers": {app.name: app.version for app in self._apps}}
        if state.dependencies:
            servers["dependencies"] = state.to_json()
        details = servers if await self._shows_details(request) else {}
        return JSONResponse({"status": state.status, **details}, state.code)

    async def _shows_details(self, request: Request) -> bool:
        """Whether a probe gets more than the status: with a valid token, or where none is needed."""
        authorization = request.headers.get("authorization", "")
        return not self._guarded or await is_known(self._guarded, request.scope, authorization)

    def _protected(self, page: Page) -> Page:
        """A page that needs a token where calls do."""

        async def answer(request: Request) -> Response:
            refusal = await self._refusal(request)
            if refusal is None:
                return await page(request)
            return Response(refusal.body, refusal.status, {key.decode(): v.decode() for key, v in refusal.headers})

        return answer

    async def _refusal(self, request: Request) -> NotIdentified | None:
        """The answer to a request without a valid token, where one is needed."""
        if not self._guarded:
            return None
        try:
            await site_caller(self._guarded, request.scope, request.headers.get("authorization", ""))
        except NotIdentified as error:
            return error
        return None


async def _not_found(request: Request, _: Exception) -> Response:
    """The error for a path that does not exist: a page for a browser."""
    if "text/html" not in request.headers.get("accept", ""):
        return PlainTextResponse("Not Found", HTTPStatus.NOT_FOUND)
    return HTMLResponse(_NO_PAGE, HTTPStatus.NOT_FOUND)
