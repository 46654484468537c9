"""Authorization requests with PKCE (RFC 7636), and the redirects that answer them (RFC 9207)."""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit

from mcp_core.auth.oauth.addresses import is_same_issuer
from mcp_core.auth.oauth.errors import AccessNotGranted, OtherIssuer, error_code


def base64url(data: bytes) -> str:
    """Bytes in the alphabet for URLs, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def authorization_url(
    endpoint: str,
    *,
    client_id: str,
    redirect_uri: str,
    state: str,
    verifier: str,
    scopes: Iterable[str] = (),
    **more: str,
) -> str:
    """The address that a person opens to grant access; `more` are parameters of one authorization server."""
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": base64url(hashlib.sha256(verifier.encode()).digest()),
        "code_challenge_method": "S256",
        "scope": " ".join(scopes),
        **more,
    }
    sent = urlencode({name: value for name, value in query.items() if value})
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{sent}"


def read_redirect(query: str) -> dict[str, str]:
    """The parameters of a redirect. One that is there twice counts as missing."""
    pairs = parse_qsl(query, keep_blank_values=True)
    names = [name for name, _ in pairs]
    return {name: value for name, value in pairs if names.count(name) == 1}


def authorization_code(redirect: Mapping[str, str], issuer: str, *, names_issuer: bool = False) -> str:
    """The code in a redirect, whose state is checked already. Raises OtherIssuer or AccessNotGranted.

    A redirect from another authorization server must not lead to a request with its code, or show its error.
    """
    named = redirect.get("iss")
    if (named is not None or names_issuer) and (named is None or not is_same_issuer(named, issuer)):
        raise OtherIssuer("was not signed in to: the answer came from another authorization server than was asked.")
    if not (code := redirect.get("code")):
        reason = error_code(redirect)
        raise AccessNotGranted(
            f"was not signed in to: access was not granted ({reason or 'no code'}).", reason=reason or ""
        )
    return code
