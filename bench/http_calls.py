"""Over HTTP on the loopback: calls a second and the server's processor time for each, at 1 and 32 in flight."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench import messages
from bench.contenders import CONTENDERS, ERAS, IN_FLIGHT, ROOT
from bench.measure import Cell, Sample, interleave
from bench.processes import worker

KIND = "http"
PATIENCE = 60.0


@dataclass(frozen=True)
class Served:
    """A running server."""

    port: int
    pid: int


@dataclass(frozen=True)
class Load:
    """How long one sample may take, and how many calls it may make."""

    seconds: float
    calls: int


def measure(
    peers: Sequence[str],
    sizes: Sequence[int],
    rounds: int,
    load: Load,
    folder: Path,
    *,
    log: Callable[[str], None] = lambda _: None,
) -> dict[Cell, list[Sample]]:
    started = [(p, n) for p in peers for n in sizes if n == 1 or CONTENDERS[p].script is not None]
    cells = [Cell(KIND, p, era, n, busy) for era in ERAS for busy in IN_FLIGHT for p, n in started]
    with ExitStack() as stack:
        log(f"starting {len(started)} servers")
        servers = {(p, n): serve(stack, p, n, folder) for p, n in started}

        def take(cell: Cell, number: int) -> Sample:
            first = 10_000_000 + (number * len(cells) + cells.index(cell)) * load.calls
            return sample(servers[cell.peer, cell.tools], cell, load, first)

        for number, cell in enumerate(cells):
            sample(servers[cell.peer, cell.tools], cell, Load(0.2, 100), 1_000_000 + 100 * number)
        return interleave(cells, rounds, take, log)


def serve(stack: ExitStack, peer: str, tools: int, folder: Path) -> Served:
    process, port = stack.enter_context(worker("http", peer, tools, folder))
    served = Served(int(port), process.pid)
    wait_for(served)
    return served


def wait_for(served: Served) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", served.port), 1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return


def sample(served: Served, cell: Cell, load: Load, first: int, through: str | None = None) -> Sample:
    wanted = {
        "port": served.port,
        "pid": served.pid,
        "era": cell.era,
        "in_flight": cell.in_flight,
        "calls": load.calls,
        "seconds": load.seconds,
        "first": first,
        "client": cell.client or messages.SDK,
        "through": through,
    }
    command = [sys.executable, "-m", "bench.load", json.dumps(wanted)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=PATIENCE + 30, check=True)
    return json.loads(done.stdout)
