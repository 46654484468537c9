"""Token requests (RFC 6749) with resource indicators (RFC 8707), and revocation (RFC 7009)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from mcp_core.auth.oauth.clients import OAuthClient
from mcp_core.auth.oauth.errors import ClientUnknown, GrantRejected, OAuthError, OAuthUnavailable, error_code
from mcp_core.auth.oauth.http import JsonResponse, OAuthHttp
from mcp_core.text.json_text import JsonObject


class TokenResponse(NamedTuple):
    """The answer of a token endpoint. Its repr has no secret."""

    access_token: str
    refresh_token: str | None = None
    scopes: tuple[str, ...] | None = None
    expires_in: float | None = None

    def __repr__(self) -> str:
        return f"TokenResponse(expires_in={self.expires_in})"

    @classmethod
    def of(cls, fields: JsonObject, issuer: str) -> "TokenResponse":
        """From the fields of an answer. Raises OAuthError if it has no token that can be used."""
        access, kind = fields.get("access_token"), fields.get("token_type", "Bearer")
        is_text = isinstance(access, str) and access.isascii() and access.isprintable()
        if not is_text or not access or str(kind).lower() != "bearer":
            raise OAuthError(f"cannot be signed in to: {issuer} gave no token that can be used.", status=HTTPStatus.OK)
        refresh_token, scope, seconds = fields.get("refresh_token"), fields.get("scope"), fields.get("expires_in")
        return cls(
            access,
            refresh_token if isinstance(refresh_token, str) and refresh_token else None,
            tuple(scope.split()) if isinstance(scope, str) else None,
            seconds if isinstance(seconds, int | float) else None,
        )


def code_grant(code: str, redirect_uri: str, verifier: str) -> dict[str, str]:
    """The form that exchanges a code."""
    return {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }


def refresh_grant(refresh_token: str) -> dict[str, str]:
    """The form that renews tokens."""
    return {"grant_type": "refresh_token", "refresh_token": refresh_token}


async def request_tokens(
    http: OAuthHttp, endpoint: str, client: OAuthClient, form: Mapping[str, str], *, as_json: bool = False
) -> TokenResponse:
    """Tokens for a grant. Raises GrantRejected if it is over, or another OAuthError."""
    sent, headers = client.authenticate(form)
    post = http.post_json if as_json else http.post_form
    response = await post(endpoint, sent, headers)
    if response.status != HTTPStatus.OK:
        raise _refusal(response, client.issuer)
    return TokenResponse.of(response.fields, client.issuer)


async def revoke(http: OAuthHttp, endpoint: str, client: OAuthClient, token: str) -> None:
    """Revoke a token that is not used any more. Raises OAuthUnavailable."""
    await http.post_form(endpoint, *client.authenticate({"token": token}))


def _refusal(response: JsonResponse, issuer: str) -> OAuthError:
    status, code = response.status, error_code(response.fields)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
        message = f"cannot be signed in to now: {issuer} answered {status}. Try again later."
        return OAuthUnavailable(message, status=status)
    kind, problem = OAuthError, f"refused the request for a token ({code or f'status {status}'})."
    if code == "invalid_grant":
        kind, problem = GrantRejected, f"does not accept the grant ({code})."
    elif code == "invalid_client":
        kind, problem = ClientUnknown, f"refused our client ({code}). Check its id and secret."
    return kind(f"cannot be signed in to: {issuer} {problem}", status=status, reason=code or "")
