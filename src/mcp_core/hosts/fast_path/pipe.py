"""Stdin and stdout as a pipe of lines: read and written without blocking the event loop."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from typing import BinaryIO, Protocol

from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)

MAX_LINE = 4 * 1024 * 1024

OVERLONG = b"{"
"""Given in place of a line that is too long. It is not valid JSON, so it is answered with a parse error."""


class Output(Protocol):
    """Takes bytes without waiting; `drain` waits while the reader on the other side is slow."""

    def write(self, data: bytes) -> object:
        """Send, or buffer."""
        ...

    async def drain(self) -> None:
        """Wait until the buffer has room."""
        ...

    def close(self) -> None:
        """Close the output when everything is sent."""
        ...

    async def wait_closed(self) -> None:
        """Wait until the output is closed, by either side."""
        ...


def claim_stdio() -> tuple[int, int]:
    """Private duplicates of stdin and stdout. What a handler prints then goes to stderr, not into the protocol."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink


def is_pipe(descriptor: int) -> bool:
    """Whether the event loop can wait for it. A terminal would have to be made non-blocking for all its users."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


# --- output ------------------------------------------------------------------------------------------------


async def open_output(sink: int) -> Output:
    """The output to a file descriptor."""
    if not is_pipe(sink):
        return _FileOutput(sink)
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(sink, "wb", buffering=0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


class _FileOutput:
    """A terminal or a file, which is written at once."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._closed = asyncio.Event()

    def write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._sink, data) :]
        except OSError as error:
            logger.error("Cannot write to stdout: %s", error)
            self.close()

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        self._closed.set()

    async def wait_closed(self) -> None:
        await self._closed.wait()


# --- input -------------------------------------------------------------------------------------------------


async def open_lines(source: int) -> AsyncIterator[bytes]:
    """The lines of a file descriptor that are not blank."""
    if not is_pipe(source):
        return _file_lines(source)
    reader = asyncio.StreamReader(limit=MAX_LINE)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb", buffering=0)
    )
    return _pipe_lines(reader)


async def _file_lines(source: int) -> AsyncIterator[bytes]:
    with os.fdopen(source, "rb") as file:
        while line := await asyncio.to_thread(_file_line, file):
            if line.strip():
                yield line


def _file_line(file: BinaryIO) -> bytes:
    line = file.readline(MAX_LINE)
    if len(line) < MAX_LINE or line.endswith(b"\n"):
        return line
    while len(rest := file.readline(MAX_LINE)) == MAX_LINE and not rest.endswith(b"\n"):
        pass
    return OVERLONG


async def _pipe_lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            if end.partial.strip():
                yield end.partial
            return
        except asyncio.LimitOverrunError:
            await _skip_line(reader)
            line = OVERLONG
        if line.strip():
            yield line


async def _skip_line(reader: asyncio.StreamReader) -> None:
    while True:
        try:
            await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            await reader.read(error.consumed or MAX_LINE)
        except asyncio.IncompleteReadError:
            return
        else:
            return
