"""Streams that notify clients of changes, and what the sessions of the older protocol subscribe to."""

import asyncio
from contextlib import suppress
from typing import cast

from mcp_core.app import App
from mcp_core.calling.changes import Changes
from mcp_core.errors import Refused
from mcp_core.hosts.fast_path.asgi import EventStream, HttpResponse, Receive, Send, wait_for_disconnect
from mcp_core.hosts.fast_path.changes import (
    KINDS,
    MAX_RESOURCES,
    SUBSCRIBE,
    ChangeListener,
    listen_result,
    subscribe,
    subscribed_uri,
    wanted_kinds,
    wanted_resources,
    wanted_tasks,
)
from mcp_core.hosts.fast_path.jsonrpc import RpcRequest, error_message, result_message
from mcp_core.hosts.fast_path.methods import FastPath
from mcp_core.hosts.fast_path.sessions import Sessions
from mcp_core.hosts.names import INTERNAL_ERROR, INVALID_PARAMS
from mcp_core.hosts.protocol import Peer, RpcError, invalid_params, protocol_error
from mcp_core.state.interface import StateUnavailable


class ChangeStreams:
    """Notifies the clients of one app of changes."""

    def __init__(self, app: App, fast_path: FastPath, sessions: Sessions, ping_seconds: float) -> None:
        self._app, self._fast_path, self._sessions, self._ping_seconds = app, fast_path, sessions, ping_seconds

    async def send(
        self,
        request: RpcRequest,
        peer: Peer,
        changes: Changes,
        receive: Receive,
        send: Send,
    ) -> None:
        """Notify a client of changes until it disconnects, or the server stops."""
        kinds = wanted_kinds(request.params) if peer.modern else KINDS
        uris = wanted_resources(request.params)
        try:
            task_ids = wanted_tasks(request.params, peer)
        except RpcError as error:
            self._fast_path.refuse(request.method, error, peer)
            return await HttpResponse(400, error_message(request.id, error)).send(send)
        if kinds is None or uris is None or task_ids is None or changes.is_full:
            is_full = kinds is not None and uris is not None and task_ids is not None
            problem = RpcError(INTERNAL_ERROR, "Too many clients listen.") if is_full else invalid_params()
            error = self._fast_path.refuse(request.method, problem, peer)
            return await HttpResponse(503 if is_full else 400, error_message(request.id, error)).send(send)
        self._fast_path.record(request.method, peer)
        stream, listener = EventStream(send), ChangeListener(self._app, changes)

        async def forward() -> None:
            if peer.modern:
                await listener.subscribe_to_all(uris, peer)
                await listener.follow_tasks(task_ids, peer)
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
        """Watch for a stream the resources that its session has subscribed to, at whichever process."""
        session_id = cast(str, peer.session_id)
        with self._sessions.stream(session_id, listener) as changed:
            while True:
                changed.clear()
                with suppress(StateUnavailable):
                    await listener.follow(await self._sessions.subscriptions(session_id), peer)
                await changed.wait()

    async def set_subscription(self, request: RpcRequest, peer: Peer) -> HttpResponse:
        """Subscribe the session to a resource, or no longer."""
        uri, session_id = subscribed_uri(request.params), cast(str, peer.session_id)
        if uri is None:
            raise self._fast_path.refuse(request.method, invalid_params(), peer)
        if request.method == SUBSCRIBE:
            if len(await self._sessions.subscriptions(session_id)) >= MAX_RESOURCES:
                problem = RpcError(INVALID_PARAMS, f"A session can subscribe to {MAX_RESOURCES} resources.")
                raise self._fast_path.refuse(request.method, problem, peer)
            await self._subscribe_here(uri, session_id, peer)
        else:
            self._fast_path.record(request.method, peer)
        await self._sessions.set_subscription(session_id, uri, wanted=request.method == SUBSCRIBE)
        return HttpResponse(200, result_message(request.id, "{}"))

    async def _subscribe_here(self, uri: str, session_id: str, peer: Peer) -> None:
        """Begin to watch a resource, so that its client gets the error if it may not."""
        listeners = self._sessions.listeners(session_id)
        try:
            for listener in listeners:
                await listener.subscribe(uri, peer)
            if not listeners:  # its stream is at another process, or begins later
                end = await subscribe(self._app, uri, peer, lambda _: None)
                end()
        except Refused as refused:
            raise protocol_error(refused) from None
