"""Signing in with a token, and signing out."""

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from mcp_core.hosts.callers import MAX_TOKEN_LENGTH, NotIdentified
from toolcharter.console.layout import SIGN_IN, html_document
from toolcharter.console.page import CSRF_FIELD
from toolcharter.console.sessions import Tokens, set_cookie
from toolcharter.output.markup import Html, element, join

if TYPE_CHECKING:
    from toolcharter.console.console import Console

MAX_FORM_BYTES = 4 * MAX_TOKEN_LENGTH


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form, the first of each name; none of a form that is too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM_BYTES:
            return {}
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}


def local_path(text: str) -> str:
    """A path of this server to go on to; never another server."""
    is_local = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if is_local and text.isascii() else "/"


async def show_form(
    console: "Console", after: str, problem: str = "", status: int = HTTPStatus.OK, *, wrong_token: bool = False
) -> Response:
    """The form. It leads on to the path `after`; `problem` says why the last try failed."""
    after = local_path(after)
    form = await _token_form(console, after, wrong_token=wrong_token)
    help_text = element("p", _help(console), id="help", class_="note")
    if console.provider is None:
        parts = (form, help_text)
    else:
        issuer = urlsplit(console.provider.issuer).netloc
        at_provider = element("a", f"Sign in with {issuer}", href=console.provider.address(after), class_="button")
        instead = element("details", element("summary", "Use a token instead"), form, help_text, open=wrong_token)
        parts = (at_provider, instead)
    card = element("div", element("h1", "toolcharter"), _problem(problem), *parts)
    body = element("main", card, id="content", class_="sign-in")
    return HTMLResponse(html_document("Sign in", body), status)


def _problem(text: str) -> Html | None:
    return element("p", text, id="problem", class_="problem", role="alert") if text else None


async def _token_form(console: "Console", after: str, *, wrong_token: bool) -> Html:
    return element(
        "form",
        element("input", type="hidden", name=CSRF_FIELD, value=await console.sessions.csrf_token("")),
        element("input", type="hidden", name="next", value=after),
        element("label", "Token", for_="token"),
        element(
            "input",
            id="token",
            name="token",
            type="password",
            autocomplete="current-password",
            required=True,
            autofocus=console.provider is None,
            spellcheck="false",
            aria_describedby="help problem" if wrong_token else "help",
            aria_invalid="true" if wrong_token else None,
        ),
        element("button", "Sign in", type="submit"),
        method="post",
        action=SIGN_IN,
    )


def _help(console: "Console") -> Html:
    issuers = {app.identity.access.issuer for app in console.site.apps if app.identity and app.identity.access}
    also = f" An access token of {', '.join(sorted(issuers))} works too." if issuers else ""
    command = element("code", "toolcharter token create NAME")
    return join("The token that your MCP client sends. ", command, f" makes one.{also}")


async def take_form(console: "Console", request: Request) -> Response:
    """Sign in. The token is verified as that of every client is."""
    form = await read_form(request)
    after = local_path(form.get("next", "/"))
    if not await console.sessions.is_csrf_token("", form.get(CSRF_FIELD, "")):
        return await show_form(console, after, "The form was out of date. Try again.", HTTPStatus.FORBIDDEN)
    token = form.get("token", "").strip().removeprefix("Bearer ").strip()
    try:
        await console.viewers.with_token(request, token)
    except NotIdentified as refused:
        problem = "This token is not valid here. It may have expired or been revoked."
        if refused.status != HTTPStatus.UNAUTHORIZED:
            problem = "The token cannot be verified now. Try again in a moment."
        return await show_form(console, after, problem, refused.status, wrong_token=True)
    response = RedirectResponse(after, HTTPStatus.SEE_OTHER)
    set_cookie(response, request, await console.sessions.begin(Tokens(token)))
    return response
