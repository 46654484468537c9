"""tools/list of 1,000 tools over HTTP: the server's processor time for each answer."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

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
    ask = messages.post(served.port, messages.request(era, 1, "tools/list"), era, session)
    await wire.ask(*ask)
    used = cpu_seconds(served.pid)
    answers = [await wire.ask(*ask) for _ in range(lists)]
    used = cpu_seconds(served.pid) - used
    wire.close()
    if session is not None:
        await close_session(served.port, session)
    for answer in answers:
        if len(body(answer)["result"]["tools"]) != TOOLS[-1]:
            raise ValueError("a list that is not whole")
    return {"cpu_ms": used / lists * 1000}
