"""Tokens from a code, a refresh token, or our own credentials."""

import base64
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote

from mcp_core.json_text import JsonObject
from toolcharter.govern.oauth import http
from toolcharter.govern.oauth.errors import ClientUnknown, GrantRejected, SignInFailed, SignInUnavailable
from toolcharter.govern.oauth.records import Attempt, Client, SignIn

_MAX_CODE_LENGTH = 60


class Tokens(NamedTuple):
    """What a token endpoint gave."""

    access_token: str
    refresh_token: str | None
    scopes: tuple[str, ...] | None
    expires: float | None

    def __repr__(self) -> str:
        return f"Tokens(expires={self.expires})"


async def exchange_code(attempt: Attempt, client: Client, code: str) -> Tokens:
    """Tokens for a code. Raises SignInFailed."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": attempt.redirect_uri,
        "code_verifier": attempt.verifier,
        "resource": attempt.resource,
    }
    return await _request(attempt.token_endpoint, client, form)


async def refresh(sign_in: SignIn) -> SignIn:
    """The sign-in with new tokens. Raises GrantRejected if it is over, or another SignInFailed."""
    form = {
        "grant_type": "refresh_token",
        "refresh_token": sign_in.refresh_token or "",
        "resource": sign_in.resource,
    }
    return with_tokens(sign_in, await _request(sign_in.token_endpoint, sign_in.client, form))


async def own_tokens(endpoint: str, client: Client, scopes: tuple[str, ...], resource: str) -> Tokens:
    """Tokens for the client itself. Raises SignInFailed."""
    form = {"grant_type": "client_credentials", "resource": resource}
    return await _request(endpoint, client, form | ({"scope": " ".join(scopes)} if scopes else {}))


async def revoke(sign_in: SignIn) -> None:
    """Tell the authorization server that the tokens are not used any more (RFC 7009). Raises SignInUnavailable."""
    if sign_in.revocation_endpoint is not None:
        form, headers = _signed({"token": sign_in.refresh_token or sign_in.access_token}, sign_in.client)
        await http.post_form(sign_in.revocation_endpoint, form, headers)


def with_tokens(sign_in: SignIn, tokens: Tokens) -> SignIn:
    """The sign-in with what a token endpoint gave. What it did not repeat stays."""
    return sign_in.model_copy(
        update={
            "access_token": tokens.access_token,
            "refresh_token": tokens.refresh_token or sign_in.refresh_token,
            "scopes": sign_in.scopes if tokens.scopes is None else tokens.scopes,
            "expires": tokens.expires,
        }
    )


async def _request(endpoint: str, client: Client, form: Mapping[str, str]) -> Tokens:
    answer = await http.post_form(endpoint, *_signed(form, client))
    if answer.status != HTTPStatus.OK:
        raise _refusal(answer.status, answer.fields, client.issuer)
    return _tokens(answer.fields, client.issuer)


def _signed(form: Mapping[str, str], client: Client) -> tuple[dict[str, str], dict[str, str]]:
    """A form and headers that say who we are."""
    # Some servers look for the client in the form even if it authenticates itself with a header.
    sent, headers = {**form, "client_id": client.client_id}, dict[str, str]()
    if client.auth_method == "client_secret_basic":
        pair = f"{quote(client.client_id, safe='')}:{quote(client.secret or '', safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif client.secret is not None:
        sent["client_secret"] = client.secret
    return sent, headers


def _tokens(fields: JsonObject, issuer: str) -> Tokens:
    access, kind = fields.get("access_token"), fields.get("token_type", "Bearer")
    if not isinstance(access, str) or not access.isascii() or not access.isprintable() or str(kind).lower() != "bearer":
        raise SignInFailed(f"cannot be signed in to: {issuer} gave no token that can be used.")
    refresh_token, scope, seconds = fields.get("refresh_token"), fields.get("scope"), fields.get("expires_in")
    return Tokens(
        access,
        refresh_token if isinstance(refresh_token, str) and refresh_token else None,
        tuple(scope.split()) if isinstance(scope, str) else None,
        time.time() + seconds if isinstance(seconds, int | float) else None,
    )


def _refusal(status: int, fields: JsonObject, issuer: str) -> SignInFailed:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
        return SignInUnavailable(f"cannot be signed in to now: {issuer} answered {status}. Try again later.")
    code = error_code(fields) or f"status {status}"
    if code == "invalid_grant":
        return GrantRejected(f"cannot be signed in to: {issuer} does not accept the grant ({code}).")
    if code == "invalid_client":
        return ClientUnknown(f"cannot be signed in to: {issuer} refused our client ({code}). Check its id and secret.")
    return SignInFailed(f"cannot be signed in to: {issuer} refused the request for a token ({code}).")


def error_code(fields: JsonObject) -> str | None:
    """The code of an OAuth error. Its description is somebody else's text, and is not shown."""
    code = fields.get("error")
    if isinstance(code, str) and code.isascii() and code.isprintable() and len(code) <= _MAX_CODE_LENGTH:
        return code
    return None
