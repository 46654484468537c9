"""OAuth 2.0 for Cloud sites: the tokens of one person, renewed in time.

Only the refresh token is stored. Atlassian gives a new one at each renewal and forgets the old one, so it is stored
before the access token is used.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from mcp_atl.client.errors import AuthError, SiteUnavailable
from mcp_atl.site import NO_SECRET, Access, Credentials, Secret
from mcp_atl.sites.store import LOGIN, CredentialStore
from toolcharter import instructions
from toolcharter.oauth import (
    ClientUnknown,
    OAuthClient,
    OAuthError,
    OAuthHttp,
    OAuthUnavailable,
    SharedRenewal,
    TokenResponse,
    refresh_grant,
    request_tokens,
)

if TYPE_CHECKING:
    import httpx2

ISSUER = "https://auth.atlassian.com"
MARGIN = 60.0
"""Seconds before its end at which an access token is renewed."""
LIFETIME = 3600.0
"""Seconds that an access token is valid if the issuer names no time."""
SECONDS = 30.0
"""The limit for one request."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The grant of a person, as it is stored."""

    client_id: str
    client_secret: Secret = NO_SECRET
    refresh_token: Secret = NO_SECRET
    issuer: str = ISSUER
    login_id: str = ""
    """Stays the same when tokens are renewed."""

    def credentials(self) -> Credentials:
        """The credentials of a site, for the store."""
        secrets = {name: str.__str__(value) for name, value in asdict(self).items()}
        return Credentials("oauth", secret=Secret(json.dumps(secrets)))

    @classmethod
    def of(cls, credentials: Credentials, login: str = LOGIN) -> "Grant":
        """The grant in the credentials of a site."""
        try:
            known: dict[str, str] = json.loads(credentials.secret)
            return cls(
                known["client_id"],
                Secret(known["client_secret"]),
                Secret(known["refresh_token"]),
                known["issuer"],
                known.get("login_id", ""),
            )
        except (ValueError, KeyError, TypeError):
            raise AuthError(f"The stored sign-in is not complete. Sign in again with `{login}`.") from None


class AccessToken(NamedTuple):
    """A token that signs requests, for about an hour."""

    secret: Secret
    expires: float


@dataclass(slots=True)
class OAuthTokens:
    """The tokens of one site. Calls that need a new one at the same time share one renewal."""

    access: Access
    http: "httpx2.AsyncClient"
    store: CredentialStore | None
    clock: Callable[[], float] = time.time
    login: str = LOGIN
    _token: AccessToken | None = None
    _renewal: SharedRenewal[AccessToken] = field(default_factory=SharedRenewal[AccessToken], repr=False)

    @property
    def login_id(self) -> str:
        """Of the sign-in that these tokens come from."""
        return Grant.of(self.access.jira, self.login).login_id

    async def current(self) -> Secret:
        """An access token that is valid for some time yet."""
        if self._token is None or self._token.expires - self.clock() < MARGIN:
            return await self._renew()
        return self._token.secret

    async def after_refusal(self, refused: Secret) -> Secret:
        """The access token to try after the site refused one."""
        if self._token is not None and self._token.secret != refused:
            return self._token.secret
        return await self._renew()

    async def _renew(self) -> Secret:
        lock_file = None if self.store is None else self.store.renewal_lock
        self._token = await self._renewal.run(self._request, lock_file)
        return self._token.secret

    async def _request(self) -> AccessToken:
        if self.store is not None:
            # Another process may have renewed it, or `mcp-atl logout` removed it.
            stored = (await asyncio.to_thread(self.store.load)).get(self.access.site.name)
            if stored is None:
                name = self.access.site.name
                raise AuthError(f"The sign-in to {name} was removed. Sign in again with `{self.login}`.")
            self.access = stored
        grant = Grant.of(self.access.jira, self.login)
        form = refresh_grant(str.__str__(grant.refresh_token))
        answer = await request_token(oauth_http(self.http), grant, form, self.login)
        renewed = replace(grant, refresh_token=Secret(answer.refresh_token or grant.refresh_token)).credentials()
        self.access = Access(self.access.site, renewed, renewed)
        if self.store is not None:
            await asyncio.to_thread(self.store.save, self.access)
        seconds = LIFETIME if answer.expires_in is None else answer.expires_in
        return AccessToken(Secret(answer.access_token), self.clock() + seconds)


def oauth_http(http: "httpx2.AsyncClient") -> OAuthHttp:
    """Requests of a sign-in, over the connections to a site."""
    return OAuthHttp(lambda: http, SECONDS)


async def request_token(http: OAuthHttp, grant: Grant, form: Mapping[str, str], login: str = LOGIN) -> TokenResponse:
    """Exchange a code or a refresh token. The errors quote no secret."""
    secret = str.__str__(grant.client_secret) or None
    method = "none" if secret is None else "client_secret_post"
    client = OAuthClient(client_id=grant.client_id, issuer=grant.issuer, secret=secret, auth_method=method)
    try:
        # Atlassian documents JSON where the standard has a form.
        return await request_tokens(http, f"{grant.issuer}/oauth/token", client, form, as_json=True)
    except OAuthError as error:
        raise _refusal(error, grant, login) from None


def _refusal(error: OAuthError, grant: Grant, login: str) -> AuthError | SiteUnavailable:
    if isinstance(error, OAuthUnavailable):
        if error.status is None:
            return SiteUnavailable(f"The sign-in server {grant.issuer} cannot be reached: {error.reason}.")
        return SiteUnavailable(f"The sign-in server {grant.issuer} failed (HTTP {error.status}). Try again later.")
    if isinstance(error, ClientUnknown):
        return AuthError("The sign-in server does not know the OAuth client. Check its id and secret.")
    return AuthError(
        f"The sign-in has expired or was revoked (HTTP {error.status}). Sign in again with `{login}`.",
        instruction=f"{instructions.PRESENT_ERROR} Only the user can sign in.",
    )
