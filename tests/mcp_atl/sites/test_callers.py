"""Many users of one server over HTTP, each with their own credentials in the headers of their requests."""

import asyncio
import base64
import json
from collections import Counter, deque
from collections.abc import Mapping
from random import Random
from typing import Any

import httpx2
import pytest

from atlassian_sandbox import Sandbox, sandbox_app
from atlassian_sandbox.http import Kind
from atlassian_sandbox.model import SiteUser
from mcp_atl.app import build
from mcp_atl.client.errors import AuthError
from mcp_atl.settings import AtlSettings
from mcp_atl.site import Access, AtlassianSite, Credentials, Secret
from mcp_atl.sites.callers import CallerPolicy, own_credentials
from mcp_atl.sites.sites import Sites
from mcp_core.context import RequestHeaders
from mcp_core.hosts.fast_path.http import HttpFastPath
from tests.thorough import examples
from toolcharter import InvalidArguments, ToolContext

MIA = "Basic " + base64.b64encode(b"mia.keller@harbourline.example:sandbox-token-mia.keller").decode()
SERVERS_OWN = Credentials("bearer", secret=Secret("of-the-server"))
EAST = AtlassianSite(
    "east", "cloud", jira_url="https://east.atlassian.net", confluence_url="https://east.atlassian.net"
)
WEST = AtlassianSite(
    "west", "datacenter", jira_url="https://jira.west.example", confluence_url="https://wiki.west.example"
)

USERS = 100
CALLS = 10_000
AT_ONCE = 50


def message(command: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": command, "arguments": arguments, "_meta": meta}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": command,
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers


class HttpServer:
    """The Atlassian server over HTTP, in this process."""

    def __init__(self, sandbox: Sandbox, **settings: Any) -> None:
        options = AtlSettings(sandbox=True, sandbox_kind=sandbox.kind, **settings)
        self.fast_path = HttpFastPath(build(options, sandbox))
        transport = httpx2.ASGITransport(self.fast_path, client=("127.0.0.1", 5))
        self.http = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")

    async def call(self, command: str, arguments: Mapping[str, Any] | None = None, **headers: str) -> dict[str, Any]:
        body, usual = message(f"atl_{command}", arguments or {})
        own = {f"X-Atlassian-{name.capitalize()}": value for name, value in headers.items()}
        response = await self.http.post("/mcp", json=body, headers=usual | own)
        return json.loads(response.json()["result"]["content"][0]["text"])


@pytest.mark.requirement("ATL-12")
@pytest.mark.parametrize("kind", ["cloud", "datacenter"])
async def test_no_call_of_one_user_is_made_as_another(kind: Kind):
    sandbox = sandbox_app(kind)
    tokens = {number: f"token-of-{number}-only" for number in range(USERS)}
    for number, token in tokens.items():
        user = SiteUser(
            f"user-{number}", f"user.{number}", f"User {number}", f"user.{number}@example.com", {"employees"}
        )
        sandbox.state.users[user.id] = user
        sandbox.state.tokens[token] = user.id
    sandbox.state.default_user = None
    sandbox.requests = deque()  # all of them, not only the last
    server = HttpServer(sandbox, require_own_credentials=True)
    calls = [number % USERS for number in range(examples(CALLS) // 2)]
    Random(7).shuffle(calls)
    foreign: list[tuple[int, Any]] = []

    async def work(numbers: list[int]) -> None:
        for number in numbers:
            scheme = f"Bearer {tokens[number]}"
            if number % 2:
                scheme = "Basic " + base64.b64encode(f"user.{number}@example.com:{tokens[number]}".encode()).decode()
            answer = await server.call("user_info", authorization=scheme)
            if not answer["success"] or answer["value"]["name"] != f"User {number}":
                foreign.append((number, answer))

    async with server.fast_path.lifespan():
        await asyncio.gather(*(work(calls[start::AT_ONCE]) for start in range(AT_ONCE)))
    assert foreign == []
    sent = Counter(request.headers["authorization"] for request in sandbox.requests)
    assert len(sent) == USERS
    assert set(sent.values()) == {len(calls) // USERS}
    assert not any("cookie" in request.headers for request in sandbox.requests)


@pytest.mark.requirement("ATL-12")
async def test_a_server_can_require_that_callers_bring_their_own_credentials():
    sandbox = sandbox_app("cloud")
    server = HttpServer(sandbox, require_own_credentials=True)
    async with server.fast_path.lifespan():
        refused = await server.call("user_info")
        wrong = await server.call("user_info", authorization="Basic not-base64")
        unknown = await server.call("user_info", authorization="Bearer unknown-token")
        assert [request.headers["authorization"] for request in sandbox.requests] == ["Bearer unknown-token"]
        accepted = await server.call("user_info", authorization=MIA)
    assert refused["error_type"] == wrong["error_type"] == unknown["error_type"] == "AuthError"
    assert refused["error"] == (
        "This server needs your own credentials for the site 'sandbox'. Send them with each request in the header "
        "X-Atlassian-Authorization (Basic or Bearer)."
    )
    assert "The header X-Atlassian-Authorization is not valid" in wrong["error"]
    assert accepted["value"]["name"] == "Mia Keller"


@pytest.mark.requirement("ATL-12")
async def test_a_caller_with_own_credentials_cannot_set_up_the_sites_of_all():
    server = HttpServer(sandbox_app("cloud"))
    arguments = {"subject": "https://sandbox.atlassian.net", "parameters": {"token": "t", "email": "e"}}
    async with server.fast_path.lifespan():
        answer = await server.call("setup_atlassian_credentials", arguments, authorization=MIA)
    assert answer["error_type"] == "PermissionError"


def sites(**policy: Any) -> tuple[Sites, list[httpx2.Request]]:
    sent: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, json={}, headers={"set-cookie": "session=1"})

    known = {site.name: Access(site, SERVERS_OWN, SERVERS_OWN) for site in (EAST, WEST)}
    transport = httpx2.MockTransport(answer)
    return Sites(known, dict.fromkeys(["east", "west", "*"], lambda: transport), callers=CallerPolicy(**policy)), sent


def context(**headers: str) -> ToolContext:
    named = {f"x-atlassian-{name}": value for name, value in headers.items()}
    return ToolContext("c", "t", "a", "1", "now", headers=RequestHeaders(named))


@pytest.mark.requirement("ATL-12")
@pytest.mark.parametrize(
    ("name", "headers", "host", "authorization"),
    [
        (None, {}, "east.atlassian.net", "Bearer of-the-server"),
        ("west", {}, "jira.west.example", "Bearer of-the-server"),
        (None, {"site": "west"}, "jira.west.example", "Bearer of-the-server"),
        (None, {"authorization": "bearer own"}, "east.atlassian.net", "Bearer own"),
        (None, {"authorization": "Bearer own", "site": "west"}, "jira.west.example", "Bearer own"),
        ("west", {"authorization": "Bearer own", "site": "west"}, "jira.west.example", "Bearer own"),
        (None, {"authorization": "Bearer own", "site": "https://acme.example"}, "acme.example", "Bearer own"),
    ],
)
async def test_credentials_are_sent_to_the_site_that_they_are_for(
    name: str | None, headers: dict[str, str], host: str, authorization: str
):
    served, sent = sites(hosts=("acme.example",))
    for _ in range(2):
        await served.connect(name, context(**headers)).send("jira", "GET", "/rest/api/3/myself")
    assert [(request.url.host, request.headers["authorization"]) for request in sent] == [(host, authorization)] * 2
    assert "cookie" not in sent[1].headers
    await served.close()


@pytest.mark.requirement("ATL-12")
@pytest.mark.parametrize("site", [None, "east"])
def test_credentials_for_one_site_are_not_sent_to_another(site: str | None):
    served, _ = sites()
    sent = {"authorization": "Bearer own"} | ({"site": site} if site else {})
    with pytest.raises(AuthError, match="are for the site 'east', not for 'west'"):
        served.connect("west", context(**sent))


@pytest.mark.requirement("ATL-12")
@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example",
        "https://evil.example/.atlassian.net",
        "https://evil.example#.atlassian.net",
        "https://acme.atlassian.net@evil.example",
        "https://u:p@acme.atlassian.net",
        "http://acme.atlassian.net",
        "https://acme.atlassian.net.evil.example",
        "https://acme.atlassian.net:port",
        "https://[::1",
        "acme.atlassian.net",
        "north",
    ],
)
def test_a_site_that_the_operator_did_not_allow_is_refused(address: str):
    served, _ = sites(hosts=("*.atlassian.net",))
    with pytest.raises(InvalidArguments, match=r"is not configured\. Configured sites: east, west"):
        served.connect(None, context(authorization="Bearer own", site=address))


@pytest.mark.requirement("ATL-12")
def test_an_address_is_never_used_with_the_credentials_of_the_server():
    served, _ = sites(hosts=("*",))
    with pytest.raises(InvalidArguments, match="is not configured"):
        served.connect(None, context(site="https://acme.atlassian.net"))


@pytest.mark.requirement("ATL-12")
def test_the_limits_of_a_configured_site_hold_also_by_its_address():
    served, _ = sites(hosts=("*",))
    for address in ("https://east.atlassian.net/wiki", "https://wiki.west.example", "https://JIRA.west.example:443"):
        site = served.connect(None, context(authorization="Bearer own", site=address)).site
        assert site in (EAST, WEST)


@pytest.mark.parametrize("value", ["", "Bearer", "Basic", "Basic eA==", "Basic eDo=", "Digest x", "token"])
def test_broken_credentials_are_refused_without_being_repeated(value: str):
    headers = {"x-atlassian-authorization": value}
    if not value:
        assert own_credentials(headers) is None
        return
    with pytest.raises(AuthError, match=r"^The header X-Atlassian-Authorization is not valid\. It has Basic with"):
        own_credentials(headers)
