"""The fast lane over stdin and stdout: one JSON message a line, calls run side by side."""

import asyncio
import itertools
import json
import os
import stat
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

from mcp_core import json_text
from mcp_core.app import App
from mcp_core.context import ReportProgress
from mcp_core.errors import ConsentRequired
from mcp_core.hosts.lane.methods import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    CONFIRM_SCHEMA,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    MODERN,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    Fields,
    Lane,
    Peer,
    RpcError,
    Unusual,
    about_client,
    agreed,
    decode,
    envelope,
    folders_in,
    invalid_params,
    kept_open,
    method_not_found,
    progress_message,
    progress_token,
    shows_forms,
    tells_folders,
)
from mcp_core.hosts.lane.shapes import NOTIFICATION, fits
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)

LONGEST_LINE = 4 * 1024 * 1024
MOST_CALLS = 1000
"""How many calls may be under way on one pipe. Others wait; what is about a call, as its end, is heard meanwhile."""
MOST_WAITING = 1000
MOST_WAITING_BYTES = LONGEST_LINE
"""How many calls, and how much of them, may wait. With more than that, the next line is read when one has begun."""

LAST_SECONDS = 1.0
"""How long calls may go on after the input has ended. Clients end the process by force after about two."""

Write = Callable[[bytes], object]
Drain = Callable[[], Awaitable[None]]


class _Request(NamedTuple):
    """A request that is to be answered, with what is known about its sender."""

    method: str
    params: Fields
    id: str | int
    peer: Peer
    size: int


class _ClientRefused(Exception):
    """The client answered a request of ours with an error."""


class StdioConnection:
    """One client on one pipe. Its first request decides the protocol era, once."""

    def __init__(self, lane: Lane, write: Write, drain: Drain) -> None:
        """`drain` waits while the client does not read."""
        self._lane, self._output, self._drain = lane, write, drain
        self._modern: bool | None = None
        self._client: Fields | None = None
        self._greeted = False
        """Whether the client has said that it is initialized; some say no more than that."""
        self._calls: dict[str | int, asyncio.Task[None]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._waiting: deque[_Request] = deque()
        self._room = asyncio.Event()
        """Set when one of those that waited no longer does."""
        self._asked: dict[str, asyncio.Future[Any]] = {}
        self._folders: tuple[str, ...] | None = None
        self._numbers = itertools.count(1)

    async def receive(self, line: bytes) -> None:
        """Take one message. Requests are answered as they finish, in tasks of their own."""
        try:
            message = _decode(line)
        except RpcError as error:
            self._send_error(None, error)
            return
        method, params, request_id = message.get("method"), message.get("params"), message.get("id")
        if "method" not in message and ("result" in message or "error" in message):
            self._take_response(message)
        elif not isinstance(method, str):
            self._send_error(_usable(request_id), RpcError(INVALID_REQUEST, "A request has a method"))
        elif "id" not in message:
            if isinstance(params, dict | None):
                self._take_notification(method, cast(Fields, params or {}))
        elif _usable(request_id) is None:
            self._send_error(None, RpcError(INVALID_REQUEST, "A request id is a string or a whole number"))
        elif not isinstance(params, dict | None):
            self._send_error(_usable(request_id), invalid_params())
        else:
            await self._take_request(method, cast(Fields, params or {}), cast(str | int, request_id), len(line))

    async def _take_request(self, method: str, params: Fields, request_id: str | int, size: int) -> None:
        # The era and the handshake are settled before the next line is read.
        try:
            peer = self._peer(method, params, request_id)
        except RpcError as error:
            self._send_error(request_id, error)
            return
        if peer is None:
            return
        request = _Request(method, params, request_id, peer, size)
        if len(self._running) < MOST_CALLS:
            self._start(request)
            return
        self._waiting.append(request)
        while len(self._waiting) > MOST_WAITING or sum(each.size for each in self._waiting) > MOST_WAITING_BYTES:
            self._room.clear()
            await self._room.wait()

    def _start(self, request: _Request) -> None:
        task = asyncio.ensure_future(self._answer(*request[:4]))
        self._calls[request.id] = task
        self._running.add(task)
        task.add_done_callback(lambda done: self._ended(request.id, done))

    def _ended(self, request_id: str | int, done: asyncio.Task[None]) -> None:
        self._running.discard(done)
        if self._calls.get(request_id) is done:
            del self._calls[request_id]
        if self._waiting:
            self._start(self._waiting.popleft())
            self._room.set()

    async def _answer(self, method: str, params: Fields, request_id: str | int, peer: Peer) -> None:
        try:
            result = await self._lane.answer(method, params, peer)
        except RpcError as error:
            self._send_error(request_id, error)
        except Unusual:
            self._send_error(request_id, method_not_found(method))
        except Exception:
            logger.exception("%s could not be answered", method)
            self._send_error(request_id, RpcError(INTERNAL_ERROR, "Internal server error"))
        else:
            self._write(f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},"result":{result}}}')

    # --- who asks --------------------------------------------------------------------------------------

    def _peer(self, method: str, params: Fields, request_id: str | int) -> Peer | None:
        """What is known about the client; None when the request has been answered already."""
        enveloped = _has_envelope(params)
        if self._modern is None:
            self._modern = enveloped and method != "initialize"
        if self._modern:
            return self._modern_peer(method, params, request_id)
        if method == "initialize":
            text, self._client = self._lane.initialize(params)
            self._write(f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},"result":{text}}}')
            return None
        if enveloped:
            words = "requests carrying the 2026-07-28 envelope are not accepted on it"
            raise RpcError(INVALID_REQUEST, f"this connection serves the handshake protocol era; {words}")
        if self._client is None and not self._greeted and method != "ping":
            raise invalid_params() if method in self._lane.old else method_not_found(method)
        return self._handshake_peer(params, request_id)

    def _modern_peer(self, method: str, params: Fields, request_id: str | int) -> Peer:
        if method == "initialize":
            requested = params.get("protocolVersion")
            data = {"supported": [MODERN]} | ({"requested": requested} if isinstance(requested, str) else {})
            words = "connection is serving the 2026-07-28 protocol; the initialize handshake is not accepted"
            raise RpcError(UNSUPPORTED_VERSION, words, data)
        meta = envelope(params)
        name, version = about_client(meta.get(CLIENT_KEY))
        return Peer(
            caller=self._lane.app.local_caller,
            modern=True,
            agent_id=name,
            agent_version=version,
            can_elicit=shows_forms(meta[CAPABILITIES_KEY]),
            progress=self._progress(params),
        )

    def _handshake_peer(self, params: Fields, request_id: str | int) -> Peer:
        name, version = about_client(self._client["clientInfo"] if self._client else None)
        can_elicit = self._client is not None and shows_forms(self._client["capabilities"])
        return Peer(
            caller=self._lane.app.local_caller,
            modern=False,
            agent_id=name,
            agent_version=version,
            can_elicit=can_elicit,
            ask=self._ask if can_elicit else None,
            folders=self._list_folders if self._client and tells_folders(self._client["capabilities"]) else None,
            progress=self._progress(params),
        )

    # --- what goes the other way -----------------------------------------------------------------------

    async def _ask(self, question: str) -> bool:
        """Put a question to the person and wait for the answer."""
        params = {"mode": "form", "message": question, "requestedSchema": CONFIRM_SCHEMA}
        try:
            return agreed(await self._request("elicitation/create", params))
        except _ClientRefused:
            raise ConsentRequired("The client could not ask the user. Nothing was done.") from None

    async def _list_folders(self) -> tuple[str, ...]:
        """The client's folders, asked for once and again when it says that they have changed."""
        if self._folders is None:
            try:
                self._folders = folders_in(await self._request("roots/list", {}))
            except _ClientRefused:
                self._folders = ()
        return self._folders

    async def _request(self, method: str, params: Fields) -> Any:
        number = f"ask-{next(self._numbers)}"
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._write(json_text.to_text({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        try:
            return await answer
        finally:
            del self._asked[number]

    def _take_response(self, message: Fields) -> None:
        waiting = self._asked.get(str(message.get("id")))
        if waiting is None or waiting.done():
            logger.debug("A response to nothing that was asked")
        elif "error" in message:
            waiting.set_exception(_ClientRefused)
        else:
            waiting.set_result(message.get("result"))

    def _take_notification(self, method: str, params: Fields) -> None:
        if method == "notifications/cancelled":
            self._cancel(_usable(params.get("requestId")))
        elif method == "notifications/roots/list_changed":
            self._folders = None
        elif method == "notifications/initialized" and fits(params, NOTIFICATION):
            self._greeted = True

    def _cancel(self, request_id: str | int | None) -> None:
        call = self._calls.get(request_id) if request_id is not None else None
        if call is not None:
            call.cancel()
        elif any(request.id == request_id for request in self._waiting):
            self._waiting = deque(request for request in self._waiting if request.id != request_id)
            self._room.set()

    def _progress(self, params: Fields) -> ReportProgress | None:
        token = progress_token(params)
        if token is None:
            return None

        async def report(done: float, total: float | None, message: str | None) -> None:
            self._write(progress_message(token, done, total, message))
            # Else a handler with much news and a client that does not read would fill the memory.
            await self._drain()

        return report

    def _write(self, text: str) -> None:
        self._output((text + "\n").encode("utf-8", "replace"))

    def _send_error(self, request_id: str | int | None, error: RpcError) -> None:
        self._write(f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},"error":{error.to_text()}}}')

    async def finish(self) -> None:
        """Give the calls that are under way a moment: a client may send all it has and close its side."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                while self._running:
                    await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """End the calls that are still under way."""
        self._waiting.clear()
        calls = list(self._running)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


def _decode(line: bytes) -> Fields:
    try:
        message = decode(line)
    except ValueError:
        raise RpcError(PARSE_ERROR, "Parse error") from None
    if not isinstance(message, dict) or cast(Fields, message).get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "Send one JSON-RPC 2.0 message a line")
    return cast(Fields, message)


def _has_envelope(params: Fields) -> bool:
    meta = params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def _usable(request_id: Any) -> str | int | None:
    return request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None


# --- the pipe ----------------------------------------------------------------------------------------------


async def serve_stdio(app: App) -> None:
    """Serve over stdin and stdout until the input ends, or nobody reads the output any more."""
    source, sink = _claim_pipes()
    lines, output = await _reader(source), await _writer(sink)
    async with kept_open(app) as ready:
        connection = StdioConnection(Lane(app, ready), output.write, output.drain)
        serving = asyncio.ensure_future(_serve(connection, lines, output))
        unread = asyncio.ensure_future(output.wait_closed())
        try:
            await asyncio.wait({serving, unread}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            serving.cancel()
            unread.cancel()
            await asyncio.gather(serving, unread, return_exceptions=True)
            await connection.close()
        if not serving.cancelled():
            serving.result()


async def _serve(connection: StdioConnection, lines: AsyncIterator[bytes], output: "_Output") -> None:
    with suppress(ConnectionError):  # nobody reads any more: there is nothing left to serve
        async for line in lines:
            await connection.receive(line)
            await output.drain()
        await connection.finish()
        output.close()
        await output.wait_closed()  # which it is when the client has read all


def _claim_pipes() -> tuple[int, int]:
    """Private duplicates of stdin and stdout; what a handler prints goes to stderr, and never into the protocol."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def _is_pipe(descriptor: int) -> bool:
    """Whether it can be waited for without changing it for others, as a terminal would be."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class _Output(Protocol):
    def write(self, data: bytes) -> object: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...
    async def wait_closed(self) -> None: ...


class _PlainOutput:
    """A terminal or a file: takes everything at once."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._closed = asyncio.Event()

    def write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._sink, data) :]
        except OSError as error:
            logger.error("The output takes no more: %s", error)
            self.close()

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        self._closed.set()

    async def wait_closed(self) -> None:
        await self._closed.wait()


async def _writer(sink: int) -> _Output:
    if not _is_pipe(sink):
        return _PlainOutput(sink)
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(sink, "wb", buffering=0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _reader(source: int) -> AsyncIterator[bytes]:
    if not _is_pipe(source):
        return _lines_of_file(source)
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb", buffering=0)
    )
    return _lines_of_pipe(reader)


_NO_MESSAGE = b"{"
"""What stands for a line that is too long, and is answered as what it is: no message."""


async def _lines_of_file(source: int) -> AsyncIterator[bytes]:
    with os.fdopen(source, "rb") as file:
        while line := await asyncio.to_thread(_line_of_file, file):
            if line.strip():
                yield line


def _line_of_file(file: BinaryIO) -> bytes:
    line = file.readline(LONGEST_LINE)
    if len(line) < LONGEST_LINE or line.endswith(b"\n"):
        return line
    while len(rest := file.readline(LONGEST_LINE)) == LONGEST_LINE and not rest.endswith(b"\n"):
        pass
    return _NO_MESSAGE


async def _lines_of_pipe(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            if end.partial.strip():
                yield end.partial
            return
        except asyncio.LimitOverrunError:
            await _skip_line(reader)
            line = _NO_MESSAGE
        if line.strip():
            yield line


async def _skip_line(reader: asyncio.StreamReader) -> None:
    while True:
        try:
            await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            await reader.read(error.consumed or LONGEST_LINE)
        except asyncio.IncompleteReadError:
            return
        else:
            return
