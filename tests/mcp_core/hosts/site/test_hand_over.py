"""A worker whose successor has taken over: what it still answers, and when it closes."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from mcp_core import Settings
from mcp_core.hosts.site.listener import base_url, listen
from mcp_core.hosts.site.server import Site
from mcp_core.hosts.site.serving import HttpServer
from tests.mcp_core.hosts.site.gate_server import build
from tests.mcp_core.hosts.site.processes import PATIENCE, call, until


@pytest.mark.parametrize("lane", ["fast", "asgi", "sdk"])
async def test_each_connection_gets_one_more_answer_and_is_closed_with_it(tmp_path: Path, lane: str):
    settings = Settings(port=0, lane=lane, drain_seconds=PATIENCE, deadline=PATIENCE)
    app, gate, no_gate = build(settings), str(tmp_path / "gate"), str(tmp_path)
    with listen(settings) as listener:
        base = base_url(settings, listener)
        server = HttpServer(Site([app], base), [app], settings)
        serving = asyncio.ensure_future(server.serve(sockets=[listener.dup()]))
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
            await serving
    assert "passed" in late.text
    assert "passed" in answer.text
    assert late.headers["connection"] == "close"
