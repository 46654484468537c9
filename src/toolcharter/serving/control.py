"""The channel between the supervisor and a worker: one JSON message a line, over a pair of sockets.

worker -> supervisor    {"open": true}                 its apps are open, and it accepts connections
                        {"all": 7}                     send the metrics of all workers
                        {"metrics": "..."}             its own metrics, as asked, and at its end
                        {"alive": true}                the answer to the same
supervisor -> worker    {"serve": true}                all workers are open
                        {"all": 7, "text": "..."}      the metrics of all workers
                        {"metrics": true}              send yours
                        {"alive": true}                answer; a worker that does not is killed
                        {"retire": true}               another worker has taken over: finish and end
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, NamedTuple

VARIABLE = "_TOOLCHARTER_WORKER"
"""The environment variable of a worker: its number, and the file descriptors of the listener and of the channel."""
_LONGEST = 64 * 1024 * 1024


class Channel:
    """One end of the channel."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, end: socket.socket) -> "Channel":
        """Use one end of a pair of sockets."""
        return cls(*await asyncio.open_connection(sock=end, limit=_LONGEST))

    def send(self, **message: Any) -> None:
        """Send a message. Nothing happens if the other side has ended."""
        with suppress(OSError, RuntimeError):
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def flush(self) -> None:
        """Wait until everything is sent."""
        with suppress(OSError):
            await self._writer.drain()

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """All messages, until the other side ends."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while line := await self._reader.readline():
                yield json.loads(line)

    def close(self) -> None:
        """Close it."""
        with suppress(OSError, RuntimeError):
            self._writer.close()


class WorkerPlace(NamedTuple):
    """The parameters of a worker from the supervisor."""

    number: int
    listener: socket.socket
    channel: socket.socket


def worker_place() -> WorkerPlace | None:
    """The place of this process among the workers; None if it is not a worker."""
    place = os.environ.pop(VARIABLE, None)
    if place is None:
        return None
    number, listener, channel = map(int, place.split())
    return WorkerPlace(number, socket.socket(fileno=listener), socket.socket(fileno=channel))
