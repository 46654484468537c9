"""One write for each answer: uvicorn sends the head and the body of a response apart, and each costs a system call."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD = b"HTTP/1."


class CorkedTransport:
    """Holds the head of a response back until the body follows, or the event loop has turned once."""

    __slots__ = ("_held", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held: bytes | None = None
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes) -> None:
        """Send, or wait for what follows."""
        if self._held is not None:
            data, self._held = self._held + data, None
        elif data.startswith(_HEAD):
            self._held = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def _flush(self) -> None:
        if self._held is not None:
            data, self._held = self._held, None
            self._transport.write(data)

    def close(self) -> None:
        """Send what is held, then close."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class CorkedProtocol(HttpToolsProtocol):
    """uvicorn's own protocol on such a transport."""

    def connection_made(self, transport: Any) -> None:
        """Put the cork on."""
        super().connection_made(CorkedTransport(transport))  # pyright: ignore[reportArgumentType]
