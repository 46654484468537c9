"""Everything that arrives leaves exactly one audit record, whichever host answers it and however broken it is."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from toolcharter_examples import demo

from mcp_core import Settings
from mcp_core.audit import verify
from mcp_core.auth import StaticTokens, user
from mcp_core.hosts.fast_path.http import HttpFastPath
from mcp_core.hosts.fast_path.methods import FastPath
from mcp_core.hosts.fast_path.opening import Opening
from mcp_core.hosts.fast_path.stdio_connection import StdioConnection
from mcp_core.hosts.sdk.server import HttpFront
from mcp_core.logs.telemetry import prometheus
from tests.mcp_core.audited import audited
from tests.mcp_core.hosts.fast_path.test_differential_http import Side, ask, usual_headers, waits_for_a_person
from toolcharter.serving.server import Site

TOKENS = StaticTokens({"ann": user("ann", ("*",)), "bob": user("bob", ())})
NOT_RECORDED = (0, 202)
"""Notifications, and streams that end without an answer."""


@pytest.mark.requirement("OPS-5")
@pytest.mark.parametrize("make", [HttpFastPath, HttpFront])
async def test_a_request_over_http_leaves_one_record(make: Any, tmp_path: Path):
    rng, path = Random(7), tmp_path / "audit.jsonl"
    app = demo.build(Settings(audit=path, tokens=None))
    app.verifier = TOKENS
    front = make(app)
    wrong: list[str] = []
    async with front.lifespan():
        side, audit = Side(front), app.requests.audit
        await side.open()
        for _ in range(400):
            asked = ask(rng)
            if waits_for_a_person(asked):
                continue
            before = audit.written
            seen = await side.answer(asked)
            records = audit.written - before
            if records != (seen.status not in NOT_RECORDED):
                wrong.append(f"{records} records, status {seen.status}: {asked}")
        metrics = prometheus([app.telemetry])
    assert wrong == []
    assert verify([("audit", path.read_bytes().splitlines())]).problems == []
    found = Counter((record["method"], record["outcome"]) for record in audited(path))
    assert {method for method, _ in found} >= {"(http)", "tools/call", "tools/list", "resources/read", "prompts/get"}
    refused = found["(http)", "refused"]
    assert f'toolcharter_requests_total{{server="demo",method="(http)",outcome="refused"}} {refused}\n' in metrics


async def test_what_the_site_refuses_by_its_limits_leaves_one_record_too(tmp_path: Path):
    path = tmp_path / "audit.jsonl"
    site = Site([demo.build(Settings(audit=path, max_body_bytes=2000))], "http://127.0.0.1:1")
    async with site.open():
        side = Side(site)
        asked = ask(Random(1))
        asked.path, asked.method, asked.headers = "/mcp", "POST", [*usual_headers(), ("content-length", "5000")]
        assert (await side.answer(asked)).status == 413
        site.stop()
        asked.headers = usual_headers()
        assert (await side.answer(asked)).status == 503
    assert [(record["method"], record["status"]) for record in audited(path)] == [("(http)", 413), ("(http)", 503)]


async def test_a_refused_token_has_a_record_with_its_address_and_without_the_token(tmp_path: Path):
    path = tmp_path / "audit.jsonl"
    app = demo.build(Settings(audit=path))
    app.verifier = TOKENS
    fast_path = HttpFastPath(app)
    async with fast_path.lifespan():
        side = Side(fast_path)
        await side.open()
        asked = ask(Random(1))
        asked.headers = usual_headers("not-a-token")
        assert (await side.answer(asked)).status == 401
    record = audited(path)[-1]
    assert (record["method"], record["outcome"], record["status"]) == ("(http)", "refused", 401)
    assert (record["caller"], record["address"]) == (None, "127.0.0.1")
    assert "not-a-token" not in path.read_text()


OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
LINES: list[tuple[Any, str | None, str | None]] = [
    (b"nonsense", "(stdio)", "validation"),
    ({"jsonrpc": "2.0", "id": 1}, "(stdio)", "validation"),
    ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, "(stdio)", "validation"),
    ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": 7}, "tools/list", "validation"),
    ({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, "tools/list", "validation"),  # before the handshake
    (
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "c", "version": "1"},
            },
        },
        "initialize",
        "ok",
    ),
    ({"jsonrpc": "2.0", "method": "notifications/initialized"}, None, None),
    ({"jsonrpc": "2.0", "id": 4, "method": "ping"}, "ping", "ok"),
    ({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}, "tools/list", "ok"),
    ({"jsonrpc": "2.0", "id": 6, "method": "tools/dance"}, "tools/dance", "validation"),
    ({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {}}, "tools/call", "validation"),
    ({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "no\nsuch"}}, "tools/call", "validation"),
    (
        {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1, "b": 2}}},
        "tools/call",
        "ok",
    ),
    ({"jsonrpc": "2.0", "id": 10, "method": "prompts/get", "params": {"name": "none"}}, "prompts/get", "validation"),
    (
        {"jsonrpc": "2.0", "id": 11, "method": "resources/read", "params": {"uri": "x://\u2028y"}},
        "resources/read",
        "validation",
    ),
]


@pytest.mark.requirement("OPS-5")
async def test_a_line_over_stdio_leaves_one_record_also_before_the_server_is_open(tmp_path: Path):
    path = tmp_path / "audit.jsonl"
    app = demo.build(Settings(audit=path))
    answers: asyncio.Queue[bytes] = asyncio.Queue()

    async def drain() -> None:
        pass

    opening = Opening()
    connection = StdioConnection(FastPath(app, opening), answers.put_nowait, drain)
    for number, (line, method, _) in enumerate(LINES):
        if number == 7:  # what comes before needs no open server, and its records wait
            await app.__aenter__()
            opening.opened.set_result(None)
        await connection.receive(line if isinstance(line, bytes) else json.dumps(line).encode())
        if method is not None:
            await asyncio.wait_for(answers.get(), 60)
    await app.__aexit__(None, None, None)
    expected = [(method, outcome) for _, method, outcome in LINES if method is not None]
    assert [(record["method"], record["outcome"]) for record in audited(path)] == expected
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(expected) + 2
    assert all(text not in prometheus([app.telemetry]) for text in ("tools/dance", "no\\nsuch"))
