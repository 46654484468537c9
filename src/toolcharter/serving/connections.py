"""The limits of connections: how many are open, how large a head is, and how long a client may take.

They hold for every protocol class. One timer looks at all connections, so that a request needs no timer of its own.
"""

import asyncio
import sys
from collections import Counter
from enum import IntEnum
from http import HTTPStatus
from typing import Any, NamedTuple, Self, cast

from mcp_core.hosts.fast_path.asgi import EVENT_STREAM_HEADERS, Header, HttpResponse
from mcp_core.mcp_log import get_logger
from mcp_core.settings.model import Settings
from mcp_core.text.plurals import count
from toolcharter.serving.calls import HttpCounts, refusal
from toolcharter.serving.proxies import TrustedProxies
from toolcharter.serving.uvicorn_connection import UvicornConnection

_REST_SECONDS = 1.0
"""How long the rest of a body may take whose request is answered."""
_LINGER_SECONDS = 2.0
"""How long a refused client may go on sending. If its connection were closed at once, it could lose the response."""
_MAX_LOOK_SECONDS = 1.0
_MIN_ADDRESS_CONNECTIONS = 100
_SLOW_SECONDS = 1.0
"""A request that takes longer to arrive may be replaced before an idle connection."""
_MIN_BODY_RATE, _RATE_SECONDS = 500, 5.0
"""Bytes a second that a body must have on average, after so many seconds."""
_RESERVED_FILES = 16
"""Files below the limit of this process that no connection may keep, so that a probe of the health gets its answer.
Where none is left, uvloop accepts connections only to close them."""
_OTHER_FILES = 256
"""Files that a process opens besides: databases, logs, threads of the system's libraries."""

_MAX_UNREAD_BYTES = 128 * 1024 * 1024
"""Of responses that clients have not read, in the memory of the server."""

logger = get_logger(__name__)


class ConnectionLimits(NamedTuple):
    """The limits of one client before it is known who it is."""

    connections: int
    head_bytes: int
    headers: int
    head_seconds: float
    body_seconds: float
    send_seconds: float
    idle_seconds: float
    address_connections: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The limits in the settings."""
        return cls(
            settings.max_connections,
            settings.max_head_bytes,
            settings.max_headers,
            settings.head_seconds,
            settings.body_seconds,
            settings.send_seconds,
            settings.idle_seconds,
            settings.max_address_connections or max(settings.max_connections // 2, _MIN_ADDRESS_CONNECTIONS),
        )


class ConnectionPhase(IntEnum):
    """The phase of a connection: the event that it waits for."""

    NEW = 0
    """The first byte of its first request."""
    IDLE = 1
    """Its next request."""
    HEAD = 2
    """The rest of a head."""
    BODY = 3
    """The rest of a body."""
    CALL = 4
    """The response to a request."""
    REFUSED = 5
    """Its end: a limit has closed it."""
    ANSWERED = 6
    """The rest of a body whose request is answered, such as one without a valid token."""


_UNFINISHED = (ConnectionPhase.HEAD, ConnectionPhase.BODY, ConnectionPhase.ANSWERED)


class Connections:
    """The open connections of one server."""

    def __init__(self, limits: ConnectionLimits, counts: HttpCounts, proxies: TrustedProxies | None) -> None:
        """The connections of a trusted proxy are those of many clients, and its address has no limit."""
        self.limits, self.counts, self._proxies = limits, counts, proxies
        self._open: set[LimitedConnection] = set()
        self._by_address: dict[str, set[LimitedConnection]] = {}
        self._unread: set[LimitedConnection] = set()
        """Those with so much unread that nothing more is written to them."""
        self.max_unread = _MAX_UNREAD_BYTES
        self._timer: asyncio.TimerHandle | None = None
        self._default_headers: Any = None
        self._ok_head = b""
        self._interval = min(_MAX_LOOK_SECONDS, *(seconds / 4 for seconds in limits[3:7]))

    def add(self, connection: "LimitedConnection") -> bool:
        """Add a connection. False where there is no room for it."""
        address = connection.client[0] if connection.client else None
        if address is not None and (self._proxies is None or not self._proxies.is_trusted(address)):
            of_address = self._by_address.setdefault(address, set())
            if len(of_address) >= self.limits.address_connections and not self._replace_slowest(of_address):
                return False
        else:
            of_address = None
        has_room = len(self._open) < self.limits.connections and not _is_reserved(connection)
        if not has_room and not self._replace_slowest(self._open):
            return False
        if of_address is not None:
            self._by_address.setdefault(cast(str, address), of_address).add(connection)
        self._open.add(connection)
        self.counts.connections = len(self._open)
        if self._timer is None:
            self._start_timer()
        return True

    def _replace_slowest(self, connections: "set[LimitedConnection]") -> bool:
        """Close the connection that waits longest for its client, rather one that began a request. False without one.

        A connection whose call runs is not closed.
        """
        waiting = [one for one in connections if one.phase != ConnectionPhase.CALL]
        if not waiting:
            return False
        now = asyncio.get_running_loop().time()

        def rank(one: LimitedConnection) -> tuple[bool, float]:
            has_begun = one.phase in _UNFINISHED and not one.responding
            return not (has_begun and now - one.since > _SLOW_SECONDS), one.since

        slowest = min(waiting, key=rank)
        self.counts.refusals["too_many_connections"] += 1
        self.remove(slowest)
        slowest.close_now()
        return True

    def remove(self, connection: "LimitedConnection") -> None:
        """Remove a connection that is closed."""
        self._open.discard(connection)
        self._unread.discard(connection)
        address = connection.client[0] if connection.client else None
        if address is not None and (of_address := self._by_address.get(address)) is not None:
            of_address.discard(connection)
            if not of_address:
                del self._by_address[address]
        self.counts.connections = len(self._open)

    def add_unread(self, connection: "LimitedConnection") -> None:
        """A client reads slowly. If all of them leave too much unread, the address that leaves most is cut off first.

        The largest of its responses go, until there is room. What other addresses wait for is still sent.
        """
        self._unread.add(connection)
        sizes = {one: one.transport.get_write_buffer_size() for one in self._unread}
        while len(sizes) > 1 and sum(sizes.values()) > self.max_unread:
            by_address = Counter[str]()
            for one, size in sizes.items():
                by_address[one.address] += size
            ((greatest, _),) = by_address.most_common(1)
            largest = max((one for one in sizes if one.address == greatest), key=sizes.__getitem__)
            del sizes[largest]
            self.remove_unread(largest)
            self.counts.refusals["too_much_unread"] += 1
            largest.loop.call_soon(largest.transport.abort)  # it may be in the middle of a write

    def remove_unread(self, connection: "LimitedConnection") -> None:
        """A client has read enough, or is gone."""
        self._unread.discard(connection)

    def ok_head(self, default_headers: Any) -> bytes:
        """The head of a response with JSON, up to its length. It changes when the date does."""
        if default_headers is not self._default_headers:
            response = response_bytes(HttpResponse(HTTPStatus.OK, b""), default_headers, keep_alive=True)
            self._default_headers, self._ok_head = default_headers, response.removesuffix(b"0\r\n\r\n")
        return self._ok_head

    def _start_timer(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._look)

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in tuple(self._open):
            connection.check_time(now)
        self._timer = None
        if self._open:
            self._start_timer()


class LimitedConnection(UvicornConnection):
    """The limits of a protocol class of uvicorn. The class below sets `phase` while it reads."""

    connections_open: Connections
    phase = ConnectionPhase.NEW
    since = 0.0
    body_bytes = 0
    """Of the body that the connection waits for."""
    _unsent = 0
    _unsent_since = 0.0

    @property
    def address(self) -> str:
        """The address of the client, or of the proxy that it came through."""
        return self.client[0] if self.client else ""

    def pause_writing(self) -> None:
        """Much is unsent."""
        super().pause_writing()
        self.connections_open.add_unread(self)

    def resume_writing(self) -> None:
        """The client has read enough."""
        self.connections_open.remove_unread(self)
        super().resume_writing()

    def enter(self, phase: ConnectionPhase) -> None:
        """Wait for something else from now on."""
        self.phase, self.since = phase, self.loop.time()
        self.body_bytes = 0

    # --- times -----------------------------------------------------------------------------------------

    def check_time(self, now: float) -> None:
        """Close the connection if the client took too long."""
        limits, elapsed = self.connections_open.limits, now - self.since
        if self._stopped_reading(now):
            self.connections_open.counts.refusals["send_timeout"] += 1
            self.transport.abort()
        elif self.phase == ConnectionPhase.HEAD and elapsed > limits.head_seconds:
            if self.responding:
                self.since = now  # of the next request: this one is not done
            else:
                words = f"The head of the request was not complete after {count(limits.head_seconds, 'second')}."
                self.refuse(HTTPStatus.REQUEST_TIMEOUT, "head_timeout", words)
        elif self.phase == ConnectionPhase.BODY and self._sends_slowly(elapsed):
            words = f"The body of the request came with less than {_MIN_BODY_RATE} bytes in a second."
            self.refuse(HTTPStatus.REQUEST_TIMEOUT, "body_too_slow", words)
        elif self.phase == ConnectionPhase.BODY and elapsed > limits.body_seconds:
            words = f"The body of the request was not complete after {count(limits.body_seconds, 'second')}."
            self.refuse(HTTPStatus.REQUEST_TIMEOUT, "body_timeout", words)
        elif self.phase == ConnectionPhase.ANSWERED and elapsed > _REST_SECONDS:
            self.enter(ConnectionPhase.REFUSED)
            self._end_output()
        elif self.phase == ConnectionPhase.NEW and elapsed > limits.head_seconds:
            self.connections_open.counts.refusals["head_timeout"] += 1
            self.close_now()
        elif (self.phase == ConnectionPhase.IDLE and elapsed > limits.idle_seconds) or (
            self.phase == ConnectionPhase.REFUSED and elapsed > _LINGER_SECONDS
        ):
            self.close_now()

    def _sends_slowly(self, elapsed: float) -> bool:
        return elapsed > _RATE_SECONDS and self.body_bytes < elapsed * _MIN_BODY_RATE

    def _stopped_reading(self, now: float) -> bool:
        """Whether the client has read nothing of a response for too long."""
        unsent = self.transport.get_write_buffer_size()
        if unsent != self._unsent or not unsent:
            self._unsent, self._unsent_since = unsent, now
        return bool(unsent) and now - self._unsent_since > self.connections_open.limits.send_seconds

    # --- refusals --------------------------------------------------------------------------------------

    def refuse(self, status: int, reason: str, message: str) -> None:
        """Answer that a limit was exceeded, and close the connection."""
        response = refusal(status, reason, message, self.connections_open.counts)
        started = self.responding and (self.response_started or self.phase == ConnectionPhase.HEAD)
        self.enter(ConnectionPhase.REFUSED)
        if self.responding:
            self.disconnect_application()
        if started:
            self.transport.abort()
        else:
            self._send_last(response)

    def refuse_connection(self) -> None:
        """Answer that there are too many connections."""
        words = "This server has no room for another connection. Try again later."
        response = refusal(503, "too_many_connections", words, self.connections_open.counts)
        self.enter(ConnectionPhase.REFUSED)
        self.transport.write(response_bytes(response, (), keep_alive=False))
        self.transport.close()

    def _send_last(self, response: HttpResponse) -> None:
        self.resume_reading()
        self.transport.write(response_bytes(response, self.default_headers, keep_alive=False))
        self._end_output()

    def wait_for_rest(self) -> None:
        """Wait a moment for the rest of a body whose request is answered. A client may send it after the head."""
        if self.phase == ConnectionPhase.BODY and not self.responding:
            self.enter(ConnectionPhase.ANSWERED)

    def _end_output(self) -> None:
        if self.transport.can_write_eof():
            self.transport.write_eof()  # `check_time` closes it
        else:
            self.transport.close()

    def close_now(self) -> None:
        """Close the connection, also if something was not sent."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()


def _is_reserved(connection: LimitedConnection) -> bool:
    """Whether a connection has one of the last files of this process: the system gives out the lowest number."""
    if sys.platform == "win32":
        return False
    import resource  # noqa: PLC0415 - not on Windows

    sock = connection.transport.get_extra_info("socket")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sock is not None and soft != resource.RLIM_INFINITY and sock.fileno() >= soft - _RESERVED_FILES


def raise_file_limit(connections: int) -> None:
    """Let this process open a file for each connection, as far as the system allows. Shells often allow 1,024 files."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if wanted < connections + _OTHER_FILES:
        logger.warning(
            "This process may open %d files, which is too few for --max-connections %d: raise `ulimit -n`.",
            wanted,
            connections,
        )


def head_refusal(reason: str, limits: ConnectionLimits) -> str:
    """The message for a head that is too large."""
    most = count(limits.headers, "header") if reason == "too_many_headers" else count(limits.head_bytes, "byte")
    return f"The head of the request has more than {most}. Send fewer or shorter headers."


def response_bytes(response: HttpResponse, default_headers: Any, *, keep_alive: bool) -> bytes:
    """A response as it is sent."""
    length = (b"content-length", b"%d" % len(response.body))
    headers = [*default_headers, *response.headers, length]
    return _head_bytes(response.status, headers, keep_alive=keep_alive) + response.body


def stream_head_bytes(default_headers: Any, *, keep_alive: bool) -> bytes:
    """The head of an event stream, which is sent in chunks."""
    headers = [*default_headers, *EVENT_STREAM_HEADERS, (b"transfer-encoding", b"chunked")]
    return _head_bytes(HTTPStatus.OK, headers, keep_alive=keep_alive)


def _head_bytes(status: int, headers: list[Header], *, keep_alive: bool) -> bytes:
    if not keep_alive and (b"connection", b"close") not in headers:
        headers.append((b"connection", b"close"))
    lines = [b"%s: %s\r\n" % header for header in headers]
    if any(b"\n" in line[:-2] or b"\r" in line[:-2] for line in lines):
        raise ValueError("a header with a line break")
    return b"HTTP/1.1 %d %s\r\n%s\r\n" % (status, HTTPStatus(status).phrase.encode(), b"".join(lines))
