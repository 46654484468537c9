"""A site on a real socket in this process, on httptools or on h11, and connections written and read by hand."""

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Literal

import pytest
import uvicorn
from uvicorn.server import ServerState

from mcp_core import App
from mcp_core.hosts.names import CAPABILITIES_KEY, VERSION_KEY
from toolcharter.serving.server import Site, uvicorn_options

PATIENCE = 60
MODERN = "2026-07-28"
Parser = Literal["httptools", "h11"]


def options_for(site: Site, parser: Parser) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        if parser == "h11":
            patch.setattr(importlib.util, "find_spec", lambda _: None)
        return uvicorn_options(site)


@asynccontextmanager
async def serving(app: App, parser: Parser = "httptools") -> AsyncIterator[tuple[Site, int]]:
    """The site of an app, and its port."""
    site, state = Site([app], "http://127.0.0.1"), ServerState()
    config = uvicorn.Config(site, lifespan="off", **options_for(site, parser))
    config.load()
    make = partial(config.http_protocol_class, config=config, server_state=state, app_state={})
    async with site.open():
        server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
        try:
            yield site, server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for connection in tuple(state.connections):
                connection.transport.abort()
            await until(lambda: not state.connections)


async def until(condition: Callable[[], bool]) -> None:
    """Let the server go on until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0)


@asynccontextmanager
async def connection(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(PATIENCE):
            yield reader, writer
    finally:
        writer.transport.abort()


async def response(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(first.split()[1]), headers, await reader.readexactly(int(headers.get("content-length", 0)))


def call_bytes(tool: str, id: int = 1, *more: str, **arguments: Any) -> bytes:
    """A call of the modern protocol as clients send it, with further headers."""
    meta = {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}}
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"MCP-Protocol-Version: {MODERN}",
        "Mcp-Method: tools/call",
        f"Mcp-Name: {tool}",
        *more,
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def data_of(body: bytes) -> Any:
    """The data of a successful answer."""
    return json.loads(json.loads(body)["result"]["content"][0]["text"])["value"]
