"""An upstream that is a process: one JSON message a line over its stdin and stdout."""

import asyncio
import contextlib
import itertools
import logging
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.upstream.errors import UpstreamUnavailable, refused
from toolcharter.govern.upstream.processes import ProcessGroups, send_signal, wait_for_exit
from toolcharter.govern.upstream.transport import (
    MAX_MESSAGE,
    OnNotification,
    OnProgress,
    Outgoing,
    PendingRequest,
    answer_unrelated,
    as_object,
    ignore_notification,
    progress_token,
    read_message,
)

logger = logging.getLogger(__name__)

_STOP_SECONDS = 2.0
"""How long a process may take to end after its input was closed, and again after SIGTERM."""
_LAST_OUTPUT_SECONDS = 0.2
"""How long is read from the pipe of a process that has ended, if a child of it keeps the pipe open."""
_EXIT_SECONDS = 1.0
"""How long a process may take to end after it closed its output."""
_CLOSED_INPUT = "closed its input."
_INPUT_CHECK_SECONDS = 0.1
"""How long after a message is looked whether the process has closed its input."""
_MAX_LOG_LINE = 2_000
_LOG_LINES = 10
"""How many of the last lines of stderr are kept, for a person who asks why the process has ended."""
_CHUNK = 64 * 1024
"""How much of its log is read at once. Twice as much is read ahead."""
_MAX_UNREAD = 64 * 1024
"""How much may wait for a process that does not read. Then requests wait, too."""


class _ProcessProtocol(asyncio.subprocess.SubprocessStreamProtocol):
    """Passes on what a process writes at once. A task that reads a stream would wait for the next turn of the loop."""

    def __init__(
        self,
        on_start: Callable[[asyncio.subprocess.Process, asyncio.SubprocessTransport], None],
        on_output: Callable[[bytes], None],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(_CHUNK, loop)
        self._on_start, self._on_output, self._event_loop = on_start, on_output, loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        started = cast(asyncio.SubprocessTransport, transport)
        process = asyncio.subprocess.Process(started, self, self._event_loop)
        self._on_start(process, started)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        if fd == 1:
            self._on_output(cast(bytes, data))
        else:
            super().pipe_data_received(fd, data)


class StdioTransport:
    """One process. It gets the environment that it is given, and nothing else."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        groups: ProcessGroups,
        folder: Path | None = None,
    ) -> None:
        self.on_notification: OnNotification = ignore_notification
        self._name, self._command, self._folder = name, command, folder
        self._environment, self._groups = environment, groups
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self._exchanges: dict[int, PendingRequest] = {}
        self._progress: dict[Any, OnProgress] = {}
        self._reports: set[asyncio.Future[None]] = set()
        self._ended: str | None = None
        self._unsent: list[bytes] = []
        self._line: list[bytes] = []
        """The parts of a line whose end has not come yet."""
        self._line_size = 0
        self._answering: asyncio.Future[None] | None = None
        """Answers requests of the process. Its output is not read meanwhile."""
        self._checks_input = False
        self._warned = False
        self._log: deque[str] = deque(maxlen=_LOG_LINES)

    @property
    def is_open(self) -> bool:
        return self._process is not None and self._ended is None

    @property
    def process_id(self) -> int | None:
        """The id of the process while it runs."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    @property
    def last_lines(self) -> Sequence[str]:
        return tuple(self._log)

    async def open(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        try:
            await loop.subprocess_exec(
                lambda: _ProcessProtocol(self._started, self._take_output, loop),
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**self._environment, **self._groups.environment},
                cwd=self._folder,
                start_new_session=True,
            )
        except OSError as error:
            raise UpstreamUnavailable(f"cannot start '{self._command[0]}': {error.strerror}.") from None
        process = cast(asyncio.subprocess.Process, self._process)
        self._groups.add(process.pid)
        self._tasks = [
            asyncio.create_task(work) for work in (self._read_to_end(), self._read_log(), self._wait_for_end())
        ]

    def _started(self, process: asyncio.subprocess.Process, pipes: asyncio.SubprocessTransport) -> None:
        self._process, self._pipes = process, pipes
        self._output = cast(asyncio.ReadTransport, pipes.get_pipe_transport(1))

    async def request(self, outgoing: Outgoing) -> JsonObject:
        if self._ended is not None:
            raise UpstreamUnavailable(self._ended)
        number = next(self._ids)
        answer: asyncio.Future[JsonObject] = self._loop.create_future()
        self._waiting[number] = answer
        token = progress_token(outgoing.params) if outgoing.on_progress else None
        if outgoing.on_progress is not None:
            self._progress[token] = outgoing.on_progress
        try:
            message = {"jsonrpc": "2.0", "id": number, "method": outgoing.method, "params": outgoing.params}
            async with asyncio.timeout(outgoing.seconds) as limit:
                self._exchanges[number] = PendingRequest(outgoing, limit)
                await self._write(message)
                return await answer
        except TimeoutError:
            self._cancel(number, "timeout")
            raise UpstreamUnavailable(f"did not answer within {outgoing.seconds:g} seconds.") from None
        except asyncio.CancelledError:
            self._cancel(number, "cancelled")
            raise
        finally:
            self._waiting.pop(number, None)
            self._progress.pop(token, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # after a write that failed nobody reads it, and asyncio would log that
            if exchange := self._exchanges.pop(number, None):
                exchange.end()

    async def notify(self, method: str, params: JsonObject, headers: Mapping[str, str]) -> None:  # noqa: ARG002 - HTTP's
        await self._write({"jsonrpc": "2.0", "method": method, "params": params})

    async def listen(self, headers: Mapping[str, str]) -> None:
        """Nothing to do: a process sends everything over its output."""

    async def close(self) -> None:
        process, self._ended = self._process, self._ended or "was closed."
        for task in (*self._tasks, *([] if self._answering is None else [self._answering])):
            task.cancel()
        self._fail_waiting(self._ended)
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        # Asking nicely is for the process; its children are ended in any case.
        for end in (None, signal.SIGTERM, signal.SIGKILL):
            if end is not None:
                send_signal(process.pid, end)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await wait_for_exit(process)
                    break
        self._pipes.close()  # where nothing is read any more, their end would not be noticed
        self._groups.remove(process.pid)

    async def _write(self, message: JsonObject) -> None:
        """Send a message, together with others of the same turn of the event loop."""
        stdin = self._process.stdin if self._process is not None else None
        if stdin is None or self._ended is not None:
            raise UpstreamUnavailable(self._ended or "is not running.")
        self._queue(message)
        if stdin.transport.get_write_buffer_size() > _MAX_UNREAD:
            try:
                await stdin.drain()
            except (BrokenPipeError, ConnectionResetError):
                self._end(_CLOSED_INPUT)
                raise UpstreamUnavailable(_CLOSED_INPUT) from None

    def _queue(self, message: JsonObject) -> None:
        self._unsent.append(json_text.to_bytes(message))
        if len(self._waiting) == 1:
            self._flush()  # there are no others
        elif len(self._unsent) == 1:
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Send what was queued in this turn."""
        messages, self._unsent = self._unsent, []
        if not messages:
            return
        stdin = cast(asyncio.StreamWriter, cast(asyncio.subprocess.Process, self._process).stdin)
        if self._ended is None and not stdin.is_closing():  # then uvloop would raise a RuntimeError
            stdin.write(b"\n".join((*messages, b"")))
        if not self._checks_input:
            self._checks_input = True
            self._loop.call_later(_INPUT_CHECK_SECONDS, self._check_input)

    def _check_input(self) -> None:
        """Nobody waits for an answer to what a process could not read."""
        self._checks_input = False
        stdin = cast(asyncio.StreamWriter, cast(asyncio.subprocess.Process, self._process).stdin)
        if stdin.is_closing():
            # Usually it has ended, and its exit code says more.
            asyncio.get_running_loop().call_later(_EXIT_SECONDS, self._end, _CLOSED_INPUT)

    def _cancel(self, number: int, reason: str) -> None:
        """Send a message without waiting. If the process has stopped to read, the message is dropped."""
        stdin = self._process.stdin if self._process is not None else None
        if stdin is None or self._ended is not None or stdin.is_closing():
            return
        if stdin.transport.get_write_buffer_size() > 0:
            return
        params = {"requestId": number, "reason": reason}
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        self._queue(message)

    async def _read_to_end(self) -> None:
        process = cast(asyncio.subprocess.Process, self._process)
        await cast(asyncio.StreamReader, process.stdout).read()  # there is nothing in it but its end
        if self._answering is not None:
            await self._answering
        if self._line:
            self._take_output(b"\n")  # the last line may have no end
        # Usually it has ended, and its exit code says more.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_SECONDS):
                await wait_for_exit(process)
                return
        self._end("closed its output.")

    def _take_output(self, data: bytes) -> None:
        """Take what the process has written: the answers to several requests, or a part of one."""
        if self._ended is not None:
            return
        *lines, rest = data.split(b"\n")
        if lines and self._line:
            self._line.append(lines[0])
            lines[0] = b"".join(self._line)
            self._line, self._line_size = [], 0
        if rest:
            self._line.append(rest)
            self._line_size += len(rest)
        if self._line_size > MAX_MESSAGE:
            self._end(f"sent a message that is larger than {MAX_MESSAGE:,} bytes.")
            send_signal(cast(asyncio.subprocess.Process, self._process).pid, signal.SIGKILL)
            self._line, self._line_size = [], 0
        self._take_lines(iter(lines))

    def _take_lines(self, lines: Iterator[bytes]) -> None:
        for line in lines:
            if requests := self._receive(line):
                # Until they are answered nothing more is read: a process that asks and does not read must wait.
                self._output.pause_reading()
                self._answering = asyncio.ensure_future(self._answer(requests, lines))
                return

    async def _answer(self, requests: Sequence[JsonObject], lines: Iterator[bytes]) -> None:
        """Answer requests of the process, then go on with the lines that followed them."""
        for request in requests:
            await answer_unrelated(request, self._exchanges.values(), self._write, self._name)
        self._answering = None
        self._take_lines(lines)
        if self._answering is None:
            self._output.resume_reading()

    async def _wait_for_end(self) -> None:
        code = await wait_for_exit(cast(asyncio.subprocess.Process, self._process))
        # What it wrote before may still be in the pipe.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_OUTPUT_SECONDS):
                await asyncio.shield(asyncio.gather(*self._tasks[:2], return_exceptions=True))
        self._end(f"ended with exit code {code}." if code >= 0 else f"was killed by signal {-code}.")

    def _end(self, reason: str) -> None:
        if self._ended is None:
            self._ended = reason
            self._fail_waiting(reason)

    def _receive(self, line: bytes) -> list[JsonObject]:
        """Take a line. Returns the requests of the process in it."""
        try:
            message: Any = read_message(line)
        except ValueError:
            if not self._warned:
                self._warned = True
                logger.warning("%s writes lines to stdout that are not messages of MCP", self._name)
            return []
        messages = cast(list[Any], message) if isinstance(message, list) else [message]
        return [one for one in messages if isinstance(one, dict) and self._is_request(cast(JsonObject, one))]

    def _is_request(self, message: JsonObject) -> bool:
        """Take an answer or a notification, unless it is a request."""
        method, number = message.get("method"), message.get("id")
        if method is None:
            waiting = self._waiting.get(number) if isinstance(number, int) else None
            if waiting is None or waiting.done():
                return False
            result = message.get("result")
            if isinstance(result, dict):
                waiting.set_result(cast(JsonObject, result))
            else:
                waiting.set_exception(refused(message.get("error")))
        elif number is None:
            self._notified(str(method), message.get("params"))
        else:
            return True
        return False

    def _notified(self, method: str, params: Any) -> None:
        fields = as_object(params)
        if method != "notifications/progress":
            self.on_notification(method, fields)
        elif report := self._progress.get(fields.get("progressToken")):
            task = asyncio.ensure_future(report(fields))
            self._reports.add(task)
            task.add_done_callback(self._reports.discard)

    async def _read_log(self) -> None:
        reader = cast(asyncio.StreamReader, cast(asyncio.subprocess.Process, self._process).stderr)
        while chunk := await reader.read(_MAX_LOG_LINE):
            for line in chunk.decode("utf-8", "replace").splitlines():
                logger.debug("%s: %s", self._name, line)
                self._log.append(line)

    def _fail_waiting(self, reason: str) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(UpstreamUnavailable(reason))


def needed_environment() -> dict[str, str]:
    """The variables without which hardly any program starts. Nothing else of ours is inherited."""
    names = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "SHELL", "TERM")
    windows = ("APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "USERPROFILE", "PATHEXT")
    wanted = names if os.name == "posix" else (*names, *windows)
    return {name: os.environ[name] for name in wanted if name in os.environ}
