"""Session ids: which host takes one, and from whom."""

import json
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
import pytest
from fastmcp import FastMCP

from mcp_core import App, Settings, ToolContext
from mcp_core.hosts.fastmcp import _user_name, add_tools
from mcp_core.hosts.lane.http import HttpLane
from mcp_core.hosts.sdk.server import HttpFront

MODERN = "2026-07-28"


def sessions() -> App:
    app = App("sessions", version="1.0.0", settings=Settings())

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


def lane_host(app: App) -> tuple[Any, AbstractAsyncContextManager[Any]]:
    lane = HttpLane(app)
    return lane, lane.lifespan()


def sdk_host(app: App) -> tuple[Any, AbstractAsyncContextManager[Any]]:
    front = HttpFront(app)
    return front, front.lifespan()


@pytest.mark.parametrize("host", [lane_host, sdk_host, fastmcp_host])
@pytest.mark.parametrize("name", ["session", "=?base64?c2Vzc2lvbg==?="])  # the second goes from the lane to the SDK
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


def test_no_subject_is_taken_for_a_client_or_for_the_local_user():
    tokens = [("ann", "x"), (None, "ann"), ("client:ann", "x"), ("user:client:ann", "x"), ("local", "x"), ("", "local")]
    names = [_user_name(subject, client_id) for subject, client_id in tokens]
    assert names == ["ann", "client:ann", "user:client:ann", "user:user:client:ann", "user:local", "client:local"]
