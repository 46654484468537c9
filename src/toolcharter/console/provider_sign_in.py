"""The way to the identity provider and back."""

import re
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mcp_core.auth import IdentityUnavailable
from mcp_core.auth.oauth.authorization import read_redirect
from mcp_core.auth.oauth.errors import AccessNotGranted, OtherIssuer
from mcp_core.hosts.callers import NotIdentified
from toolcharter.console.layout import html_document
from toolcharter.console.sessions import cookie_name, set_cookie
from toolcharter.console.sign_in import local_path, show_form
from toolcharter.output.markup import element

if TYPE_CHECKING:
    from toolcharter.console.console import Console
    from toolcharter.console.provider import Provider

_PURPOSE = "-begun"
_SECONDS = 600
"""How long a person may take at the provider."""
_MAX_PATH_LENGTH = 1000
_CODE = re.compile(r"[a-z_]{1,40}")


async def begin(console: "Console", provider: "Provider", request: Request) -> Response:
    """Send the browser to the provider. It keeps a secret, and where to go on to afterwards."""
    after, secret = local_path(request.query_params.get("next", "/")), secrets.token_urlsafe(32)
    try:
        response = RedirectResponse(await provider.authorization(secret), HTTPStatus.SEE_OTHER)
    except IdentityUnavailable:
        return await show_form(console, after, "The identity provider cannot be reached. Try again in a moment.", 503)
    cookie = f"{secret}{quote(after) if len(after) <= _MAX_PATH_LENGTH else '/'}"
    _set_cookie(response, request, cookie)
    return response


async def come_back(console: "Console", provider: "Provider", request: Request) -> Response:
    """Sign in with what the provider answered, in the browser that was sent there."""
    cookie, answer = request.cookies.get(cookie_name(request, _PURPOSE), ""), read_redirect(request.url.query)
    secret, slash, path = cookie.partition("/")
    after = local_path(unquote(slash + path))
    if not secret or not provider.is_answer_to(secret, answer.get("state", "")):
        problem = "The sign-in was begun in another browser, or took too long. Try again."
        return await show_form(console, after, problem, HTTPStatus.FORBIDDEN)
    try:
        tokens = await provider.exchange(secret, answer)
        await console.viewers.with_token(request, tokens.access)
    except OtherIssuer:
        problem = "The answer comes from another identity provider. Try again."
        return await show_form(console, after, problem, HTTPStatus.FORBIDDEN)
    except AccessNotGranted as error:
        named = f" ({error.reason})" if _CODE.fullmatch(error.reason) else ""
        problem = f"The identity provider did not sign you in{named}."
        return await show_form(console, after, problem, HTTPStatus.FORBIDDEN)
    except IdentityUnavailable:
        problem = "The identity provider did not accept the sign-in. Try again; the log of the server has the reason."
        return await show_form(console, after, problem, HTTPStatus.BAD_GATEWAY)
    except NotIdentified:
        problem = "You are signed in there, but the token is not valid here. The log of the server has the reason."
        return await show_form(console, after, problem, HTTPStatus.FORBIDDEN)
    # The cookie of a session is not sent in a redirect that another site began, so the browser goes on by itself.
    body = element("main", element("p", "You are signed in. ", element("a", "Go on", href=after)), id="content")
    response = HTMLResponse(html_document("Signed in", body, then=after))
    set_cookie(response, request, await console.sessions.begin(tokens))
    _set_cookie(response, request, "")
    return response


def _set_cookie(response: Response, request: Request, value: str) -> None:
    response.set_cookie(
        cookie_name(request, _PURPOSE),
        value,
        max_age=_SECONDS if value else 0,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",  # it has to come back from another site
    )
