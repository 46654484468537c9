"""Calls that may take a while: their responses can become event streams, and they end when their client disconnects.

`SlowAnswers.answer` is for calls that come through ASGI. Without ASGI, the connection watches the client and sends
the events, and calls `SlowAnswers.respond`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Protocol, cast

from mcp_core.hosts.fast_path.asgi import EventStream, HttpResponse, Receive, Send
from mcp_core.hosts.fast_path.client_requests import confirm, elicit
from mcp_core.hosts.fast_path.client_watch import ClientWatch
from mcp_core.hosts.fast_path.http_errors import cancelled
from mcp_core.hosts.fast_path.jsonrpc import RpcRequest, progress_message, progress_token
from mcp_core.hosts.fast_path.sessions import SendMessage, Sessions
from mcp_core.hosts.protocol import Peer
from mcp_core.text.json_text import JsonObject

Respond = Callable[[RpcRequest, Peer], Coroutine[Any, Any, HttpResponse]]
"""Answers a request."""


class Connection(Protocol):
    """The connection of a call that is answered without ASGI."""

    def watch_client(self, ping_seconds: float) -> None:
        """Cancel the call, which may take a while, if its client leaves, and ping the client in this interval."""
        ...

    async def send_message(self, data: bytes) -> None:
        """Send a message before the response."""
        ...


class SlowAnswers:
    """Answers calls that may take a while."""

    def __init__(self, sessions: Sessions, respond: Respond, ping_seconds: float) -> None:
        self._sessions, self._respond, self.ping_seconds = sessions, respond, ping_seconds

    async def answer(self, request: RpcRequest, peer: Peer, receive: Receive, send: Send) -> None:
        """Answer a call that may take a while. It is cancelled when the client disconnects.

        The response becomes an event stream with the first progress notification or question to the client, or after
        a long silence.
        """
        stream = EventStream(send)
        watch = ClientWatch(receive, stream, self.ping_seconds)
        try:
            response = await self.respond(request, peer, stream.send)
        except asyncio.CancelledError:
            if not watch.client_left:
                raise
            watch.call.uncancel()
            return
        finally:
            await watch.end()
        await (stream.send(response.body, last=True) if stream.started else response.send(send))

    def respond(self, request: RpcRequest, peer: Peer, send_message: SendMessage) -> Awaitable[HttpResponse]:
        """The response to a call, in the current task."""
        token = progress_token(request.params)
        if token is not None:
            peer = peer._replace(progress=partial(_report, send_message, token))
        if peer.modern:
            return self._respond(request, peer)
        return self._respond_in_session(request, self._with_questions(peer, send_message))

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

    def _with_questions(self, peer: Peer, send_message: SendMessage) -> Peer:
        """A client of a session that can be asked on the stream of its call."""
        sessions, session_id = self._sessions, cast(str, peer.session_id)

        async def send(method: str, params: JsonObject) -> Any:
            return await sessions.request(session_id, method, params, send_message)

        async def folders() -> tuple[str, ...]:
            return await sessions.list_folders(session_id, send_message)

        return peer._replace(
            ask=partial(confirm, send) if peer.can_elicit else None,
            elicit=partial(elicit, send),
            notify_complete=partial(sessions.notify_complete, session_id),
            folders=None if peer.folders is None else folders,
        )


async def _report(
    send_message: SendMessage, token: str | int, done: float, total: float | None, message: str | None
) -> None:
    await send_message(progress_message(token, done, total, message))
