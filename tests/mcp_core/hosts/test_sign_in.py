"""From a 401 to a call: clients find the issuer by themselves, over real HTTP."""

import contextlib
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client as FastClient
from fastmcp.utilities.tests import HeadlessOAuth
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.behaviour.combinations import HttpServer, answer_of, start_http
from tests.mcp_core.auth.issuer import Issuer, serving
from tests.toolcharter.serving.test_server import CALL, CALL_HEADERS

SCOPES = "it:read math:use notes:delete notes:read notes:write"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with serving(Issuer()) as made:
        yield made


@contextlib.contextmanager
def identifying(issuer: Issuer, folder: Path, *options: str) -> Iterator[HttpServer]:
    """A demo that knows the issuer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    audience = f"http://127.0.0.1:{port}"
    server = start_http(
        "native", folder / "log", "--port", str(port), "--oidc", issuer.url, "--audience", audience, *options
    )
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with identifying(issuer, tmp_path_factory.mktemp("demo")) as made:
        yield made


@pytest.fixture
def base(server: HttpServer) -> str:
    return server.url.removesuffix("/mcp")


@pytest.fixture(autouse=True)
def _as_it_was(issuer: Issuer) -> Iterator[None]:
    yield
    issuer.scopes_allowed = None
    issuer.metadata_fields = {}


class Storage:
    """Keeps the tokens of a client in memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Browser:
    """A person's browser that is signed in already."""

    def __init__(self) -> None:
        self.visits: list[str] = []

    async def open(self, url: str) -> None:
        self.visits.append(url)
        async with httpx2.AsyncClient() as http:
            self.landed = httpx2.URL((await http.get(url)).headers["location"])

    async def result(self) -> AuthorizationCodeResult:
        query = self.landed.params
        return AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query["iss"])


@contextlib.asynccontextmanager
async def signing_in(url: str, browser: Browser, storage: Storage, **options: Any) -> AsyncIterator[Client]:
    metadata = OAuthClientMetadata(
        client_name="test", redirect_uris=[AnyUrl("http://127.0.0.1:3030/done")], token_endpoint_auth_method="none"
    )
    auth = OAuthClientProvider(url, metadata, storage, browser.open, browser.result)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), **options) as client,
    ):
        yield client


@pytest.mark.requirement("OPS-1")
@pytest.mark.parametrize("path", ["/mcp", "/demo/mcp"])
def test_a_401_names_the_metadata_and_the_metadata_the_issuer(issuer: Issuer, base: str, path: str):
    metadata = f"{base}/.well-known/oauth-protected-resource{path}"
    without = httpx2.post(base + path, json=CALL, headers=CALL_HEADERS)
    assert without.status_code == 401
    assert without.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}", scope="{SCOPES}"'
    wrong = httpx2.post(base + path, json=CALL, headers=CALL_HEADERS | {"Authorization": "Bearer x"})
    assert wrong.status_code == 401
    assert wrong.headers["www-authenticate"] == (
        f'Bearer error="invalid_token", resource_metadata="{metadata}", scope="{SCOPES}"'
    )
    answer = httpx2.get(metadata)
    assert answer.headers["access-control-allow-origin"] == "*"
    preflight = httpx2.options(metadata, headers={"Access-Control-Request-Headers": "mcp-protocol-version"})
    assert (preflight.status_code, preflight.headers["access-control-allow-headers"]) == (204, "*")
    assert answer.json() == {
        "resource": base + path,
        "authorization_servers": [issuer.url],
        "scopes_supported": SCOPES.split(),
        "bearer_methods_supported": ["header"],
        "resource_name": "Notebook",
    }


def test_the_metadata_is_at_the_root_too_and_nowhere_else(base: str):
    well_known = f"{base}/.well-known/oauth-protected-resource"
    assert httpx2.get(well_known).json()["resource"] == f"{base}/mcp"
    assert [httpx2.get(well_known + path).status_code for path in ("/todo/mcp", "/demo", "x", "/../mcp")] == [404] * 4


@pytest.mark.requirement("OPS-1")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("path", ["/mcp", "/demo/mcp"])
async def test_the_client_of_the_sdk_gets_from_a_401_to_a_call(issuer: Issuer, base: str, path: str, mode: str):
    browser, storage = Browser(), Storage()
    async with signing_in(base + path, browser, storage, mode=mode) as client:
        result = await client.call_tool("who", {})
    assert answer_of(result)["data"]["userId"] == "ann"
    assert len(browser.visits) == 1
    assert storage.tokens is not None
    assert storage.tokens.scope == SCOPES


@pytest.mark.requirement("OPS-1")
@pytest.mark.filterwarnings("ignore:Using in-memory token storage")
async def test_the_client_of_fastmcp_gets_from_a_401_to_a_call(server: HttpServer):
    async with FastClient(server.url, auth=HeadlessOAuth(server.url)) as client:
        result = await client.call_tool_mcp("who", {})
    assert answer_of(result)["data"]["userId"] == "ann"


@pytest.mark.requirement("OPS-1", "OPS-2")
async def test_a_client_with_too_few_scopes_gets_more_and_calls_again(issuer: Issuer, server: HttpServer):
    browser, storage = Browser(), Storage()
    issuer.scopes_allowed = {"notes:read"}
    async with signing_in(server.url, browser, storage) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "list_notes" in names
        assert "create_note" not in names
        assert storage.tokens is not None
        assert storage.tokens.scope == "notes:read"
        issuer.scopes_allowed = None
        result = await client.call_tool("create_note", {"title": "More", "body": "y"})
        assert not result.is_error
    assert len(browser.visits) == 2
    assert "notes%3Aread" in browser.visits[1]
    assert "notes%3Awrite" in browser.visits[1]


def call(name: str, arguments: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    body = {**CALL, "params": {**CALL["params"], "name": name, "arguments": arguments or {}}}
    return body, CALL_HEADERS | {"Mcp-Name": name}


def post(url: str, token: str, name: str, arguments: dict[str, Any] | None = None) -> httpx2.Response:
    body, headers = call(name, arguments)
    return httpx2.post(url, json=body, headers=headers | {"Authorization": f"Bearer {token}"})


@pytest.mark.requirement("VAL-2")
def test_a_403_names_the_scopes_and_has_the_answer_of_the_tool(issuer: Issuer, base: str):
    token = issuer.token(aud=base, scope="notes:read math:use")
    refused = post(f"{base}/demo/mcp", token, "create_note", {"title": "x", "body": "y"})
    assert refused.status_code == 403
    metadata = f"{base}/.well-known/oauth-protected-resource/demo/mcp"
    assert refused.headers["www-authenticate"] == (
        f'Bearer error="insufficient_scope", resource_metadata="{metadata}", scope="math:use notes:read notes:write"'
    )
    assert refused.json()["result"]["isError"] is True
    assert "needs the permission notes:write" in refused.text
    assert post(f"{base}/demo/mcp", token, "add", {"a": 1, "b": 2}).status_code == 200
    assert post(f"{base}/demo/mcp", token, "no_such_tool").status_code == 400


@pytest.mark.requirement("VAL-2")
def test_no_argument_gives_a_permission(issuer: Issuer, base: str):
    token = issuer.token(aud=base, scope="notes:read")
    for more in (
        {"scope": "notes:write"},
        {"grants": ["*"]},
        {"caller": {"grants": ["*"]}},
        {"_meta": {"scope": "*"}},
        {"user": "root"},
    ):
        assert post(f"{base}/mcp", token, "create_note", {"title": "x", "body": "y", **more}).status_code == 403
    body, headers = call("create_note", {"title": "x", "body": "y"})
    body["params"]["_meta"] |= {"scope": "notes:write", "user": "root", "authorization": "Bearer x"}
    headers |= {"Authorization": f"Bearer {token}", "X-Scope": "notes:write", "X-User": "root"}
    assert httpx2.post(f"{base}/mcp?scope=notes:write&grants=*", json=body, headers=headers).status_code == 403


@pytest.mark.requirement("OPS-1")
def test_a_token_that_is_not_valid_here_is_refused_over_http(issuer: Issuer, base: str):
    good = issuer.token(aud=base, scope="math:use")
    head, payload, signature = good.split(".")
    bad = {
        "other audience": issuer.token(scope="math:use"),
        "expired": issuer.token(aud=base, scope="math:use", exp=int(time.time()) - 60),
        "other issuer": issuer.token(aud=base, scope="math:use", iss="https://other.example"),
        "altered payload": f"{head}.{payload[:-4]}AAAA.{signature}",
        "altered signature": f"{head}.{payload}.{signature[:-4]}AAAA",
        "unsigned": f"eyJhbGciOiJub25lIn0.{payload}.",
        "unknown key": issuer.token(aud=base, scope="math:use", header={"kid": "k9"}),
    }
    assert post(f"{base}/mcp", good, "add", {"a": 1, "b": 2}).status_code == 200
    assert {what: post(f"{base}/mcp", token, "add", {"a": 1, "b": 2}).status_code for what, token in bad.items()} == (
        dict.fromkeys(bad, 401)
    )


@pytest.mark.requirement("OPS-1")
def test_a_flood_of_unknown_keys_does_not_reach_the_issuer(issuer: Issuer, base: str):
    started, before = time.monotonic(), issuer.requests["/jwks"]
    with httpx2.Client() as http:
        for number in range(100):
            token = issuer.token(aud=base, header={"kid": f"made up {number}"})
            answer = http.get(f"{base}/mcp", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == 401
    assert issuer.requests["/jwks"] - before <= 2 + (time.monotonic() - started) / 10


@pytest.mark.parametrize("name", ["access_token", "token", "authorization", "bearer"])
def test_a_token_in_the_address_or_in_a_cookie_is_not_looked_at(issuer: Issuer, base: str, name: str):
    token = issuer.token(aud=base, scope="math:use")
    body, headers = call("add", {"a": 1, "b": 2})
    assert httpx2.post(f"{base}/mcp?{name}={token}", json=body, headers=headers).status_code == 401
    assert httpx2.post(f"{base}/mcp", json=body, headers=headers, cookies={name: token}).status_code == 401
    assert httpx2.post(f"{base}/mcp", json={**body, name: token}, headers=headers).status_code == 401


@pytest.mark.parametrize(
    "value",
    ["", "Bearer", "Basic YW5uOng=", "Bearer " + "x" * 20_000, "Bearer \xe9\xff", "Bearer x y"],
)
def test_a_header_without_a_valid_token_is_refused(base: str, value: str):
    body, headers = call("add", {"a": 1, "b": 2})
    refused = httpx2.post(f"{base}/mcp", json=body, headers={**headers, "Authorization": value.encode("latin-1")})
    assert refused.status_code == 401


@pytest.mark.requirement("OPS-1")
def test_nothing_but_health_and_the_way_to_a_token_answers_without_a_token(issuer: Issuer, base: str):
    for path in ("/", "/metrics", "/mcp", "/demo/mcp"):
        for method in ("GET", "POST", "DELETE") if path.endswith("mcp") else ("GET",):
            assert httpx2.request(method, base + path).status_code == 401, (method, path)
    for path in ("/health", "/health/live", "/health/ready"):
        assert httpx2.get(base + path).json() == {"status": "ok"}
    token = {"Authorization": f"Bearer {issuer.token(aud=base)}"}
    assert [httpx2.get(base + path, headers=token).status_code for path in ("/", "/metrics")] == [200, 200]


# --- files that change while a server runs -------------------------------------------------------------------

POLICY = """
[roles.{role}]
allow = ["math:use"]

[[members]]
role = "{role}"
users = ["ann"]
"""


def eventually(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no SIGHUP")
def test_sighup_reads_the_policy_again_and_a_broken_one_changes_nothing(issuer: Issuer, tmp_path: Path):
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY.format(role="clerk"))
    with identifying(issuer, tmp_path, "--policy", str(policy)) as server:
        base = server.url.removesuffix("/mcp")
        token = issuer.token(aud=base, scope="math:use")

        def allowed() -> bool:
            return not post(server.url, token, "add", {"a": 1, "b": 2}).json()["result"]["isError"]

        assert allowed()
        policy.write_text(POLICY.format(role="clerk").replace("allow", "alow"))
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: "line 3: roles.clerk.alow: this key does not exist" in server.log.read_text())
        assert allowed()
        policy.write_text(POLICY.format(role="clerk").replace("ann", "ben"))
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: not allowed())
        # No scope would help here, so that the client is not sent to the issuer.
        assert post(server.url, token, "add", {"a": 1, "b": 2}).status_code == 200


def test_a_revoked_token_is_refused_by_a_running_server(issuer: Issuer, tmp_path: Path, capsys):
    from tests.toolcharter.command_line import run  # noqa: PLC0415 - it loads the commands

    file = str(tmp_path / "tokens.json")
    _, token, _ = run(capsys, "token", "create", "bot", "--tokens", file, "--grants", "math:use")
    with identifying(issuer, tmp_path, "--tokens", file) as server:
        base = server.url.removesuffix("/mcp")
        assert post(server.url, token.strip(), "add", {"a": 1, "b": 2}).status_code == 200
        assert post(server.url, issuer.token(aud=base, scope="math:use"), "add", {"a": 1, "b": 2}).status_code == 200
        # A static token has no scopes: the refusal is the tool's.
        assert post(server.url, token.strip(), "create_note", {"title": "x", "body": "y"}).status_code == 200
        run(capsys, "token", "revoke", "bot", "--tokens", file)
        eventually(lambda: post(server.url, token.strip(), "add", {"a": 1, "b": 2}).status_code == 401)
