"""In memory: processor time of a call through a client in the same process, both eras, 1 to 1,000 tools."""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen

from bench.contenders import ERAS
from bench.measure import Cell, Sample, interleave
from bench.processes import worker

KIND = "memory"
APART = 10_000
"""The distance between the first numbers of two samples: more than the calls of a sample."""


def measure(
    peers: Sequence[str],
    sizes: Sequence[int],
    rounds: int,
    calls: int,
    folder: Path,
    *,
    log: Callable[[str], None] = lambda _: None,
) -> dict[Cell, list[Sample]]:
    cells = [Cell(KIND, peer, era, tools) for era in ERAS for peer in peers for tools in sizes]
    with ExitStack() as stack:
        log(f"starting {len(peers) * len(sizes)} processes")
        workers = {
            (peer, tools): stack.enter_context(worker("memory", peer, tools, folder))[0]
            for peer in peers
            for tools in sizes
        }

        def take(cell: Cell, number: int) -> Sample:
            # Both protocols share a process, and no call may find the answer of another in the cache.
            first = ((number + 1) * len(cells) + cells.index(cell)) * APART
            return ask(workers[cell.peer, cell.tools], cell.era, calls, first)

        for cell in cells:
            take(cell, -1)
        return interleave(cells, rounds, take, log)


def ask(process: "Popen[str]", era: str, calls: int, first: int) -> Sample:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"era": era, "calls": calls, "first": first}) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{process.args} ended")
    return json.loads(line)
