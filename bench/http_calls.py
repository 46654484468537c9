"""Over HTTP on the loopback: calls a second and the server's processor time for each, at 1 and 32 in flight.

The requests are those of the SDK's client; some are repeated with those of other clients.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import load, messages
from bench.contenders import CONTENDERS, ERAS, IN_FLIGHT, ROOT
from bench.measure import Cell, Sample, interleave
from bench.processes import PATIENCE, Served, serving

KIND = "http"
BY_CLIENT = ("direct_asgi", "low_level", "governed_native")
"""The servers that also get the heads of other clients."""


@dataclass(frozen=True)
class Load:
    """How long one sample may take, and how many calls it may make."""

    seconds: float
    calls: int


def measure(
    peers: Sequence[str],
    sizes: Sequence[int],
    rounds: int,
    limits: Load,
    folder: Path,
    *,
    log: Callable[[str], None] = lambda _: None,
) -> dict[Cell, list[Sample]]:
    started = [(p, n) for p in peers for n in sizes if n == 1 or CONTENDERS[p].script is not None]
    cells = [Cell(KIND, p, era, n, busy) for era in ERAS for busy in IN_FLIGHT for p, n in started]
    for client in messages.RECORDED[1:]:
        cells += [Cell(KIND, p, era, 1, 32, client) for era in ERAS for p in BY_CLIENT if (p, 1) in started]
    with ExitStack() as stack:
        log(f"starting {len(started)} servers")
        servers = {(p, n): stack.enter_context(serving(p, folder, n)) for p, n in started}

        def take(cell: Cell, number: int) -> Sample:
            first = 10_000_000 + (number * len(cells) + cells.index(cell)) * limits.calls
            return sample(servers[cell.peer, cell.tools], cell, limits, first)

        for number, cell in enumerate(cells):
            sample(servers[cell.peer, cell.tools], cell, Load(0.2, 100), 1_000_000 + 100 * number)
        return interleave(cells, rounds, take, log)


def sample(
    served: Served, cell: Cell, limits: Load, first: int, *, through: str | None = None, tool: str = "add"
) -> Sample:
    wanted = {
        "port": served.port,
        "pid": served.pid,
        "era": cell.era,
        "in_flight": cell.in_flight,
        "calls": limits.calls,
        "seconds": limits.seconds,
        "first": first,
        "tool": tool,
        "client": cell.client or messages.SDK,
        "through": through,
    }
    command = [sys.executable, "-m", "bench.load", json.dumps(wanted)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=PATIENCE + 30, check=True)
    return json.loads(done.stdout)


def cpu_ms(served: Served, tool: str, arguments: dict[str, Any], calls: int) -> float:
    """The server's processor time for each of some calls, one after the other."""
    request = messages.post_call(served.port, tool, arguments)
    answers, figures = asyncio.run(load.drive(served.port, served.pid, [(1, request)] * calls, 1, load.GIVE_UP))
    for _, response in answers:
        if (result := load.body(response)["result"])["isError"]:
            raise ValueError(f"{tool} {arguments}: {result}")
    return figures["cpu_us"] / 1000
