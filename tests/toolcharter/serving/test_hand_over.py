"""A worker whose successor has taken over: what it still answers, and when it closes."""

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from mcp_core import Settings
from tests.toolcharter.serving.gate_server import build
from tests.toolcharter.serving.processes import PATIENCE, call, headers, message, until
from toolcharter.serving import http
from toolcharter.serving.http import HttpServer
from toolcharter.serving.listener import base_url, listen
from toolcharter.serving.server import Site


@pytest.mark.parametrize("fast_path", ["on", "asgi", "off"])
async def test_each_connection_gets_one_more_answer_and_is_closed_with_it(tmp_path: Path, fast_path: str):
    settings = Settings(port=0, fast_path=fast_path, drain_seconds=PATIENCE, deadline=PATIENCE)
    app, gate, no_gate = build(settings), str(tmp_path / "gate"), str(tmp_path)
    with listen(settings) as listener:
        base = base_url(settings, listener)
        server = HttpServer(Site([app], base), [app], settings)
        running_server = asyncio.ensure_future(server.serve(sockets=[listener.dup()]))
        async with (
            httpx2.AsyncClient(base_url=base, timeout=PATIENCE) as idle,
            httpx2.AsyncClient(base_url=base, timeout=PATIENCE) as busy,
            asyncio.timeout(PATIENCE),
        ):
            await call(idle, 1, "wait", gate=no_gate)
            running = asyncio.ensure_future(call(busy, 2, "wait", gate=gate))
            await until(lambda: server._site.calls.running == 1)
            server._retire()
            await until(lambda: server._site.calls.closing)
            late = await call(idle, 3, "wait", gate=no_gate)
            (tmp_path / "gate").touch()
            answer = await running
            await running_server
    assert "passed" in late.text
    assert "passed" in answer.text
    assert late.headers["connection"] == "close"


async def test_a_direct_call_closes_its_connection(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http, "_IDLE_SECONDS", PATIENCE)  # so that it is not closed for being idle
    settings = Settings(port=0, drain_seconds=PATIENCE)
    app = build(settings)
    body = json.dumps(message(1, "hello")).encode()
    head = [*(f"{name}: {value}" for name, value in headers("hello").items()), "Content-Type: application/json"]
    lines = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", *head, f"Content-Length: {len(body)}", "", ""]
    request = "\r\n".join(lines).encode() + body
    with listen(settings) as listener:
        server = HttpServer(Site([app], base_url(settings, listener)), [app], settings)
        running = asyncio.ensure_future(server.serve(sockets=[listener.dup()]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        async with asyncio.timeout(PATIENCE / 2):
            writer.write(request)
            first = await reader.readuntil(b"\r\n\r\n")
            server._retire()
            await until(lambda: server._site.calls.closing)
            writer.write(request)
            rest = await reader.read()  # up to the end of the connection
            await running
        writer.close()
    assert b"connection: close" not in first
    assert rest.count(b"connection: close\r\n") == 1
    assert rest.count(b"hello") == 2
