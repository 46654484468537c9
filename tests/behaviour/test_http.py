"""What only HTTP has: other origins, other hosts, tokens, sessions, bodies that are no JSON."""

import json
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from tests.behaviour.combinations import NEW, OLD, Combination, Connect, Pool, data_of, http_client, over, token

pytestmark = pytest.mark.asyncio(loop_scope="session")

ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
CLIENT_INFO = {"name": "raw", "version": "1"}


def opening(era: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body of a request that is fine, and needs none before it."""
    if era == OLD:
        params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": CLIENT_INFO}
        return ACCEPT, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    }
    headers = {"MCP-Protocol-Version": NEW, "Mcp-Method": "tools/list"}
    return ACCEPT | headers, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}


async def post(url: str, era: str, more: Mapping[str, str] | None = None, body: bytes | None = None) -> httpx2.Response:
    headers, message = opening(era)
    async with http_client() as http:
        return await http.post(url, headers={**headers, **(more or {})}, content=body or json.dumps(message).encode())


def bearer(user: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token(user)}"}


@over(transport=("http",))
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1.evil.example"])
async def test_a_foreign_origin_is_refused(pool: Pool, combination: Combination, origin: str):
    server = pool.server(combination)
    assert (await post(server.url, combination.era, {"Origin": origin})).status_code == 403


@over(transport=("http",))
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80"])
async def test_a_foreign_host_is_refused(pool: Pool, combination: Combination, host: str):
    server = pool.server(combination)
    assert (await post(server.url, combination.era, {"Host": host})).status_code == 421


@over(transport=("http",))
async def test_a_page_of_this_machine_may_call(pool: Pool, combination: Combination):
    server = pool.server(combination)
    own = {"Origin": server.url.removesuffix("/mcp")}
    assert (await post(server.url, combination.era, own)).status_code == 200
    assert (await post(server.url, combination.era)).status_code == 200


@over(transport=("http",))
@pytest.mark.requirement("VAL-1")
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer"}, {"Authorization": token("ann")}],
    ids=["none", "wrong", "empty", "no scheme"],
)
async def test_who_has_no_token_is_not_let_in(pool: Pool, combination: Combination, headers: dict[str, str]):
    server = pool.server(combination, tokens=True)
    refused = await post(server.url, combination.era, headers)
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert (await post(server.url, combination.era, bearer("ann"))).status_code == 200


@over(transport=("http",), era=(OLD,))
@pytest.mark.requirement("VAL-2")
async def test_a_session_is_closed_to_every_other_token(pool: Pool, combination: Combination):
    server = pool.server(combination, tokens=True)
    opened = await post(server.url, OLD, bearer("ann"))
    session = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"], "MCP-Protocol-Version": OLD}
    listing = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).encode()
    statuses = {
        user: (await post(server.url, OLD, {**session, **bearer(user)}, listing)).status_code for user in ("bob", "ann")
    }
    assert statuses == {"bob": 404, "ann": 200}
    assert (await post(server.url, OLD, session, listing)).status_code == 401


@over(transport=("http",))
async def test_each_token_has_its_own_grants_and_name(connect: Connect):
    seen = {}
    for user in ("ann", "reader"):
        async with connect(user=user) as client:
            result = await client.call_tool("create_note", {"title": f"By {user}"})
            seen[(await data_of(client, "who"))["userId"]] = bool(result.is_error)
    assert seen == {"ann": False, "reader": True}


BAD_BODIES = {
    "no JSON": (b"{", 400),
    "no object": (b"42", 400),
    "no request": (b"{}", 400),
    "no UTF-8": (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', 400),
    "deep": (b"[" * 100_000, 400),
    "over 4 MB": (b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 4_500_000 + b'"}', 413),
}


@over(transport=("http",))
@pytest.mark.requirement("ERR-1", "ERR-2")
@pytest.mark.parametrize("body", BAD_BODIES)
async def test_a_bad_body_is_refused_and_the_server_goes_on(
    pool: Pool, combination: Combination, connect: Connect, body: str
):
    content, status = BAD_BODIES[body]
    server = pool.server(combination)
    answer = await post(server.url, combination.era, body=content)
    assert answer.status_code == status
    assert "Traceback" not in answer.text
    assert "site-packages" not in answer.text
    async with connect() as client:
        assert await data_of(client, "add", a=2, b=2) == 4


@over(transport=("http",), host=("native", "sdk"), era=(NEW,))
async def test_a_broad_body_within_the_limit_is_answered(connect: Connect):
    async with connect() as client:
        result = await client.call_tool("create_note", {"title": "x" * 3_000_000})
    assert result.is_error
    assert len(result.content[0].text) < 5_000


# ---- what the native host serves beside the protocol ---------------------------------------------------


async def get(pool: Pool, combination: Combination, path: str) -> httpx2.Response:
    server = pool.server(combination)
    async with http_client() as http:
        return await http.get(server.url.removesuffix("/mcp") + path)


@over(transport=("http",), host=("native", "sdk"), era=(NEW,))
async def test_health_names_what_is_served(pool: Pool, combination: Combination):
    answer = await get(pool, combination, "/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "servers": {"demo": "1.0.0"}})


@over(transport=("http",), host=("native", "sdk"), era=(NEW,))
async def test_without_a_console_the_first_page_has_the_address(pool: Pool, combination: Combination):
    base = pool.server(combination).url.removesuffix("/mcp")
    assert (await get(pool, combination, "/")).text == f"Notebook 1.0.0   {base}/demo/mcp\n"


@over(transport=("http",), host=("native", "sdk"), era=(NEW,))
@pytest.mark.requirement("OBS-1")
async def test_metrics_count_calls_errors_time_and_cache(pool: Pool, combination: Combination, connect: Connect):
    async def readings() -> dict[str, float]:
        answer = await get(pool, combination, "/metrics")
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        rows = (line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in rows}

    labels = 'server="demo",tool="add"'
    before = await readings()
    async with connect() as client:
        for arguments in ({"a": 501, "b": 1}, {"a": 501, "b": 1}, {"a": "x", "b": 1}):
            await client.call_tool("add", arguments)
    after = await readings()
    grown = {name: after[name] - before.get(name, 0) for name in after}
    assert grown[f'toolcharter_tool_calls_total{{{labels},outcome="ok"}}'] == 2
    assert grown[f'toolcharter_tool_calls_total{{{labels},outcome="validation"}}'] == 1
    assert grown[f"toolcharter_tool_errors_total{{{labels}}}"] == 1
    assert grown[f'toolcharter_tool_cache_lookups_total{{{labels},result="hit"}}'] == 1
    assert grown[f'toolcharter_tool_cache_lookups_total{{{labels},result="miss"}}'] == 1
    assert grown[f"toolcharter_tool_duration_seconds_count{{{labels}}}"] == 3
    assert 0 < after[f"toolcharter_tool_error_rate{{{labels}}}"] < 1
    assert 0 < after[f"toolcharter_tool_cache_hit_rate{{{labels}}}"] < 1


@over(transport=("http",), host=("native", "sdk"))
async def test_a_single_server_is_also_served_under_its_name(pool: Pool, combination: Combination):
    server = pool.server(combination)
    named = server.url.replace("/mcp", "/demo/mcp")
    assert (await post(named, combination.era)).status_code == 200


@over(transport=("http",), host=("native", "sdk"), era=(NEW,))
async def test_an_unknown_path_is_not_found(pool: Pool, combination: Combination):
    assert (await get(pool, combination, "/etc/passwd")).status_code == 404
