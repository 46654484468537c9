"""A proxy that sends each request to another process, on a connection of its own."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def round_robin(ports: Sequence[int]) -> AsyncIterator[str]:
    """The address of a proxy in front of these ports."""
    targets = itertools.cycle(ports)
    running: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        running[task] = writer
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                head = await reader.readuntil(b"\r\n\r\n")
                await _forward(head, reader, writer, next(targets))
        finally:
            del running[task]
            await _close(writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
        server.close()
        while running:
            for writer in running.values():
                writer.transport.abort()
            await asyncio.wait(list(running))


async def _forward(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    """Forward one request and its response. Both connections end with it, or when either side leaves."""
    their_reader, their_writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [line for line in head.split(b"\r\n")[:-2] if not line.lower().startswith(b"connection:")]
    their_writer.write(b"\r\n".join([*lines, b"Connection: close", b"", b""]))
    copies = [
        asyncio.ensure_future(_copy(reader, their_writer)),
        asyncio.ensure_future(_copy(their_reader, writer)),
    ]
    await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
    for copy in copies:
        copy.cancel()
    await asyncio.gather(*copies, return_exceptions=True)
    await _close(their_writer)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
