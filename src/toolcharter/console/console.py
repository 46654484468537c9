"""The routes of the console, and the checks before each page."""

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from mcp_core.app import App
from mcp_core.hosts.callers import NotIdentified
from mcp_core.mcp_log import get_logger
from mcp_core.state.interface import StateUnavailable
from mcp_core.state.subscribers import Subscribers
from toolcharter.console import forward, sign_in, static_files
from toolcharter.console.catalogue import Catalogue
from toolcharter.console.checks import Checks
from toolcharter.console.headers import SECURITY_HEADERS, is_same_origin
from toolcharter.console.layout import BEGIN_AT_PROVIDER, CALLBACK, SIGN_IN, SIGN_OUT, html_document
from toolcharter.console.page import CSRF_FIELD, BadParameter, ConsolePage, View
from toolcharter.console.pages import all_pages
from toolcharter.console.rights import waiting_for
from toolcharter.console.server_pages import pages_of_servers
from toolcharter.console.sessions import BrowserSessions, cookie_name, set_cookie
from toolcharter.console.viewer import Viewer, Viewers
from toolcharter.output.markup import element
from toolcharter.serving.server import Site

if TYPE_CHECKING:
    from toolcharter.console.provider import Provider
    from toolcharter.govern.governor import Governor

CSRF_HEADER = "x-csrf-token"
_FORM = "application/x-www-form-urlencoded"

logger = get_logger(__name__)

_UNAVAILABLE = "The server cannot reach what its processes share, which signed-in browsers need. Try again in a moment."
_HTML = "text/html"
_TITLES = {
    HTTPStatus.BAD_REQUEST: "Not understood",
    HTTPStatus.NOT_FOUND: "Not found",
    HTTPStatus.FORBIDDEN: "Not done",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not available",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong",
}

Endpoint = Callable[[Request], Awaitable[Response]]


class Console:
    """All pages of one site."""

    def __init__(self, site: Site, governor: "Governor | None" = None) -> None:
        """`governor` holds the servers of other people, where the site serves them."""
        self.site, self.governor = site, governor
        self.provider = _find_provider(site.apps)
        """The provider at which people sign in, if not with a token."""
        self.sessions = BrowserSessions(site.apps[0], self.provider)
        self.viewers = Viewers(site.apps, self.sessions)
        self.catalogue, self.checks = Catalogue(), Checks()
        # A governed server may have the name of one of ours, but it is another server, with tools of its own.
        own = [app for app in site.apps if governor is None or app.name not in governor.apps]
        self.pages = (
            *all_pages(),
            *pages_of_servers(own),
            *forward.PAGES,
            ConsolePage("/console/{path:path}", _no_such_page),
        )
        self.navigation = sorted((page for page in self.pages if page.label), key=lambda page: page.place)
        self.approval_changes: Subscribers[None] = Subscribers()
        """Changes of confirmations: one begins to wait, or does not wait any more."""
        self._origins = tuple(site.settings.allow_origins)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Let people confirm calls here."""
        async with AsyncExitStack() as stack:
            for app in self.site.apps:
                await stack.enter_async_context(app.confirm_in_console(self.approval_changes))
            if self.provider is not None:
                stack.push_async_callback(self.provider.close)
            if self.governor is not None and self.governor.sign_ins.pages is not None:
                self.governor.sign_ins.pages.find_token = self.viewers.find_token
            yield

    def stop(self) -> None:
        """End all streams, and the calls that wait for a person here."""
        self.approval_changes.stop()
        for app in self.site.apps:
            if app.approvals is not None:
                app.approvals.stop()
        if self.site.call_log is not None:
            self.site.call_log.feed.stop()

    def routes(self) -> Sequence[BaseRoute]:
        """The routes of the console."""
        return [
            Route(f"{static_files.PATH}/{{digest}}/{{name}}", _secured(static_files.answer_file)),
            Route(SIGN_IN, _secured(self._show_sign_in)),
            Route(SIGN_IN, _secured(self._sign_in), methods=["POST"]),
            Route(SIGN_OUT, _secured(self._sign_out), methods=["POST"]),
            *self._provider_routes(),
            *(self._route(page) for page in self.pages),
        ]

    def _provider_routes(self) -> Sequence[Route]:
        if (provider := self.provider) is None:
            return ()

        from toolcharter.console import provider_sign_in  # noqa: PLC0415 - loaded with the provider

        async def begin(request: Request) -> Response:
            return await provider_sign_in.begin(self, provider, request)

        async def come_back(request: Request) -> Response:
            return await provider_sign_in.come_back(self, provider, request)

        return [Route(BEGIN_AT_PROVIDER, _secured(begin)), Route(CALLBACK, _secured(come_back))]

    def _route(self, page: ConsolePage) -> Route:
        async def answer(request: Request) -> Response:
            return await self._answer(page, request)

        return Route(page.path, _secured(answer), methods=["POST"] if page.changes else ["GET"])

    async def _answer(self, page: ConsolePage, request: Request) -> Response:
        """A page, after all checks."""
        try:
            viewer = await self.viewers.find(request)
        except NotIdentified as refused:
            return _ask_to_sign_in(request, refused)
        form: dict[str, str] = {}
        if page.changes:
            if request.headers.get("content-type", "").startswith(_FORM):
                form = await sign_in.read_form(request)
            if problem := await self._forged(request, viewer, form):
                return problem
        csrf = await self.sessions.csrf_token(viewer.secret)
        waiting = await self._count_waiting(request, viewer)
        return await page.answer(View(self, request, viewer, csrf, form, waiting))

    async def _count_waiting(self, request: Request, viewer: Viewer) -> int:
        """How many confirmations wait for a viewer of a page; 0 if that cannot be known."""
        if not _is_for_person(request):
            return 0
        with suppress(StateUnavailable):
            return len(await waiting_for(viewer))
        return 0

    async def _forged(self, request: Request, viewer: Viewer, form: dict[str, str]) -> Response | None:
        """The error for a change that no page of ours asked for."""
        if viewer.sent_token:
            return None  # no other site can send an Authorization header
        if not is_same_origin(request, self._origins):
            return _problem(request, HTTPStatus.FORBIDDEN, "This request comes from a page of another origin.")
        token = form.get(CSRF_FIELD) or request.headers.get(CSRF_HEADER, "")
        if not await self.sessions.is_csrf_token(viewer.secret, token):
            return _problem(request, HTTPStatus.FORBIDDEN, "The page is out of date. Load it again.")
        return None

    # --- signing in and out ----------------------------------------------------------------------------

    async def _show_sign_in(self, request: Request) -> Response:
        if not self.viewers.need_token:
            return RedirectResponse("/", HTTPStatus.SEE_OTHER)
        after = request.query_params.get("next", "/")
        if not request.cookies.get(cookie_name(request)):
            return await sign_in.show_form(self, after)
        try:
            await self.viewers.find(request)
        except NotIdentified:
            return await sign_in.show_form(self, after, "You are signed out: the session or its token has ended.")
        return RedirectResponse(sign_in.local_path(after), HTTPStatus.SEE_OTHER)

    async def _sign_in(self, request: Request) -> Response:
        if not is_same_origin(request, self._origins):
            return PlainTextResponse("This request comes from a page of another origin.", HTTPStatus.FORBIDDEN)
        return await sign_in.take_form(self, request)

    async def _sign_out(self, request: Request) -> Response:
        response = RedirectResponse(SIGN_IN, HTTPStatus.SEE_OTHER)
        try:
            viewer = await self.viewers.find(request)
        except NotIdentified:
            set_cookie(response, request, None)
            return response
        if problem := await self._forged(request, viewer, await sign_in.read_form(request)):
            return problem
        if viewer.session is not None:
            await self.sessions.end(viewer.session)
        set_cookie(response, request, None)
        return response


def _find_provider(apps: Sequence[App]) -> "Provider | None":
    """The identity provider of the apps; None where people cannot sign in at one."""
    for app in apps:
        access = app.identity.access if app.identity is not None else None
        if access is not None and app.settings.oidc_client is not None:
            from toolcharter.console.provider import Provider  # noqa: PLC0415 - 60 ms, loaded with the access tokens

            return Provider(access, apps)
    return None


def _is_for_person(request: Request) -> bool:
    """Whether a browser wants a page, not a script or a program its data."""
    return "text/html" in request.headers.get("accept", "")


def _ask_to_sign_in(request: Request, refused: NotIdentified) -> Response:
    """For a browser the form to sign in, for a program the same answer as at an MCP endpoint."""
    if _is_for_person(request) and refused.status == HTTPStatus.UNAUTHORIZED:
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"{SIGN_IN}?next={quote(path)}", HTTPStatus.SEE_OTHER)
    return Response(refused.body, refused.status, {key.decode(): value.decode() for key, value in refused.headers})


def _secured(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose responses have the security headers."""

    async def answer(request: Request) -> Response:
        try:
            response = await endpoint(request)
        except StateUnavailable:
            response = _problem(request, HTTPStatus.SERVICE_UNAVAILABLE, _UNAVAILABLE)
        except BadParameter as error:
            response = _problem(request, HTTPStatus.BAD_REQUEST, str(error))
        except Exception:
            error_id = f"err-{os.urandom(6).hex()}"
            logger.exception("The page %s failed. Error id %s", request.url.path, error_id)
            words = f"An error in the server. Its log has the details, under the id {error_id}."
            response = _problem(request, HTTPStatus.INTERNAL_SERVER_ERROR, words)
        if response.status_code == HTTPStatus.NOT_FOUND and _is_for_person(request) and response.media_type != _HTML:
            response = _problem(request, HTTPStatus.NOT_FOUND, "This page does not exist.")
        response.headers.setdefault("Cache-Control", "no-store")
        for name, value in SECURITY_HEADERS.items():
            response.headers[name] = value
        return response

    return answer


async def _no_such_page(view: View) -> Response:
    if (path := view.path.rstrip("/")) != view.path:
        return RedirectResponse(path)
    return view.not_found("This page does not exist.")


def _problem(request: Request, status: HTTPStatus, words: str) -> Response:
    """An error: for a person a page, for a script or a program JSON."""
    if not _is_for_person(request):
        return JSONResponse({"error": words}, status)
    links = element("p", element("a", "Load it again", href=""), " or ", element("a", "go to the first page", href="/"))
    body = element("main", element("h1", _TITLES[status]), element("p", words), links, id="content")
    return HTMLResponse(html_document(_TITLES[status], body), status)
