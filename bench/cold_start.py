"""Cold start: from spawning a server over stdio to its first tools/list answer, and its memory then."""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

from bench import messages
from bench.contenders import CONTENDERS, ERAS, ROOT
from bench.measure import Cell, Sample, cpu_seconds, interleave
from bench.processes import end, environment

KIND = "start"
PATIENCE = 60.0
LIST_ID = 1


def measure(
    peers: Sequence[str], rounds: int, folder: Path, *, log: Callable[[str], None] = lambda _: None
) -> dict[Cell, list[Sample]]:
    cells = [Cell(KIND, peer, era) for era in ERAS for peer in peers]
    commands = {peer: CONTENDERS[peer].command for peer in peers}
    for command in commands.values():
        start(command, ERAS[0], folder)  # the first start compiles the modules
    return interleave(cells, rounds, lambda cell, _: start(commands[cell.peer], cell.era, folder), log)


def start(command: Sequence[str], era: str, folder: Path, tool: str = "add") -> Sample:
    """One start, up to the tool list: with the older protocol after the handshake, with the newer one at once."""
    pipe, env = subprocess.PIPE, environment(folder)
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=env, cwd=ROOT
    )
    guard = threading.Timer(PATIENCE, process.kill)
    guard.start()
    try:
        if era == messages.LEGACY:
            converse(process, messages.INITIALIZE)
            say(process, messages.INITIALIZED)
        answer = converse(process, messages.request(era, LIST_ID, "tools/list"))
        passed = time.perf_counter() - started
        used, resident = cpu_seconds(process.pid), psutil.Process(process.pid).memory_info().rss
    finally:
        guard.cancel()
        end(process)
    names = [tool["name"] for tool in answer["result"]["tools"]]
    if tool not in names:
        raise ValueError(f"{command} lists {names}, not {tool}")
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
