"""Calls that arrive together are recorded together, and answered after that."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App, Settings
from mcp_core.audit import verify
from mcp_core.audit.file import FileSink
from tests.mcp_core.audited import audited
from tests.toolcharter.serving.raw_http import call_bytes, connection, data_of, response, serving, until
from toolcharter.serving import direct_calls
from toolcharter.serving.direct_calls import DirectCalls
from toolcharter.serving.joined_writes import JoiningTransport

CLIENTS = 20


def make_app(events: list[str], opened: asyncio.Event | None = None, **settings: Any) -> App:
    app = App("direct", version="1", format="result", settings=Settings(**{"deadline": 60, **settings}))

    @app.tool(response_time="fast")
    async def double(number: int) -> int:
        """Double a number."""
        events.append(f"call {number}")
        return 2 * number

    @app.tool(response_time="fast")
    async def wait(number: int) -> int:
        """Wait until it is opened."""
        events.append(f"call {number}")
        assert opened is not None
        await opened.wait()
        events.append(f"end {number}")
        return number

    return app


@asynccontextmanager
async def clients(app: App) -> AsyncIterator[list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]:
    async with serving(app) as (_, port), AsyncExitStack() as stack:
        yield [await stack.enter_async_context(connection(port)) for _ in range(CLIENTS)]


async def ask_all(streams: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]], tool: str, first: int) -> None:
    """Send a call on each connection, so that all arrive in one turn of the event loop."""
    for number, (_, writer) in enumerate(streams, first):
        writer.write(call_bytes(tool, number, f"X-Correlation-Id: c{number}", number=number))


async def answers(streams: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]) -> list[Any]:
    return [data_of((await response(reader))[2]) for reader, _ in streams]


@pytest.mark.requirement("OPS-5")
async def test_each_record_is_written_before_its_answer_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, together, send, write = tmp_path / "audit.jsonl", [], JoiningTransport.send, FileSink.write_together
    unrecorded: list[int] = []

    def check_and_send(self: JoiningTransport, data: bytes) -> None:
        number = json.loads(data.partition(b"\r\n\r\n")[2])["id"]
        if f'"correlationId":"c{number}"'.encode() not in path.read_bytes():
            unrecorded.append(number)
        send(self, data)

    def count_and_write(self: FileSink, lines: Any) -> int:
        together.append(len(lines))
        return write(self, lines)

    monkeypatch.setattr(JoiningTransport, "send", check_and_send)
    monkeypatch.setattr(FileSink, "write_together", count_and_write)
    async with clients(make_app([], audit=str(path))) as streams:
        for first in (0, 100, 200):
            await ask_all(streams, "double", first)
            assert await answers(streams) == [2 * number for number in range(first, first + CLIENTS)]
    assert unrecorded == []
    assert max(together) > 1
    assert len(audited(path)) == 3 * CLIENTS
    assert verify([("audit", path.read_bytes().splitlines())]).problems == []


@pytest.mark.parametrize("longest_hold", [0.0, 60.0])
async def test_an_answer_does_not_wait_long_for_calls_that_arrived_with_its_own(
    longest_hold: float, monkeypatch: pytest.MonkeyPatch
):
    events: list[str] = []
    send = JoiningTransport.send

    def note_and_send(self: JoiningTransport, data: bytes) -> None:
        events.append("answer")
        send(self, data)

    monkeypatch.setattr(JoiningTransport, "send", note_and_send)
    monkeypatch.setattr(direct_calls, "MAX_HOLD_SECONDS", longest_hold)
    async with clients(make_app(events)) as streams:
        await ask_all(streams, "double", 0)
        await answers(streams)
    in_a_row = "".join(event[0] for event in events)
    if longest_hold:
        assert "cc" in in_a_row
        assert "aa" in in_a_row
    else:
        assert in_a_row == "ca" * CLIENTS


async def test_calls_that_wait_do_not_hold_back_those_that_arrived_with_them(tmp_path: Path):
    opened, path = asyncio.Event(), tmp_path / "audit.jsonl"
    async with clients(make_app([], opened, audit=str(path))) as streams:
        for number, (_, writer) in enumerate(streams):
            writer.write(call_bytes("wait" if number % 2 else "double", number, number=number))
        assert await answers(streams[::2]) == [2 * number for number in range(0, CLIENTS, 2)]
        assert len(audited(path)) == CLIENTS / 2
        opened.set()
        assert await answers(streams[1::2]) == list(range(1, CLIENTS, 2))
        assert len(audited(path)) == CLIENTS


@pytest.mark.parametrize("longest_hold", [0.0, 60.0])
async def test_calls_that_end_in_one_turn_are_answered_together(longest_hold: float, monkeypatch: pytest.MonkeyPatch):
    events: list[str] = []
    opened, send = asyncio.Event(), JoiningTransport.send

    def note_and_send(self: JoiningTransport, data: bytes) -> None:
        events.append("answer")
        send(self, data)

    monkeypatch.setattr(JoiningTransport, "send", note_and_send)
    monkeypatch.setattr(direct_calls, "MAX_HOLD_SECONDS", longest_hold)
    async with clients(make_app(events, opened)) as streams:
        await ask_all(streams, "wait", 0)
        await until(lambda: len(events) == CLIENTS)
        events.clear()
        opened.set()
        assert await answers(streams) == list(range(CLIENTS))
    in_a_row = "".join(event[0] for event in events)
    assert in_a_row == ("e" * CLIENTS + "a" * CLIENTS if longest_hold else "ea" * CLIENTS)


async def test_what_arrives_between_the_end_of_a_call_and_its_answer_is_answered_after_it(
    monkeypatch: pytest.MonkeyPatch,
):
    events: list[str] = []
    opened, held, send_finished = asyncio.Event(), list[DirectCalls](), DirectCalls._send_finished
    monkeypatch.setattr(DirectCalls, "_send_finished", lambda self: held.append(self) if self._finished else None)
    async with serving(make_app(events, opened)) as (site, port), AsyncExitStack() as stack:
        (reader, writer), (other, other_writer) = [await stack.enter_async_context(connection(port)) for _ in range(2)]
        writer.write(call_bytes("wait", 1, number=1))
        await until(lambda: events == ["call 1"])
        other_writer.write(call_bytes("wait", 2, number=2))
        await until(lambda: events == ["call 1", "call 2"])
        (server,) = [one for one in site.connections._open if one.client == writer.get_extra_info("sockname")]
        opened.set()
        await until(lambda: bool(held))
        writer.write(call_bytes("double", 3, number=3))
        await until(lambda: bool(server._held))
        monkeypatch.setattr(DirectCalls, "_send_finished", send_finished)
        held[0]._send_finished()
        assert [data_of((await response(reader))[2]) for _ in range(2)] == [1, 6]
        assert data_of((await response(other))[2]) == 2


async def test_the_calls_of_one_client_are_begun_at_once():
    events: list[str] = []
    async with serving(make_app(events)) as (site, port), connection(port) as (reader, writer):
        writer.write(call_bytes("double", 1, number=1))
        await response(reader)
        (server,) = site.connections._open
        asyncio.get_running_loop().call_soon(server.data_received, call_bytes("double", 2, number=2))
        asyncio.get_running_loop().call_soon(events.append, "the next callback")
        await response(reader)
    assert events == ["call 1", "call 2", "the next callback"]


async def test_many_requests_in_one_segment_are_answered_one_in_each_turn():
    events: list[str] = []
    async with serving(make_app(events)) as (_, port), connection(port) as (reader, writer):
        writer.write(b"".join(call_bytes("double", number, number=number) for number in range(400)))
        assert [data_of((await response(reader))[2]) for _ in range(400)] == [2 * number for number in range(400)]
    assert events == [f"call {number}" for number in range(400)]
