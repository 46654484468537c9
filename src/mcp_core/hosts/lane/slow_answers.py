"""Calls that may take a while: their responses can become event streams, and they end when their client disconnects."""

import asyncio
from collections.abc import Callable, Coroutine
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
        self._sessions, self._respond, self._ping_seconds = sessions, respond, ping_seconds

    async def answer(self, request: RpcRequest, peer: Peer, receive: Receive, send: Send) -> None:
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
            response = cancelled(request.id)
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
            notify_complete=partial(sessions.notify_complete, session_id),
            folders=None if peer.folders is None else folders,
        )
