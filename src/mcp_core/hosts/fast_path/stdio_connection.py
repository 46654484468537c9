"""One client of the fast path over stdin and stdout: one JSON message a line, calls run concurrently."""

import asyncio
import itertools
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, cast

from mcp_core.calling.changes import Changes
from mcp_core.calling.requests import STDIO
from mcp_core.context import ReportProgress
from mcp_core.errors import Refused
from mcp_core.hosts.fast_path.changes import (
    KINDS,
    LISTEN,
    SUBSCRIBE,
    UNSUBSCRIBE,
    ChangeListener,
    complete_message,
    listen_result,
    subscribed_uri,
    wanted_kinds,
    wanted_resources,
    wanted_tasks,
)
from mcp_core.hosts.fast_path.client_requests import ClientError, confirm, elicit, list_folders
from mcp_core.hosts.fast_path.jsonrpc import (
    ID_TYPES,
    PARAMS_TYPES,
    RpcRequest,
    decode,
    error_message,
    is_json_rpc,
    progress_message,
    progress_token,
    request_message,
    result_message,
)
from mcp_core.hosts.fast_path.methods import FastPath, NotHandled, read_envelope
from mcp_core.hosts.fast_path.pipe import MAX_LINE
from mcp_core.hosts.fast_path.shapes import is_notification
from mcp_core.hosts.names import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    MODERN,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
)
from mcp_core.hosts.protocol import (
    Peer,
    RpcError,
    client_identity,
    invalid_params,
    method_not_found,
    protocol_error,
    server_stopping,
    supports_forms,
    supports_roots,
    supports_tasks,
    supports_urls,
)
from mcp_core.mcp_log import get_logger
from mcp_core.text.json_text import JsonObject

logger = get_logger(__name__)

MAX_CALLS = 1000
"""How many calls may run at once. Further ones wait, while notifications and responses are still read."""
MAX_WAITING = 1000
MAX_WAITING_BYTES = MAX_LINE
"""How many calls may wait, and how many bytes of them. Beyond either, no line is read until a call starts."""

FINISH_SECONDS = 1.0
"""How long calls may go on after the input has ended, by default. Clients kill the process after about two seconds."""
ANSWER_SECONDS = 0.5
"""How long calls that are stopped then may take to answer."""

_IDLE_SECONDS = 3600.0
"""A pipe needs no signs of life."""

Write = Callable[[bytes], object]
Drain = Callable[[], Awaitable[None]]


class _Call(NamedTuple):
    """A request, its client, and the length of its line."""

    request: RpcRequest
    peer: Peer
    size: int


class StdioConnection:
    """One client on one pipe. Its first request decides the protocol era for the whole connection."""

    def __init__(self, fast_path: FastPath, write: Write, drain: Drain) -> None:
        """`drain` waits while the client does not read."""
        self._fast_path, self._output, self._drain = fast_path, write, drain
        self._modern: bool | None = None
        self._client: JsonObject | None = None
        """The parameters of the handshake."""
        self._initialized = False
        """Whether the client has sent `notifications/initialized`; some send only that."""
        self._calls: dict[str | int, asyncio.Task[None]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._waiting: deque[_Call] = deque()
        self._left_waiting = asyncio.Event()
        """Set when a call leaves the queue of those that wait."""
        self._sent_requests: dict[str, asyncio.Future[Any]] = {}
        self._request_numbers = itertools.count(1)
        self._folders: tuple[str, ...] | None = None
        self._telling: asyncio.Task[None] | None = None
        self._listener: ChangeListener | None = None
        """The changes that the client of a session is notified of."""
        self._refusing = self._ending = False
        """Whether new requests are refused, and whether the calls that still run are being ended."""

    async def receive(self, line: bytes) -> None:
        """Take one message. Requests are answered as they finish, each in a task of its own."""
        try:
            message = _decode(line)
        except RpcError as error:
            self._refuse(None, error)
            return
        method, params, request_id = message.get("method"), message.get("params"), message.get("id")
        if "method" not in message and ("result" in message or "error" in message):
            self._take_response(message)
        elif not isinstance(method, str):
            self._refuse(_valid_id(request_id), RpcError(INVALID_REQUEST, "A request has a method"))
        elif "id" not in message:
            if type(params) in PARAMS_TYPES:
                self._take_notification(method, cast(JsonObject, params or {}))
        elif _valid_id(request_id) is None:
            self._refuse(None, RpcError(INVALID_REQUEST, "A request id is a string or a whole number"))
        elif type(params) not in PARAMS_TYPES:
            self._refuse(_valid_id(request_id), invalid_params(), method)
        else:
            request = RpcRequest(cast(str | int, request_id), method, cast(JsonObject, params or {}))
            await self._take_request(request, len(line))

    async def _take_request(self, request: RpcRequest, size: int) -> None:
        if self._refusing:
            self._refuse(request.id, server_stopping(), request.method)
            return
        if (failure := self._fast_path.start_failure) is not None:
            self._send_error(request.id, failure)
            return
        # The era and the handshake are decided before the next line is read.
        try:
            peer = self._peer(request)
        except RpcError as error:
            self._refuse(request.id, error, request.method)
            return
        if peer is None:
            return
        call = _Call(request, peer, size)
        if len(self._running) < MAX_CALLS:
            self._start(call)
            return
        self._waiting.append(call)
        while len(self._waiting) > MAX_WAITING or sum(each.size for each in self._waiting) > MAX_WAITING_BYTES:
            self._left_waiting.clear()
            await self._left_waiting.wait()

    def _start(self, call: _Call) -> None:
        task = asyncio.ensure_future(self._answer(call.request, call.peer))
        self._calls[call.request.id] = task
        self._running.add(task)
        task.add_done_callback(lambda done: self._end(call.request.id, done))

    def _end(self, request_id: str | int, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if self._calls.get(request_id) is task:
            del self._calls[request_id]
        if self._waiting:
            self._start(self._waiting.popleft())
            self._left_waiting.set()

    async def _answer(self, request: RpcRequest, peer: Peer) -> None:
        try:
            changes = self._fast_path.app.changes
            if request.method == LISTEN and peer.modern and changes is not None:
                result = await self._listen(request, peer, changes)
            elif request.method in (SUBSCRIBE, UNSUBSCRIBE) and self._listener is not None:
                result = await self._set_subscription(request, peer, self._listener)
            else:
                result = await self._fast_path.answer(request.method, request.params, peer)
        except RpcError as error:
            self._send_error(request.id, error)
        except NotHandled:
            self._send_error(request.id, self._fast_path.refuse(request.method, method_not_found(request.method), peer))
        except asyncio.CancelledError:
            if self._ending:
                self._send_error(request.id, server_stopping())
            raise
        except Exception:
            logger.exception("%s failed", request.method)
            self._send_error(request.id, RpcError(INTERNAL_ERROR, "Internal server error"))
        else:
            self._send(result_message(request.id, result))

    async def _listen(self, request: RpcRequest, peer: Peer, changes: Changes) -> str:
        """Notify the client of changes until it cancels the request."""
        kinds, uris = wanted_kinds(request.params), wanted_resources(request.params)
        task_ids = wanted_tasks(request.params, peer)
        if kinds is None or uris is None or task_ids is None:
            raise self._fast_path.refuse(LISTEN, invalid_params(), peer)
        self._fast_path.record(LISTEN, peer)
        listener = ChangeListener(self._fast_path.app, changes)
        try:
            await self._fast_path.wait_until_open()
            await listener.subscribe_to_all(uris, peer)
            await listener.follow_tasks(task_ids, peer)
            async for message in listener.messages(_IDLE_SECONDS, kinds, request.id):
                if message is not None:
                    self._send(message)
        finally:
            listener.close()
        return listen_result(request.id)

    async def _tell_changes(self, listener: ChangeListener) -> None:
        """In a session, notify the client of every change of a list and of the resources that it subscribes to."""
        async for message in listener.messages(_IDLE_SECONDS, KINDS):
            if message is not None:
                self._send(message)

    async def _set_subscription(self, request: RpcRequest, peer: Peer, listener: ChangeListener) -> str:
        uri = subscribed_uri(request.params)
        if uri is None:
            raise self._fast_path.refuse(request.method, invalid_params(), peer)
        await self._fast_path.wait_until_open()
        try:
            if request.method == SUBSCRIBE:
                await listener.subscribe(uri, peer)
            else:
                self._fast_path.record(UNSUBSCRIBE, peer)
                listener.unsubscribe(uri)
        except Refused as refused:
            raise protocol_error(refused) from None
        return "{}"

    # --- the client ------------------------------------------------------------------------------------

    def _peer(self, request: RpcRequest) -> Peer | None:
        """The client that sent a request; None where the request has been answered already."""
        method, has_envelope = request.method, _has_envelope(request.params)
        if self._modern is None:
            self._modern = has_envelope and method != "initialize"
        if self._modern:
            return self._modern_peer(request)
        if method == "initialize":
            result, self._client = self._fast_path.initialize(request.params)
            self._fast_path.record_handshake(self._fast_path.app.local_caller, self._client)
            self._send(result_message(request.id, result))
            return None
        if has_envelope:
            reason = "requests carrying the 2026-07-28 envelope are not accepted on it"
            raise RpcError(INVALID_REQUEST, f"this connection serves the handshake protocol era; {reason}")
        if self._client is None and not self._initialized and method != "ping":
            raise invalid_params() if method in self._fast_path.checks.handshake else method_not_found(method)
        return self._handshake_peer(request)

    def _modern_peer(self, request: RpcRequest) -> Peer:
        if request.method == "initialize":
            requested = request.params.get("protocolVersion")
            data = {"supported": [MODERN]} | ({"requested": requested} if isinstance(requested, str) else {})
            message = "connection is serving the 2026-07-28 protocol; the initialize handshake is not accepted"
            raise RpcError(UNSUPPORTED_VERSION, message, data)
        envelope = read_envelope(request.params)
        agent_id, agent_version = client_identity(envelope.get(CLIENT_KEY))
        return Peer(
            caller=self._fast_path.app.local_caller,
            modern=True,
            agent_id=agent_id,
            agent_version=agent_version,
            can_elicit=supports_forms(envelope[CAPABILITIES_KEY]),
            can_open_urls=supports_urls(envelope[CAPABILITIES_KEY]),
            takes_tasks=supports_tasks(envelope[CAPABILITIES_KEY]),
            progress=self._progress(request.params),
        )

    def _handshake_peer(self, request: RpcRequest) -> Peer:
        client = self._client or {}
        capabilities = client.get("capabilities")
        agent_id, agent_version = client_identity(client.get("clientInfo"))
        can_elicit = supports_forms(capabilities)
        return Peer(
            caller=self._fast_path.app.local_caller,
            modern=False,
            agent_id=agent_id,
            agent_version=agent_version,
            can_elicit=can_elicit,
            can_open_urls=supports_urls(capabilities),
            ask=self._ask if can_elicit else None,
            elicit=partial(elicit, self._request),
            notify_complete=self._notify_complete,
            folders=self._list_folders if supports_roots(capabilities) else None,
            progress=self._progress(request.params),
        )

    # --- requests to the client ------------------------------------------------------------------------

    async def _ask(self, question: str) -> bool:
        """Ask the person and wait for the answer."""
        return await confirm(self._request, question)

    async def _list_folders(self) -> tuple[str, ...]:
        """The client's folders. They are requested once, and again when the client says that they changed."""
        if self._folders is None:
            self._folders = await list_folders(self._request)
        return self._folders

    async def _notify_complete(self, number: str) -> None:
        self._send(complete_message(number))

    async def _request(self, method: str, params: JsonObject) -> Any:
        request_id = f"ask-{next(self._request_numbers)}"
        response = self._sent_requests[request_id] = asyncio.get_running_loop().create_future()
        self._send(request_message(request_id, method, params))
        try:
            return await response
        finally:
            del self._sent_requests[request_id]

    def _take_response(self, message: JsonObject) -> None:
        response = self._sent_requests.get(str(message.get("id")))
        if response is None or response.done():
            logger.debug("Ignoring a response with the id of no open request")
        elif "error" in message:
            response.set_exception(ClientError)
        else:
            response.set_result(message.get("result"))

    def _take_notification(self, method: str, params: JsonObject) -> None:
        if method == "notifications/cancelled":
            self._cancel(_valid_id(params.get("requestId")))
        elif method == "notifications/roots/list_changed":
            self._folders = None
        elif method == "notifications/initialized" and is_notification(params):
            self._initialized = True
            app = self._fast_path.app
            if self._telling is None and app.changes is not None and app.notifies_sessions and not self._modern:
                self._listener = ChangeListener(app, app.changes)
                self._telling = asyncio.ensure_future(self._tell_changes(self._listener))

    def _cancel(self, request_id: str | int | None) -> None:
        call = self._calls.get(request_id) if request_id is not None else None
        if call is not None:
            call.cancel()
        elif any(waiting.request.id == request_id for waiting in self._waiting):
            self._waiting = deque(waiting for waiting in self._waiting if waiting.request.id != request_id)
            self._left_waiting.set()

    def _progress(self, params: JsonObject) -> ReportProgress | None:
        token = progress_token(params)
        if token is None:
            return None

        async def report(done: float, total: float | None, message: str | None) -> None:
            self._send(progress_message(token, done, total, message))
            # A handler that reports often would otherwise fill the memory while the client does not read.
            await self._drain()

        return report

    def _send(self, message: bytes) -> None:
        self._output(message + b"\n")

    def _refuse(self, request_id: str | int | None, error: RpcError, method: str = STDIO) -> None:
        """Answer a message with an error before anything is done, and record that."""
        self._send_error(request_id, self._fast_path.refuse(method, error))

    def _send_error(self, request_id: str | int | None, error: RpcError) -> None:
        self._send(error_message(request_id, error))

    @property
    def drain_seconds(self) -> float:
        """How long calls may go on after the end."""
        seconds = self._fast_path.app.settings.drain_seconds
        return FINISH_SECONDS if seconds is None else seconds

    @property
    def running(self) -> int:
        """How many calls run."""
        return len(self._running)

    def refuse_requests(self) -> None:
        """Answer each request from now on with an error."""
        self._refusing = True
        if self._fast_path.app.changes is not None:
            self._fast_path.app.changes.stop()

    async def finish(self, at_once: asyncio.Event) -> None:
        """Let calls finish: a client may send everything and close its side. What is too slow is stopped and answered.

        `at_once` ends the time that calls have.
        """
        hurry = asyncio.ensure_future(at_once.wait())
        await self._wait_for_calls(self.drain_seconds, hurry)
        hurry.cancel()
        if self._running:
            self._end_calls()
            await self._wait_for_calls(ANSWER_SECONDS)

    def _end_calls(self) -> None:
        self._ending = True
        for call in self._waiting:
            self._refuse(call.request.id, server_stopping(), call.request.method)
        self._waiting.clear()
        self._fast_path.app.stop_calls()

    async def _wait_for_calls(self, seconds: float, hurry: asyncio.Future[Any] | None = None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._running and not (hurry and hurry.done()):
                    others = {hurry} if hurry else set[asyncio.Future[Any]]()
                    await asyncio.wait(self._running | others, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Cancel the calls that still run."""
        self._waiting.clear()
        if self._listener is not None:
            self._listener.close()
        calls = [*self._running, *([] if self._telling is None else [self._telling])]
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


def _decode(line: bytes) -> JsonObject:
    try:
        message = decode(line)
    except ValueError:
        raise RpcError(PARSE_ERROR, "Parse error") from None
    if not is_json_rpc(message):
        raise RpcError(INVALID_REQUEST, "Send one JSON-RPC 2.0 message a line")
    return message


def _has_envelope(params: JsonObject) -> bool:
    meta = params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def _valid_id(request_id: Any) -> str | int | None:
    return request_id if type(request_id) in ID_TYPES else None
