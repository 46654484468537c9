"""Sessions of the fast path, for protocol versions with a handshake.

The sealed session id carries all data of a session, so processes that share their state share sessions. What a client
sends about a call may reach another process than the call did: a cancellation, an answer to a question. That process
announces it to the others.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, cast

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.people.asking import ANSWER_SECONDS
from mcp_core.hosts.fast_path.changes import ChangeListener
from mcp_core.hosts.fast_path.client_requests import ClientError, list_folders
from mcp_core.hosts.fast_path.jsonrpc import ID_TYPES, request_message
from mcp_core.hosts.protocol import client_identity, supports_forms, supports_roots, supports_urls
from mcp_core.mcp_log import get_logger
from mcp_core.state.interface import State, StateUnavailable
from mcp_core.text.json_text import JsonObject

logger = get_logger(__name__)

PREFIX = "fast-"
SESSION_SECONDS = 7 * 86400.0
"""How long a session lasts. Its client then gets 404, and begins another."""
_MAX_REMEMBERED = 4096
_MAX_ID_LENGTH = 64
_MAX_BODY_LENGTH = 65_536
"""In characters, of a response that another process waits for."""

SendMessage = Callable[[bytes], Awaitable[None]]
_CallKey = tuple[str, str | int]
"""The nonce of a session, and the id of a request in it: of the client, or of the server."""


class Session(NamedTuple):
    """The declarations of the client in the handshake, and a nonce that makes the session unique."""

    agent_id: str
    agent_version: str
    nonce: str
    started: int
    """In seconds since the epoch."""
    can_elicit: bool
    can_open_urls: bool
    has_roots: bool

    def is_current(self) -> bool:
        """Return whether the session has not lasted too long."""
        return time.time() <= self.started + SESSION_SECONDS


class CancellableCall:
    """The current task, which the client of its call may cancel."""

    def __init__(self) -> None:
        self.task = cast("asyncio.Task[Any]", asyncio.current_task())
        self.was_cancelled = False
        """Whether the client has cancelled it."""

    def cancel(self) -> bool:
        """Cancel it once. Returns whether that was possible."""
        if not self.was_cancelled:
            self.was_cancelled = self.task.cancel()
        return self.was_cancelled


class Sessions:
    """Makes session ids, recognizes its own, and delivers what clients send about their calls."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._listening_to: State | None = None
        self._known: OrderedDict[tuple[str, str], Session] = OrderedDict()
        """Sessions seen recently, by id and caller. Others are checked by their signature."""
        self._calls: dict[_CallKey, CancellableCall] = {}
        """Calls that their client may cancel."""
        self._questions: dict[_CallKey, asyncio.Future[Any]] = {}
        """Requests to clients that wait for their response."""
        self._folders: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._streams: dict[str, dict[ChangeListener, asyncio.Event]] = {}
        """The streams on which the client of a session listens here, each with what is set when it subscribes."""

    async def begin(self, params: JsonObject, caller: Caller) -> str:
        """The id of a new session, from the parameters of its handshake. It is valid for this caller only."""
        capabilities = params.get("capabilities")
        session = Session(
            *client_identity(params.get("clientInfo")),
            nonce=secrets.token_urlsafe(12),
            started=int(time.time()),
            can_elicit=supports_forms(capabilities),
            can_open_urls=supports_urls(capabilities),
            has_roots=supports_roots(capabilities),
        )
        payload = base64.urlsafe_b64encode(json.dumps(session).encode()).decode().rstrip("=")
        return f"{PREFIX}{payload}.{await self._signature(payload, caller)}"

    async def find(self, session_id: str, caller: Caller) -> Session | None:
        """The session, if this server sealed the id for this caller and the session has not ended.

        Raises StateUnavailable where the key of the seal has never been read.
        """
        return self.known(session_id, caller) or await self._verify(session_id, caller)

    def known(self, session_id: str, caller: Caller) -> Session | None:
        """A session that was found before and has not ended."""
        session = self._known.get((session_id, caller.key))
        return session if session is not None and session.is_current() else None

    async def _verify(self, session_id: str, caller: Caller) -> Session | None:
        if not session_id.startswith(PREFIX):
            return None
        payload, _, signature = session_id.removeprefix(PREFIX).partition(".")
        if not hmac.compare_digest((await self._signature(payload, caller)).encode(), signature.encode()):
            return None
        try:
            session = _parse(payload)
        except (TypeError, ValueError):
            return None  # made by another release
        if not session.is_current():
            return None
        try:
            await self._listen()
            if await self._app.state.is_marked(_end_mark(session.nonce)):
                return None
        except StateUnavailable:
            return session  # whether it has ended is looked up again with the next request
        _remember(self._known, (session_id, caller.key), session)
        return session

    async def end(self, session_id: str) -> None:
        """End a session, at every process."""
        nonce = _nonce(session_id)
        await self._app.state.mark(_end_mark(nonce), SESSION_SECONDS)
        for uri in await self.subscriptions(session_id):
            await self._app.state.remove_member(_subscriptions(nonce), uri)
        self._forget(nonce)
        await self._announce("end", nonce)

    def _forget(self, nonce: str) -> None:
        for key in [key for key, session in self._known.items() if session.nonce == nonce]:
            del self._known[key]
        self._folders.pop(nonce, None)

    async def _signature(self, payload: str, caller: Caller) -> str:
        key = await self._app.seal_key()
        text = f"session\0{caller.key}\0{payload}".encode("utf-8", "surrogatepass")
        return hmac.digest(key, text, hashlib.sha256).hex()

    # --- calls, and requests to the client -------------------------------------------------------------

    @contextmanager
    def cancellable_call(self, session_id: str, request_id: str | int) -> "Generator[CancellableCall]":
        """Let the client cancel the current task, which answers this request."""
        key, call = (_nonce(session_id), request_id), CancellableCall()
        self._calls[key] = call
        try:
            yield call
        finally:
            if self._calls.get(key) is call:
                del self._calls[key]

    async def request(self, session_id: str, method: str, params: JsonObject, send: SendMessage) -> Any:
        """The client's response to a request, which may arrive at any process. Raises ClientError."""
        request_id = f"ask-{secrets.token_urlsafe(9)}"
        key = (_nonce(session_id), request_id)
        response = self._questions[key] = asyncio.get_running_loop().create_future()
        try:
            with suppress(StateUnavailable):  # the response may still come to this process
                await self._listen()
                await self._app.state.mark(_question_mark(key), ANSWER_SECONDS)
            await send(request_message(request_id, method, params))
            return await response
        finally:
            del self._questions[key]

    async def list_folders(self, session_id: str, send: SendMessage) -> tuple[str, ...]:
        """The client's folders. They are requested once, and again when the client says that they changed."""
        nonce = _nonce(session_id)
        if nonce not in self._folders:
            folders = await list_folders(lambda method, params: self.request(session_id, method, params, send))
            _remember(self._folders, nonce, folders)
        return self._folders[nonce]

    async def notify_complete(self, session_id: str, number: str) -> None:
        """Notify the client that the person has finished at an address, on its stream, at whichever process that is."""
        nonce = _nonce(session_id)
        if not self._deliver("complete", nonce, number):
            with suppress(StateUnavailable):  # the client can do without
                await self._announce("complete", nonce, number)

    # --- resources that clients subscribe to -----------------------------------------------------------

    async def subscriptions(self, session_id: str) -> frozenset[str]:
        """The resources that the client of a session has subscribed to."""
        return await self._app.state.members(_subscriptions(_nonce(session_id)))

    async def set_subscription(self, session_id: str, uri: str, *, wanted: bool) -> None:
        """Subscribe a session to a resource, or no longer. The process with its stream acts on it."""
        nonce, state = _nonce(session_id), self._app.state
        if wanted:
            await state.add_member(_subscriptions(nonce), uri, SESSION_SECONDS)
        else:
            await state.remove_member(_subscriptions(nonce), uri)
        await self._announce("subscriptions", nonce)

    def listeners(self, session_id: str) -> list[ChangeListener]:
        """The streams on which the client of a session listens at this process."""
        return list(self._streams.get(_nonce(session_id), ()))

    @contextmanager
    def stream(self, session_id: str, listener: ChangeListener) -> Generator[asyncio.Event]:
        """An event that is set whenever the subscriptions of a session change, at whichever process."""
        nonce, changed = _nonce(session_id), asyncio.Event()
        self._streams.setdefault(nonce, {})[listener] = changed
        try:
            yield changed
        finally:
            del self._streams[nonce][listener]
            if not self._streams[nonce]:
                del self._streams[nonce]

    # --- what the client sends about them --------------------------------------------------------------

    async def receive(self, message: JsonObject, session_id: str) -> None:
        """Take a notification, or a response. Raises StateUnavailable where another process should take it."""
        nonce, method = _nonce(session_id), message.get("method")
        if method is None:
            await self._receive_response(message, nonce)
        elif method == "notifications/cancelled":
            params: Any = message.get("params")
            request_id: Any = cast(JsonObject, params).get("requestId") if isinstance(params, dict) else None
            if type(request_id) in ID_TYPES and not self._deliver("cancel", nonce, request_id):
                await self._announce("cancel", nonce, request_id)
        elif method == "notifications/roots/list_changed":
            self._folders.pop(nonce, None)
            await self._announce("folders", nonce)

    async def _receive_response(self, message: JsonObject, nonce: str) -> None:
        request_id = message.get("id")
        if not isinstance(request_id, str) or len(request_id) > _MAX_ID_LENGTH:
            return
        body = {"error": True} if "error" in message else {"result": message.get("result")}
        if self._deliver("response", nonce, request_id, body):
            return
        # Only the first response to a question that was asked is passed on: Redis is not for clients to fill.
        if await self._app.state.take_mark(_question_mark((nonce, request_id))):
            text = json.dumps(body)
            await self._announce(
                "response", nonce, request_id, body if len(text) < _MAX_BODY_LENGTH else {"error": True}
            )

    def _deliver(self, kind: str, nonce: str, request_id: Any = None, body: JsonObject | None = None) -> bool:
        """Act on what a client sent. False where it is not about anything at this process."""
        if kind == "response":
            return _resolve(self._questions.get((nonce, request_id)), body or {})
        if kind == "cancel":
            call = self._calls.get((nonce, request_id))
            return call is not None and call.cancel()
        if kind == "complete":
            for listener in (listeners := self._streams.get(nonce, {})):
                listener.send_complete(request_id)
            return bool(listeners)
        if kind == "end":
            self._forget(nonce)
        elif kind == "subscriptions":
            for changed in self._streams.get(nonce, {}).values():
                changed.set()
        elif kind == "folders":
            self._folders.pop(nonce, None)
        return True

    # --- other processes -------------------------------------------------------------------------------

    async def _listen(self) -> None:
        state = self._app.state
        if self._listening_to is not state:
            await state.listen(self._take_announcement)
            self._listening_to = state

    async def _announce(self, *message: Any) -> None:
        await self._app.state.announce(json.dumps(message))

    def _take_announcement(self, text: str) -> None:
        self._deliver(*json.loads(text))


def _resolve(response: "asyncio.Future[Any] | None", body: JsonObject) -> bool:
    if response is None or response.done():
        return False
    if "error" in body:
        response.set_exception(ClientError)
    else:
        response.set_result(body.get("result"))
    return True


def _parse(payload: str) -> Session:
    return Session(*json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))


def _nonce(session_id: str) -> str:
    """The nonce of a session whose seal has been verified."""
    return _parse(session_id.removeprefix(PREFIX).partition(".")[0]).nonce


def _question_mark(key: _CallKey) -> str:
    return f"question:{key[0]}:{key[1]}"


def _subscriptions(nonce: str) -> str:
    return f"subscriptions:{nonce}"


def _end_mark(nonce: str) -> str:
    return f"session-ended:{nonce}"


def _remember(entries: "OrderedDict[Any, Any]", key: Any, value: Any) -> None:
    """Add an entry, and remove the oldest where there are too many."""
    entries[key] = value
    if len(entries) > _MAX_REMEMBERED:
        entries.popitem(last=False)
