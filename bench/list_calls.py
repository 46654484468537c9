"""tools/list of 1,000 tools over HTTP: the server's processor time for each answer."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench import messages
from bench.contenders import ERAS, TOOLS
from bench.load import body, close_session, connect, open_session
from bench.measure import Cell, Sample, cpu_seconds, interleave
from bench.processes import Served, serving

KIND = "list"


def measure(
    peers: Sequence[str], rounds: int, lists: int, folder: Path, *, log: Callable[[str], None] = lambda _: None
) -> dict[Cell, list[Sample]]:
    cells = [Cell(KIND, peer, era, TOOLS[-1]) for era in ERAS for peer in peers]
    with ExitStack() as stack:
        servers = {peer: stack.enter_context(serving(peer, folder, TOOLS[-1])) for peer in peers}
        return interleave(cells, rounds, lambda cell, _: asyncio.run(sample(servers[cell.peer], cell.era, lists)), log)


async def sample(served: Served, era: str, lists: int) -> Sample:
    session = None if era == messages.MODERN else await open_session(served.port)
    wire = await connect(served.port)

    async def ask(**page: str) -> dict[str, Any]:
        request = messages.request(era, 1, "tools/list", **page)
        return body(await wire.ask(*messages.post(served.port, request, era, session)))["result"]

    async def count_tools() -> int:
        listed = await ask()
        found = len(listed["tools"])
        while cursor := listed.get("nextCursor"):
            listed = await ask(cursor=cursor)
            found += len(listed["tools"])
        return found

    await count_tools()
    used = cpu_seconds(served.pid)
    counts = [await count_tools() for _ in range(lists)]
    used = cpu_seconds(served.pid) - used
    wire.close()
    if session is not None:
        await close_session(served.port, session)
    if set(counts) != {TOOLS[-1]}:
        raise ValueError("a list that is not whole")
    return {"cpu_ms": used / lists * 1000}
