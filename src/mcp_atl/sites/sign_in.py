"""Sign in to a Cloud site with the browser: OAuth 2.0, authorization code with PKCE, answer on a loopback port."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcp_atl.client.errors import AuthError, SiteUnavailable
from mcp_atl.client.json_values import list_at
from mcp_atl.site import GATEWAY, Access, AtlassianSite, Secret
from mcp_atl.sites.oauth import Grant, oauth_http, request_token
from toolcharter import InvalidArguments
from toolcharter.oauth import (
    AccessNotGranted,
    Completion,
    LoopbackReceiver,
    OAuthError,
    OAuthHttp,
    OAuthUnavailable,
    authorization_code,
    authorization_url,
    code_grant,
    redirect_uri,
)

if TYPE_CHECKING:
    import httpx2

PORT = 8765
SCOPES = (
    "offline_access",
    "read:jira-work",
    "write:jira-work",
    "read:jira-user",
    "manage:jira-project",
    "read:servicedesk-request",
    "write:servicedesk-request",
    "read:board-scope:jira-software",
    "write:board-scope:jira-software",
    "read:board-scope.admin:jira-software",
    "read:sprint:jira-software",
    "write:sprint:jira-software",
    "delete:sprint:jira-software",
    "write:epic:jira-software",
    "read:project:jira",
    "read:issue-details:jira",
    "read:confluence-content.all",
    "read:confluence-content.summary",
    "write:confluence-content",
    "write:confluence-file",
    "readonly:content.attachment:confluence",
    "read:confluence-user",
    "read:confluence-groups",
    "search:confluence",
    "read:page:confluence",
    "write:page:confluence",
    "delete:page:confluence",
    "read:hierarchical-content:confluence",
    "read:comment:confluence",
    "write:comment:confluence",
    "delete:comment:confluence",
    "read:attachment:confluence",
    "delete:attachment:confluence",
    "read:space:confluence",
    "read:user:confluence",
)
"""The scopes that the commands need. A test compares them with the API documents."""


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """One attempt to sign in. Its state and verifier are used once."""

    grant: Grant
    http: "httpx2.AsyncClient"
    show: Callable[[str], None]
    """Shows the address that the person must open."""
    gateway: str = GATEWAY
    port: int = PORT
    timeout: float = 300.0

    async def run(self, wanted_site: str | None = None) -> Access:
        """The site that the person granted access to, with what it takes to renew it."""
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(64)
        http, receiver = oauth_http(self.http), LoopbackReceiver[str]("mcp-atl", self._complete)
        async with await receiver.listen(self.port) as server:
            redirect, receiver.state = redirect_uri(server), state
            self.show(self._address(redirect, state, verifier))
            try:
                code = await receiver.wait(self.timeout)
            except TimeoutError:
                raise AuthError(f"Nobody signed in within {self.timeout:.0f} seconds. Nothing was stored.") from None
            except AccessNotGranted as error:
                raise AuthError(f"Access was not granted ({error.reason or 'no code'}). Nothing was stored.") from None
            except OAuthError:
                raise AuthError("Another server than the sign-in server answered. Nothing was stored.") from None
        tokens = await request_token(http, self.grant, code_grant(code, redirect, verifier))
        if not tokens.refresh_token:
            raise AuthError("The sign-in server gave no refresh token. Allow offline_access for the OAuth app.")
        site = await self._site(http, tokens.access_token, wanted_site)
        granted = replace(self.grant, refresh_token=Secret(tokens.refresh_token), login_id=secrets.token_hex(8))
        credentials = granted.credentials()
        return Access(site, credentials, credentials)

    async def _complete(self, redirect: Mapping[str, str]) -> Completion[str]:
        words = "Back to the terminal: it says whether the sign-in succeeded. You can close this page."
        try:
            return Completion(authorization_code(redirect, self.grant.issuer), words)
        except OAuthError as error:
            return Completion(error, words)

    def _address(self, redirect: str, state: str, verifier: str) -> str:
        return authorization_url(
            f"{self.grant.issuer}/authorize",
            client_id=self.grant.client_id,
            redirect_uri=redirect,
            state=state,
            verifier=verifier,
            scopes=SCOPES,
            audience="api.atlassian.com",
            prompt="consent",
        )

    async def _site(self, http: OAuthHttp, token: str, wanted: str | None) -> AtlassianSite:
        address = f"{self.gateway}/oauth/token/accessible-resources"
        try:
            response = await http.get(address, {"Authorization": f"Bearer {token}"})
        except OAuthUnavailable as error:
            raise SiteUnavailable(f"The sites of this sign-in cannot be read: {error.reason}.") from None
        if response.status != HTTPStatus.OK:
            raise AuthError(f"The sites of this sign-in cannot be read (HTTP {response.status}).")
        found = {str(one["id"]): one for one in list_at(response.content)}
        matching = [
            one for one in found.values() if wanted is None or _host(wanted) in (one["name"], _host(one["url"]))
        ]
        if len(matching) != 1:
            names = ", ".join(_host(one["url"]) for one in found.values()) or "none"
            problem = f"{wanted!r} is not one of them" if wanted else "name one with --site"
            raise InvalidArguments(f"The sign-in gives access to these sites: {names}; {problem}. Nothing was stored.")
        [site] = matching
        address = str(site["url"]).rstrip("/")
        gateway = None if self.gateway == GATEWAY else self.gateway
        return AtlassianSite(_host(address), "cloud", address, address, cloud_id=str(site["id"]), gateway=gateway)


def _host(address: str) -> str:
    return urlsplit(address).hostname or address
