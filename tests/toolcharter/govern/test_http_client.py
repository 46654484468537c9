import asyncio
import gzip
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.certificates import write_certificate
from toolcharter.govern.upstream import http_client
from toolcharter.govern.upstream.http_client import CannotConnect, HttpClient, HttpFailed, basic_authorization

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ZEROS = gzip.compress(bytes(10_000_000))


class Server:
    """Sends prepared bytes for each request, and keeps what it receives."""

    def __init__(self, responses: Sequence[bytes], *, closes: bool) -> None:
        self._responses, self._closes = list(responses), closes
        self.heads: list[str] = []
        self.asked = asyncio.Event()
        self.connections = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
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
        assert server.connections == 2


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


def test_the_user_in_an_address_becomes_a_header():
    assert basic_authorization("https://ana:p%40ss@docs.example/mcp") == {"authorization": "Basic YW5hOnBAc3M="}
    assert basic_authorization("https://docs.example/mcp") == {}
