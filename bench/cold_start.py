"""Cold start: from spawning a server over stdio to its first tools/list answer, and its memory then."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from bench import messages
from bench.contenders import ERAS, STARTED, start_command
from bench.measure import Cell, Sample, cpu_seconds, interleave
from bench.packages import NotInstalled
from bench.processes import environment, limited, started

KIND = "start"
LIST_ID = 1


def measure(rounds: int, folder: Path, *, log: Callable[[str], None] = lambda _: None) -> dict[Cell, list[Sample]]:
    commands = dict(_commands(log))
    for name, command in commands.items():
        start(command, ERAS[0], folder / name)  # the first start compiles the modules and makes the database
    cells = [Cell(KIND, name, era) for era in ERAS for name in commands]
    return interleave(cells, rounds, lambda cell, _: start(commands[cell.peer], cell.era, folder / cell.peer), log)


def _commands(log: Callable[[str], None]) -> Iterator[tuple[str, list[str]]]:
    for name in STARTED:
        try:
            yield name, start_command(name)
        except NotInstalled as problem:
            log(f"{name} is left out: {problem}")


def start(command: Sequence[str], era: str, folder: Path) -> Sample:
    """One start, up to the tool list: with the older protocol after the handshake, with the newer one at once."""
    folder.mkdir(exist_ok=True)
    # Each server has a database, documents and settings of its own, which stay from one start to the next.
    env = environment(folder) | {"HOME": str(folder), "TOOLCHARTER_DB": f"sqlite:///{folder}/start.db"}
    began = time.perf_counter()
    with started(command, folder, env=env, stderr=subprocess.DEVNULL) as process, limited(process):
        if era == messages.LEGACY:
            converse(process, messages.INITIALIZE)
            say(process, messages.INITIALIZED)
        answer = converse(process, messages.request(era, LIST_ID, "tools/list"))
        passed = time.perf_counter() - began
        used, resident = cpu_seconds(process.pid), psutil.Process(process.pid).memory_info().rss
    if not answer["result"]["tools"]:
        raise ValueError(f"{command} lists no tools")
    return {"wall_ms": passed * 1000, "cpu_ms": used * 1000, "rss_mb": resident / 1e6}


def say(process: "subprocess.Popen[str]", message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def converse(process: "subprocess.Popen[str]", message: dict[str, Any]) -> Any:
    """Send a request and wait for its answer."""
    say(process, message)
    assert process.stdout is not None
    for line in process.stdout:
        answer = json.loads(line)
        if answer.get("id") == message["id"]:
            return answer
    raise RuntimeError(f"{process.args} ended without an answer")
