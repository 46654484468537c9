"""Session ids: which host takes one, and from whom."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import pytest
from fastmcp import FastMCP

from mcp_core import App, Settings, ToolContext
from mcp_core.hosts.fast_path.http import HttpFastPath
from mcp_core.hosts.fast_path.sessions import SESSION_SECONDS
from mcp_core.hosts.fastmcp import _user_name, add_tools
from mcp_core.hosts.sdk.server import HttpFront

MODERN = "2026-07-28"


def sessions() -> App:
    app = App("sessions", version="1.0.0", format="result", settings=Settings())

    @app.tool()
    async def session(context: ToolContext) -> list[str | None]:
        """Return the session id of this call, and the key of its caller."""
        return [context.session_id, context.caller_key]

    return app


def fastmcp_host(app: App) -> tuple[Any, AbstractAsyncContextManager[Any]]:
    server: FastMCP[Any] = FastMCP("sessions")
    add_tools(server, app)
    http = server.http_app(json_response=True)
    return http, http.router.lifespan_context(http)


def fast_path_host(app: App) -> tuple[Any, AbstractAsyncContextManager[Any]]:
    fast_path = HttpFastPath(app)
    return fast_path, fast_path.lifespan()


def sdk_host(app: App) -> tuple[Any, AbstractAsyncContextManager[Any]]:
    front = HttpFront(app)
    return front, front.lifespan()


@pytest.mark.parametrize("host", [fast_path_host, sdk_host, fastmcp_host])
@pytest.mark.parametrize(
    "name", ["session", "=?base64?c2Vzc2lvbg==?="]
)  # the second goes from the fast path to the SDK
async def test_a_modern_request_cannot_name_a_session(host: Any, name: str):
    application, lifespan = host(sessions())
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    }
    params = {"name": "session", "arguments": {}, "_meta": meta}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
        "Mcp-Session-Id": "ann",
    }
    transport = httpx2.ASGITransport(app=application, client=("127.0.0.1", 5))
    async with lifespan, httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        response = await http.post("/mcp", json=message, headers=headers)
    text = response.text.rpartition("data: ")[2]
    answer = json.loads(text)["result"]["content"][0]["text"]
    assert json.loads(answer)["value"] == [None, "anonymous:127.0.0.1"]


# ---- sessions of the older protocol at several processes -------------------------------------------------

OLD = "2025-11-25"
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": OLD}
UNAVAILABLE = {
    "code": -32603,
    "message": "The server cannot reach what its processes share, which sessions need. Try again.",
    "data": {"reason": "unavailable", "retryable": True},
}


@asynccontextmanager
async def process(redis: str) -> AsyncIterator[httpx2.AsyncClient]:
    """What one of several processes serves."""
    app = sessions()
    app.settings = Settings(redis=redis)
    fast_path = HttpFastPath(app)
    transport = httpx2.ASGITransport(app=fast_path, client=("127.0.0.1", 5))
    async with fast_path.lifespan(), httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        yield http


async def ask(http: httpx2.AsyncClient, method: str, session: str | None = None, **params: Any) -> httpx2.Response:
    headers = HEADERS if session is None else HEADERS | {"Mcp-Session-Id": session}
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    return await http.post("/mcp", json=message, headers=headers)


async def open_session(http: httpx2.AsyncClient, **capabilities: Any) -> httpx2.Response:
    client = {"name": "raw", "version": "1"}
    return await ask(http, "initialize", protocolVersion=OLD, clientInfo=client, capabilities=capabilities)


async def test_without_redis_a_first_handshake_gets_a_typed_error_that_can_be_retried(dead_url: str):
    async with process(dead_url) as http:
        for response in (await open_session(http), await ask(http, "ping", "fast-W10.0")):
            assert (response.status_code, response.headers["retry-after"]) == (503, "1")
            assert response.json() == {"jsonrpc": "2.0", "id": 7, "error": UNAVAILABLE}


async def test_sessions_go_on_without_redis_also_at_a_process_that_has_not_seen_them(new_redis: Any):
    server = new_redis()
    async with process(server.url) as one, process(server.url) as two:
        first = (await open_session(one)).headers["mcp-session-id"]
        server.stop()
        second = (await open_session(two)).headers["mcp-session-id"]
        for http, session in ((two, first), (one, second), (two, second)):
            assert (await ask(http, "ping", session)).json() == {"jsonrpc": "2.0", "id": 7, "result": {}}
        # An end must reach all processes.
        ended = await one.delete("/mcp", headers=HEADERS | {"Mcp-Session-Id": first})
        assert (ended.status_code, ended.json()) == (503, {"jsonrpc": "2.0", "id": None, "error": UNAVAILABLE})


async def test_a_session_that_ended_at_one_process_is_unknown_at_the_others(redis_url: str):
    async with process(redis_url) as one, process(redis_url) as two, process(redis_url) as three:
        session = (await open_session(one)).headers["mcp-session-id"]
        assert [(await ask(http, "ping", session)).status_code for http in (one, two)] == [200, 200]
        assert (await one.delete("/mcp", headers=HEADERS | {"Mcp-Session-Id": session})).status_code == 200
        assert [(await ask(http, "ping", session)).status_code for http in (one, three)] == [404, 404]
        async with asyncio.timeout(60):
            while (await ask(two, "ping", session)).status_code != 404:  # noqa: ASYNC110 - it hears of it from Redis
                await asyncio.sleep(0.01)


async def test_answers_to_questions_that_nobody_asked_do_not_fill_redis(redis_server: Any, redis_url: str):
    async with process(redis_url) as http:
        session = {"Mcp-Session-Id": (await open_session(http)).headers["mcp-session-id"]}
        for request_id in ("ask-1", "ask-" + "x" * 100_000, 7):
            message = {"jsonrpc": "2.0", "id": request_id, "result": {"action": "accept", "content": {}}}
            assert (await http.post("/mcp", json=message, headers=HEADERS | session)).status_code == 202
        assert not [key for key in redis_server.keys() if key.endswith(":messages")]  # noqa: SIM118 - not a dict


async def test_a_session_ends_with_its_time(redis_url: str, monkeypatch: pytest.MonkeyPatch):
    async with process(redis_url) as one:
        session = (await open_session(one)).headers["mcp-session-id"]
        assert (await ask(one, "ping", session)).status_code == 200
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + SESSION_SECONDS + 2)
        assert (await ask(one, "ping", session)).status_code == 404


def test_no_subject_is_taken_for_a_client_or_for_the_local_user():
    tokens = [("ann", "x"), (None, "ann"), ("client:ann", "x"), ("user:client:ann", "x"), ("local", "x"), ("", "local")]
    names = [_user_name(subject, client_id) for subject, client_id in tokens]
    assert names == ["ann", "client:ann", "user:client:ann", "user:user:client:ann", "user:local", "client:local"]
