"""Calls that wait for something are answered without ASGI too, and end as they do through it."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App, Settings, ToolContext
from mcp_core.hosts.fast_path.asgi import PING_EVENT
from tests.mcp_core.audited import audited
from tests.toolcharter.serving.raw_http import call_bytes, connection, data_of, response, serving, until
from tests.toolcharter.serving.test_http_protocol import WAYS, Gate, count_direct, make_app, with_meta

OLD = "2025-11-25"


@pytest.mark.parametrize("way", WAYS)
async def test_calls_that_wait_are_answered_in_the_order_of_their_requests(way: str, monkeypatch: pytest.MonkeyPatch):
    direct, gate = count_direct(monkeypatch), Gate()
    async with serving(make_app(gate, fast_path=way)) as (site, port), connection(port) as (reader, writer):
        sent = [call_bytes("slow_wait", 0), call_bytes("add", 1, a=1, b=0), call_bytes("slow_wait", 2)]
        writer.write(b"".join([*sent, call_bytes("slow_add", 3, a=3, b=0)]))
        await gate.entered.wait()
        assert site.calls.running == 1
        gate.opened.set()
        bodies = [(await response(reader))[2] for _ in range(4)]
    assert [json.loads(body)["id"] for body in bodies] == [0, 1, 2, 3]
    assert [data_of(body) for body in bodies] == ["waited", 1, "waited", 3]
    assert len(direct) == (4 if way == "on" else 0)


@pytest.mark.parametrize("way", WAYS)
async def test_other_connections_are_answered_meanwhile(way: str):
    gate = Gate()
    async with serving(make_app(gate, fast_path=way)) as (_, port), connection(port) as (reader, writer):
        writer.write(call_bytes("slow_wait"))
        await gate.entered.wait()
        async with connection(port) as (other_reader, other_writer):
            other_writer.write(call_bytes("add", a=1, b=2))
            assert data_of((await response(other_reader))[2]) == 3
        gate.opened.set()
        assert data_of((await response(reader))[2]) == "waited"


@pytest.mark.parametrize("way", WAYS)
async def test_a_call_that_waits_counts_toward_the_limit_of_calls(way: str):
    gate = Gate()
    async with (
        serving(make_app(gate, fast_path=way, max_calls=1)) as (site, port),
        connection(port) as (reader, writer),
    ):
        writer.write(call_bytes("slow_wait"))
        await gate.entered.wait()
        async with connection(port) as (other_reader, other_writer):
            other_writer.write(call_bytes("add", a=1, b=2))
            assert (await response(other_reader))[0] == 503
        gate.opened.set()
        assert (await response(reader))[0] == 200
        assert site.calls.running == 0


# ---- clients that leave ----------------------------------------------------------------------------------


def stopped_app(audit: Path, entered: asyncio.Event, stopped: list[str], **settings: Any) -> App:
    app = App("stopped", version="1", format="result", settings=Settings(audit=str(audit), **settings))

    @app.tool(response_time="slow")
    async def wait(context: ToolContext) -> str:
        """Wait to be stopped."""
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(context.caller_key)
        return "never"

    return app


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", ["reset", "close", "end of its side"])
async def test_a_call_is_stopped_and_recorded_once_when_its_client_leaves(way: str, how: str, tmp_path: Path):
    entered, stopped = asyncio.Event(), list[str]()
    path = tmp_path / "audit.jsonl"
    async with serving(stopped_app(path, entered, stopped, fast_path=way)) as (site, port):
        async with connection(port) as (reader, writer):
            writer.write(call_bytes("wait"))
            await entered.wait()
            if how == "end of its side":
                writer.write_eof()
                assert await reader.read() == b""
            elif how == "close":
                writer.close()
        await until(lambda: site.calls.running == 0 and site.counts.connections == 0)
        assert stopped == ["anonymous:127.0.0.1"]
    assert [one["outcome"] for one in audited(path)] == ["cancelled"]


async def test_a_call_that_begins_after_its_client_has_left_is_stopped_where_it_waits(tmp_path: Path):
    entered, stopped = asyncio.Event(), list[str]()
    async with serving(stopped_app(tmp_path / "audit.jsonl", entered, stopped)) as (site, port), connection(port):
        await until(lambda: bool(site.connections._open))
        (server,) = site.connections._open
        server.data_received(call_bytes("wait"))
        assert not entered.is_set()
        server.connection_lost(None)
        await until(lambda: len(stopped) == 1 and site.calls.running == 0)
        assert server.tasks == set()


@pytest.mark.parametrize("way", WAYS)
async def test_a_client_that_ends_its_side_with_its_request_has_left(way: str, tmp_path: Path):
    entered, stopped = asyncio.Event(), list[str]()
    async with serving(stopped_app(tmp_path / "audit.jsonl", entered, stopped, fast_path=way)) as (site, port):
        async with connection(port) as (reader, writer):
            writer.write(call_bytes("wait"))
            writer.write_eof()
            assert await reader.read() == b""
        await until(lambda: site.calls.running == 0 and site.counts.connections == 0)
        assert len(stopped) == entered.is_set()


# ---- streams ---------------------------------------------------------------------------------------------


async def chunk(reader: asyncio.StreamReader) -> bytes:
    size = int(await reader.readline(), 16)
    return (await reader.readexactly(size + 2))[:-2]


def ping_often(site: Any) -> None:
    (_, fast_path), *_ = site._fronts.values()
    fast_path._slowly.ping_seconds = 0.001


@pytest.mark.parametrize("way", WAYS)
async def test_a_call_that_is_silent_for_long_pings_its_client(way: str, monkeypatch: pytest.MonkeyPatch):
    direct, gate = count_direct(monkeypatch), Gate()
    app = make_app(gate, fast_path=way, send_seconds=0.4)
    async with serving(app) as (site, port), connection(port) as (reader, writer):
        ping_often(site)
        writer.write(call_bytes("slow_wait", 7))
        status, headers, _ = await response(reader)
        assert (status, headers["content-type"], headers["transfer-encoding"]) == (200, "text/event-stream", "chunked")
        assert headers["x-accel-buffering"] == "no"
        assert [await chunk(reader) for _ in range(2)] == [PING_EVENT, PING_EVENT]
        gate.opened.set()
        while (event := await chunk(reader)) == PING_EVENT:
            pass
        assert event.startswith(b"event: message\r\ndata: {")
        assert data_of(event.partition(b"data: ")[2]) == "waited"
        assert await chunk(reader) == b""
        writer.write(call_bytes("add", 8, a=1, b=2))
        status, headers, body = await response(reader)
        assert (headers["content-type"], data_of(body)) == ("application/json", 3)
    assert len(direct) == (2 if way == "on" else 0)


async def test_a_stream_that_the_end_of_the_server_cuts_off_has_no_last_chunk():
    gate = Gate()
    async with serving(make_app(gate, send_seconds=0.4)) as (site, port), connection(port) as (reader, writer):
        ping_often(site)
        writer.write(call_bytes("slow_wait"))
        await response(reader)
        (server,) = site.connections._open
        (task,) = server.tasks
        task.cancel()
        rest = await reader.read()
    assert rest.replace(b"%x\r\n%s\r\n" % (len(PING_EVENT), PING_EVENT), b"") == b""


async def test_a_client_that_does_not_read_gets_no_further_pings_and_is_closed():
    """A ping would make it look as if the client had read something."""
    gate = Gate()
    async with serving(make_app(gate, send_seconds=1.0)) as (site, port), connection(port) as (_, writer):
        ping_often(site)
        writer.transport.pause_reading()
        large = call_bytes("repeat", text="x" * 1000, times=5000)
        writer.write(large + call_bytes("slow_wait"))
        await gate.entered.wait()
        await until(lambda: site.counts.refusals["send_timeout"] == 1)
        await until(lambda: site.counts.connections == 0 and site.calls.running == 0)


@pytest.mark.parametrize("way", WAYS)
async def test_a_client_that_wants_to_know_of_progress_gets_a_stream(way: str, monkeypatch: pytest.MonkeyPatch):
    direct, app = (
        count_direct(monkeypatch),
        App("progress", version="1", format="result", settings=Settings(fast_path=way)),
    )

    @app.tool(response_time="slow")
    async def work(context: ToolContext) -> str:
        """Work."""
        await context.report_progress(1, 2, "half")
        return "done"

    async with serving(app) as (_, port), connection(port) as (reader, writer):
        writer.write(with_meta(call_bytes("work"), {"progressToken": "p"}))
        await response(reader)
        notified, answered = [json.loads((await chunk(reader)).partition(b"data: ")[2]) for _ in range(2)]
        assert notified["params"] == {"progressToken": "p", "progress": 1, "total": 2, "message": "half"}
        assert data_of(json.dumps(answered).encode()) == "done"
    assert direct == ([200] if way == "on" else [])


# ---- ends of calls ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
async def test_a_call_that_takes_too_long_is_answered(way: str):
    app = App("late", version="1", format="result", settings=Settings(fast_path=way, deadline=0.02))

    @app.tool(response_time="slow")
    async def late() -> str:
        """Never answer."""
        await asyncio.Event().wait()
        return "never"

    async with serving(app) as (_, port), connection(port) as (reader, writer):
        for number in range(2):
            writer.write(call_bytes("late", number))
            status, _, body = await response(reader)
            assert status == 200
            assert "took longer than 0.02 seconds" in body.decode()


@pytest.mark.parametrize("way", WAYS)
async def test_a_call_that_the_server_stops_is_answered(way: str):
    gate = Gate()
    async with serving(make_app(gate, fast_path=way)) as (site, port), connection(port) as (reader, writer):
        writer.write(call_bytes("slow_wait"))
        await gate.entered.wait()
        site.stop()
        (server,) = site.connections._open
        server.shutdown()
        site.apps[0].stop_calls()
        status, headers, body = await response(reader)
        assert (status, headers["connection"]) == (200, "close")
        assert "The server is stopping" in json.loads(body)["result"]["content"][0]["text"]
        assert await reader.read() == b""


def in_session(message: dict[str, Any], session: str = "") -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    lines = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", "Accept: */*"]
    lines += [f"MCP-Protocol-Version: {OLD}", f"Mcp-Session-Id: {session}"] if session else []
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {}}, {"roots": {}}])
async def test_a_call_in_a_session_can_be_cancelled(
    way: str, capabilities: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    direct, gate = count_direct(monkeypatch), Gate()
    client = {"protocolVersion": OLD, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}
    async with serving(make_app(gate, fast_path=way)) as (site, port), connection(port) as (reader, writer):
        writer.write(in_session({"id": 1, "method": "initialize", "params": client}))
        opened = (await reader.readuntil(b"\r\n\r\n")).decode()
        session, length = (re.findall(rf"{name}: (.+)\r\n", opened)[0] for name in ("mcp-session-id", "content-length"))
        await reader.readexactly(int(length))
        direct.clear()
        writer.write(in_session({"id": 2, "method": "tools/call", "params": {"name": "slow_wait"}}, session))
        await gate.entered.wait()
        async with connection(port) as (other_reader, other_writer):
            cancel = {"method": "notifications/cancelled", "params": {"requestId": 2}}
            other_writer.write(in_session(cancel, session))
            assert (await response(other_reader))[0] == 202
        answer = json.loads((await response(reader))[2])
        assert (answer["id"], answer["error"]["message"]) == (2, "Request cancelled")
        (tally,) = site.apps[0].telemetry.tallies.values()
        assert tally.outcomes == {"cancelled": 1}
        writer.write(in_session({"id": 3, "method": "tools/call", "params": {"name": "slow_add"}}, session))
        assert (await response(reader))[0] == 200
    assert len(direct) == (0 if way == "asgi" else 3)
