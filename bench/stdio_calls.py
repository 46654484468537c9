"""Over stdio: calls a second and the server's processor time for each, with 32 in flight on one pipe."""

import json
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import messages
from bench.cold_start import converse, say
from bench.contenders import CONTENDERS, ERAS
from bench.measure import Cell, Sample, cpu_seconds, interleave
from bench.processes import limited, started

KIND = "stdio"
IN_FLIGHT = 32


def measure(
    peers: Sequence[str], rounds: int, calls: int, folder: Path, *, log: Callable[[str], None] = lambda _: None
) -> dict[Cell, list[Sample]]:
    cells = [Cell(KIND, peer, era, 1, IN_FLIGHT) for era in ERAS for peer in peers]
    return interleave(cells, rounds, lambda cell, _: sample(cell, calls, folder), log)


def sample(cell: Cell, calls: int, folder: Path) -> Sample:
    """Each sample has its own server; its start is not measured."""
    command = CONTENDERS[cell.peer].command
    with started(command, folder, stderr=subprocess.DEVNULL) as process, limited(process):
        if cell.era == messages.LEGACY:
            converse(process, messages.INITIALIZE)
            say(process, messages.INITIALIZED)
        drive(process, cell.era, range(1, 51))
        began, used = time.perf_counter(), cpu_seconds(process.pid)
        drive(process, cell.era, range(1000, 1000 + calls))
        passed, used = time.perf_counter() - began, cpu_seconds(process.pid) - used
    return {"calls_per_s": calls / passed, "cpu_us": used / calls * 1e6}


def drive(process: "subprocess.Popen[str]", era: str, numbers: Sequence[int], in_flight: int = IN_FLIGHT) -> None:
    """Keep the pipe full, and check every answer."""
    assert process.stdout is not None
    waiting = deque(numbers)
    for _ in range(min(in_flight, len(waiting))):
        say(process, messages.add(era, waiting.popleft()))
    for _ in numbers:
        answer: Any = json.loads(process.stdout.readline())
        if messages.sum_in(answer) != 3 * answer["id"]:
            raise ValueError(f"got {answer}")
        if waiting:
            say(process, messages.add(era, waiting.popleft()))
