"""An app with calls to look at and to confirm, and a client of it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from mcp_core import App, Confirm, Settings, ToolError
from tests.mcp_core.declared import Number, Text, mutation, query
from toolcharter.console import Console
from toolcharter.serving.server import Site

BASE = "http://127.0.0.1:8000"
META = "io.modelcontextprotocol/"


def live_app(folder: Path, **settings: Any) -> App:
    @query({"number": 2}, permissions=["notes:read"])
    async def double(number: Number) -> int:
        if number < 0:
            raise ValueError(f"/srv/secret/path is broken by {number}")
        if number == 0:
            raise ToolError("Nothing cannot be doubled. Send another number.")
        return number * 2

    @mutation({"note": "n", "password": "p"}, confirm=Confirm(required=True), permissions=["notes:read"])
    async def send_note(note: Text, password: Text = "") -> str:
        return f"sent {note}"

    made = Settings(db=f"sqlite:///{folder / 'notes.db'}", **settings)
    return App("notes", version="1.0.0", format="result", tools=[double, send_note], settings=made)


async def call(
    http: httpx2.AsyncClient, tool: str, arguments: dict[str, Any], *, token: str = "", agent: str = "claude"
) -> dict[str, Any]:
    """Call a tool over HTTP as a client that cannot ask."""
    meta = {
        f"{META}protocolVersion": "2026-07-28",
        f"{META}clientCapabilities": {},
        f"{META}clientInfo": {"name": agent, "version": "4"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    message["params"]["_meta"] = meta
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    if token:
        headers["Authorization"] = f"Bearer {token}"
    text = (await http.post("/notes/mcp", json=message, headers=headers, timeout=60)).text
    # The answer to a call that waits for a while is the last event of a stream.
    return json.loads(text if text.startswith("{") else text.strip().rpartition("data:")[2])


@asynccontextmanager
async def visited(app: App) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a site with this app, without a server."""
    site = Site([app], BASE, console=Console)
    async with site.open(), httpx2.AsyncClient(transport=httpx2.ASGITransport(site), base_url=BASE) as http:
        yield http
