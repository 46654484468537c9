"""HTTP over ASGI as the fast path reads and writes it: headers, bodies, responses and event streams."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Headers = dict[str, str]
Header = tuple[bytes, bytes]

TOO_LARGE = 413
HEADERS_READ = frozenset(
    b"host origin content-type accept content-length authorization mcp-protocol-version mcp-method mcp-name "
    b"mcp-session-id traceparent tracestate x-correlation-id".split()
)
_TRACE_HEADERS = {"traceparent": "traceparent", "tracestate": "tracestate", "x-correlation-id": "correlationId"}
JSON_HEADERS: tuple[Header, ...] = ((b"content-type", b"application/json"),)
EVENT_STREAM_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # otherwise a proxy may hold events back
)
PING_EVENT = b": ping\r\n\r\n"
"""A comment, which clients ignore."""
_USUAL_ACCEPT = "application/json, text/event-stream"
_JSON_RANGES = frozenset({"application/json", "application/*"})
_EVENT_RANGES = frozenset({"text/event-stream", "text/*"})


# --- requests ----------------------------------------------------------------------------------------------


def read_headers(raw_headers: Iterable[Header], names: frozenset[bytes]) -> tuple[Headers, bool]:
    """The headers of these names, the first of each, and whether any of them needs the SDK to judge it."""
    headers: Headers = {}
    unusual = False
    for name, value in raw_headers:
        if name in names:
            text = name.decode()
            if text in headers:
                unusual = True
            else:
                headers[text] = value.strip(b" \t").decode("latin-1")  # RFC 9110, 5.5
        elif name.startswith(b"mcp-param-"):
            unusual = True
    return headers, unusual


def trace_ids(headers: Headers) -> dict[str, str] | None:
    """The trace and correlation ids among the headers, under the names that `_meta` has for them."""
    return {key: headers[name] for name, key in _TRACE_HEADERS.items() if name in headers} or None


def is_json(headers: Headers) -> bool:
    """Whether the body is JSON by its content type."""
    content_type = headers.get("content-type", "")
    if content_type == "application/json":
        return True
    types = [part.strip() for part in content_type.partition(";")[0].split(",")]
    return content_type.startswith("application/json") and "application/json" in types


def accepts_json_and_events(headers: Headers) -> bool:
    """Whether the client accepts both kinds of response."""
    accept = headers.get("accept", "")
    if accept == _USUAL_ACCEPT:
        return True
    ranges = {part.partition(";")[0].strip().lower() for part in accept.split(",")}
    if "*/*" in ranges:
        return True
    return not ranges.isdisjoint(_JSON_RANGES) and not ranges.isdisjoint(_EVENT_RANGES)


async def read_body(receive: Receive, most: int) -> bytes | None:
    """The whole body, or more than `most` bytes of it; None where the client left before its end."""
    body = b""
    parts: list[bytes] = []
    size = 0
    while size <= most:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body = message.get("body", b"")
        parts.append(body)
        size += len(body)
        if not message.get("more_body"):
            break
    return body if len(parts) == 1 else b"".join(parts)


def replay(body: bytes | None, receive: Receive) -> Receive:
    """A `receive` that gives a body again which has been read."""
    if body is None:
        return receive
    messages: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return messages.pop() if messages else await receive()

    return receive_again


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


# --- responses ---------------------------------------------------------------------------------------------


class HttpResponse(NamedTuple):
    """A complete response; JSON unless its headers say otherwise."""

    status: int
    body: bytes
    headers: tuple[Header, ...] = JSON_HEADERS

    def with_header(self, name: bytes, value: bytes) -> "HttpResponse":
        """The same response with one more header."""
        return self._replace(headers=(*self.headers, (name, value)))

    async def send(self, send: Send) -> None:
        """Send it."""
        headers = [*self.headers, (b"content-length", str(len(self.body)).encode())]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def message_event(data: bytes) -> bytes:
    """A message as an event of a stream."""
    return b"event: message\r\ndata: " + data + b"\r\n\r\n"


class EventStream:
    """A response in several events. The first one starts it."""

    def __init__(self, send: Send) -> None:
        self._send, self.started = send, False

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send a message."""
        await self._write(message_event(data), more=not last)

    async def ping(self) -> None:
        """Send a comment, which clients ignore."""
        await self._write(PING_EVENT, more=True)

    async def close(self) -> None:
        """End it without a further message."""
        await self._write(b"", more=False)

    async def _write(self, data: bytes, *, more: bool) -> None:
        if not self.started:
            self.started = True
            await self._send({"type": "http.response.start", "status": 200, "headers": EVENT_STREAM_HEADERS})
        await self._send({"type": "http.response.body", "body": data, "more_body": more})
