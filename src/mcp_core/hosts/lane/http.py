"""The fast lane over HTTP: ordinary requests are answered here, all others by the SDK's application underneath.

Ordinary is a POST of one well-formed request with the headers its protocol era asks for. Whatever is missing,
wrong or rare goes on to the SDK as it came, so that it is judged there. The SDK is loaded when the first one does.
"""

import asyncio
import importlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.hosts.callers import Scope, allowed_hosts, allowed_origins, http_caller, matches, refuse
from mcp_core.hosts.lane.methods import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKES,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    MODERN,
    PARSE_ERROR,
    VERSION_KEY,
    Fields,
    Lane,
    Peer,
    RpcError,
    Unusual,
    about_client,
    decode,
    method_not_found,
    progress_message,
    progress_token,
    shows_forms,
)
from mcp_core.hosts.lane.sessions import Sessions

LARGEST_BODY = 4 * 1024 * 1024
PING_SECONDS = 15.0
"""How long a call may be silent before its client is shown that it still runs. Proxies cut what is silent for long."""

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Headers = dict[str, str]
Header = tuple[bytes, bytes]

_WANTED = frozenset(
    b"host origin content-type accept content-length authorization mcp-protocol-version mcp-method mcp-name "
    b"mcp-session-id traceparent tracestate x-correlation-id".split()
)
_TELLING = {"traceparent": "traceparent", "tracestate": "tracestate", "x-correlation-id": "correlationId"}
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_MAY_TAKE_LONG = frozenset({"tools/call", "prompts/get"})
_STATUS = {INVALID_PARAMS: 400, MISSING_CAPABILITY: 400, METHOD_NOT_FOUND: 404}
_JSON = (b"content-type", b"application/json")
REQUEST_CANCELLED = -32800
_STREAM = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # else a proxy may keep the news to itself
]
_BOTH = "application/json, text/event-stream"
_SOME_JSON = frozenset({"application/json", "application/*"})
_SOME_EVENTS = frozenset({"text/event-stream", "text/*"})


class Settled(Exception):
    """There is an answer already, before any method is looked at."""

    def __init__(self, status: int, body: bytes, *headers: Header) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers


class HttpLane:
    """An ASGI application that serves an app at `/mcp`. Whoever mounts it enters its `lifespan` first."""

    def __init__(self, app: App, ping_seconds: float = PING_SECONDS) -> None:
        self._app, self._lane, self._ping_seconds = app, Lane(app), ping_seconds
        self._hosts = frozenset(allowed_hosts(app.settings))
        self._origins = frozenset(allowed_origins(app.settings))
        listed = app.list_tools()
        self._mirrored = {tool.name for tool in listed if "x-mcp-header" in json.dumps(tool.input_schema)}
        self._quick = {app.registry.final_name(spec) for spec in app.registry.get_all() if spec.response_time == "fast"}
        self._underneath = _Underneath(app)
        self._sessions = Sessions(app)
        self._running: dict[tuple[str | None, str | int], asyncio.Task[Any]] = {}
        """Calls of the older protocol that may take a while, by session and request."""

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Opens the app, and closes whatever was loaded later."""
        async with self._app, self._underneath.lifespan():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        body: bytes | None = None
        try:
            headers, doubled = _headers_of(scope)
            caller = await http_caller(self._app, scope, headers.get("authorization", ""))
            if caller is None:
                return await refuse(send)
            announced = headers.get("content-length", "")
            if announced.isdecimal() and int(announced) > LARGEST_BODY:
                raise Unusual("too long")
            if scope["method"] == "POST":
                body = await _read(receive)
                if len(body) > LARGEST_BODY:
                    raise Unusual("too long")
            version = headers.get("mcp-protocol-version")
            if version is None or version in HANDSHAKES:
                peer = await self._session_peer(headers, caller)
                if peer is not None:
                    message = self._in_session(scope["method"], headers, body)
                    return await self._answer(message, peer, receive, send)
            if doubled or body is None or self._elsewhere(headers) is not None:
                raise Unusual("headers")
            await self._post(headers, caller, body, receive, send)
        except Settled as settled:
            await _respond(send, settled.status, settled.body, *settled.headers)
        except Unusual:
            await (await self._underneath.application())(scope, _replay(body, receive), send)

    def _elsewhere(self, headers: Headers) -> tuple[int, bytes] | None:
        """What is said to a request that does not come from where it may."""
        if not matches(headers.get("host", ""), self._hosts):
            return 421, b"Invalid Host header"
        origin = headers.get("origin")
        return None if not origin or matches(origin, self._origins) else (403, b"Invalid Origin header")

    # --- what is ordinary ------------------------------------------------------------------------------

    async def _post(self, headers: Headers, caller: Caller, body: bytes, receive: Receive, send: Send) -> None:
        if not _is_json(headers) or not _accepts_both(headers):
            raise Unusual("media types")
        message = _decode(body)
        method, params = _request(message)
        version = headers.get("mcp-protocol-version")
        if version == MODERN:
            peer = self._modern_peer(headers, method, params, caller)
            return await self._answer(message, peer, receive, send)
        if version is None or version in HANDSHAKES:
            if method == "initialize" and "mcp-session-id" not in headers:
                return await self._initialize(message, params, caller, send)
            raise Unusual("another session")
        raise Unusual(version)

    def _modern_peer(self, headers: Headers, method: str, params: Fields, caller: Caller) -> Peer:
        meta: Any = params.get("_meta")
        if not isinstance(meta, dict):
            raise Unusual("no envelope")
        fields = cast(Fields, meta)
        named = _NAMED_BY.get(method)
        if (
            fields.get(VERSION_KEY) != MODERN
            or CAPABILITIES_KEY not in fields
            or headers.get("mcp-method") != method
            or (named is not None and not _named(headers, params.get(named)))
            or _among(self._mirrored, params.get("name"))
        ):
            raise Unusual("envelope")
        name, version = about_client(fields.get(CLIENT_KEY))
        return Peer(
            caller,
            modern=True,
            agent_id=name,
            agent_version=version,
            can_elicit=shows_forms(fields[CAPABILITIES_KEY]),
            headers=_telling(headers),
        )

    # --- the older protocol: a handshake, and a session that the client carries ------------------------

    async def _initialize(self, message: Fields, params: Fields, caller: Caller, send: Send) -> None:
        if self._wants_questions(params):
            raise Unusual("a session")
        try:
            text, client = self._lane.initialize(params)
        except RpcError as error:
            raise Unusual("handshake") from error
        session = await self._sessions.begin(*about_client(client["clientInfo"]), caller)
        header = (b"mcp-session-id", session.encode())
        await _respond(send, 200, _envelope(message["id"], f'"result":{text}'), _JSON, header)

    def _initialize_again(self, params: Fields, peer: Peer) -> str:
        if self._wants_questions(params):
            # No session of the lane can ask: this one is over, and the client begins another, underneath.
            self._sessions.end(peer.session_id or "")
            raise Settled(404, _error(INVALID_REQUEST, "Session not found"), _JSON)
        return self._lane.initialize(params)[0]

    def _wants_questions(self, params: Fields) -> bool:
        """Whether a client is to be asked, which needs a stream in both directions."""
        return self._lane.asks and shows_forms(params.get("capabilities"))

    async def _session_peer(self, headers: Headers, caller: Caller) -> Peer | None:
        """Who calls in a session that this server sealed for this caller."""
        given = headers.get("mcp-session-id", "")
        session = await self._sessions.find(given, caller)
        if session is None:
            return None
        return Peer(
            caller, modern=False, agent_id=session.agent_id, agent_version=session.agent_version,
            session_id=given, headers=_telling(headers),
        )  # fmt: skip

    def _in_session(self, method: str, headers: Headers, body: bytes | None) -> Fields:
        """The request that comes with a session of ours.

        Those underneath do not know the session, so what is wrong with it is said here, in their words and order.
        """
        if body is not None and not headers.get("content-type", "").lower().startswith("application/json"):
            raise Settled(400, b"Invalid Content-Type header")
        if elsewhere := self._elsewhere(headers):
            raise Settled(*elsewhere)
        if method == "DELETE":
            self._sessions.end(headers["mcp-session-id"])
            raise Settled(200, b"", _JSON)
        if body is None:  # nor is there a stream of its own
            raise Settled(405, _error(INVALID_REQUEST, "Method Not Allowed"), _JSON, (b"allow", b"POST, DELETE"))
        if not _accepts_both(headers):
            words = "Not Acceptable: Client must accept both application/json and text/event-stream"
            raise Settled(406, _error(INVALID_REQUEST, words), _JSON)
        if not _is_json(headers):
            words = "Unsupported Media Type: Content-Type must be application/json"
            raise Settled(415, _error(INVALID_REQUEST, words), _JSON)
        try:
            message = decode(body)
        except ValueError as error:
            raise Settled(400, _error(PARSE_ERROR, f"Parse error: {error}"), _JSON) from None
        if not _is_message(message):
            raise Settled(400, _error(INVALID_PARAMS, "Validation error: not one JSON-RPC 2.0 message"), _JSON)
        if not _is_request(message):
            self._take_notification(message, headers["mcp-session-id"])
            raise Settled(202, b"", _JSON)
        return message

    def _take_notification(self, message: Fields, session: str) -> None:
        params: Any = message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            meant: Any = cast(Fields, params).get("requestId")
            call = self._running.get((session, meant)) if isinstance(meant, str | int) else None
            if call is not None:
                call.cancel()

    # --- answers ---------------------------------------------------------------------------------------

    async def _answer(self, message: Fields, peer: Peer, receive: Receive, send: Send) -> None:
        method, params = _request(message)
        token = progress_token(params)
        if method in _MAY_TAKE_LONG and (token is not None or not _among(self._quick, params.get("name"))):
            return await self._watched(message, peer, token, receive, send)
        status, body = await self._outcome(message, peer)
        return await _respond(send, status, body, _JSON)

    async def _outcome(self, message: Fields, peer: Peer) -> tuple[int, bytes]:
        method, params = _request(message)
        try:
            if method == "initialize" and not peer.modern:
                result = self._initialize_again(params, peer)
            else:
                result = await self._lane.answer(method, params, peer)
        except Unusual:
            if peer.modern:
                raise
            return 200, _envelope(message["id"], f'"error":{method_not_found(method).to_text()}')
        except RpcError as error:
            status = _STATUS.get(error.code, 200) if peer.modern else 200
            return status, _envelope(message["id"], f'"error":{error.to_text()}')
        return 200, _envelope(message["id"], f'"result":{result}')

    async def _watched(
        self, message: Fields, peer: Peer, token: str | int | None, receive: Receive, send: Send
    ) -> None:
        """A call that may take a while. It ends when the client goes.

        It turns into a stream if there is news, or if there is none for long.
        """
        stream = _Stream(send)

        async def report(done: float, total: float | None, words: str | None) -> None:
            if token is not None:
                await stream.send(progress_message(token, done, total, words).encode())

        call = asyncio.ensure_future(self._outcome(message, peer._replace(progress=report)))
        gone = asyncio.ensure_future(_disconnect(receive))
        if not peer.modern:
            self._running[peer.session_id, message["id"]] = call
        try:
            both = {call, gone}
            while not (await asyncio.wait(both, timeout=self._ping_seconds, return_when=asyncio.FIRST_COMPLETED))[0]:
                await stream.ping()
            if call.done():
                status, body = (200, _cancelled(message["id"])) if call.cancelled() else call.result()
                await (stream.send(body, last=True) if stream.started else _respond(send, status, body, _JSON))
        finally:
            if self._running.get((peer.session_id, message["id"])) is call:
                del self._running[peer.session_id, message["id"]]
            for task in (call, gone):
                task.cancel()
            await asyncio.gather(call, gone, return_exceptions=True)


class _Stream:
    """An answer in several events; the first of them starts it."""

    def __init__(self, send: Send) -> None:
        self._send, self.started = send, False

    async def send(self, data: bytes, *, last: bool = False) -> None:
        await self._write(b"event: message\r\ndata: " + data + b"\r\n\r\n", more=not last)

    async def ping(self) -> None:
        """A comment, which clients ignore."""
        await self._write(b": ping\r\n\r\n", more=True)

    async def _write(self, data: bytes, *, more: bool) -> None:
        if not self.started:
            self.started = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _STREAM})
        await self._send({"type": "http.response.body", "body": data, "more_body": more})


def _envelope(request_id: str | int | None, rest: str) -> bytes:
    shown = str(request_id) if type(request_id) is int else json.dumps(request_id)
    return f'{{"jsonrpc":"2.0","id":{shown},{rest}}}'.encode("utf-8", "replace")


def _cancelled(request_id: str | int) -> bytes:
    """In the older protocol, a request's HTTP answer cannot end without one; the SDK says the same."""
    return _envelope(request_id, f'"error":{RpcError(REQUEST_CANCELLED, "Request cancelled").to_text()}')


async def _respond(send: Send, status: int, body: bytes, *headers: Header) -> None:
    lines = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})


def _error(code: int, words: str) -> bytes:
    return _envelope(None, f'"error":{RpcError(code, words).to_text()}')


def _headers_of(scope: Scope) -> tuple[Headers, bool]:
    """The headers that matter, the first of each, and whether there is anything odd about them."""
    path: str = scope["path"]
    if path[len(scope.get("root_path", "")) :] != "/mcp":
        raise Unusual(path)
    headers: Headers = {}
    odd = False
    for name, value in scope["headers"]:
        if name in _WANTED:
            text = name.decode()
            if text in headers:
                odd = True
            else:
                headers[text] = value.strip(b" \t").decode("latin-1")  # RFC 9110, 5.5
        elif name.startswith(b"mcp-param-"):
            odd = True
    return headers, odd


def _is_json(headers: Headers) -> bool:
    given = headers.get("content-type", "")
    if given == "application/json":
        return True
    kinds = [part.strip() for part in given.partition(";")[0].split(",")]
    return given.startswith("application/json") and "application/json" in kinds


def _accepts_both(headers: Headers) -> bool:
    given = headers.get("accept", "")
    if given == _BOTH:
        return True
    kinds = {part.partition(";")[0].strip().lower() for part in given.split(",")}
    if "*/*" in kinds:
        return True
    return not kinds.isdisjoint(_SOME_JSON) and not kinds.isdisjoint(_SOME_EVENTS)


def _among(tools: set[str], name: Any) -> bool:
    return isinstance(name, str) and name in tools


def _named(headers: Headers, value: Any) -> bool:
    """Whether the header names what the body names. One that is written in base64 is left to those underneath."""
    given = headers.get("mcp-name")
    return given is not None and given == value and not given.startswith("=?")


def _decode(body: bytes) -> Fields:
    try:
        message = decode(body)
    except ValueError as error:
        raise Unusual("no JSON") from error
    if not isinstance(message, dict) or cast(Fields, message).get("jsonrpc") != "2.0":
        raise Unusual("no request")
    return cast(Fields, message)


def _is_request(message: Fields) -> bool:
    return (
        type(message.get("method")) is str
        and type(message.get("id")) in (str, int)
        and isinstance(message.get("params"), dict | None)
    )


def _is_message(message: Any) -> bool:
    """Whether this is a request, a notification or a response."""
    if not isinstance(message, dict) or cast(Fields, message).get("jsonrpc") != "2.0":
        return False
    fields = cast(Fields, message)
    if type(fields.get("method")) is str and isinstance(fields.get("params"), dict | None):
        return True
    if type(fields.get("id")) in (str, int) and isinstance(fields.get("result"), dict):
        return True
    return "id" in fields and type(fields["id"]) in (str, int, type(None)) and _is_error(fields.get("error"))


def _is_error(error: Any) -> bool:
    return isinstance(error, dict) and type(error.get("code")) is int and type(error.get("message")) is str  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _request(message: Fields) -> tuple[str, Fields]:
    """Method and parameters of a well-formed request."""
    if not _is_request(message):
        raise Unusual("no request")
    return message["method"], message.get("params") or {}


def _telling(headers: Headers) -> dict[str, str] | None:
    found = {key: headers[name] for name, key in _TELLING.items() if name in headers}
    return found or None


async def _read(receive: Receive) -> bytes:
    """The whole body, or so much of it that it is too long."""
    body = b""
    parts: list[bytes] = []
    size = 0
    while size <= LARGEST_BODY:
        message = await receive()
        if message["type"] != "http.request":
            raise Settled(400, b"")  # the client has left before it had said all; nobody hears this
        body = message.get("body", b"")
        parts.append(body)
        size += len(body)
        if not message.get("more_body"):
            break
    return body if len(parts) == 1 else b"".join(parts)


def _replay(body: bytes | None, receive: Receive) -> Receive:
    """The request once more, for those underneath."""
    if body is None:
        return receive
    waiting: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return waiting.pop() if waiting else await receive()

    return again


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Underneath:
    """The SDK's application, loaded and opened when it is first needed, in a task that also closes it."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._opened: asyncio.Future[Any] | None = None
        self._end = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Closes the application at the end, if it was opened."""
        try:
            yield
        finally:
            self._end.set()
            if self._keeper is not None:
                with suppress(asyncio.CancelledError):
                    await self._keeper

    async def application(self) -> Any:
        """The application, ready to answer."""
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._keeper = asyncio.ensure_future(self._keep())
        return await asyncio.shield(self._opened)

    async def _keep(self) -> None:
        front = importlib.import_module("mcp_core.hosts.sdk.server").HttpFront(self._app)
        async with front.lifespan():
            cast(asyncio.Future[Any], self._opened).set_result(front)
            await self._end.wait()
