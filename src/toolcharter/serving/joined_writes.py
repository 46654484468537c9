"""One write for each response: uvicorn writes its head and its body separately, and each costs a system call."""

import asyncio
from typing import Any

_HEAD = b"HTTP/1."


class JoiningTransport:
    """Holds the head of a response back until the body follows, or for one turn of the event loop."""

    __slots__ = ("_held", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held: bytes | None = None
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes) -> None:
        """Send data, or hold it back where it is the head of a response."""
        if self._held is not None:
            data, self._held = self._held + data, None
        elif data.startswith(_HEAD):
            self._held = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def send(self, data: bytes) -> None:
        """Send a whole response, after what is held back. Where the connection is closed, nothing is sent."""
        if self._held is not None:
            self._flush()
        if not self._transport.is_closing():
            self._transport.write(data)

    def is_closing(self) -> bool:
        """Whether the connection is closed, or will be."""
        return self._transport.is_closing()

    def _flush(self) -> None:
        if self._held is not None:
            data, self._held = self._held, None
            self._transport.write(data)

    def close(self) -> None:
        """Send what is held back, then close."""
        self._flush()
        self._transport.close()

    def write_eof(self) -> None:
        """Send what is held back, then end this side."""
        self._flush()
        self._transport.write_eof()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
