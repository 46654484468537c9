"""Sign in to a Cloud site with the browser: OAuth 2.0, authorization code with PKCE, answer on a loopback port."""

import asyncio
import base64
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, urlencode, urlsplit

from mcp_atl.client.errors import AuthError
from mcp_atl.client.json_values import Json
from mcp_atl.site import GATEWAY, Access, Secret, Site
from mcp_atl.sites.oauth import Grant, request_token
from toolcharter import InvalidArguments

if TYPE_CHECKING:
    import httpx2

CALLBACK = "/callback"
PORT = 8765
MAX_REQUEST_BYTES = 16_384
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
"""What the commands need. A test compares them with the API documents."""


@dataclass(frozen=True, slots=True)
class SignIn:
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
        answers: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(_Callback(state, answers), "127.0.0.1", self.port, limit=MAX_REQUEST_BYTES)
        async with server:
            redirect = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{CALLBACK}"
            self.show(self._address(redirect, state, verifier))
            try:
                answer = await asyncio.wait_for(answers, self.timeout)
            except TimeoutError:
                raise AuthError(f"Nobody signed in within {self.timeout:.0f} seconds. Nothing was stored.") from None
        if "code" not in answer:
            raise AuthError(f"Access was not granted ({answer.get('error', 'no code')}). Nothing was stored.")
        code = {"code": answer["code"], "redirect_uri": redirect, "code_verifier": verifier}
        tokens = await request_token(self.http, self.grant, {"grant_type": "authorization_code", **code})
        if not tokens.get("refresh_token"):
            raise AuthError("The sign-in server gave no refresh token. Allow offline_access for the OAuth app.")
        site = await self._site(str(tokens["access_token"]), wanted_site)
        granted = replace(self.grant, refresh_token=Secret(tokens["refresh_token"]), login_id=secrets.token_hex(8))
        credentials = granted.credentials()
        return Access(site, credentials, credentials)

    def _address(self, redirect: str, state: str, verifier: str) -> str:
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "audience": "api.atlassian.com",
            "client_id": self.grant.client_id,
            "scope": " ".join(SCOPES),
            "redirect_uri": redirect,
            "state": state,
            "response_type": "code",
            "prompt": "consent",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self.grant.issuer}/authorize?{urlencode(query)}"

    async def _site(self, token: str, wanted: str | None) -> Site:
        response = await self.http.get(
            f"{self.gateway}/oauth/token/accessible-resources", headers={"Authorization": f"Bearer {token}"}
        )
        if response.is_error:
            raise AuthError(f"The sites of this sign-in cannot be read (HTTP {response.status_code}).")
        found = {str(one["id"]): one for one in cast(list[Json], response.json())}
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
        return Site(_host(address), "cloud", address, address, cloud_id=str(site["id"]), gateway=gateway)


def _host(address: str) -> str:
    return urlsplit(address).hostname or address


class _Callback:
    """Answers the browser that comes back. A request with another state is refused, and waiting goes on."""

    def __init__(self, state: str, answers: "asyncio.Future[Json]") -> None:
        self._state, self._answers = state, answers

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            status, words = self._respond(head.partition(b"\r\n")[0].decode("latin-1"))
            body = f"<!doctype html><title>mcp-atl</title><p>{escape(words)}</p>".encode()
            headers = f"Content-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close"
            writer.write(f"HTTP/1.1 {status}\r\n{headers}\r\n\r\n".encode() + body)
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not a browser
        finally:
            writer.close()

    def _respond(self, line: str) -> tuple[str, str]:
        method, _, target = line.partition(" ")
        url = urlsplit(target.partition(" ")[0])
        if method != "GET" or url.path != CALLBACK:
            return "404 Not Found", "Nothing is here."
        query: dict[str, Any] = {name: values[0] for name, values in parse_qs(url.query).items()}
        if not secrets.compare_digest(str(query.get("state", "")).encode(), self._state.encode()):
            return "400 Bad Request", "This answer does not belong to the sign-in that is under way."
        if not self._answers.done():
            self._answers.set_result(query)
        return "200 OK", "Back to the terminal: it says whether the sign-in succeeded. You can close this page."
