"""Sign-in at the identity provider of the site: authorization code with PKCE.

Nothing is kept while a person is away: the browser has a random secret in a cookie, and the state and the verifier are
made from it. So the browser can come back to another worker, and no other browser can finish the sign-in.
"""

import base64
import hashlib
import hmac
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from mcp_core.app import App
from mcp_core.auth import IdentityUnavailable
from mcp_core.auth.access_tokens import AccessTokens
from mcp_core.auth.issuer_http import IssuerHttp
from mcp_core.auth.issuer_metadata import read_endpoint, read_metadata
from mcp_core.hosts.resource_metadata import requested_scopes
from mcp_core.mcp_log import get_logger
from toolcharter.console.layout import BEGIN_AT_PROVIDER, CALLBACK
from toolcharter.console.sessions import Tokens

logger = get_logger(__name__)

_RENEW_AT = 0.8
"""The part of its lifetime after which an access token is renewed: before it ends, as several requests come at once."""


class _SignInHttp(IssuerHttp):
    """The requests of sign-ins. What goes wrong here says nothing about the health of the issuer."""

    def fault(self, detail: str) -> IdentityUnavailable:
        """What to raise where a sign-in fails. Each failure is logged, because the page refers to the log."""
        logger.warning("A sign-in to the console failed at the identity provider. %s", detail)
        return IdentityUnavailable("The identity provider did not accept the sign-in.")


class Provider:
    """Where people sign in."""

    def __init__(self, access: AccessTokens, apps: Sequence[App]) -> None:
        """`access` verifies the tokens for the apps of the site."""
        settings = apps[0].settings
        self._access = access
        self._scopes = dict.fromkeys(scope for app in apps for scope in requested_scopes(app))
        self._client, secret = settings.oidc_client or "", settings.oidc_secret
        self._secret = secret.get_secret_value() if secret else None
        self._audience = settings.audience[0]
        self._http = _SignInHttp()

    @property
    def issuer(self) -> str:
        """The URL of the issuer."""
        return self._access.issuer

    def address(self, after: str) -> str:
        """Where a sign-in begins that leads on to the path `after`: at the host that the browser comes back to."""
        return f"{self._access.public_url}{BEGIN_AT_PROVIDER}?next={quote(after)}"

    async def authorization(self, secret: str) -> str:
        """Where the browser with this secret is sent. Raises IdentityUnavailable."""
        metadata = await read_metadata(self.issuer, self._http)
        query = {
            "response_type": "code",
            "client_id": self._client,
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(self._scopes),
            "state": _state(secret),
            "code_challenge": _base64(hashlib.sha256(_verifier(secret).encode()).digest()),
            "code_challenge_method": "S256",
            "resource": self._audience,
        }
        endpoint = read_endpoint(metadata, "authorization_endpoint", self._http)
        sent = urlencode({name: value for name, value in query.items() if value})
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{sent}"

    def is_answer_to(self, secret: str, state: str) -> bool:
        """Whether the browser with this secret was sent to the provider with this state."""
        return hmac.compare_digest(_state(secret).encode(), state.encode())

    async def exchange(self, secret: str, code: str) -> Tokens:
        """The tokens for the code that the browser with this secret brought back. Raises IdentityUnavailable."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": _verifier(secret),
        }
        return await self._request(form)

    async def renew(self, refresh_token: str) -> Tokens:
        """New tokens. Raises IdentityUnavailable."""
        tokens = await self._request({"grant_type": "refresh_token", "refresh_token": refresh_token})
        return tokens if tokens.refresh else tokens._replace(refresh=refresh_token)

    @property
    def _redirect_uri(self) -> str:
        return f"{self._access.public_url}{CALLBACK}"

    async def _request(self, form: dict[str, str]) -> Tokens:
        metadata = await read_metadata(self.issuer, self._http)
        endpoint = read_endpoint(metadata, "token_endpoint", self._http)
        sent, credentials = {**form, "client_id": self._client, "resource": self._audience}, None
        if self._secret is not None:
            if "client_secret_basic" in metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"]):
                credentials = quote(self._client, safe=""), quote(self._secret, safe="")
            else:
                sent["client_secret"] = self._secret
        return self._tokens(await self._http.post(endpoint, sent, credentials))

    def _tokens(self, answer: dict[str, Any]) -> Tokens:
        access, refresh, seconds = answer.get("access_token"), answer.get("refresh_token"), answer.get("expires_in")
        if not isinstance(access, str) or not access:
            raise self._http.fault(f"The token endpoint of {self.issuer} gave no access token.")
        if not isinstance(refresh, str) or not isinstance(seconds, int | float):
            return Tokens(access)
        return Tokens(access, refresh, time.time() + _RENEW_AT * seconds)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()


def _state(secret: str) -> str:
    return _base64(hmac.digest(secret.encode(), b"state", "sha256"))


def _verifier(secret: str) -> str:
    return _base64(hmac.digest(secret.encode(), b"verifier", "sha256"))


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
