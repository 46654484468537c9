"""The head of a request over HTTP: what the fast path reads in its headers."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.context import NO_HEADERS, RequestHeaders
from mcp_core.hosts.callers import allowed_hosts, allowed_origins, caller_without_token, is_allowed
from mcp_core.hosts.fast_path.asgi import (
    HEADERS_READ,
    Header,
    Headers,
    HttpResponse,
    accepts_json_and_events,
    is_json,
    read_headers,
    trace_ids,
)
from mcp_core.hosts.fast_path.methods import NotHandled
from mcp_core.hosts.names import HANDSHAKES
from mcp_core.hosts.protocol import Peer


class LastPeer:
    """The client that sent the last request on a connection. What its next request repeats is not read again."""

    __slots__ = ("caller", "peer", "source")

    def __init__(self) -> None:
        self.caller: Caller | None = None
        self.source: Any = None
        """The envelope or the session id that the peer was read from."""
        self.peer: Peer | None = None

    def find(self, caller: Caller, source: Any) -> Peer | None:
        """The same client again, if it is."""
        return self.peer if caller is self.caller and source == self.source else None

    def keep(self, caller: Caller, source: Any, peer: Peer) -> None:
        """Remember a client, without what only its last request had."""
        self.caller, self.source, self.peer = caller, source, peer


class RequestHead(NamedTuple):
    """The facts in the headers of a request: the same for all requests with the same headers."""

    headers: Headers
    version: str | None
    method: str | None
    name: str | None
    """Of the tool, the prompt or the resource. A name in base64 is left to the SDK."""
    may_have_session: bool
    """Whether it is of a protocol version with a handshake."""
    host_problem: HttpResponse | None
    needs_sdk: bool
    """Whether a header is wrong or rare. Outside the fast path's own sessions, the SDK then answers."""
    has_media_types: bool
    trace_ids: dict[str, str] | None
    declared: RequestHeaders
    """The headers that the app declared."""
    caller: Caller | None
    """None if each request has a token that says who calls."""
    last: LastPeer
    is_plain: bool
    """Whether it has neither trace ids nor declared headers."""

    def complete(self, peer: Peer) -> Peer:
        """The client, with the trace ids and the declared headers of this request."""
        return peer._replace(trace_ids=self.trace_ids, headers=self.declared)


class HeadReader:
    """Reads the heads of requests to one app."""

    def __init__(self, app: App) -> None:
        self._app, self._max_body = app, app.settings.max_body_bytes
        self._hosts = frozenset(allowed_hosts(app.settings))
        self._origins = frozenset(allowed_origins(app.settings))
        self._headers_read = HEADERS_READ | {name.encode() for name in app.request_headers}

    def read(self, raw_headers: Iterable[Header], client: Any, last: LastPeer) -> RequestHead:
        """Read the headers of a request. `client` is its address, as a scope has it."""
        headers, needs_sdk = read_headers(raw_headers, self._headers_read)
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._max_body:
            raise NotHandled("content-length")
        ids, declared = trace_ids(headers), self._declared(headers)
        version, problem = headers.get("mcp-protocol-version"), self._host_problem(headers)
        return RequestHead(
            headers,
            version,
            headers.get("mcp-method"),
            None if (name := headers.get("mcp-name")) is None or name.startswith("=?") else name,
            may_have_session=version is None or version in HANDSHAKES,
            host_problem=problem,
            needs_sdk=needs_sdk or problem is not None,
            has_media_types=is_json(headers) and accepts_json_and_events(headers),
            trace_ids=ids,
            declared=declared,
            caller=caller_without_token(self._app, client) if self._app.verifier is None else None,
            last=last,
            is_plain=ids is None and not declared,
        )

    def _host_problem(self, headers: Headers) -> HttpResponse | None:
        """The error for a request from a host or origin that is not allowed."""
        if not is_allowed(headers.get("host", ""), self._hosts):
            return HttpResponse(421, b"Invalid Host header", ())
        origin = headers.get("origin")
        if origin and not is_allowed(origin, self._origins):
            return HttpResponse(403, b"Invalid Origin header", ())
        return None

    def _declared(self, headers: Headers) -> RequestHeaders:
        """The headers that the app declared."""
        names = self._app.request_headers
        return RequestHeaders({name: headers[name] for name in names if name in headers}) if names else NO_HEADERS
