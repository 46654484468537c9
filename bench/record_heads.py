"""Record what real clients send: `python -m bench.record_heads` writes bench/heads/CLIENT-ERA.json anew.

Each client calls `add` of our server through a proxy that keeps the bytes. A file has the head and the body of a call
as they were sent, and in how many writes: most clients send the head and the body one after the other.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from statistics import mode
from typing import Any

from bench import real_clients
from bench.measure import Cell
from bench.messages import HEAD_END, HEADS
from bench.processes import Served, serving

CALLS = 20


def _placeholder(found: "re.Match[str]") -> str:
    """A value that is another one each time."""
    return f"{found[1]}: {'127.0.0.1:8000' if found[1].lower() == 'host' else 'SESSION'}"


class Recorder:
    """The calls of a tool, as the reads in which they came."""

    def __init__(self) -> None:
        self.calls: list[list[bytes]] = []

    def add(self, reads: list[bytes]) -> None:
        if b'"tools/call"' in b"".join(reads):
            self.calls.append(reads)

    def recorded(self) -> dict[str, Any]:
        """The last call, and the number of writes that most of them took."""
        head, _, body = b"".join(self.calls[-1]).partition(HEAD_END)
        lines = re.sub(r"(?im)^(host|mcp-session-id): [^\r\n]*", _placeholder, head.decode()).split("\r\n")
        return {"writes": mode(map(len, self.calls)), "head": lines, "body": body.decode()}


@asynccontextmanager
async def proxy(port: int, recorder: Recorder) -> AsyncIterator[int]:
    """The port of a proxy before that port."""

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: list[bytes]) -> None:
        while data := await reader.read(2**16):
            seen.append(data)
            writer.write(data)
            await writer.drain()
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", port)
        seen: list[bytes] = []

        async def answer() -> None:
            while data := await upstream_reader.read(2**16):
                recorder.add(seen.copy())
                seen.clear()
                writer.write(data)
                await writer.drain()
            writer.close()

        with suppress(asyncio.CancelledError, OSError):
            await asyncio.gather(pipe(reader, upstream, seen), answer())

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def record(client: str, era: str, served: Served) -> dict[str, Any]:
    recorder = Recorder()
    async with proxy(served.port, recorder) as port:
        with real_clients.running(client) as process:
            cell = Cell(real_clients.KIND, "governed_native", era, 1, 1, client)
            between = Served(port, served.pid)
            await asyncio.to_thread(real_clients.sample, process, between, cell, CALLS, 1)
    return recorder.recorded()


def main() -> None:
    HEADS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, serving("governed_native", Path(folder)) as served:
        for client in real_clients.CLIENTS:
            for era in dict.fromkeys(era for era, _ in real_clients.conditions(client)):
                text = json.dumps(asyncio.run(record(client, era, served)), indent=1)
                (HEADS / f"{client}-{era}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
