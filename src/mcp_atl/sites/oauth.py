"""OAuth 2.0 for Cloud sites: the tokens of one person, renewed in time.

Only the refresh token is stored. Atlassian gives a new one at each renewal and forgets the old one, so it is stored
before the access token is used.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from mcp_atl.client.errors import AuthError, SiteUnavailable
from mcp_atl.client.json_values import Json, object_at
from mcp_atl.site import NO_SECRET, Access, Credentials, Secret
from mcp_atl.sites.store import CredentialStore
from mcp_core import instructions

if TYPE_CHECKING:
    import httpx2

ISSUER = "https://auth.atlassian.com"
MARGIN = 60.0
"""Seconds before its end at which an access token is renewed."""
LOGIN = "mcp-atl login"
"""The command that signs in."""


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
    _renewal: "asyncio.Task[AccessToken] | None" = field(default=None, repr=False)

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
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._request())
        # A call that ends early must not end the renewal: the new refresh token would be lost.
        token = await asyncio.shield(self._renewal)
        self._token = token
        return token.secret

    async def _request(self) -> AccessToken:
        if self.store is not None:
            # Another process may have renewed it, or `mcp-atl logout` removed it.
            stored = (await asyncio.to_thread(self.store.load)).get(self.access.site.name)
            if stored is None:
                name = self.access.site.name
                raise AuthError(f"The sign-in to {name} was removed. Sign in again with `{self.login}`.")
            self.access = stored
        grant = Grant.of(self.access.jira, self.login)
        parameters = {"grant_type": "refresh_token", "refresh_token": str.__str__(grant.refresh_token)}
        answer = await request_token(self.http, grant, parameters, self.login)
        renewed = replace(grant, refresh_token=Secret(answer.get("refresh_token") or grant.refresh_token)).credentials()
        self.access = Access(self.access.site, renewed, renewed)
        if self.store is not None:
            await asyncio.to_thread(self.store.save, self.access)
        return AccessToken(Secret(answer["access_token"]), self.clock() + float(answer.get("expires_in", 3600)))


async def request_token(http: "httpx2.AsyncClient", grant: Grant, parameters: Json, login: str = LOGIN) -> Json:
    """Exchange a code or a refresh token. The errors quote no secret."""
    import httpx2  # noqa: PLC0415 - 98 ms

    client = {"client_id": grant.client_id}
    if grant.client_secret:
        client["client_secret"] = str.__str__(grant.client_secret)
    try:
        response = await http.post(f"{grant.issuer}/oauth/token", json=client | parameters)
    except httpx2.TransportError as error:
        reason = type(error).__name__
        raise SiteUnavailable(f"The sign-in server {grant.issuer} cannot be reached: {reason}.") from None
    try:
        answer = object_at(response.json())
    except ValueError:
        answer = Json()
    if response.status_code == HTTPStatus.OK and answer.get("access_token"):
        return answer
    raise _refusal(response.status_code, answer, grant, login)


def _refusal(status: int, answer: Json, grant: Grant, login: str) -> AuthError | SiteUnavailable:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
        return SiteUnavailable(f"The sign-in server {grant.issuer} failed (HTTP {status}). Try again later.")
    if answer.get("error") == "invalid_client":
        return AuthError("The sign-in server does not know the OAuth client. Check its id and secret.")
    return AuthError(
        f"The sign-in has expired or was revoked (HTTP {status}). Sign in again with `{login}`.",
        instruction=f"{instructions.PRESENT_ERROR} Only the user can sign in.",
    )
