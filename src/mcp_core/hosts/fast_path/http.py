"""The fast path over HTTP: ordinary requests are answered here, all others by the SDK's application behind it.

Ordinary is a POST of one well-formed request with the headers that its protocol version asks for. A request with
anything missing, wrong or rare goes on to the SDK unchanged and is judged there. The SDK is loaded for the first one.
"""

from collections.abc import AsyncGenerator, Awaitable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.live_library import LiveLibrary
from mcp_core.hosts.callers import NotIdentified, Scope, http_caller, may_ask, record_http
from mcp_core.hosts.fast_path.asgi import TOO_LARGE, Header, HttpResponse, Receive, Send, read_body, replay
from mcp_core.hosts.fast_path.change_streams import ChangeStreams
from mcp_core.hosts.fast_path.changes import LISTEN, SUBSCRIBE, UNSUBSCRIBE
from mcp_core.hosts.fast_path.http_errors import sdk_unavailable, sessions_unavailable, sessions_unavailable_for
from mcp_core.hosts.fast_path.jsonrpc import (
    RpcRequest,
    decode,
    error_message,
    has_nul,
    parse_request,
    result_message,
)
from mcp_core.hosts.fast_path.methods import FastPath, NotHandled
from mcp_core.hosts.fast_path.modern_requests import ModernPeers
from mcp_core.hosts.fast_path.request_head import HeadReader, LastPeer, RequestHead
from mcp_core.hosts.fast_path.sdk_fallback import SdkFallback
from mcp_core.hosts.fast_path.session_requests import SESSION_STREAM, SessionRequests
from mcp_core.hosts.fast_path.sessions import Sessions
from mcp_core.hosts.fast_path.slow_answers import Connection, SlowAnswers
from mcp_core.hosts.names import INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY, MODERN, PARSE_ERROR
from mcp_core.hosts.protocol import Peer, RpcError, method_not_found
from mcp_core.hosts.resource_metadata import challenge, missing_scopes
from mcp_core.logs.telemetry import HTTP_REQUESTS
from mcp_core.state.interface import StateUnavailable

PING_SECONDS = 15.0
"""How long a call may be silent before its client gets a ping. Proxies cut connections that are silent for long."""

_SLOW_METHODS = frozenset({"tools/call", "prompts/get"})
_METHODS_THAT_MAY_ASK = _SLOW_METHODS | {"resources/list", "resources/read"}
_LIVE_METHODS = _METHODS_THAT_MAY_ASK | {
    "prompts/list",
    "resources/templates/list",
    "completion/complete",
    LISTEN,
    SUBSCRIBE,
}
_MODERN_STATUS = {INVALID_PARAMS: 400, MISSING_CAPABILITY: 400, METHOD_NOT_FOUND: 404}


class HttpFastPath:
    """An ASGI application that serves an app at `/mcp`. Enter its `lifespan` before it is called."""

    def __init__(self, app: App, ping_seconds: float = PING_SECONDS) -> None:
        self._app, self._fast_path = app, FastPath(app)
        self.max_body = app.settings.max_body_bytes
        self.count_request = partial(app.telemetry.count, HTTP_REQUESTS)
        """Counts a request by the path that answered it: direct, asgi or sdk."""
        self._fast_tools = {
            app.registry.final_name(spec)
            for spec in app.registry.get_all()
            if spec.response_time == "fast" and not may_ask(spec)
        }
        self._is_live = isinstance(app.library, LiveLibrary)
        listens: frozenset[str] = frozenset({LISTEN} if app.changes is not None else ())
        self._slow_methods = (_LIVE_METHODS if self._is_live else _SLOW_METHODS) | listens
        self._has_issuer = app.identity is not None and app.identity.access is not None
        self._sdk, self._heads, self._modern = SdkFallback(app), HeadReader(app), ModernPeers(app)
        sessions = Sessions(app)
        self._in_session = SessionRequests(app, self._fast_path, sessions)
        self._changes = ChangeStreams(app, self._fast_path, sessions, ping_seconds)
        self._slowly = SlowAnswers(sessions, self._respond, ping_seconds)

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Opens the app, and closes it and the SDK at the end."""
        async with self._app, self._sdk.lifespan():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it to the SDK."""
        body, path = None, "asgi"
        try:
            if scope["path"][len(scope.get("root_path", "")) :] != "/mcp":
                raise NotHandled("path")
            head = self.read_head(scope["headers"], scope.get("client"), LastPeer())
            caller = head.caller or await http_caller(self._app, scope, head.headers.get("authorization", ""))
            if scope["method"] == "POST":
                body = await read_body(receive, self.max_body)
                if body is None:
                    return None  # the client has left
                if len(body) > self.max_body:
                    record_http(self._app, scope, TOO_LARGE, caller)
                    return await HttpResponse(TOO_LARGE, b"Request body too large", ()).send(send)
            if head.host_problem is not None and head.has_media_types and "mcp-session-id" not in head.headers:
                record_http(self._app, scope, head.host_problem.status, caller)
                return await head.host_problem.send(send)
            request = await self._read_request(scope["method"], head, scope, caller, body)
            if isinstance(request, HttpResponse):
                return await request.send(send)
            await self._answer(request[0], request[1]._replace(path=scope["path"]), receive, send)
        except NotIdentified as refused:
            await refused.send(send)
        except NotHandled:
            path = "sdk"
            await self._hand_to_sdk(scope, body, receive, send)
        finally:
            self.count_request(path)

    def read_head(self, raw_headers: Iterable[Header], client: Any, last: LastPeer) -> RequestHead:
        """Read the headers of a request. `client` is its address, as a scope has it.

        `last` is the client of the last request on its connection.
        """
        return self._heads.read(raw_headers, client, last)

    def respond(
        self, head: RequestHead, scope: Scope, authorization: str, body: bytes, connection: Connection
    ) -> Awaitable[HttpResponse]:
        """The response to a POST. Raises NotHandled before anything has happened.

        This is the path without ASGI: of the scope it has only the client and the path. What is sent before the
        response goes through `connection`.
        """
        caller = head.caller
        if caller is not None and head.version == MODERN:
            request = self._ordinary_request(head, body)
            return self._respond_on(connection, request, self._modern.peer(head, request, caller, len(body)), scope)
        found = None if caller is None else self._in_session.known_request(head, caller, body)
        if found is None:
            return self._identify_and_respond(head, scope, authorization, body, connection)
        return self._respond_on(connection, *found, scope)

    async def _identify_and_respond(
        self, head: RequestHead, scope: Scope, authorization: str, body: bytes, connection: Connection
    ) -> HttpResponse:
        """The response to a request whose token or session is to be looked up."""
        try:
            caller = head.caller or await http_caller(self._app, scope, authorization)
        except NotIdentified as refused:
            return HttpResponse(refused.status, refused.body, tuple(refused.headers))
        found = await self._read_request("POST", head, scope, caller, body)
        return found if isinstance(found, HttpResponse) else await self._respond_on(connection, *found, scope)

    def _respond_on(
        self, connection: Connection, request: RpcRequest, peer: Peer, scope: Scope
    ) -> Awaitable[HttpResponse]:
        if self._has_issuer:
            peer = peer._replace(path=scope["path"])
        if not self._may_take_long(request, peer):
            return self._respond(request, peer)
        if request.method == LISTEN:
            raise NotHandled("a stream of changes")
        connection.watch_client(self._slowly.ping_seconds)
        return self._slowly.respond(request, peer, connection.send_message)

    async def _read_request(
        self, method: str, head: RequestHead, scope: Scope, caller: Caller, body: bytes | None
    ) -> tuple[RpcRequest, Peer] | HttpResponse:
        """The request and who sends it, or the response to what is not a request. Raises NotHandled.

        A response that is an error, or the end of a session, is recorded. Notifications are not.
        """
        try:
            found = await self._find_request(method, head, caller, body)
        except StateUnavailable:
            found = sessions_unavailable(body)
        if isinstance(found, HttpResponse) and (found.status >= HTTPStatus.BAD_REQUEST or method == "DELETE"):
            record_http(self._app, scope, found.status, caller)
        return found

    async def _find_request(
        self, method: str, head: RequestHead, caller: Caller, body: bytes | None
    ) -> tuple[RpcRequest, Peer] | HttpResponse:
        peer = await self._in_session.find_peer(head, caller) if head.may_have_session else None
        if peer is not None:
            request = await self._in_session.read(method, head, body)
            return request if isinstance(request, HttpResponse) else (request, peer)
        request = self._ordinary_request(head, body)
        if head.version == MODERN:
            return request, self._modern.peer(head, request, caller, len(body or b""))
        if request.method == "initialize" and "mcp-session-id" not in head.headers and head.may_have_session:
            return await self._in_session.initialize(request, caller)
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

    async def _hand_to_sdk(self, scope: Scope, body: bytes | None, receive: Receive, send: Send) -> None:
        if body is not None and has_nul(body):
            record_http(self._app, scope, HTTPStatus.BAD_REQUEST)
            error = RpcError(PARSE_ERROR, "The body is not JSON in UTF-8. Send it in UTF-8.")
            await HttpResponse(HTTPStatus.BAD_REQUEST, error_message(None, error)).send(send)
            return
        application = await self._sdk.application()
        if application is None:
            record_http(self._app, scope, HTTPStatus.INTERNAL_SERVER_ERROR)
            await sdk_unavailable(body).send(send)
        else:
            await application(scope, replay(body, receive), send)

    # --- answers ---------------------------------------------------------------------------------------

    async def _answer(self, request: RpcRequest, peer: Peer, receive: Receive, send: Send) -> None:
        if request.method in (LISTEN, SESSION_STREAM) and self._app.changes is not None:
            return await self._changes.send(request, peer, self._app.changes, receive, send)
        if self._may_take_long(request, peer):
            return await self._slowly.answer(request, peer, receive, send)
        response = await self._respond(request, peer)
        return await response.send(send)

    def _may_take_long(self, request: RpcRequest, peer: Peer) -> bool:
        """Whether a request may take a while, wants its progress, or may ask its client."""
        method, params = request.method, request.params
        if peer.folders is not None:
            return method in _METHODS_THAT_MAY_ASK
        if method not in self._slow_methods:
            return False
        name: Any = params.get("name")
        meta: Any = params.get("_meta")
        return type(name) is not str or name not in self._fast_tools or (type(meta) is dict and "progressToken" in meta)

    async def _respond(self, request: RpcRequest, peer: Peer) -> HttpResponse:
        try:
            if request.method == "initialize" and not peer.modern:
                return await self._in_session.initialize_again(request, peer)
            if request.method in (SUBSCRIBE, UNSUBSCRIBE) and not peer.modern and self._app.library.is_subscribable:
                return await self._changes.set_subscription(request, peer)
            result = await self._fast_path.answer(request.method, request.params, peer)
        except NotHandled:
            if peer.modern:
                raise
            error = self._fast_path.refuse(request.method, method_not_found(request.method), peer)
            return HttpResponse(200, error_message(request.id, error))
        except StateUnavailable:
            return sessions_unavailable_for(request.id)
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
