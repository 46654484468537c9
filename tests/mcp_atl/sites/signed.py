"""A person who signs in with the browser, to the sandbox's own issuer."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs

import httpx2

from atlassian_sandbox import Faults, Sandbox, sandbox_app
from mcp_atl.client.http import SiteClient, open_http
from mcp_atl.site import Access, AtlassianSite
from mcp_atl.sites.oauth import Grant, OAuthTokens
from mcp_atl.sites.sign_in import SignInAttempt
from mcp_atl.sites.store import CredentialStore
from toolcharter.keyring import no_keyring

NOW = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
PLACE = "http://sandbox.test"
GRANT = Grant("sandbox-client", issuer=PLACE)


class Browser:
    """Opens the address of a sign-in, chooses a user, and follows the redirect to the loopback port."""

    def __init__(self, sandbox: Sandbox, answer: str | None = None, user: str = "anna.berg") -> None:
        self.sandbox, self.answer, self.user = sandbox, answer, user
        self.addresses: list[str] = []
        self.pages: list[httpx2.Response] = []
        self.visits: list[asyncio.Task[None]] = []

    def open(self, address: str) -> None:
        self.addresses.append(address)
        self.visits.append(asyncio.create_task(self._visit(address)))

    async def _visit(self, address: str) -> None:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(self.sandbox)) as site:
            redirect = (await site.get(f"{address}&user={self.user}")).headers["location"]
        callback, _, query = redirect.partition("?")
        state = parse_qs(query)["state"][0]
        async with httpx2.AsyncClient(trust_env=False) as loopback:
            for target in (f"{callback}?code=stolen&state=wrong", f"{callback}x", redirect):
                sent = f"{callback}?{self.answer}&state={state}" if self.answer and target == redirect else target
                self.pages.append(await loopback.get(sent))


@dataclass
class Signed:
    """A person who is signed in to a sandbox whose clock can be set."""

    path: Path
    now: list[datetime] = field(default_factory=lambda: [NOW])

    def __post_init__(self) -> None:
        self.sandbox = sandbox_app("cloud", clock=lambda: self.now[0], faults=Faults())
        self.store = CredentialStore(self.path / "sites.json", no_keyring)
        self.http = open_http(AtlassianSite("test", "cloud"), httpx2.ASGITransport(self.sandbox))

    async def sign_in(self, user: str = "anna.berg", caller: str | None = None) -> Access:
        browser = Browser(self.sandbox, user=user)
        access = await SignInAttempt(GRANT, self.http, browser.open, gateway=PLACE, port=0).run()
        (self.store.of_caller(caller) if caller else self.store).save(access)
        return access

    def client(self, access: Access) -> SiteClient:
        tokens = OAuthTokens(access, self.http, self.store, clock=self.time)
        return SiteClient(access, self.http, slots=asyncio.Semaphore(50), tokens=tokens)

    def time(self) -> float:
        return self.now[0].timestamp()

    @property
    def renewals(self) -> int:
        return sum(b"refresh_token" in one.content for one in self.sandbox.requests if one.path == "/oauth/token")
