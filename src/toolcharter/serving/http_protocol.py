"""HTTP on httptools: uvicorn's protocol class with limits, and direct calls, which are answered without ASGI.

A direct call is a POST that the fast path answers. It needs no scope and no cycle: its body goes to the fast path, and
the response is one write. Everything else, and what the fast path does not handle, goes through uvicorn's parser and
ASGI, with the same bytes; so both ways give the same answers.

A direct call may wait for something: what the client sends meanwhile is held. If it may take a while, it is cancelled
when its client leaves. With the first progress notification or question to the client, or after a long silence, its
response becomes a stream of events.

For a drain: a direct call has a task in `server_state.tasks` like other calls; while `Calls.draining` or
`Calls.closing` is set, or after `shutdown()`, its response closes the connection.
"""

import asyncio
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from mcp_core.hosts.fast_path.asgi import JSON_HEADERS, PING_EVENT, HttpResponse, message_event
from mcp_core.hosts.fast_path.jsonrpc import error_message
from mcp_core.hosts.fast_path.methods import NotHandled
from mcp_core.hosts.fast_path.request_head import LastPeer
from mcp_core.hosts.names import INTERNAL_ERROR
from mcp_core.hosts.protocol import RpcError, server_stopping
from mcp_core.mcp_log import get_logger
from toolcharter.serving.calls import Calls
from toolcharter.serving.connections import (
    ConnectionPhase,
    Connections,
    LimitedConnection,
    head_refusal,
    response_bytes,
    stream_head_bytes,
)
from toolcharter.serving.direct_calls import DirectCalls
from toolcharter.serving.direct_heads import DirectHead, RepeatedHead, repeated
from toolcharter.serving.joined_writes import JoiningTransport
from toolcharter.serving.uvicorn_connection import HttpToolsMembers

logger = get_logger(__name__)

_POST, _HEAD_END = b"POST ", b"\r\n\r\n"
_LAST_CHUNK = b"0\r\n\r\n"
_MAX_HELD_BYTES = 16 * 1024
"""The longest request that is held back until it is complete. A longer one goes the ordinary way, in parts."""
_MAX_DIGITS = 5 + 1
"""Of the length of such a request, with the end of its line."""
_MAX_INCOMPLETE_SECONDS = 1.0
"""How long the rest of a direct call may take."""
_MAX_PIPELINED = 64
"""Requests that wait for the response to another on their connection. uvicorn keeps 4 KB for each."""
_OK = 200
# To look up a member of an enum takes ten times as long.
_IDLE, _BODY, _CALL = ConnectionPhase.IDLE, ConnectionPhase.BODY, ConnectionPhase.CALL


class LimitExceeded(Exception):
    """Raised inside the parser, which has no other way to stop."""


class HttpProtocol(LimitedConnection, HttpToolsMembers, HttpToolsProtocol):
    """One connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        connections_open: Connections,
        direct: DirectCalls | None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.connections_open, self._direct = connections_open, direct
        self._has_call = False
        """Whether a direct call runs, is about to, or has no response yet."""
        self._task: asyncio.Task[None] | None = None
        """Of a direct call that waits for something."""
        self._ping_seconds: float | None = None
        """The interval of pings, of a direct call that may take a while."""
        self._has_stream = False
        """Whether the response to a direct call has begun, as a stream of events."""
        self._incomplete: tuple[DirectHead, int, int, bytes] | None = None
        """The beginning of a direct call: its head, where its body begins and ends, and its bytes."""
        self._last_head: RepeatedHead | None = None
        """The last head of a direct call that may repeat: most clients send it again."""
        self._last_peer = LastPeer()
        self._held = b""
        """The bytes after a direct call, until it is answered."""
        self._close_after_call = self._client_ended = False
        self._head_size = 0
        self._bytes_without_progress = 0

    # --- the connection --------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Begin, if there is room for another connection."""
        self._joining = JoiningTransport(transport)
        super().connection_made(self._joining)  # pyright: ignore[reportArgumentType]
        self.enter(ConnectionPhase.NEW)
        if not self.connections_open.add(self):
            self.refuse_connection()

    def connection_lost(self, exc: Exception | None) -> None:
        """End. A direct call that still runs is stopped only if it may take a while."""
        self.connections_open.remove(self)
        if self._direct is not None:
            self._direct.forget(self)
        super().connection_lost(exc)
        if self._task is not None and self._ping_seconds is not None:
            self._task.cancel()

    def eof_received(self) -> bool | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The client has ended its side: it gets the answer to a call that is short; otherwise it has left."""
        if self.scheme == "https" or self._ping_seconds is not None or not (self._has_call or self._held):
            return None
        self._client_ended = True
        return True

    def shutdown(self) -> None:
        """Close the connection, after the response to a call that runs."""
        if self._has_call or self._held:
            self._close_after_call = True
        else:
            super().shutdown()

    def data_received(self, data: bytes) -> None:
        """Answer what can be answered here, and give the rest to the parser."""
        if self._has_call or self._held:
            self._hold(data)
            return
        if self._incomplete is not None:
            head, body_at, end, start = self._incomplete
            self._incomplete = None
            data = start + data
            begun = self.phase != ConnectionPhase.REFUSED and self._begin_direct(head, body_at, end, data)
        else:
            begun = self.phase <= _IDLE and self._direct is not None and self._read_direct(data, self._direct)
        if not begun:
            self._parse(data)

    # --- direct calls -----------------------------------------------------------------------------------

    def _read_direct(self, data: bytes, direct: DirectCalls) -> bool:
        """Read the head of a direct call, and begin the call. False if uvicorn must parse the request."""
        last = self._last_head
        if last is not None and data.startswith(last.before):
            at = len(last.before)
            length_end = data.find(b"\r", at, at + _MAX_DIGITS)
            if data.startswith(last.after, length_end) and (length := data[at:length_end]).isdigit():
                size, body_at = int(length), length_end + len(last.after)
                if size <= last.max_body:
                    return self._begin_direct(last.head, body_at, body_at + size, data)
        if not data.startswith(_POST) or (head_end := data.find(_HEAD_END)) < 0:
            return False
        body_at = head_end + len(_HEAD_END)
        read = direct.heads.read(data[:body_at], self.client, self._last_peer)
        if read is None:
            return False
        head, size = read
        self._last_head = repeated(head, data[:body_at]) or self._last_head
        return self._begin_direct(head, body_at, body_at + size, data)

    def _begin_direct(self, head: DirectHead, body_at: int, end: int, data: bytes) -> bool:
        """Begin to answer a direct call, or wait for the rest of it. False if uvicorn must parse it."""
        if len(data) < end:
            if end > _MAX_HELD_BYTES:
                return False
            self._incomplete = head, body_at, end, data
            if self.phase != _BODY:
                self.phase, self.since = _BODY, self.loop.time()
            return True
        direct = self._direct
        if direct is None or not direct.calls.begin():
            return False
        if len(data) > end:
            data, self._held = data[:end], data[end:]
        self.phase, self._has_call = _CALL, True
        direct.begin(self, self._run(head, data, body_at, direct), self.loop)
        return True

    def watch_client(self, ping_seconds: float) -> None:
        """The direct call may take a while: cancel it if the client leaves, and ping the client until it ends."""
        self._ping_seconds = ping_seconds
        self.enter(_CALL)
        if self._client_ended:
            self.transport.close()

    def wait_in(self, task: asyncio.Task[None]) -> None:
        """The direct call waits for something, in this task."""
        self._task = task
        self.tasks.add(task)
        if self.is_lost and self._ping_seconds is not None:
            task.cancel()

    async def send_message(self, data: bytes) -> None:
        """Send a message before the response to the direct call, in a stream of events."""
        if self.write_paused:
            await self.drain()
        if not self._joining.is_closing():
            self.since = self.loop.time()
            self._send_event(message_event(data))

    def check_time(self, now: float) -> None:
        """Close the connection if the client took too long, or ping it if its call does."""
        super().check_time(now)
        if self._incomplete is not None and now - self.since > _MAX_INCOMPLETE_SECONDS:
            start, self._incomplete = self._incomplete[3], None
            self._parse(start)  # ASGI checks the token before it waits for the body
        if self._task is None or self._ping_seconds is None or now - self.since < self._ping_seconds:
            return
        if not self._joining.is_closing() and not self.transport.get_write_buffer_size():
            self.since = now
            self._send_event(PING_EVENT)

    def _send_event(self, event: bytes, end: bytes = b"") -> None:
        """Send a part of a stream of events, and before the first one its head."""
        head = b""
        if not self._has_stream:
            self._has_stream = True
            head = stream_head_bytes(self.default_headers, keep_alive=not self._close_after_call)
        self._joining.send(b"%s%x\r\n%s\r\n%s" % (head, len(event), event, end))

    async def _run(self, head: DirectHead, data: bytes, body_at: int, direct: DirectCalls) -> None:
        """Answer a direct call, or give it to the parser if the fast path does not handle it."""
        try:
            response = await head.fast_path.respond(head.head, head.scope, head.authorization, data[body_at:], self)
            if head.closes:
                self._close_after_call = True
        except NotHandled:
            response = None
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it is answered and logged
            response = self._failure(error)
        try:
            if response is not None and self.write_paused:
                await self.drain()
        except BaseException:
            direct.calls.end()
            raise
        finally:
            self._ping_seconds = None
            if self._task is not None:
                self.tasks.discard(self._task)
                self._task = None
        if response is None:
            direct.calls.end()
            self._go_on_with_parser(data)
        else:
            head.fast_path.count_request("direct")
            direct.finish(self, response, self.loop)

    def _failure(self, error: BaseException) -> HttpResponse:
        """The response to a call that the end of the server has cut off, or that an error in the server has."""
        if self._has_stream:
            self.transport.close()  # without its last chunk: the client sees that it is not complete
        if isinstance(error, asyncio.CancelledError):
            self._close_after_call = True
            return _error(503, server_stopping())
        logger.error("A request could not be answered", exc_info=error)
        return _error(500, RpcError(INTERNAL_ERROR, "The server failed; its log has the reason."))

    def respond(self, response: HttpResponse, calls: Calls) -> None:
        """Send the response to a direct call."""
        self._has_call = False
        status, body, headers = response
        default_headers = self.begin_response()
        keep_alive = not (self._close_after_call or self._client_ended or calls.draining or calls.closing)
        if self._has_stream:
            self._send_event(message_event(body), _LAST_CHUNK)
            self._has_stream = False
        elif status == _OK and headers is JSON_HEADERS and keep_alive:
            head = self.connections_open.ok_head(default_headers)
            self._joining.send(b"%s%d\r\n\r\n%s" % (head, len(body), body))
        else:
            keep_alive = keep_alive and (b"connection", b"close") not in headers
            self._joining.send(response_bytes(response, default_headers, keep_alive=keep_alive))
        if not keep_alive:
            self._held = b""
            self.transport.close()
            return
        if self._held:
            self.loop.call_soon(self._answer_held)  # one call in each turn, so that other connections have theirs
        else:
            self.phase, self.since = _IDLE, self.loop.time()

    def _answer_held(self) -> None:
        if not self._joining.is_closing():
            data, self._held = self._held, b""
            self.enter(_IDLE)
            self.resume_reading()
            self.data_received(data)

    def _go_on_with_parser(self, data: bytes) -> None:
        """Take the ordinary way with a request that the fast path did not answer, and with what followed it."""
        self._has_call = False
        if self._joining.is_closing():
            return
        if self._client_ended:
            self.transport.close()  # there, a client that has ended its side has left
            return
        held, self._held = self._held, b""
        self.resume_reading()
        self._parse(data)
        if held:
            self._parse(held)
        if self._close_after_call:
            super().shutdown()

    def _hold(self, data: bytes) -> None:
        self._held += data
        if len(self._held) > HIGH_WATER_LIMIT:
            self.pause_reading()

    # --- the ordinary way, with limits -----------------------------------------------------------------

    def _parse(self, data: bytes) -> None:
        if self.phase == ConnectionPhase.REFUSED or self.is_lost:
            return
        self._bytes_without_progress += len(data)
        super().data_received(data)
        if self._bytes_without_progress > self.connections_open.limits.head_bytes:
            self._refuse_head("head_too_large")

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser does not understand, and what a limit forbids."""
        if self._head_size > self.connections_open.limits.head_bytes:
            self._refuse_head("head_too_large")
        elif self.header_count > self.connections_open.limits.headers:
            self._refuse_head("too_many_headers")
        elif self.pipelined >= _MAX_PIPELINED:
            self.refuse(429, "too_many_pipelined", "Wait for responses before you send more requests.")
        else:
            super().send_400_response(msg)

    def _refuse_head(self, reason: str) -> None:
        if self.phase != ConnectionPhase.REFUSED:
            self.refuse(431, reason, head_refusal(reason, self.connections_open.limits))

    def on_message_begin(self) -> None:
        """Wait for the head."""
        self._head_size = 0
        self.enter(ConnectionPhase.HEAD)
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._head_size += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, unless there are too many."""
        super().on_header(name, value)
        limits = self.connections_open.limits
        self._head_size += len(name) + len(value) + 4
        if self._head_size > limits.head_bytes or self.header_count > limits.headers:
            raise LimitExceeded

    def on_headers_complete(self) -> None:
        """Begin to answer, and wait for the body."""
        self._bytes_without_progress = 0
        if self.pipelined >= _MAX_PIPELINED:
            raise LimitExceeded
        self.enter(ConnectionPhase.BODY)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._bytes_without_progress = 0
        self.body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait for the response."""
        self._bytes_without_progress = 0
        self.enter(ConnectionPhase.CALL if self.responding else ConnectionPhase.IDLE)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request. The timer of all connections replaces uvicorn's own."""
        super().on_response_complete()
        self.stop_keep_alive_timer()
        self.wait_for_rest()
        if self.pipelined:
            self.pause_reading()  # uvicorn would read more with each response
        if self.phase == ConnectionPhase.CALL and not self.responding:
            self.enter(ConnectionPhase.IDLE)


def _error(status: int, error: RpcError) -> HttpResponse:
    return HttpResponse(status, error_message(None, error))
