"""The heads of requests that can be answered without ASGI. A head that was seen before is not parsed again."""

import hashlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import httptools

from mcp_core.hosts.lane.changes import LISTEN
from mcp_core.hosts.lane.http import HttpLane
from mcp_core.hosts.lane.methods import NotHandled
from mcp_core.hosts.lane.request_head import RequestHead
from mcp_core.hosts.site.proxies import TrustedProxies

MAX_HEADS = 1024
_MAX_HEAD_BYTES = 4096
_AUTHORIZATION = re.compile(rb"\r\nauthorization:[ \t]*([^\r\n]*?)[ \t]*\r\n", re.IGNORECASE)
_NEVER_QUICK = frozenset({b"transfer-encoding", b"expect", b"upgrade", b"connection"})

FindLane = Callable[[str, str | None], HttpLane | None]
"""The lane at a path, for a request from an origin; None where the request needs more than the lane."""


Client = tuple[str, int] | None
"""The address of the other side, as a scope has it."""


class QuickHead(NamedTuple):
    """A head, and the lane that answers requests with it. The token is not kept: it is in the bytes of the head."""

    lane: HttpLane
    client: Client
    path: str
    head: RequestHead
    length: int
    """Of the body."""
    token_at: slice | None

    @property
    def repeats(self) -> bool:
        """Whether the head may be kept: with trace ids no two are the same, and declared headers may be credentials."""
        return self.head.trace_ids is None and not self.head.declared

    def authorization(self, data: bytes) -> str:
        """The value of the header Authorization in the bytes of a request."""
        return "" if self.token_at is None else data[self.token_at].decode("latin-1")


class QuickHeads:
    """The heads seen last. Keys are digests, because a head may hold a token."""

    def __init__(self, find_lane: FindLane, max_headers: int, proxies: TrustedProxies | None = None) -> None:
        self._find_lane, self._max_headers, self._proxies = find_lane, max_headers, proxies
        self._heads: dict[bytes, QuickHead | None] = {}

    def find(self, data: bytes, client: Client) -> QuickHead | None:
        """What is known of a complete head from a client; None where the request needs the ordinary way."""
        address = b"" if client is None else client[0].encode()
        key = hashlib.sha256(data + address).digest()
        try:
            return self._heads[key]
        except KeyError:
            pass
        head = self._read(data, client) if len(data) <= _MAX_HEAD_BYTES else None
        if head is None or head.repeats:
            if len(self._heads) >= MAX_HEADS:
                del self._heads[next(iter(self._heads))]
            self._heads[key] = head
        return head

    def _read(self, data: bytes, client: Client) -> QuickHead | None:
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
            or len(names) > self._max_headers
            or names.count(b"content-length") != 1
            or not _NEVER_QUICK.isdisjoint(names)
        ):
            return None
        scope: Any = {"client": client, "headers": reader.headers}
        if self._proxies is not None:
            self._proxies.apply(scope)
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        path = reader.url.decode("latin-1")
        lane = self._find_lane(path, None if origin is None else origin.decode("latin-1"))
        length, token = headers[b"content-length"].strip(), _AUTHORIZATION.search(data)
        if lane is None or not length.isdigit() or (token is not None) != (b"authorization" in headers):
            return None
        try:
            head = lane.read_head(scope["headers"], scope["client"])
        except NotHandled:
            return None
        if head.needs_sdk or head.method == LISTEN:
            return None
        head.headers.pop("authorization", None)
        token_at = None if token is None else slice(*token.span(1))
        return QuickHead(lane, scope["client"], path, head, int(length), token_at)


class _HeadReader:
    """What httptools calls while it parses a head."""

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
