"""The heads of requests that can be answered without ASGI."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import httptools

from mcp_core.hosts.callers import Scope
from mcp_core.hosts.fast_path.changes import LISTEN
from mcp_core.hosts.fast_path.http import HttpFastPath
from mcp_core.hosts.fast_path.methods import NotHandled
from mcp_core.hosts.fast_path.request_head import LastPeer, RequestHead
from toolcharter.serving.connections import ConnectionLimits
from toolcharter.serving.proxies import TrustedProxies

_NEVER_DIRECT = frozenset({b"transfer-encoding", b"expect", b"upgrade"})
_KEEP_ALIVE, _CLOSE = b"keep-alive", b"close"
_CREDENTIALS = frozenset({b"authorization", b"cookie", b"proxy-authorization"})

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]+)[ \t]*\r\n", re.IGNORECASE)

FindFastPath = Callable[[str, str | None], HttpFastPath | None]
"""The app that answers a URL on the fast path, for a request from an origin; None where the request needs more."""


Client = tuple[str, int] | None
"""The address of the other side, as a scope has it."""


class DirectHead(NamedTuple):
    """A head, and the fast path that answers requests with it."""

    fast_path: HttpFastPath
    scope: Scope
    """Of the scope that uvicorn would make, the client and the path."""
    head: RequestHead
    authorization: str
    closes: bool
    """Whether the client asks for the connection to be closed after the response."""
    may_repeat: bool
    """Whether the connection may keep the head for its next request: trace ids differ, and credentials are not kept."""


class RepeatedHead(NamedTuple):
    """A head that the next request of a connection may have again, with a body of another length."""

    head: DirectHead
    before: bytes
    """Its bytes up to the length."""
    after: bytes
    """Its bytes from the end of the length."""
    max_body: int
    """A longer body is refused."""


class DirectHeads:
    """Reads heads. Nothing is shared between connections, so no client can slow down the requests of others."""

    def __init__(
        self, find_fast_path: FindFastPath, limits: ConnectionLimits, proxies: TrustedProxies | None = None
    ) -> None:
        self._find_fast_path, self._limits, self._proxies = find_fast_path, limits, proxies

    def read(self, data: bytes, client: Client, last: LastPeer) -> tuple[DirectHead, int] | None:
        """Read a complete head, with the length of the body. None if the request must be answered through ASGI.

        `last` is the client of the last request on the connection.
        """
        if len(data) > self._limits.head_bytes:
            return None
        reader = _HeadReader()
        parser = httptools.HttpRequestParser(reader)
        try:
            parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            return None
        names = [name for name, _ in reader.headers]
        if (
            not reader.complete
            or parser.get_method() != b"POST"
            or parser.get_http_version() != "1.1"
            or len(names) > self._limits.headers
            or names.count(b"content-length") != 1
            or names.count(b"host") != 1
            or names.count(b"connection") > 1
            or not _NEVER_DIRECT.isdisjoint(names)
        ):
            return None
        scope: Any = {"client": client, "headers": reader.headers}
        if self._proxies is not None:
            self._proxies.apply(scope)
        headers = dict(scope["headers"])
        length, after = headers[b"content-length"].strip(), headers.get(b"connection", _KEEP_ALIVE).strip().lower()
        if not length.isdigit() or after not in (_KEEP_ALIVE, _CLOSE):
            return None
        origin, path = headers.get(b"origin"), reader.url.decode("latin-1")
        fast_path = self._find_fast_path(path, None if origin is None else origin.decode("latin-1"))
        if fast_path is None:
            return None
        try:
            head = fast_path.read_head(scope["headers"], scope["client"], last)
        except NotHandled:
            return None
        if head.needs_sdk or head.method == LISTEN:
            return None
        direct = DirectHead(
            fast_path,
            {"client": scope["client"], "path": path},
            head,
            head.headers.pop("authorization", ""),
            closes=after == _CLOSE,
            may_repeat=head.trace_ids is None and not head.declared and _CREDENTIALS.isdisjoint(names),
        )
        return direct, int(length)


def repeated(head: DirectHead, data: bytes) -> RepeatedHead | None:
    """A head, to be found again. None if each request has to be read, as one with credentials."""
    length = _LENGTH.search(data) if head.may_repeat else None
    if length is None:
        return None
    return RepeatedHead(head, data[: length.start(1)], data[length.end(1) :], head.fast_path.max_body)


class _HeadReader:
    """The callbacks of httptools while it parses a head."""

    def __init__(self) -> None:
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.complete = False

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.complete = True
