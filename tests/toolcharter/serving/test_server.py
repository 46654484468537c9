"""Who may use the site: hosts, and browsers with pages of other origins."""

import httpx2
import pytest

from mcp_core import Settings
from toolcharter.local import targets
from toolcharter.serving.server import Site

BASE = "http://127.0.0.1:8000"
PAGE = "https://app.example"
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "add",
        "arguments": {"a": 2, "b": 3},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}
CALL_HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "add",
}


def browse(site: Site) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(site), base_url=BASE)


async def test_the_page_refuses_a_foreign_host_as_the_endpoint_does():
    site = Site([targets.load("demo", Settings())], BASE)
    async with site.open(), browse(site) as http:
        refused = await http.get("/", headers={"Host": "evil.example"})
        allowed = await http.get("/", headers={"Host": "localhost:8000"})
        probe = await http.get("/health", headers={"Host": "10.0.0.7:8000"})
    assert (refused.status_code, refused.text) == (421, "Invalid Host header")
    assert (allowed.status_code, probe.status_code) == (200, 200)


@pytest.mark.parametrize("fast_path", ["on", "off"])
async def test_a_page_of_an_allowed_origin_calls_a_tool_from_a_browser(fast_path):
    app = targets.load("demo", Settings(allow_origins=(PAGE,), fast_path=fast_path))
    site = Site([app], BASE)
    wanted = "accept,authorization,content-type,mcp-method,mcp-name,mcp-protocol-version"
    question = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": wanted}
    async with site._fronts["/mcp"][1].lifespan(), browse(site) as http:
        preflight = await http.options("/mcp", headers={"Origin": PAGE} | question)
        answer = await http.post("/mcp", json=CALL, headers={"Origin": PAGE} | CALL_HEADERS)
        foreign = await http.options("/mcp", headers={"Origin": "https://evil.example"} | question)
        refused = await http.post("/mcp", json=CALL, headers={"Origin": "https://evil.example"} | CALL_HEADERS)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == PAGE
    assert preflight.headers["access-control-allow-headers"] == wanted
    assert "POST" in preflight.headers["access-control-allow-methods"]
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, PAGE)
    assert "Mcp-Session-Id" in answer.headers["access-control-expose-headers"]
    assert '\\"data\\":5' in answer.text
    assert refused.status_code == 403
    assert not {"access-control-allow-origin"} & {*foreign.headers, *refused.headers}


@pytest.mark.parametrize("host", ["localhost:8000@evil.example", "localhost:123456", "localhost:8000.evil", "[::1]:x"])
async def test_a_host_or_origin_that_only_begins_like_an_allowed_one_is_refused(host: str):
    site = Site([targets.load("demo", Settings())], BASE)
    async with site.open(), browse(site) as http:
        page = await http.get("/", headers={"Host": host})
        call = await http.post("/mcp", json=CALL, headers=CALL_HEADERS | {"Host": host})
        origin = await http.post("/mcp", json=CALL, headers=CALL_HEADERS | {"Origin": f"http://{host}"})
    assert (page.status_code, call.status_code, origin.status_code) == (400, 400, 403)
