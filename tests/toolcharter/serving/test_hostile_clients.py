"""Clients that send or read in ways that would cost a server its memory: real processes, both paths."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.toolcharter.serving.processes import Process, started
from tests.toolcharter.serving.raw_http import call_bytes, data_of, response

pytestmark = pytest.mark.requirement("OPS-8")

REPEAT_SERVER = str(Path(__file__).with_name("repeat_server.py"))
PATIENCE = 90
MEGABYTE = 1024 * 1024
ROOM = 48 * MEGABYTE
"""The most that a server may grow while a client sends it 100 or 200 MB. Half of it is the SDK, loaded on demand."""
LIMITS = ("--send-seconds", "0.5", "--head-seconds", "0.5", "--body-seconds", "20")


class Served:
    """A server, and the memory that its process uses."""

    def __init__(self, server: Process) -> None:
        self.url = httpx2.URL(server.base_url())
        self._process = psutil.Process(server.process.pid)

    @property
    def memory(self) -> int:
        return self._process.memory_info().rss

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.url.port)
        try:
            async with asyncio.timeout(PATIENCE):
                yield reader, writer
        finally:
            writer.transport.abort()

    async def refusals(self) -> dict[str, float]:
        async with httpx2.AsyncClient() as http:
            text = (await http.get(self.url.join("/metrics"))).text
        rows = [line.rpartition(" ") for line in text.splitlines() if line.startswith("toolcharter_http_refusals")]
        return {name.split('reason="')[1][:-2]: float(value) for name, _, value in rows if float(value)}

    async def answers(self) -> bool:
        """Whether another client is answered."""
        async with self.connection() as (reader, writer):
            writer.write(call_bytes("add", a=1, b=2))
            status, _, body = await response(reader)
            return status == 200 and data_of(body) == 3


@pytest.fixture(scope="module", params=["on", "off"])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with started(REPEAT_SERVER, "http", "--port", "0", "--fast-path", request.param, *LIMITS) as server:
        yield Served(server)


async def send(writer: asyncio.StreamWriter, part: bytes, times: int) -> None:
    """Send a part again and again, until the server has closed the connection."""
    with suppress(ConnectionError):
        for _ in range(times):
            writer.write(part)
            await writer.drain()


async def last_response(reader: asyncio.StreamReader) -> bytes:
    said = b""
    with suppress(ConnectionError):
        while part := await reader.read(65536):
            said += part
    return said


async def test_a_header_of_200_mb_without_end_is_not_collected(served: Served):
    assert await served.answers()
    before = served.memory
    async with served.connection() as (reader, writer):
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ")
        said, _ = await asyncio.gather(last_response(reader), send(writer, b"x" * MEGABYTE, 200))
    assert served.memory - before < ROOM
    assert said.startswith(b"HTTP/1.1 431 ")
    assert (await served.refusals())["head_too_large"] >= 1
    assert await served.answers()


PAGE = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
HEAD = call_bytes("add", a=1, b=2).partition(b"Content-Length")[0]


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (HEAD + b"Content-Length: 104857600\r\n\r\n", b" " * MEGABYTE),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + b" " * MEGABYTE + b"\r\n"),
    ],
    ids=["length", "chunks"],
)
async def test_a_body_of_100_mb_is_refused_and_not_collected(served: Served, head: bytes, part: bytes):
    before = served.memory
    async with served.connection() as (reader, writer):
        writer.write(head)
        (status, _, body), _ = await asyncio.gather(response(reader), send(writer, part, 100))
    assert (status, json.loads(body)["error"]["data"]["reason"]) == (413, "body_too_large")
    assert served.memory - before < ROOM
    assert (await served.refusals())["body_too_large"] >= 1
    assert await served.answers()


async def test_a_slow_writer_is_refused_and_others_are_answered(served: Served):
    async with served.connection() as (reader, writer), served.connection() as (silent, _):
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0")
        assert await served.answers()
        assert (await last_response(reader)).startswith(b"HTTP/1.1 408 ")
        assert await last_response(silent) == b""
    assert (await served.refusals())["head_timeout"] >= 2


async def test_a_slow_reader_is_closed_and_others_are_answered(served: Served):
    """It asks for 20 MB, and reads nothing."""
    before = served.memory
    async with served.connection() as (_, writer):
        writer.transport.pause_reading()
        writer.write(call_bytes("repeat", text="x" * 1000, times=1000) * 20)
        while "send_timeout" not in await served.refusals():
            assert await served.answers()
    assert served.memory - before < ROOM


async def test_requests_that_do_not_wait_for_responses_are_not_collected(served: Served):
    before = served.memory
    async with served.connection() as (_, writer):
        writer.transport.pause_reading()
        await send(writer, PAGE * 1000, 1000)
    assert served.memory - before < ROOM
    assert (await served.refusals())["too_many_pipelined"] >= 1
    assert await served.answers()
