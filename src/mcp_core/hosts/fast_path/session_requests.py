"""Requests in sessions: the protocol versions with a handshake."""

from typing import cast

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.hosts.fast_path.asgi import HttpResponse, accepts_json_and_events, is_json
from mcp_core.hosts.fast_path.http_errors import error_response
from mcp_core.hosts.fast_path.jsonrpc import RpcRequest, decode, is_message, parse_request, result_message
from mcp_core.hosts.fast_path.methods import FastPath, NotHandled
from mcp_core.hosts.fast_path.request_head import RequestHead
from mcp_core.hosts.fast_path.sessions import Session, Sessions
from mcp_core.hosts.names import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from mcp_core.hosts.protocol import Peer, RpcError, supports_forms

SESSION_STREAM = "(stream)"
"""Stands for the GET with which a client of a session listens."""


class SessionRequests:
    """Reads the requests in the sessions of one app, and answers what is about the sessions themselves."""

    def __init__(self, app: App, fast_path: FastPath, sessions: Sessions) -> None:
        self._app, self._fast_path, self._sessions = app, fast_path, sessions

    async def initialize(self, request: RpcRequest, caller: Caller) -> HttpResponse:
        """Begin a session. Raises NotHandled where the SDK must say what is wrong with the handshake."""
        try:
            result, params = self._fast_path.initialize(request.params)
        except RpcError as error:
            raise NotHandled("handshake") from error
        session_id = await self._sessions.begin(params, caller)
        self._fast_path.record_handshake(caller, params)
        response = HttpResponse(200, result_message(request.id, result))
        return response.with_header(b"mcp-session-id", session_id.encode())

    async def find_peer(self, head: RequestHead, caller: Caller) -> Peer | None:
        """The client of a session that this server sealed for this caller."""
        session_id = head.headers.get("mcp-session-id", "")
        session = await self._sessions.find(session_id, caller)
        return None if session is None else self._peer_of(session, session_id, head, caller)

    def known_request(self, head: RequestHead, caller: Caller, body: bytes) -> tuple[RpcRequest, Peer] | None:
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
        peer = head.last.find(caller, session_id) or self._new_peer(session, session_id, head, caller)
        return peer if head.is_plain else head.complete(peer)

    def _new_peer(self, session: Session, session_id: str, head: RequestHead, caller: Caller) -> Peer:
        peer = Peer(
            caller,
            modern=False,
            agent_id=session.agent_id,
            agent_version=session.agent_version,
            session_id=session_id,
            can_elicit=session.can_elicit,
            can_open_urls=session.can_open_urls,
            folders=_no_folders if session.has_roots else None,
        )
        head.last.keep(caller, session_id, peer)
        return peer

    async def read(self, method: str, head: RequestHead, body: bytes | None) -> RpcRequest | HttpResponse:
        """The request that came in a session of the fast path, or the response where it is not one.

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
        if body is None and self._app.notifies_sessions and "text/event-stream" in headers.get("accept", ""):
            return RpcRequest("", SESSION_STREAM, {})
        if body is None:  # without lists that change, a session has no stream of its own
            return error_response(405, INVALID_REQUEST, "Method Not Allowed").with_header(b"allow", b"POST, DELETE")
        if not accepts_json_and_events(headers):
            message = "Not Acceptable: Client must accept both application/json and text/event-stream"
            return error_response(406, INVALID_REQUEST, message)
        if not is_json(headers):
            return error_response(415, INVALID_REQUEST, "Unsupported Media Type: Content-Type must be application/json")
        return await self._read_message(body, headers["mcp-session-id"])

    async def _read_message(self, body: bytes, session_id: str) -> RpcRequest | HttpResponse:
        try:
            message = decode(body)
        except ValueError as error:
            return error_response(400, PARSE_ERROR, f"Parse error: {error}")
        request = parse_request(message)
        if request is not None:
            return request
        if not is_message(message):
            return error_response(400, INVALID_PARAMS, "Validation error: not one JSON-RPC 2.0 message")
        await self._sessions.receive(message, session_id)
        return HttpResponse(202, b"")

    async def initialize_again(self, request: RpcRequest, peer: Peer) -> HttpResponse:
        """Answer a handshake inside a session."""
        if supports_forms(request.params.get("capabilities")) and not peer.can_elicit:
            # The id says that this client cannot be asked: the session ends, and the client begins another.
            await self._sessions.end(cast(str, peer.session_id))
            self._fast_path.refuse("initialize", RpcError(INVALID_REQUEST, "Session not found"), peer)
            return error_response(404, INVALID_REQUEST, "Session not found")
        result, params = self._fast_path.initialize(request.params)
        self._fast_path.record_handshake(peer.caller, params)
        return HttpResponse(200, result_message(request.id, result))


async def _no_folders() -> tuple[str, ...]:
    """Stands for the folders of a client until its call has a stream on which they can be asked for."""
    return ()
