import asyncio
import gzip
import ssl
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.certificates import write_certificate
from toolcharter.govern.upstream import http, http_client
from toolcharter.govern.upstream.errors import UpstreamUnavailable
from toolcharter.govern.upstream.http import read_events
from toolcharter.govern.upstream.http_client import CannotConnect, HttpClient, HttpFailed, basic_authorization

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
ZEROS = gzip.compress(bytes(10_000_000), mtime=0)


class Server:
    """Sends prepared bytes for each request, and keeps what it receives."""

    def __init__(self, responses: Sequence[bytes], *, closes: bool) -> None:
        self._responses, self._closes = list(responses), closes
        self.heads: list[str] = []
        self.asked = asyncio.Event()
        self.connections = 0
        self.writers: list[asyncio.StreamWriter] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while self._responses:
                self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
                self.asked.set()
                writer.write(self._responses.pop(0))
                await writer.drain()
                if self._closes:
                    return
            await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(
    *responses: bytes, closes: bool = False, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[tuple[Server, HttpClient]]:
    server = Server(responses, closes=closes)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/mcp?a=1"
    client = HttpClient(server.url)
    try:
        async with asyncio.timeout(60):
            yield server, client
    finally:
        client.close()
        listening.close()


async def get(server: Server, client: HttpClient, most: int = 1_000_000) -> tuple[int, bytes | None]:
    response = await client.request("GET", server.url, {"accept": "*/*"})
    try:
        return response.status, await response.read(most)
    finally:
        response.close()


async def test_a_connection_is_used_again():
    async with serving(OK, OK) as (server, client):
        assert [await get(server, client) for _ in range(2)] == [(200, b"ok")] * 2
        assert server.connections == 1
        first = server.heads[0].split("\r\n")
        assert first[0] == "GET /mcp?a=1 HTTP/1.1"
        assert first[1].startswith("host: 127.0.0.1:")


@pytest.mark.parametrize(
    ("response", "closes"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", False),
        (b"HTTP/1.1 200 OK\r\n\r\nok", True),
    ],
)
async def test_a_connection_that_ends_with_its_response_is_not_used_again(response: bytes, closes: bool):
    async with serving(response, response, closes=closes) as (server, client):
        assert [await get(server, client) for _ in range(2)] == [(200, b"ok")] * 2
        assert server.connections == 2


async def test_a_connection_whose_response_was_not_read_is_not_used_again():
    async with serving(OK[:-1], OK) as (server, client):
        (await client.request("GET", server.url, {})).close()
        assert await get(server, client) == (200, b"ok")
        assert server.connections == 2


async def test_a_connection_with_more_than_one_response_to_a_request_is_not_used_again():
    other = b"HTTP/1.1 500 Other\r\nContent-Length: 3\r\n\r\nbad"
    async with serving(OK + other, OK) as (server, client):
        assert [await get(server, client) for _ in range(2)] == [(200, b"ok")] * 2
        assert server.connections == 2


async def test_a_connection_on_which_something_comes_unasked_is_not_used_again():
    async with serving(OK, OK) as (server, client):
        await get(server, client)
        (connection,) = client._idle
        server.writers[0].write(OK.replace(b"ok", b"no"))
        while not connection.is_closed:  # noqa: ASYNC110 - nobody waits for this connection
            await asyncio.sleep(0.01)
        assert await get(server, client) == (200, b"ok")
        assert server.connections == 2


async def test_a_small_body_that_becomes_large_does_so_in_pieces():
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(ZEROS)
    async with serving(head + ZEROS) as (server, client):
        response = await client.request("GET", server.url, {})
        sizes = [len(part) async for part in response.parts()]
        assert (sum(sizes), max(sizes) <= http_client._BUFFERED) == (10_000_000, True)
        response.close()


async def test_a_request_waits_while_all_connections_are_in_use(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http_client, "_MAX_CONNECTIONS", 1)
    async with serving(OK[:-1], OK) as (server, client):
        first = await client.request("GET", server.url, {})
        second = asyncio.create_task(get(server, client))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(second), 0.2)
        assert server.connections == 1
        first.close()
        assert await second == (200, b"ok")


async def test_a_connection_that_is_being_opened_when_the_client_is_closed_is_closed_too():
    async with serving(OK) as (server, client):
        opening = asyncio.create_task(get(server, client))
        await asyncio.sleep(0)  # it looks up the address now
        client.close()
        with pytest.raises(CannotConnect, match="closed meanwhile"):
            await opening
        assert server.heads == []


async def test_a_connection_that_is_not_ready_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http_client, "_CONNECT_SECONDS", 0.2)
    async with serving(b"") as (server, _):
        client = HttpClient(server.url.replace("http:", "https:"))  # the server waits for a request
        with pytest.raises(CannotConnect, match=r"no connection within 0\.2 seconds"):
            await get(server, client)


async def test_a_server_is_not_read_faster_than_its_body_is_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http_client, "_BUFFERED", 1000)
    size = 5_000_000
    async with serving(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + bytes(size)) as (server, client):
        response = await client.request("GET", server.url, {})
        connection = response._connection
        assert connection is not None
        assert connection._transport is not None
        while connection._transport.is_reading():  # noqa: ASYNC110 - the transport has no event for it
            await asyncio.sleep(0.01)
        body = await response.read(size)
        assert body is not None
        assert len(body) == size
        response.close()


async def test_a_body_of_many_small_parts_takes_no_longer_than_one_of_few():
    chunks = b"1\r\na\r\n" * 200_000 + b"1\r\n\n\r\n0\r\n\r\n"
    async with serving(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks) as (server, client):
        began = time.process_time()
        response = await client.request("GET", server.url, {})
        assert [data async for data in read_events(response)] == []
        assert time.process_time() - began < 5  # 0.3 seconds; 20 and more if each part were copied again
        response.close()


async def test_a_connection_that_was_idle_for_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch):
    async with serving(OK, OK) as (server, client):
        await get(server, client)
        monkeypatch.setattr(http_client, "_IDLE_SECONDS", 0.0)
        await get(server, client)
        assert server.connections == 2


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nContent-Encoding: br\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + OK,
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 22\r\n\r\n" + gzip.compress(b"ok", mtime=0),
    ],
)
async def test_a_body_is_read_in_every_form(response: bytes):
    async with serving(response) as (server, client):
        assert await get(server, client) == (200, b"ok")


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(ZEROS) + ZEROS,
    ],
)
async def test_a_body_that_is_too_large_is_not_read(response: bytes):
    async with serving(response) as (server, client):
        assert await get(server, client, most=4) == (200, None)


async def test_an_event_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http, "MAX_MESSAGE", 100)
    events = b"data: %s\n\n" % bytes(80)
    async with serving(b"HTTP/1.1 200 OK\r\n\r\n" + events * 3 + b"data: " + bytes(101)) as (server, client):
        response = await client.request("GET", server.url, {})
        with pytest.raises(UpstreamUnavailable, match="larger than 100 bytes"):
            [event async for event in read_events(response)]
        response.close()


async def test_a_redirect_is_a_response_like_others():
    moved = b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    async with serving(moved) as (server, client):
        assert await get(server, client) == (307, b"")
        assert len(server.heads) == 1


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (b"", "the server closed the connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1", "the server closed the connection"),
        (b"SSH-2.0-OpenSSH\r\n", "the response is not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "the response is not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", "the response is not HTTP"),
        (CHUNKED + b"Content-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n", "the response is not HTTP"),
        (CHUNKED + b"\r\nno\r\nok\r\n0\r\n\r\n", "the response is not HTTP"),
        (CHUNKED + b"\r\n2\r\nok\r\n", "the server closed the connection"),
        (CHUNKED + b"\r\n2;" + b"a" * 100_000, "the head of the response is larger than"),
        (CHUNKED + b"\r\n2\r\nok\r\n0\r\nA: " + b"a" * 500_000, "the head of the response is larger than"),
        (b"HTTP/1.1 101 Other\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nok", "changes to another protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\nContent-Encoding: gzip\r\n\r\n" + ZEROS[:15], "ends too early"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"a" * 100_000, "the head of the response is larger than"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Encoding: br\r\n\r\n1", "encoded with 'br'"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Encoding: gzip\r\n\r\n1", "is not gzip"),
    ],
)
async def test_a_response_that_is_not_complete_or_not_valid_is_a_failure(response: bytes, problem: str):
    async with serving(response, closes=True) as (server, client):
        with pytest.raises(HttpFailed, match=problem):
            await get(server, client)


async def test_a_header_cannot_bring_another_header():
    async with serving(OK) as (server, client):
        for value in ("a\r\nb: c", "a\nb: c", "a\0"):
            with pytest.raises(HttpFailed, match="a header has a line end in it"):
                await client.request("GET", server.url, {"mcp-name": value})
        assert server.heads == []


async def test_a_request_that_is_cancelled_closes_its_connection():
    async with serving(b"", OK) as (server, client):
        waiting = asyncio.create_task(get(server, client))
        await server.asked.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await get(server, client) == (200, b"ok")
        assert (server.connections, len(client._open)) == (2, 1)


async def test_a_certificate_must_be_one_that_the_system_trusts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cert, key = write_certificate(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(cert, key)
    async with serving(OK, tls=tls) as (server, client):
        with pytest.raises(CannotConnect, match="self-signed certificate"):
            await get(server, client)
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        monkeypatch.setattr(http_client, "_tls", http_client._tls.__wrapped__)
        assert await get(server, client) == (200, b"ok")
        server.url = server.url.replace("127.0.0.1", "localhost")
        with pytest.raises(CannotConnect, match="not valid for 'localhost'"):
            await get(server, HttpClient(server.url))


async def test_an_address_cannot_bring_a_header():
    async with serving(OK) as (server, client):
        server.url += "/a b\u00fc\r\nc: d\x00"
        await get(server, client)
        assert server.heads[0].startswith("GET /mcp?a=1/a%20b%C3%BCc:%20d%00 HTTP/1.1\r\n")


def test_the_user_in_an_address_becomes_a_header():
    assert basic_authorization("https://ana:p%40ss@docs.example/mcp") == {"authorization": "Basic YW5hOnBAc3M="}
    assert basic_authorization("https://docs.example/mcp") == {}
