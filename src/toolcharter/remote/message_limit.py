"""The largest message that a server may send, so that a message without an end cannot fill the memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx2
from anyio import EndOfStream
from anyio.streams.text import TextReceiveStream

MAX_MESSAGE = 32_000_000
"""In bytes over HTTP, in characters over stdio. A list of 6,000 tools takes about 6 million."""


class MessageTooLarge(Exception):
    """A message of a server exceeds the limit."""

    def __init__(self) -> None:
        super().__init__(f"the server sent a message that is larger than {MAX_MESSAGE:,} bytes.")


@dataclass(eq=False)
class BoundedLines(TextReceiveStream):
    """The output of a server in whole lines."""

    _line: list[str] = field(default_factory=list[str], init=False)
    _length: int = field(default=0, init=False)

    async def receive(self) -> str:
        while True:
            try:
                chunk = await super().receive()
            except EndOfStream:
                if not self._length:
                    raise
                return self._take_line("")
            lines, newline, rest = chunk.rpartition("\n")
            first, _, _ = chunk.partition("\n")
            if self._length + len(first) > MAX_MESSAGE:
                # The library reads the pipe to its end before it passes on an error.
                await self.aclose()
                raise MessageTooLarge
            if newline:
                whole = self._take_line(lines + newline)
                self._line, self._length = [rest], len(rest)
                return whole
            self._line.append(chunk)
            self._length += len(chunk)

    def _take_line(self, end: str) -> str:
        line = "".join([*self._line, end])
        self._line, self._length = [], 0
        return line


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE:
                raise MessageTooLarge
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


NO_COMPRESSION = {"Accept-Encoding": "identity"}


async def bound_response(response: httpx2.Response) -> None:
    """Limit the body of a response. The library itself limits the events of a stream."""
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        # A small body could become a large one.
        raise httpx2.DecodingError(f"the server sent an answer in the encoding {encoding!r}, which was not requested.")
    is_event_stream = response.headers.get("Content-Type", "").lower().startswith("text/event-stream")
    if not is_event_stream and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _BoundedStream(response.stream)
