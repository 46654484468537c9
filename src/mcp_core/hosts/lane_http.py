"""The fast lane over HTTP: ordinary requests are answered here, all others by the SDK's application underneath.

Ordinary is a POST of one well-formed request with the headers its protocol era asks for. Whatever is missing,
wrong or rare goes on to the SDK as it came, so that it is judged there. The SDK is loaded when the first one does.
"""

import asyncio
import base64
import hashlib
import hmac
import importlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, cast

from mcp_core.app import App
from mcp_core.call import Caller
from mcp_core.hosts.callers import Scope, allowed_hosts, allowed_origins, http_caller, matches, refuse
from mcp_core.hosts.lane import (
    CAPABILITIES_KEY,
    HANDSHAKES,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MODERN,
    VERSION_KEY,
    Fields,
    Lane,
    Peer,
    RpcError,
    Unusual,
    progress_message,
    progress_token,
    shows_forms,
)

LARGEST_BODY = 4 * 1024 * 1024

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

_WANTED = frozenset(
    b"host origin content-type accept content-length authorization mcp-protocol-version mcp-method mcp-name "
    b"mcp-session-id traceparent tracestate x-correlation-id".split()
)
_TELLING = {"traceparent": "traceparent", "tracestate": "tracestate", "x-correlation-id": "correlationId"}
_NAMED_BY = {"tools/call": "name", "resources/read": "uri"}
_STATUS = {INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404}
_JSON = (b"content-type", b"application/json")
_SESSION_PREFIX = "lane-"


class Session(NamedTuple):
    """What a client said about itself in the handshake. It is carried by the client, sealed, in its session id."""

    agent_id: str
    agent_version: str


class HttpLane:
    """An ASGI application that serves an app at `/mcp`. Whoever mounts it enters its `lifespan` first."""

    def __init__(self, app: App) -> None:
        self._app, self._lane = app, Lane(app)
        self._hosts = frozenset(allowed_hosts(app.settings))
        self._origins = frozenset(allowed_origins(app.settings))
        listed = app.list_tools()
        self._mirrored = {tool.name for tool in listed if "x-mcp-header" in json.dumps(tool.input_schema)}
        self._quick = {app.registry.final_name(spec) for spec in app.registry.get_all() if spec.response_time == "fast"}
        self._underneath = _Underneath(app)

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Opens the app, and closes whatever was loaded later."""
        async with self._app, self._underneath.lifespan():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        body: bytes | None = None
        try:
            headers = self._ordinary_headers(scope)
            caller = await http_caller(self._app, scope, headers.get("authorization", ""))
            if caller is None:
                return await refuse(send)
            if scope["method"] != "POST":
                return await self._without_body(scope["method"], headers, send)
            body = await _read(receive)
            await self._post(headers, caller, body, receive, send)
        except Unusual:
            await (await self._underneath.application())(scope, _replay(body, receive), send)

    # --- what is ordinary ------------------------------------------------------------------------------

    def _ordinary_headers(self, scope: Scope) -> dict[str, str]:
        path: str = scope["path"]
        if path[len(scope.get("root_path", "")) :] != "/mcp":
            raise Unusual(path)
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            if name in _WANTED:
                text = name.decode()
                if text in headers:
                    raise Unusual("a header twice")
                headers[text] = value.decode("latin-1")
            elif name.startswith(b"mcp-param-"):
                raise Unusual("mirrored arguments")
        origin = headers.get("origin")
        if not matches(headers.get("host", ""), self._hosts) or not (origin is None or matches(origin, self._origins)):
            raise Unusual("from elsewhere")
        return headers

    async def _post(self, headers: dict[str, str], caller: Caller, body: bytes, receive: Receive, send: Send) -> None:
        accept = headers.get("accept", "")
        if (
            not headers.get("content-type", "").startswith("application/json")
            or "application/json" not in accept
            or "text/event-stream" not in accept
        ):
            raise Unusual("media types")
        message = _decode(body)
        version = headers.get("mcp-protocol-version")
        if version == MODERN:
            peer = self._modern_peer(headers, message, caller)
        elif version is None or version in HANDSHAKES:
            handled = await self._handshake(headers, message, caller, send)
            if handled is None:
                return
            peer = handled
        else:
            raise Unusual(version)
        await self._answer(message, peer, receive, send)

    def _modern_peer(self, headers: dict[str, str], message: Fields, caller: Caller) -> Peer:
        method, params = _request(message)
        meta: Any = params.get("_meta")
        if not isinstance(meta, dict):
            raise Unusual("no envelope")
        fields = cast(Fields, meta)
        client: Any = fields.get("io.modelcontextprotocol/clientInfo")
        named = _NAMED_BY.get(method)
        if (
            fields.get(VERSION_KEY) != MODERN
            or not isinstance(fields.get(CAPABILITIES_KEY), dict)
            or headers.get("mcp-method") != method
            or (named is not None and (headers.get("mcp-name") is None or headers["mcp-name"] != params.get(named)))
            or not (client is None or _names_itself(client))
            or params.get("name") in self._mirrored
        ):
            raise Unusual("envelope")
        about = cast(Fields, client or {})
        return Peer(
            caller,
            modern=True,
            agent_id=about.get("name", "unknown"),
            agent_version=about.get("version", "unknown"),
            can_elicit=shows_forms(fields[CAPABILITIES_KEY]),
            headers=_telling(headers),
        )

    # --- the older protocol: a handshake, and a session that the client carries ------------------------

    async def _handshake(self, headers: dict[str, str], message: Fields, caller: Caller, send: Send) -> Peer | None:
        given = headers.get("mcp-session-id")
        if given is None and message.get("method") == "initialize" and "id" in message:
            await self._initialize(message, caller, send)
            return None
        session = await self._session(given, caller)
        if "id" not in message and isinstance(message.get("method"), str):
            await _respond(send, 202, b"")
            return None
        return Peer(
            caller, modern=False, agent_id=session.agent_id, agent_version=session.agent_version,
            session_id=given, headers=_telling(headers),
        )  # fmt: skip

    async def _initialize(self, message: Fields, caller: Caller, send: Send) -> None:
        _, params = _request(message)
        if self._lane.asks and shows_forms(params.get("capabilities")):
            # A person who can be asked during a call needs a stream in both directions.
            raise Unusual("a session")
        try:
            text, client = self._lane.initialize(params)
        except RpcError as error:
            raise Unusual("handshake") from error
        about = client["clientInfo"]
        session = await self._seal(Session(about["name"], about["version"]), caller)
        header = (b"mcp-session-id", session.encode())
        await _respond(send, 200, _envelope(message["id"], f'"result":{text}'), header)

    async def _seal(self, session: Session, caller: Caller) -> str:
        payload = base64.urlsafe_b64encode(json.dumps(session).encode()).decode().rstrip("=")
        return f"{_SESSION_PREFIX}{payload}.{await self._signature(payload, caller)}"

    async def _session(self, given: str | None, caller: Caller) -> Session:
        """The session of an id that this server sealed for this caller."""
        if given is None or not given.startswith(_SESSION_PREFIX):
            raise Unusual("another session")
        payload, _, signature = given.removeprefix(_SESSION_PREFIX).partition(".")
        if not hmac.compare_digest(await self._signature(payload, caller), signature):
            raise Unusual("another session")
        return Session(*json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))

    async def _signature(self, payload: str, caller: Caller) -> str:
        key = await self._app.seal_key()
        return hmac.digest(key, f"session\0{caller.key}\0{payload}".encode(), hashlib.sha256).hex()

    async def _without_body(self, method: str, headers: dict[str, str], send: Send) -> None:
        """A session of ours has no stream of its own, and nothing to end."""
        if not headers.get("mcp-session-id", "").startswith(_SESSION_PREFIX) or method not in ("GET", "DELETE"):
            raise Unusual(method)
        if method == "DELETE":
            return await _respond(send, 200, b"")
        return await _respond(send, 405, b"", (b"allow", b"POST, DELETE"))

    # --- answers ---------------------------------------------------------------------------------------

    async def _answer(self, message: Fields, peer: Peer, receive: Receive, send: Send) -> None:
        method, params = _request(message)
        token = progress_token(params)
        if method == "tools/call" and (token is not None or params.get("name") not in self._quick):
            return await self._watched(message, peer, token, receive, send)
        status, body = await self._outcome(message, peer)
        return await _respond(send, status, body)

    async def _outcome(self, message: Fields, peer: Peer) -> tuple[int, bytes]:
        method, params = _request(message)
        try:
            result = await self._lane.answer(method, params, peer)
        except RpcError as error:
            status = _STATUS.get(error.code, 200) if peer.modern else 200
            return status, _envelope(message["id"], f'"error":{error.to_text()}')
        return 200, _envelope(message["id"], f'"result":{result}')

    async def _watched(
        self, message: Fields, peer: Peer, token: str | int | None, receive: Receive, send: Send
    ) -> None:
        """A call that may take a while: it ends when the client goes, and turns into a stream if there is news."""
        stream = _Stream(send)

        async def report(done: float, total: float | None, words: str | None) -> None:
            if token is not None:
                await stream.send(progress_message(token, done, total, words).encode())

        call = asyncio.ensure_future(self._outcome(message, peer._replace(progress=report)))
        gone = asyncio.ensure_future(_disconnect(receive))
        try:
            await asyncio.wait({call, gone}, return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                status, body = call.result()
                await (stream.send(body, last=True) if stream.started else _respond(send, status, body))
        finally:
            for task in (call, gone):
                task.cancel()
            await asyncio.gather(call, gone, return_exceptions=True)


class _Stream:
    """An answer in several events; the first of them starts it."""

    def __init__(self, send: Send) -> None:
        self._send, self.started = send, False

    async def send(self, data: bytes, *, last: bool = False) -> None:
        if not self.started:
            self.started = True
            headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache, no-transform")]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": _event(data), "more_body": not last})


def _event(data: bytes) -> bytes:
    return b"event: message\r\ndata: " + data + b"\r\n\r\n"


def _envelope(request_id: str | int, rest: str) -> bytes:
    return f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},{rest}}}'.encode("utf-8", "replace")


async def _respond(send: Send, status: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
    headers = [_JSON, (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _decode(body: bytes) -> Fields:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unusual("no JSON") from error
    if not isinstance(message, dict) or cast(Fields, message).get("jsonrpc") != "2.0":
        raise Unusual("no request")
    return cast(Fields, message)


def _request(message: Fields) -> tuple[str, Fields]:
    """Method and parameters of a well-formed request."""
    method, params, request_id = message.get("method"), message.get("params"), message.get("id")
    if (
        not isinstance(method, str)
        or not isinstance(params, dict | None)
        or not isinstance(request_id, str | int)
        or isinstance(request_id, bool)
    ):
        raise Unusual("no request")
    return method, cast(Fields, params or {})


def _names_itself(client: Any) -> bool:
    return isinstance(client, dict) and all(isinstance(cast(Fields, client).get(k), str) for k in ("name", "version"))


def _telling(headers: dict[str, str]) -> dict[str, str] | None:
    found = {key: headers[name] for name, key in _TELLING.items() if name in headers}
    return found or None


async def _read(receive: Receive) -> bytes:
    """The whole body, where it comes in one piece and is not too long."""
    message = await receive()
    if message["type"] != "http.request":
        raise Unusual("gone")
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return body
    parts = [body]
    while message.get("more_body"):
        message = await receive()
        parts.append(message.get("body", b""))
        if sum(map(len, parts)) > LARGEST_BODY:
            break
    return b"".join(parts)


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
        front = importlib.import_module("mcp_core.hosts.native").HttpFront(self._app)
        async with front.lifespan():
            cast(asyncio.Future[Any], self._opened).set_result(front)
            await self._end.wait()
