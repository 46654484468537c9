"""A small HTTP/1.1 client on httptools: connections are kept, sizes are bounded, and redirects are not followed."""

import asyncio
import functools
import os
import socket
import ssl
import time
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit

import httptools

_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 15.0
"""How long a connection is kept without a request. Many servers close theirs a little later."""
_MAX_CONNECTIONS = 100
_MAX_HEAD_BYTES = 64 * 1024
_BUFFERED = 256 * 1024
"""How much of a body is received before it is read."""
_IN_PATHS = "%/?:@!$&'()*+,;=~[]"
"""The characters of a path and a query besides letters and digits; the rest is written with percent signs."""
_INTERIM = 200
"""Responses with a lower status precede the one that counts."""


class HttpFailed(Exception):
    """A request got no complete response. The message says why."""


class CannotConnect(HttpFailed):
    """There is no connection."""


class ClientResponse:
    """The head of a response, and its body as it arrives. Must be closed."""

    def __init__(self, connection: "_HttpConnection") -> None:
        self._connection: _HttpConnection | None = connection
        self.status = 0
        self.reason = ""
        self._headers: list[tuple[str, str]] = []
        self.began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.is_complete = False
        self._parts: list[bytes] = []
        self._size = 0
        self._problem: HttpFailed | None = None
        self._arrival: asyncio.Future[None] | None = None

    def header(self, name: str) -> str | None:
        """The first header with this name, which is in lower case."""
        return next((value for known, value in self._headers if known == name), None)

    def headers(self, name: str) -> list[str]:
        """All headers with this name."""
        return [value for known, value in self._headers if known == name]

    @property
    def content_type(self) -> str:
        """The media type, without parameters."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    async def read(self, most: int) -> bytes | None:
        """The whole body; None if it is longer than `most` bytes. Raises HttpFailed."""
        if self.is_complete and self._size <= most and self.header("content-encoding") is None:
            return b"".join(self._parts)  # most bodies come with their head
        parts: list[bytes] = []
        size = 0
        async for part in self.parts():
            size += len(part)
            if size > most:
                return None
            parts.append(part)
        return b"".join(parts)

    async def parts(self) -> AsyncIterator[bytes]:
        """The body, in the parts in which it arrives. Raises HttpFailed."""
        encoding = (self.header("content-encoding") or "identity").strip().lower()
        if encoding == "identity":
            while part := await self._next_part():
                yield part
            return
        if encoding not in ("gzip", "deflate"):
            raise HttpFailed(f"the body is encoded with {encoding[:40]!r}, which was not asked for")
        decoder = zlib.decompressobj(wbits=32 + zlib.MAX_WBITS)
        while part := await self._next_part():
            while part:
                try:
                    # In pieces: a small body may become a large one.
                    piece = decoder.decompress(part, _BUFFERED)
                except zlib.error as error:
                    raise HttpFailed(f"the body is not {encoding}: {error}") from None
                part = decoder.unconsumed_tail
                if piece:
                    yield piece
        if not decoder.eof:
            raise HttpFailed(f"the body is not {encoding}: it ends too early")

    async def _next_part(self) -> bytes:
        """The next part of the body as it was sent; an empty one at the end."""
        while not self._parts:
            if self._problem is not None:
                raise self._problem
            if self.is_complete:
                return b""
            self._arrival = asyncio.get_running_loop().create_future()
            await self._arrival
        # At once: parts of one byte each would take long otherwise.
        part = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        if self._connection is not None:
            self._connection.go_on_reading()
        return part

    def close(self) -> None:
        """Give the connection back, or close it where the response is not complete."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.release()

    # --- what the connection receives -------------------------------------------------------------------

    def add_header(self, name: bytes, value: bytes) -> None:
        """Take a header. What follows the body counts for nothing."""
        if not self.began.done():
            self._headers.append((name.decode("latin-1").lower(), value.decode("utf-8", "surrogateescape")))

    def forget_head(self) -> None:
        """Forget the received head: it is not that of the response that counts."""
        self.reason, self._headers = "", []

    def begin(self, status: int) -> None:
        """The head is complete."""
        self.status = status
        if not self.began.done():
            self.began.set_result(None)

    def add(self, part: bytes) -> bool:
        """Take a part of the body. Returns whether that is enough for now."""
        self._parts.append(part)
        self._size += len(part)
        self._wake()
        return self._size > _BUFFERED

    def complete(self) -> None:
        """The body is complete."""
        self.is_complete = True
        self._wake()

    def fail(self, problem: HttpFailed) -> None:
        """Nothing more will come."""
        if self._problem is None and not self.is_complete:
            self._problem = problem
            if not self.began.done():
                self.began.set_exception(problem)
            self._wake()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)


class _HttpConnection(asyncio.Protocol):
    """One connection, which has at most one request at a time. The parser calls the methods that begin with `on_`."""

    def __init__(self, client: "HttpClient") -> None:
        self._client = client
        self._parser: Any = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._response: ClientResponse | None = None
        self._without_progress = 0
        self._is_paused = self._keeps_alive = self._ends_with_connection = False
        self.idle_since = 0.0

    @property
    def is_closed(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    async def send(self, data: bytes) -> ClientResponse:
        """Send a request, and wait for the head of the response. Raises HttpFailed."""
        response = self._response = ClientResponse(self)
        self._without_progress, self._keeps_alive = 0, False
        cast(asyncio.Transport, self._transport).write(data)
        await response.began
        return response

    def release(self) -> None:
        """The response is not needed any more."""
        response, self._response = self._response, None
        reusable = response is not None and response.is_complete and self._keeps_alive and not self.is_closed
        self.go_on_reading()
        self._client.release(self, reusable=reusable)

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def go_on_reading(self) -> None:
        """There is room for more."""
        if self._is_paused and not self.is_closed:
            cast(asyncio.Transport, self._transport).resume_reading()
        self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if (response := self._response) is None:
            return
        if self._ends_with_connection and exc is None:
            response.complete()
        else:
            response.fail(HttpFailed("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        if self._response is None:
            self.abort()  # nobody has asked for anything
            return
        self._without_progress += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(f"the response is not HTTP: {error}")
        except httptools.HttpParserUpgrade:
            self._fail("the server changes to another protocol")
        if self._without_progress > _MAX_HEAD_BYTES:
            self._fail(f"the head of the response is larger than {_MAX_HEAD_BYTES:,} bytes")

    def _fail(self, problem: str) -> None:
        if self._response is not None:
            self._response.fail(HttpFailed(problem))
        self.abort()

    def on_message_begin(self) -> None:
        if self._response is not None and self._response.is_complete:
            raise httptools.HttpParserError("more than one response to a request")

    def on_status(self, reason: bytes) -> None:
        if self._response is not None:
            self._response.reason += reason.decode("latin-1")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._response is not None:
            self._response.add_header(name, value)

    def on_headers_complete(self) -> None:
        response, status = self._response, self._parser.get_status_code()
        if response is None or status < _INTERIM:
            return
        self._keeps_alive = self._parser.should_keep_alive()
        has_end = response.header("content-length") is not None or response.header("transfer-encoding") is not None
        self._ends_with_connection = not has_end
        response.begin(status)

    def on_body(self, body: bytes) -> None:
        self._without_progress = 0
        if self._response is not None and self._response.add(body) and not self._is_paused and not self.is_closed:
            self._is_paused = True
            cast(asyncio.Transport, self._transport).pause_reading()

    def on_message_complete(self) -> None:
        self._without_progress = 0
        if (response := self._response) is None:
            return
        if self._parser.get_status_code() < _INTERIM:
            response.forget_head()
        else:
            response.complete()


class HttpClient:
    """The connections to one origin."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        self._is_secure = parts.scheme == "https"
        self._idle: list[_HttpConnection] = []
        self._open: set[_HttpConnection] = set()
        self._is_closed = False
        self._slots = asyncio.Semaphore(_MAX_CONNECTIONS)

    async def request(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> ClientResponse:
        """Send a request. The response has its head; redirects are responses like others. Raises HttpFailed."""
        data = _head(method, url, headers, len(body)) + body
        await self._slots.acquire()
        connection: _HttpConnection | None = None
        try:
            connection = self._take_idle() or await self._connect()
            return await connection.send(data)
        except BaseException:
            if connection is None:
                self._slots.release()
            else:
                self.release(connection, reusable=False)
            raise

    def release(self, connection: _HttpConnection, *, reusable: bool) -> None:
        """A connection has no request any more."""
        self._slots.release()
        if reusable and not self._is_closed:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            self._open.discard(connection)
            connection.abort()

    def close(self) -> None:
        """Close all connections, also those that are being opened."""
        self._is_closed = True
        for connection in self._open:
            connection.abort()
        self._open.clear()
        self._idle.clear()

    def _take_idle(self) -> _HttpConnection | None:
        """The connection that was used last. Those that waited for too long are closed."""
        latest = time.monotonic() - _IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if connection.idle_since > latest and not connection.is_closed:
                return connection
            self._open.discard(connection)
            connection.abort()
        return None

    async def _connect(self) -> _HttpConnection:
        options: dict[str, Any] = {"ssl": _tls(), "server_hostname": self._host} if self._is_secure else {}
        connection = _HttpConnection(self)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await asyncio.get_running_loop().create_connection(
                    lambda: connection, self._host, self._port, **options
                )
        except TimeoutError:
            raise CannotConnect(f"no connection within {_CONNECT_SECONDS:g} seconds") from None
        except (OSError, UnicodeError) as error:  # a name may have no form in which it can be looked up
            raise CannotConnect(_reason(error)) from None
        if self._is_closed:
            connection.abort()
            raise CannotConnect("it was closed meanwhile")
        self._open.add(connection)
        return connection


@functools.cache
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _head(method: str, url: str, headers: Mapping[str, str], length: int) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if not lines.count("\r") == lines.count("\n") == len(headers) or "\0" in lines:
        raise HttpFailed("a header has a line end in it")
    return f"{method} {_target(url)}{lines}content-length: {length}\r\n\r\n".encode("utf-8", "surrogateescape")


@functools.lru_cache(maxsize=1000)
def _target(url: str) -> str:
    """The end of the first line of a request to an address, and the headers that follow from the address."""
    parts = urlsplit(url)
    path = quote(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}", safe=_IN_PATHS)
    host = parts.netloc.rpartition("@")[2]
    return f"{path} HTTP/1.1\r\nhost: {host}\r\nuser-agent: toolcharter\r\naccept-encoding: gzip, deflate\r\n"


def basic_authorization(url: str) -> dict[str, str]:
    """The header for the user and the password that an address may have."""
    parts = urlsplit(url)
    if parts.username is None:
        return {}
    named = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"authorization": f"Basic {b64encode(named.encode()).decode()}"}


def _reason(error: OSError | UnicodeError) -> str:
    """Such as `Connection refused`; asyncio's own words have the address as Python writes it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError | socket.gaierror):
        return os.strerror(error.errno)
    return getattr(error, "strerror", None) or str(error)
