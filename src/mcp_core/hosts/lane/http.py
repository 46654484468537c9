"""The fast lane over HTTP: ordinary requests are answered here, all others by the SDK's application behind it.

Ordinary is a POST of one well-formed request with the headers that its protocol version asks for. A request with
anything missing, wrong or rare goes on to the SDK unchanged and is judged there. The SDK is loaded for the first one.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple, cast

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.live_library import Changes, LiveLibrary
from mcp_core.context import NO_HEADERS, RequestHeaders
from mcp_core.errors import Refused
from mcp_core.hosts.callers import (
    NotIdentified,
    Scope,
    allowed_hosts,
    allowed_origins,
    caller_without_token,
    http_caller,
    is_allowed,
    may_ask,
    record_http,
)
from mcp_core.hosts.lane import shapes
from mcp_core.hosts.lane.asgi import (
    HEADERS_READ,
    TOO_LARGE,
    EventStream,
    Header,
    Headers,
    HttpResponse,
    Receive,
    Send,
    accepts_json_and_events,
    is_json,
    read_body,
    read_headers,
    replay,
    trace_ids,
    wait_for_disconnect,
)
from mcp_core.hosts.lane.changes import (
    KINDS,
    LISTEN,
    MAX_RESOURCES,
    SUBSCRIBE,
    UNSUBSCRIBE,
    ChangeListener,
    listen_result,
    subscribe,
    subscribed_uri,
    wanted_kinds,
    wanted_resources,
)
from mcp_core.hosts.lane.client_requests import confirm, elicit
from mcp_core.hosts.lane.client_watch import ClientWatch
from mcp_core.hosts.lane.jsonrpc import (
    RpcRequest,
    decode,
    error_message,
    is_message,
    parse_request,
    progress_message,
    progress_token,
    result_message,
)
from mcp_core.hosts.lane.methods import Lane, NotHandled
from mcp_core.hosts.lane.sdk_fallback import SdkFallback
from mcp_core.hosts.lane.sessions import Session, Sessions
from mcp_core.hosts.protocol import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKES,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    MODERN,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    VERSION_KEY,
    Peer,
    RpcError,
    client_identity,
    invalid_params,
    method_not_found,
    protocol_error,
    supports_forms,
    supports_urls,
)
from mcp_core.hosts.resource_metadata import challenge, missing_scopes
from mcp_core.json_text import JsonObject
from mcp_core.state.interface import StateUnavailable

PING_SECONDS = 15.0
"""How long a call may be silent before its client gets a ping. Proxies cut connections that are silent for long."""

_NAME_PARAMETER = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_SLOW_METHODS = frozenset({"tools/call", "prompts/get"})
_METHODS_THAT_MAY_ASK = _SLOW_METHODS | {"resources/list", "resources/read"}
_LIVE_METHODS = _METHODS_THAT_MAY_ASK | {
    "prompts/list",
    "resources/templates/list",
    "completion/complete",
    LISTEN,
    SUBSCRIBE,
}
_SESSION_STREAM = "(stream)"
"""Stands for the GET with which a client of a session listens."""
_CLIENT_KEYS = frozenset({VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY})
_LARGEST_KEPT = 4096
"""In bytes: the body of a request whose envelope is kept."""
_MODERN_STATUS = {INVALID_PARAMS: 400, MISSING_CAPABILITY: 400, METHOD_NOT_FOUND: 404}


class LastPeer:
    """The client that sent the last request with a head. What its next request repeats is not read again."""

    __slots__ = ("caller", "peer", "source")

    def __init__(self) -> None:
        self.caller: Caller | None = None
        self.source: Any = None
        """The envelope or the session that the peer was read from."""
        self.peer: Peer | None = None

    def find(self, caller: Caller, source: Any) -> Peer | None:
        """The same client again, if it is."""
        return self.peer if caller is self.caller and source == self.source else None

    def keep(self, caller: Caller, source: Any, peer: Peer) -> Peer:
        """Remember a client."""
        self.caller, self.source, self.peer = caller, source, peer
        return peer


class RequestHead(NamedTuple):
    """What the lane reads in the headers of a request: the same for all requests with the same headers."""

    headers: Headers
    version: str | None
    method: str | None
    name: str | None
    """Of the tool, the prompt or the resource. A name in base64 is left to the SDK."""
    may_have_session: bool
    """Whether it is of a protocol version with a handshake."""
    host_problem: HttpResponse | None
    needs_sdk: bool
    """Whether a header is wrong or rare. Outside the lane's own sessions, the SDK then answers."""
    has_media_types: bool
    trace_ids: dict[str, str] | None
    declared: RequestHeaders
    """The headers that the app declared."""
    caller: Caller | None
    """None if each request has a token that says who calls."""
    last: LastPeer


class HttpLane:
    """An ASGI application that serves an app at `/mcp`. Enter its `lifespan` before it is called."""

    def __init__(self, app: App, ping_seconds: float = PING_SECONDS) -> None:
        self._app, self._lane, self._ping_seconds = app, Lane(app), ping_seconds
        self._max_body = app.settings.max_body_bytes
        self._hosts = frozenset(allowed_hosts(app.settings))
        self._origins = frozenset(allowed_origins(app.settings))
        listed = app.list_tools()
        self._header_tools = {tool.name for tool in listed if "x-mcp-header" in json.dumps(tool.input_schema)}
        """Tools with arguments that must be repeated in headers, which the SDK compares."""
        self._fast_tools = {
            app.registry.final_name(spec)
            for spec in app.registry.get_all()
            if spec.response_time == "fast" and not may_ask(spec)
        }
        self._slow_methods = _LIVE_METHODS if isinstance(app.library, LiveLibrary) else _SLOW_METHODS
        self._headers_read = HEADERS_READ | {name.encode() for name in app.request_headers}
        self._has_issuer = app.identity is not None and app.identity.access is not None
        self._sdk = SdkFallback(app)
        self._sessions = Sessions(app)

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Opens the app, and closes it and the SDK at the end."""
        async with self._app, self._sdk.lifespan():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it to the SDK."""
        body: bytes | None = None
        try:
            if scope["path"][len(scope.get("root_path", "")) :] != "/mcp":
                raise NotHandled("path")
            head = self.read_head(scope["headers"], scope.get("client"))
            caller = head.caller or await http_caller(self._app, scope, head.headers.get("authorization", ""))
            if scope["method"] == "POST":
                body = await read_body(receive, self._max_body)
                if body is None:
                    return None  # the client has left
                if len(body) > self._max_body:
                    record_http(self._app, scope, TOO_LARGE, caller)
                    return await HttpResponse(TOO_LARGE, b"Request body too large", ()).send(send)
            request = await self._read_request(scope["method"], head, caller, body)
            if isinstance(request, HttpResponse):
                self._record_response(request, scope, scope["method"], caller)
                return await request.send(send)
            await self._answer(*self._with_path(request, scope["path"]), receive, send)
        except NotIdentified as refused:
            await refused.send(send)
        except NotHandled:
            await self._hand_to_sdk(scope, body, receive, send)

    def respond(
        self, head: RequestHead, client: Any, path: str, authorization: str, body: bytes
    ) -> Awaitable[HttpResponse]:
        """The response to a POST that can be answered at once. Raises NotHandled before anything has happened.

        This is the way without ASGI: `client` is the address of the other side, as a scope has it, and `path` that
        of the request.
        """
        caller, found = head.caller, None
        if caller is not None and head.version == MODERN:
            found = self._modern_request(head, caller, body)
        elif caller is not None:
            found = self._known_session_request(head, caller, body)
        return (
            self._identify_and_respond(head, client, path, authorization, body)
            if found is None
            else self._respond_at_once(found, path)
        )

    async def _identify_and_respond(
        self, head: RequestHead, client: Any, path: str, authorization: str, body: bytes
    ) -> HttpResponse:
        """The response to a request whose token or session is to be looked up."""
        try:
            caller = head.caller or await http_caller(self._app, {"client": client, "path": path}, authorization)
        except NotIdentified as refused:
            return HttpResponse(refused.status, refused.body, tuple(refused.headers))
        found = await self._read_request("POST", head, caller, body)
        if isinstance(found, HttpResponse):
            self._record_response(found, {"client": client}, "POST", caller)
            return found
        return await self._respond_at_once(found, path)

    def _respond_at_once(self, found: tuple[RpcRequest, Peer], path: str) -> Awaitable[HttpResponse]:
        request, peer = self._with_path(found, path) if self._has_issuer else found
        if self._may_take_long(request, peer):
            raise NotHandled("a call that may take long")
        return self._respond(request, peer)

    def _with_path(self, request: tuple[RpcRequest, Peer], path: str) -> tuple[RpcRequest, Peer]:
        """The request, with the path where that may be a part of the answer."""
        return (request[0], request[1]._replace(path=path)) if self._has_issuer else request

    def _record_response(self, response: HttpResponse, scope: Scope, method: str, caller: Caller) -> None:
        """Record what is not a JSON-RPC request: an error, or the end of a session. Notifications are not recorded."""
        if response.status >= HTTPStatus.BAD_REQUEST or method == "DELETE":
            record_http(self._app, scope, response.status, caller)

    def read_head(self, raw_headers: Iterable[Header], client: Any) -> RequestHead:
        """What the lane reads in the headers of a request. `client` is its address, as a scope has it."""
        headers, needs_sdk = read_headers(raw_headers, self._headers_read)
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._max_body:
            raise NotHandled("content-length")
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
            trace_ids=trace_ids(headers),
            declared=self._declared(headers),
            caller=caller_without_token(self._app, client) if self._app.verifier is None else None,
            last=LastPeer(),
        )

    async def _read_request(
        self, method: str, head: RequestHead, caller: Caller, body: bytes | None
    ) -> tuple[RpcRequest, Peer] | HttpResponse:
        """The request and who sends it, or the response to what is not a request. Raises NotHandled."""
        try:
            if head.may_have_session:
                peer = await self._session_peer(head, caller)
                if peer is not None:
                    request = await self._session_request(method, head, body)
                    return request if isinstance(request, HttpResponse) else (request, peer)
            return await self._read_request_without_session(head, caller, body)
        except StateUnavailable:
            return _sessions_unavailable(body)

    async def _read_request_without_session(
        self, head: RequestHead, caller: Caller, body: bytes | None
    ) -> tuple[RpcRequest, Peer] | HttpResponse:
        if head.version == MODERN:
            return self._modern_request(head, caller, body)
        request = self._ordinary_request(head, body)
        if request.method == "initialize" and "mcp-session-id" not in head.headers and head.may_have_session:
            return await self._initialize(request, caller)
        raise NotHandled("version or session")

    def _ordinary_request(self, head: RequestHead, body: bytes | None) -> RpcRequest:
        """The request in a body. Raises NotHandled where the SDK must say what is wrong with it."""
        if head.needs_sdk or body is None or not head.has_media_types:
            raise NotHandled("headers")
        try:
            request = parse_request(decode(body))
        except ValueError as error:
            raise NotHandled("not JSON") from error
        if request is None:
            raise NotHandled("not a request")
        return request

    def _modern_request(self, head: RequestHead, caller: Caller, body: bytes | None) -> tuple[RpcRequest, Peer]:
        request = self._ordinary_request(head, body)
        return request, self._modern_peer(head, request, caller)

    async def _hand_to_sdk(self, scope: Scope, body: bytes | None, receive: Receive, send: Send) -> None:
        application = await self._sdk.application()
        if application is None:
            record_http(self._app, scope, HTTPStatus.INTERNAL_SERVER_ERROR)
            await _sdk_unavailable(body).send(send)
        else:
            await application(scope, replay(body, receive), send)

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

    # --- requests without a session --------------------------------------------------------------------

    def _modern_peer(self, head: RequestHead, request: RpcRequest, caller: Caller) -> Peer:
        _, method, params = request
        envelope: Any = params.get("_meta")
        if type(envelope) is not dict:
            raise NotHandled("no envelope")
        parameter = _NAME_PARAMETER.get(method)
        if (
            head.method != method
            or (parameter is not None and (head.name is None or head.name != params.get(parameter)))
            or head.name in self._header_tools
        ):
            raise NotHandled("headers and body differ")
        known = head.last.find(caller, envelope)
        return known if known is not None else self._read_envelope(head, caller, envelope)  # pyright: ignore[reportUnknownArgumentType]

    def _read_envelope(self, head: RequestHead, caller: Caller, envelope: JsonObject) -> Peer:
        if envelope.get(VERSION_KEY) != MODERN or CAPABILITIES_KEY not in envelope:
            raise NotHandled("envelope")
        agent_id, agent_version = client_identity(envelope.get(CLIENT_KEY))
        is_valid = shapes.is_modern_meta(envelope)
        peer = Peer(
            caller,
            modern=True,
            agent_id=agent_id,
            agent_version=agent_version,
            can_elicit=supports_forms(envelope[CAPABILITIES_KEY]),
            can_open_urls=supports_urls(envelope[CAPABILITIES_KEY]),
            trace_ids=head.trace_ids,
            headers=head.declared,
            has_valid_meta=is_valid,
        )
        return head.last.keep(caller, envelope, peer) if is_valid and _may_be_kept(envelope, head) else peer

    async def _initialize(self, request: RpcRequest, caller: Caller) -> HttpResponse:
        try:
            result, params = self._lane.initialize(request.params)
        except RpcError as error:
            raise NotHandled("handshake") from error
        session_id = await self._sessions.begin(params, caller)
        self._lane.record_handshake(caller, params)
        response = HttpResponse(200, result_message(request.id, result))
        return response.with_header(b"mcp-session-id", session_id.encode())

    # --- requests in a session: a protocol version with a handshake ------------------------------------

    async def _session_peer(self, head: RequestHead, caller: Caller) -> Peer | None:
        """The client of a session that this server sealed for this caller."""
        session_id = head.headers.get("mcp-session-id", "")
        session = await self._sessions.find(session_id, caller)
        return None if session is None else self._peer_of(session, session_id, head, caller)

    def _known_session_request(self, head: RequestHead, caller: Caller, body: bytes) -> tuple[RpcRequest, Peer] | None:
        """A request in a session that is known; None where there is more to find out, or something to refuse."""
        if head.host_problem is not None or not head.may_have_session or not head.has_media_types:
            return None
        session_id = head.headers.get("mcp-session-id", "")
        session = self._sessions.known(session_id, caller)
        if session is None:
            return None
        try:
            request = parse_request(decode(body))
        except ValueError:
            return None
        return None if request is None else (request, self._peer_of(session, session_id, head, caller))

    def _peer_of(self, session: Session, session_id: str, head: RequestHead, caller: Caller) -> Peer:
        known = head.last.find(caller, session)
        if known is not None:
            return known
        peer = Peer(
            caller,
            modern=False,
            agent_id=session.agent_id,
            agent_version=session.agent_version,
            session_id=session_id,
            can_elicit=session.can_elicit,
            can_open_urls=session.can_open_urls,
            folders=_no_folders if session.has_roots else None,
            trace_ids=head.trace_ids,
            headers=head.declared,
        )
        return head.last.keep(caller, session, peer)

    async def _session_request(self, method: str, head: RequestHead, body: bytes | None) -> RpcRequest | HttpResponse:
        """The request that came in a session of the lane, or the response where it is not one.

        The SDK does not know the session, so errors are answered here, worded and ordered as the SDK does it.
        """
        headers = head.headers
        if body is not None and not headers.get("content-type", "").lower().startswith("application/json"):
            return HttpResponse(400, b"Invalid Content-Type header", ())
        if head.host_problem is not None:
            return head.host_problem
        if method == "DELETE":
            await self._sessions.end(headers["mcp-session-id"])
            return HttpResponse(200, b"")
        if body is None and self._app.changes is not None and "text/event-stream" in headers.get("accept", ""):
            return RpcRequest("", _SESSION_STREAM, {})
        if body is None:  # the lists never change, so a session has no stream of its own
            return _error(405, INVALID_REQUEST, "Method Not Allowed").with_header(b"allow", b"POST, DELETE")
        if not accepts_json_and_events(headers):
            message = "Not Acceptable: Client must accept both application/json and text/event-stream"
            return _error(406, INVALID_REQUEST, message)
        if not is_json(headers):
            return _error(415, INVALID_REQUEST, "Unsupported Media Type: Content-Type must be application/json")
        return await self._session_message(body, headers["mcp-session-id"])

    async def _session_message(self, body: bytes, session_id: str) -> RpcRequest | HttpResponse:
        try:
            message = decode(body)
        except ValueError as error:
            return _error(400, PARSE_ERROR, f"Parse error: {error}")
        request = parse_request(message)
        if request is not None:
            return request
        if not is_message(message):
            return _error(400, INVALID_PARAMS, "Validation error: not one JSON-RPC 2.0 message")
        await self._sessions.receive(message, session_id)
        return HttpResponse(202, b"")

    async def _initialize_again(self, request: RpcRequest, peer: Peer) -> HttpResponse:
        if supports_forms(request.params.get("capabilities")) and not peer.can_elicit:
            # The id says that this client cannot be asked: the session ends, and the client begins another.
            await self._sessions.end(cast(str, peer.session_id))
            self._lane.refuse("initialize", RpcError(INVALID_REQUEST, "Session not found"), peer)
            return _error(404, INVALID_REQUEST, "Session not found")
        result, params = self._lane.initialize(request.params)
        self._lane.record_handshake(peer.caller, params)
        return HttpResponse(200, result_message(request.id, result))

    # --- answers ---------------------------------------------------------------------------------------

    async def _answer(self, request: RpcRequest, peer: Peer, receive: Receive, send: Send) -> None:
        if request.method in (LISTEN, _SESSION_STREAM) and self._app.changes is not None:
            return await self._send_changes(request, peer, self._app.changes, receive, send)
        if self._may_take_long(request, peer):
            return await self._answer_slowly(request, peer, receive, send)
        response = await self._respond(request, peer)
        return await response.send(send)

    async def _send_changes(
        self,
        request: RpcRequest,
        peer: Peer,
        changes: Changes,
        receive: Receive,
        send: Send,
    ) -> None:
        """Tell a client what changes until it disconnects, or the server stops."""
        kinds = wanted_kinds(request.params) if peer.modern else KINDS
        uris = wanted_resources(request.params)
        if kinds is None or uris is None or changes.is_full:
            is_full = kinds is not None and uris is not None
            problem = RpcError(INTERNAL_ERROR, "Too many clients listen.") if is_full else invalid_params()
            error = self._lane.refuse(request.method, problem, peer)
            return await HttpResponse(503 if is_full else 400, error_message(request.id, error)).send(send)
        self._lane.record(request.method, peer)
        stream, listener = EventStream(send), ChangeListener(self._app, changes)

        async def forward() -> None:
            if peer.modern:
                await listener.subscribe_to_all(uris, peer)
            subscription = request.id if peer.modern else None
            async for message in listener.messages(self._ping_seconds, kinds, subscription):
                await (stream.ping() if message is None else stream.send(message))
            if peer.modern:
                await stream.send(result_message(request.id, listen_result(request.id)), last=True)
            else:
                await stream.close()

        tasks = [asyncio.ensure_future(forward()), asyncio.ensure_future(wait_for_disconnect(receive))]
        following = None if peer.modern else asyncio.ensure_future(self._follow_session(listener, peer))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks += [] if following is None else [following]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            listener.close()
        return None

    async def _follow_session(self, listener: ChangeListener, peer: Peer) -> None:
        """Let a stream hear of the resources that its session has subscribed to, at whichever process."""
        session_id = cast(str, peer.session_id)
        with self._sessions.stream(session_id, listener) as changed:
            while True:
                changed.clear()
                with suppress(StateUnavailable):
                    await listener.follow(await self._sessions.subscriptions(session_id), peer)
                await changed.wait()

    async def _set_subscription(self, request: RpcRequest, peer: Peer) -> HttpResponse:
        """Subscribe the session to a resource, or no longer."""
        uri, session_id = subscribed_uri(request.params), cast(str, peer.session_id)
        if uri is None:
            raise self._lane.refuse(request.method, invalid_params(), peer)
        if request.method == SUBSCRIBE:
            if len(await self._sessions.subscriptions(session_id)) >= MAX_RESOURCES:
                problem = RpcError(INVALID_PARAMS, f"A session can subscribe to {MAX_RESOURCES} resources.")
                raise self._lane.refuse(request.method, problem, peer)
            await self._subscribe_here(uri, session_id, peer)
        else:
            self._lane.record(request.method, peer)
        await self._sessions.set_subscription(session_id, uri, wanted=request.method == SUBSCRIBE)
        return HttpResponse(200, result_message(request.id, "{}"))

    async def _subscribe_here(self, uri: str, session_id: str, peer: Peer) -> None:
        """Begin to hear of a resource, so that its client gets the error if it may not."""
        listeners = self._sessions.listeners(session_id)
        try:
            for listener in listeners:
                await listener.subscribe(uri, peer)
            if not listeners:  # its stream is at another process, or begins later
                end = await subscribe(self._app, uri, peer, lambda _: None)
                end()
        except Refused as refused:
            raise protocol_error(refused) from None

    def needs_stream(self, head: RequestHead) -> bool:
        """Whether the head alone says that a call may take a while."""
        method, name = head.headers.get("mcp-method"), head.headers.get("mcp-name")
        return head.version == MODERN and method in self._slow_methods and name not in self._fast_tools

    def _may_take_long(self, request: RpcRequest, peer: Peer) -> bool:
        """Whether a request may take a while, wants to be told about its progress, or may ask its client."""
        method, params = request.method, request.params
        if peer.folders is not None:
            return method in _METHODS_THAT_MAY_ASK
        if method not in self._slow_methods:
            return False
        name: Any = params.get("name")
        return type(name) is not str or name not in self._fast_tools or progress_token(params) is not None

    async def _respond(self, request: RpcRequest, peer: Peer) -> HttpResponse:
        try:
            if request.method == "initialize" and not peer.modern:
                return await self._initialize_again(request, peer)
            if request.method in (SUBSCRIBE, UNSUBSCRIBE) and not peer.modern and self._app.changes is not None:
                return await self._set_subscription(request, peer)
            result = await self._lane.answer(request.method, request.params, peer)
        except NotHandled:
            if peer.modern:
                raise
            error = self._lane.refuse(request.method, method_not_found(request.method), peer)
            return HttpResponse(200, error_message(request.id, error))
        except StateUnavailable:
            return _sessions_unavailable_for(request.id)
        except RpcError as error:
            status = _MODERN_STATUS.get(error.code, 200) if peer.modern else 200
            return HttpResponse(status, error_message(request.id, error))
        if self._has_issuer and request.method == "tools/call" and (more := self._more_scopes(request, peer)):
            return HttpResponse(403, result_message(request.id, result)).with_header(b"www-authenticate", more)
        return HttpResponse(200, result_message(request.id, result))

    def _more_scopes(self, request: RpcRequest, peer: Peer) -> bytes | None:
        """The challenge to a client that could call a tool with further scopes; None for all others."""
        scopes = missing_scopes(self._app, peer.caller, str(request.params.get("name")))
        return challenge(self._app, peer.path, "insufficient_scope", scopes).encode() if scopes else None

    async def _answer_slowly(self, request: RpcRequest, peer: Peer, receive: Receive, send: Send) -> None:
        """Answer a call that may take a while. It is cancelled when the client disconnects.

        The response becomes an event stream with the first progress notification or question to the client, or after
        a long silence.
        """
        stream, token = EventStream(send), progress_token(request.params)

        async def report(done: float, total: float | None, message: str | None) -> None:
            if token is not None:
                await stream.send(progress_message(token, done, total, message))

        peer = peer._replace(progress=report)
        if not peer.modern:
            peer = self._with_questions(peer, stream)
        work, call = self._respond(request, peer), None
        if not peer.modern:
            work = call = asyncio.ensure_future(work)
            self._sessions.add_call(cast(str, peer.session_id), request.id, call)
        watch = ClientWatch(receive, stream, self._ping_seconds)
        try:
            response = await work
        except asyncio.CancelledError:
            if watch.client_left:
                watch.call.uncancel()
                return
            if call is None or watch.call.cancelling():
                raise
            response = _cancelled(request.id)
        finally:
            await watch.end()
        await (stream.send(response.body, last=True) if stream.started else response.send(send))

    def _with_questions(self, peer: Peer, stream: EventStream) -> Peer:
        """A client of a session that can be asked on the stream of its call."""
        sessions, session_id = self._sessions, cast(str, peer.session_id)

        async def send(method: str, params: JsonObject) -> Any:
            return await sessions.request(session_id, method, params, stream.send)

        async def folders() -> tuple[str, ...]:
            return await sessions.list_folders(session_id, stream.send)

        return peer._replace(
            ask=partial(confirm, send) if peer.can_elicit else None,
            elicit=partial(elicit, send),
            folders=None if peer.folders is None else folders,
        )


async def _no_folders() -> tuple[str, ...]:
    """Stands for the folders of a client until its call has a stream on which they can be asked for."""
    return ()


def _may_be_kept(envelope: JsonObject, head: RequestHead) -> bool:
    """Whether an envelope is small, holds nothing but what a client says of itself, and will come again."""
    length = head.headers.get("content-length", "")
    if not _CLIENT_KEYS.issuperset(envelope) or not length.isdecimal() or int(length) > _LARGEST_KEPT:
        return False
    # Python's 1 equals True and 1.0, so that an envelope with numbers says nothing about an equal one.
    return shapes.is_without_numbers(envelope)


def _error(status: int, code: int, message: str) -> HttpResponse:
    """An error that belongs to no request."""
    return HttpResponse(status, error_message(None, RpcError(code, message)))


def _cancelled(request_id: str | int) -> HttpResponse:
    """The response to a cancelled request. The older protocol's HTTP needs one; the SDK words it so."""
    return HttpResponse(200, error_message(request_id, RpcError(REQUEST_CANCELLED, "Request cancelled")))


def _sdk_unavailable(body: bytes | None) -> HttpResponse:
    message = "The server could not load what this request needs; its log has the reason. Try again later."
    return HttpResponse(500, error_message(_request_id(body), RpcError(INTERNAL_ERROR, message)))


def _sessions_unavailable(body: bytes | None) -> HttpResponse:
    return _sessions_unavailable_for(_request_id(body))


def _sessions_unavailable_for(request_id: str | int | None) -> HttpResponse:
    """The response in a session that needs the shared store, while that cannot be reached."""
    message = "The server cannot reach what its processes share, which sessions need. Try again."
    error = RpcError(INTERNAL_ERROR, message, {"reason": "unavailable", "retryable": True})
    return HttpResponse(503, error_message(request_id, error)).with_header(b"retry-after", b"1")


def _request_id(body: bytes | None) -> str | int | None:
    try:
        request = None if body is None else parse_request(decode(body))
    except ValueError:
        return None
    return request.id if request else None
