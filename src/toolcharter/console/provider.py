"""Sign-in at the identity provider of the site: authorization code with PKCE.

Nothing is kept while a person is away: the browser has a random secret in a cookie, and the state and the verifier are
made from it. So the browser can come back to another worker, and no other browser can finish the sign-in.
"""

import hmac
import time
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from mcp_core.app import App
from mcp_core.auth import IdentityUnavailable
from mcp_core.auth.access_tokens import AccessTokens
from mcp_core.auth.issuer_http import IssuerHttp
from mcp_core.auth.oauth.authorization import authorization_code, authorization_url, base64url
from mcp_core.auth.oauth.clients import OAuthClient
from mcp_core.auth.oauth.errors import OAuthError
from mcp_core.auth.oauth.tokens import TokenResponse, code_grant, refresh_grant
from mcp_core.hosts.resource_metadata import requested_scopes
from mcp_core.mcp_log import get_logger
from mcp_core.text.json_text import JsonObject
from toolcharter.console.layout import BEGIN_AT_PROVIDER, CALLBACK
from toolcharter.console.sessions import Tokens

logger = get_logger(__name__)

_RENEW_AT = 0.8
"""The part of its lifetime after which an access token is renewed: before it ends, as several requests come at once."""


class _SignInHttp(IssuerHttp):
    """The requests of sign-ins. What goes wrong here says nothing about the health of the issuer."""

    def fault(self, detail: str) -> IdentityUnavailable:
        """The error for a sign-in that failed. Each failure is logged, because the page refers to the log."""
        logger.warning("A sign-in to the console failed at the identity provider. %s", detail)
        return IdentityUnavailable("The identity provider did not accept the sign-in.")


class Provider:
    """The provider at which people sign in."""

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
        """The address of a sign-in that leads on to the path `after`: at the host that the browser comes back to."""
        return f"{self._access.public_url}{BEGIN_AT_PROVIDER}?next={quote(after)}"

    async def authorization(self, secret: str) -> str:
        """The address to which the browser with this secret is sent. Raises IdentityUnavailable."""
        metadata = await self._http.metadata(self.issuer)
        return authorization_url(
            self._http.endpoint(metadata, "authorization_endpoint"),
            client_id=self._client,
            redirect_uri=self._redirect_uri,
            state=_state(secret),
            verifier=_verifier(secret),
            scopes=self._scopes,
            resource=self._audience,
        )

    def is_answer_to(self, secret: str, state: str) -> bool:
        """Whether the browser with this secret was sent to the provider with this state."""
        return hmac.compare_digest(_state(secret).encode(), state.encode())

    async def exchange(self, secret: str, redirect: Mapping[str, str]) -> Tokens:
        """The tokens for what the browser with this secret brought back.

        Raises OtherIssuer, AccessNotGranted or IdentityUnavailable.
        """
        metadata = await self._http.metadata(self.issuer)
        names_issuer = metadata.get("authorization_response_iss_parameter_supported") is True
        code = authorization_code(redirect, metadata["issuer"], names_issuer=names_issuer)
        return await self._request(metadata, code_grant(code, self._redirect_uri, _verifier(secret)))

    async def renew(self, refresh_token: str) -> Tokens:
        """New tokens. Raises IdentityUnavailable."""
        tokens = await self._request(await self._http.metadata(self.issuer), refresh_grant(refresh_token))
        return tokens if tokens.refresh else tokens._replace(refresh=refresh_token)

    @property
    def _redirect_uri(self) -> str:
        return f"{self._access.public_url}{CALLBACK}"

    async def _request(self, metadata: JsonObject, form: Mapping[str, str]) -> Tokens:
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        # A server that names neither method gets the secret in the form.
        by_form = [] if "client_secret_basic" in methods else ["client_secret_post"]
        client = OAuthClient.with_secret(self._client, self.issuer, self._secret, by_form)
        sent, headers = client.authenticate({**form, "resource": self._audience})
        fields = await self._http.post(self._http.endpoint(metadata, "token_endpoint"), sent, headers)
        try:
            tokens = TokenResponse.of(fields, self.issuer)
        except OAuthError:
            raise self._http.fault(f"The token endpoint of {self.issuer} gave no access token.") from None
        if tokens.refresh_token is None or tokens.expires_in is None:
            return Tokens(tokens.access_token)
        return Tokens(tokens.access_token, tokens.refresh_token, time.time() + _RENEW_AT * tokens.expires_in)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()


def _state(secret: str) -> str:
    return base64url(hmac.digest(secret.encode(), b"state", "sha256"))


def _verifier(secret: str) -> str:
    return base64url(hmac.digest(secret.encode(), b"verifier", "sha256"))
