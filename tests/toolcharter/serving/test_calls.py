"""How many requests are in progress at a time, and how large a body may be, whatever protocol class is below."""

import asyncio
import json

import httpx2
import pytest

from mcp_core import App, Settings
from tests.toolcharter.serving.test_server import BASE, CALL, CALL_HEADERS, browse
from toolcharter.serving.server import Site

pytestmark = pytest.mark.requirement("OPS-8")


IN_PROGRESS = 'toolcharter_calls_in_flight{server="(http)"}'


def slow_app(fast_path: str, **limits: int) -> tuple[App, asyncio.Event, asyncio.Event]:
    """An app whose tool waits until the second event, after it has set the first."""
    app, begun, go = (
        App("slow", version="1", settings=Settings(fast_path=fast_path, **limits)),
        asyncio.Event(),
        asyncio.Event(),
    )

    async def add(a: int, b: int) -> int:
        """Add."""
        begun.set()
        await go.wait()
        return a + b

    app.tool(add)
    return app, begun, go


async def counts(http: httpx2.AsyncClient) -> dict[str, float]:
    lines = (await http.get("/metrics")).text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if '"(http)"' in line)}


@pytest.mark.parametrize("fast_path", ["on", "off"])
async def test_one_call_too_many_is_refused_with_an_error_that_says_when_to_try_again(fast_path: str):
    app, begun, go = slow_app(fast_path, max_calls=1)
    site = Site([app], BASE)
    async with site.open(), browse(site) as http:
        first = asyncio.ensure_future(http.post("/mcp", json=CALL, headers=CALL_HEADERS))
        await begun.wait()
        assert (await counts(http))[IN_PROGRESS] == 1
        refused = await http.post("/mcp", json=CALL, headers=CALL_HEADERS)
        assert (await http.get("/health")).status_code == 200
        go.set()
        assert (await first).status_code == 200
        assert (await http.post("/mcp", json=CALL, headers=CALL_HEADERS)).status_code == 200
        counted = await counts(http)
    assert (refused.status_code, refused.headers["retry-after"], refused.headers["connection"]) == (503, "1", "close")
    assert refused.json() == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {
            "code": -32603,
            "message": "The limit of 1 request in progress is reached. Try again later.",
            "data": {"reason": "too_many_calls", "retryable": True},
        },
    }
    assert counted['toolcharter_http_refusals_total{server="(http)",reason="too_many_calls"}'] == 1
    assert counted[IN_PROGRESS] == 0


@pytest.mark.parametrize("fast_path", ["on", "off"])
async def test_new_calls_are_refused_while_the_server_drains_and_running_ones_end(fast_path: str):
    app, begun, go = slow_app(fast_path)
    site = Site([app], BASE)
    async with site.open(), browse(site) as http:
        first = asyncio.ensure_future(http.post("/mcp", json=CALL, headers=CALL_HEADERS))
        await begun.wait()
        site.calls.draining = True
        refused = await http.post("/mcp", json=CALL, headers=CALL_HEADERS)
        assert site.calls.running == 1
        go.set()
        assert (await first).status_code == 200
    assert site.calls.running == 0
    assert (refused.status_code, refused.headers["connection"]) == (503, "close")
    assert refused.json()["error"]["data"] == {"reason": "draining", "retryable": True}


@pytest.mark.parametrize("fast_path", ["on", "off"])
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_above_the_limit_is_refused(fast_path: str, chunked: bool):
    app, _, go = slow_app(fast_path, max_body_bytes=2000)
    go.set()
    site = Site([app], BASE)

    async def pieces(text: str):
        for at in range(0, len(text), 100):
            yield text[at : at + 100].encode()

    small, large = (json.dumps(CALL).ljust(size) for size in (2000, 2001))
    headers = {**CALL_HEADERS, "Content-Type": "application/json"}
    async with site.open(), browse(site) as http:
        fits = await http.post("/mcp", content=pieces(small) if chunked else small, headers=headers)
        refused = await http.post("/mcp", content=pieces(large) if chunked else large, headers=headers)
        counted = await counts(http)
    assert (fits.status_code, refused.status_code) == (200, 413)
    assert refused.json()["error"] == {
        "code": -32600,
        "message": "The body is larger than 2000 bytes. Send less in one request.",
        "data": {"reason": "body_too_large", "retryable": False},
    }
    assert counted['toolcharter_http_refusals_total{server="(http)",reason="body_too_large"}'] == 1
