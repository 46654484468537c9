"""A tool that adds a row to a SQLite file: ours, written by hand on the low-level SDK, and on FastMCP."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from bench.contenders import ERAS, IN_FLIGHT, SQLITE
from bench.http_calls import Load, sample
from bench.measure import Cell, Sample, interleave
from bench.processes import serving

KIND = "sqlite"
TOOL = "add_task"
WARM_UP = 50


def measure(
    rounds: int, calls: int, folder: Path, *, log: Callable[[str], None] = lambda _: None
) -> dict[Cell, list[Sample]]:
    cells = [Cell(KIND, peer, era, 1, busy) for era in ERAS for busy in IN_FLIGHT for peer in SQLITE]
    with ExitStack() as stack:
        databases = {peer: f"sqlite:///{folder}/{peer}.db" for peer in SQLITE}
        servers = {peer: stack.enter_context(serving(peer, folder, BENCH_DB=url)) for peer, url in databases.items()}

        def take(cell: Cell, number: int, calls: int = calls) -> Sample:
            # All tables grow alike: a sample ends with its calls, not with its time.
            return sample(servers[cell.peer], cell, Load(60.0, calls), (number + 1) * calls, tool=TOOL)

        for cell in cells:
            take(cell, 0, WARM_UP)
        return interleave(cells, rounds, take, log)
