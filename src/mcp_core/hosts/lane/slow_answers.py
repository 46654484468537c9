"""Calls that may take a while: their responses can become event streams, and they end when their client disconnects.

What is said here of clients and streams is for calls that come through ASGI. `SlowAnswers.respond` is for those that
do not: their connection looks after the client.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, cast

from mcp_core.hosts.lane.asgi import EventStream, HttpResponse, Receive, Send
from mcp_core.hosts.lane.client_requests import confirm, elicit
from mcp_core.hosts.lane.client_watch import ClientWatch
from mcp_core.hosts.lane.http_errors import cancelled
from mcp_core.hosts.lane.jsonrpc import RpcRequest, progress_message, progress_token
from mcp_core.hosts.lane.sessions import Sessions
from mcp_core.hosts.protocol import Peer
from mcp_core.json_text import JsonObject

Respond = Callable[[RpcRequest, Peer], Coroutine[Any, Any, HttpResponse]]
"""Answers a request."""


class SlowAnswers:
    """Answers calls that may take a while."""

    def __init__(self, sessions: Sessions, respond: Respond, ping_seconds: float) -> None:
        self._sessions, self._respond, self.ping_seconds = sessions, respond, ping_seconds

    async def answer(self, request: RpcRequest, peer: Peer, receive: Receive, send: Send) -> None:
        """Answer a call that may take a while. It is cancelled when the client disconnects.

        The response becomes an event stream with the first progress notification or question to the client, or after
        a long silence.
        """
        stream, token = EventStream(send), progress_token(request.params)
        if token is not None:
            peer = peer._replace(progress=partial(_report, stream, token))
        if not peer.modern:
            peer = self._with_questions(peer, stream)
        watch = ClientWatch(receive, stream, self.ping_seconds)
        try:
            response = await self.respond(request, peer)
        except asyncio.CancelledError:
            if not watch.client_left:
                raise
            watch.call.uncancel()
            return
        finally:
            await watch.end()
        await (stream.send(response.body, last=True) if stream.started else response.send(send))

    def respond(self, request: RpcRequest, peer: Peer) -> Awaitable[HttpResponse]:
        """The response to a call, in the current task."""
        return self._respond(request, peer) if peer.modern else self._respond_in_session(request, peer)

    async def _respond_in_session(self, request: RpcRequest, peer: Peer) -> HttpResponse:
        """The response to a call that its client may cancel with a notification."""
        with self._sessions.cancellable_call(cast(str, peer.session_id), request.id) as call:
            try:
                return await self._respond(request, peer)
            except asyncio.CancelledError:
                if not call.was_cancelled:
                    raise
                call.task.uncancel()
                return cancelled(request.id)

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
            notify_complete=partial(sessions.notify_complete, session_id),
            folders=None if peer.folders is None else folders,
        )


async def _report(stream: EventStream, token: str | int, done: float, total: float | None, message: str | None) -> None:
    await stream.send(progress_message(token, done, total, message))
