"""Sign-ins that a call begins over HTTP: the governor's own pages, bound to the caller who began.

/govern/sign-in/ID    says who signs in where; the person proves to be that caller, and goes on to the server:
                      they are signed in to the console, or give their token where there is no console
/govern/callback      the browser comes back, and has to be the one in which the caller was identified

Somebody else who is lured to the first page cannot go on: they would sign in for the caller who sent them the address.
"""

import base64
import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from html import escape
from http import HTTPStatus
from urllib.parse import parse_qs, quote, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from mcp_core.app import App
from mcp_core.auth.oauth.addresses import is_loopback
from mcp_core.auth.oauth.authorization import read_redirect
from mcp_core.auth.oauth.challenge import Challenge
from mcp_core.auth.oauth.errors import OAuthError
from mcp_core.errors import PermissionDenied
from mcp_core.hosts.callers import MAX_TOKEN_LENGTH, NotIdentified, http_caller
from mcp_core.state.interface import StateUnavailable
from toolcharter.govern.oauth.attempts import SignIns
from toolcharter.govern.oauth.owners import SHARED, describe_owner, owner_of
from toolcharter.govern.oauth.records import Attempt
from toolcharter.govern.upstream.errors import UpstreamUnavailable

SIGN_IN = "/govern/sign-in"
CONSOLE_SIGN_IN = "/console/sign-in"
CALLBACK = "/govern/callback"
COOKIE = "toolcharter_sign_in"
_MAX_FORM_BYTES = 4 * MAX_TOKEN_LENGTH
_REUSE_SECONDS = 120.0
"""An attempt that ends sooner is not offered again."""
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}"
    "input,button{font:inherit;padding:.4rem .6rem;margin:.3rem 0}input{width:100%;box-sizing:border-box}"
    "code{word-break:break-all}.problem{color:#b00020}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#eee}.problem{color:#ff8a80}}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


FindToken = Callable[[Request], Awaitable[str]]
"""The token that a browser is signed in with; empty if it is not signed in."""


class SignInPages:
    """The pages, and the addresses that lead to them."""

    def __init__(self, app: App, servers: Mapping[str, SignIns], public_url: str) -> None:
        """`app` knows the callers. `public_url` is where browsers reach the site."""
        self._app, self._servers, self._public_url = app, servers, public_url.rstrip("/")
        self.find_token: FindToken | None = None
        """Finds the token of a person who is signed in to the console. Without one, the page asks for a token."""
        self._offered: dict[tuple[str, str, tuple[str, ...]], Attempt] = {}

    def routes(self) -> Sequence[Route]:
        """The routes beside the apps."""
        return [
            Route(f"{SIGN_IN}/{{number}}", self._show, methods=["GET"]),
            Route(f"{SIGN_IN}/{{number}}", self._go_on, methods=["POST"]),
            Route(CALLBACK, self._come_back, methods=["GET"]),
        ]

    async def invite(self, sign_ins: SignIns, owner: str, challenge: Challenge) -> str | None:
        """The address of the page for a caller; None where browsers cannot be sent back to us safely."""
        if owner == SHARED or not (self._public_url.startswith("https://") or is_loopback(self._public_url)):
            return None  # a sign-in for all callers is nothing that one of them decides
        key = sign_ins.server, owner, challenge.scopes
        attempt = self._offered.get(key)
        is_open = attempt is not None and sign_ins.store.attempt(attempt.id) is not None
        if attempt is None or not is_open or attempt.expires - time.time() < _REUSE_SECONDS:
            self._offered = {key: one for key, one in self._offered.items() if one.expires > time.time()}
            attempt = self._offered[key] = await sign_ins.begin(owner, challenge, f"{self._public_url}{CALLBACK}")
        return f"{self._public_url}{SIGN_IN}/{attempt.id}"

    async def _show(self, request: Request) -> Response:
        attempt = self._find(request.path_params["number"])
        return _gone() if attempt is None else self._form(attempt)

    async def _go_on(self, request: Request) -> Response:
        """The person is the caller who began, or nothing happens."""
        attempt = self._find(request.path_params["number"])
        if attempt is None:
            return _gone()
        if request.headers.get("origin") != _origin(self._public_url):
            return self._form(attempt, "The form came from another site. Try again.", HTTPStatus.FORBIDDEN)
        token = (await _read_form(request)).get("token", "").strip().removeprefix("Bearer ").strip()
        if not token and self._app.verifier is not None and self.find_token is not None:
            try:
                token = await self.find_token(request)
            except StateUnavailable:
                problem = "The server cannot reach what its processes share. Try again in a moment."
                return self._form(attempt, problem, HTTPStatus.SERVICE_UNAVAILABLE)
            if not token:
                console = f"{self._public_url}{CONSOLE_SIGN_IN}?next={quote(f'{SIGN_IN}/{attempt.id}')}"
                return RedirectResponse(console, HTTPStatus.SEE_OTHER, _headers(attempt))
        problem = await self._identify(request, attempt, token)
        if problem is not None:
            return self._form(attempt, problem, HTTPStatus.FORBIDDEN)
        cookie = secrets.token_urlsafe(32)
        self._servers[attempt.server].store.save_attempt(attempt.model_copy(update={"browser": _digest(cookie)}))
        response = RedirectResponse(attempt.authorization, HTTPStatus.SEE_OTHER, _headers(attempt))
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=int(attempt.expires - time.time()),
            path=urlsplit(self._public_url).path + CALLBACK,
            secure=self._public_url.startswith("https://"),
            httponly=True,
            samesite="lax",
        )
        return response

    async def _identify(self, request: Request, attempt: Attempt, token: str) -> str | None:
        """The problem with the person at this browser; None if they own the attempt."""
        try:
            caller = await http_caller(self._app, request.scope, f"Bearer {token}" if token else "")
            owner = owner_of(caller.key, attempt.server)
        except NotIdentified as refused:
            if refused.status != HTTPStatus.UNAUTHORIZED:
                return "The token cannot be verified now. Try again in a moment."
            return "This token is not valid here. It may have expired or been revoked."
        except PermissionDenied as error:
            return str(error)
        if owner != attempt.owner:
            return (
                f"This sign-in was begun by {describe_owner(attempt.owner)}, and you are {describe_owner(owner)}. "
                "If somebody sent you this address, they would act as you at the server."
            )
        return None

    async def _come_back(self, request: Request) -> Response:
        answer = read_redirect(request.url.query)
        number = answer.get("state", "").partition(".")[0]
        attempt = self._find(number)
        if attempt is None or attempt.browser is None:
            return _gone()
        cookie = request.cookies.get(COOKIE, "")
        if not secrets.compare_digest(_digest(cookie).encode(), attempt.browser.encode()):
            return _page("The sign-in was begun in another browser. Nothing was done.", HTTPStatus.FORBIDDEN)
        sign_ins = self._servers[attempt.server]
        claimed = sign_ins.store.claim_attempt(answer["state"])
        if claimed is None:
            return _gone()
        try:
            await sign_ins.finish(claimed, answer)
        except (OAuthError, UpstreamUnavailable) as error:
            return _page(f"The server {attempt.server!r} {error}", HTTPStatus.BAD_REQUEST)
        return _page(f"You are signed in to {attempt.server!r}. Go back to your agent; you can close this page.")

    def _find(self, number: str) -> Attempt | None:
        stores = {id(one.store): one.store for one in self._servers.values()}
        found = next((one for one in (store.attempt(number) for store in stores.values()) if one is not None), None)
        # An attempt of a command comes back to the command.
        is_ours = found is not None and found.redirect_uri == f"{self._public_url}{CALLBACK}"
        return found if is_ours and found is not None and found.server in self._servers else None

    def _form(self, attempt: Attempt, problem: str = "", status: HTTPStatus = HTTPStatus.OK) -> Response:
        who = describe_owner(attempt.owner)
        field = (
            f'<p><label for="token">To show that you are {escape(who)}, give your token for this governor, which '
            'your MCP client sends:</label><input id="token" name="token" type="password" required autofocus '
            'autocomplete="current-password" spellcheck="false"></p>'
            if self._app.verifier is not None and self.find_token is None
            else ""
        )
        warning = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
        body = (
            f"<h1>Sign in to {escape(attempt.server)}</h1>"
            f"<p>The governor will use <code>{escape(attempt.address)}</code> for calls of "
            f"<strong>{escape(who)}</strong>, with what you allow at <code>{escape(attempt.client.issuer)}</code>.</p>"
            f'{warning}<form method="post">{field}<button>Go on to sign in</button></form>'
            "<p>Did you not ask for this? Close the page; nothing happens.</p>"
        )
        return HTMLResponse(_document(body), status, _headers(attempt))


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()


async def _read_form(request: Request) -> dict[str, str]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_FORM_BYTES:
            return {}
    return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}


def _gone() -> Response:
    return _page("This sign-in is over, or never was. Call the tool again to begin another.", HTTPStatus.NOT_FOUND)


def _page(words: str, status: HTTPStatus = HTTPStatus.OK) -> Response:
    return HTMLResponse(_document(f"<p>{escape(words)}</p>"), status, _headers())


def _document(body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Sign in: toolcharter</title><style>{_STYLE}</style><main>{body}</main></html>"
    )


def _headers(attempt: Attempt | None = None) -> dict[str, str]:
    # A browser applies form-action to the redirect that follows a form, too.
    then = f" {_origin(attempt.authorization)}" if attempt is not None else ""
    return {
        "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'{then}; "
        "base-uri 'none'; frame-ancestors 'none'",
        "Cache-Control": "no-store",
        # Without any referrer, browsers do not say where a form comes from.
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
