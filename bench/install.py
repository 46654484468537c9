"""From nothing to the first tools/list: `uvx` with an empty and a full package cache, and the installed program."""

import contextlib
import functools
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench import messages
from bench.cold_start import converse, say
from bench.contenders import ROOT
from bench.processes import QUIET, end
from mcp_core.process.start_errors import CannotStart
from toolcharter.local import targets
from toolcharter.packaging.launch import launch_of

KIND = "install"
UV = Path(sys.executable).with_name("uv")
PATIENCE = 300.0


class Contender(NamedTuple):
    """What is installed, and what is run then."""

    title: str
    requirement: str
    program: tuple[str, ...]


class Taken(NamedTuple):
    """One start, up to the answer: elapsed time, and the processor time of all processes together."""

    seconds: float
    cpu: float
    tools: int


@dataclass
class Row:
    """The figures of one contender, or why there are none."""

    title: str
    cold: list[Taken] = field(default_factory=list[Taken])
    warm: list[Taken] = field(default_factory=list[Taken])
    start: list[Taken] = field(default_factory=list[Taken])
    skipped: str | None = None


def contenders(wheel: Path) -> list[Contender]:
    """Our servers from the wheel, and two servers of others from the index."""
    ours = [launch_of(name) for name in targets.installed()]
    peer = str(ROOT / "bench/peers/plain_fastmcp.py")
    return [
        *(Contender(f"`{one.script}`", f"toolcharter[{one.extra}] @ {wheel.as_uri()}", one.command) for one in ours),
        Contender("`mcp-server-time`", "mcp-server-time", ("mcp-server-time",)),
        Contender("FastMCP 4, one tool", "fastmcp-slim[server]>=4.1,<4.3", ("python", peer)),
    ]


def measure(rounds: int, folder: Path, log: Callable[[str], None]) -> list[Row]:
    wheel = build(folder)
    return [_row(one, rounds, folder / f"cache{number}", log) for number, one in enumerate(contenders(wheel))]


def build(folder: Path) -> Path:
    """The wheel of this checkout."""
    command = [
        UV,
        "build",
        "--quiet",
        "--wheel",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "-o",
        folder,
        ROOT,
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise CannotStart(f"The wheel cannot be built: {done.stderr.strip()}")
    return next(folder.glob("*.whl"))


def _row(one: Contender, rounds: int, folder: Path, log: Callable[[str], None]) -> Row:
    row = Row(one.title)
    uvx = [UV, "tool", "run", "--python", sys.executable, "--from", one.requirement, *one.program]
    try:
        for number in range(max(1, rounds // 3)):
            cache = folder / str(number)
            row.cold.append(run(uvx, cache))
        log(f"{one.title} with an empty cache: {row.cold[-1].seconds:.1f} s")
        row.warm = [run(uvx, cache) for _ in range(rounds)]
        program = installed(one, folder / "environment", cache)
        run(program, cache)  # the first start compiles the modules
        row.start = [run(program, cache) for _ in range(rounds)]
        log(f"{one.title} from the cache: {median(taken.seconds for taken in row.warm):.2f} s")
    except CannotStart as error:
        row.skipped = str(error)
        log(f"{one.title} is skipped: {error}")
    return row


def installed(one: Contender, folder: Path, cache: Path) -> list[str]:
    """The program in an environment of its own, from the cache."""
    for words in (
        ["venv", "--python", sys.executable, folder],
        ["pip", "install", "--python", folder, one.requirement],
    ):
        done = subprocess.run(
            [UV, *words, "--quiet"], env=environment(cache), check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise CannotStart(_last_line(done.stderr))
    return [str(folder / "bin" / one.program[0]), *one.program[1:]]


def run(command: Sequence[str | Path], cache: Path) -> Taken:
    """Start a server, and wait for its tools."""
    with tempfile.TemporaryFile("w+") as errors:
        before, started, pipe = os.times(), time.perf_counter(), subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True, env=environment(cache))
        guard = threading.Timer(PATIENCE, process.kill)
        guard.start()
        try:
            converse(process, messages.INITIALIZE)
            say(process, messages.INITIALIZED)
            answer = converse(process, messages.request(messages.LEGACY, 1, "tools/list"))
            passed = time.perf_counter() - started
            _let_end(process)
        except (OSError, ValueError, RuntimeError):
            errors.seek(0)
            raise CannotStart(_last_line(errors.read())) from None
        finally:
            guard.cancel()
            end(process)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Taken(passed, cpu, len(answer["result"]["tools"]))


def _let_end(process: "subprocess.Popen[str]") -> None:
    """Let a server end by itself, so that uvx waits for it and its processor time is counted."""
    assert process.stdin is not None
    process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(20)


def environment(cache: Path) -> dict[str, str]:
    """Nothing of this checkout, a cache of its own, and the index that pip is set up to use."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return {**kept, **QUIET, **_index(), "UV_CACHE_DIR": str(cache), "HOME": str(cache.parent), "UV_LINK_MODE": "copy"}


@functools.cache
def _index() -> dict[str, str]:
    settings = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], check=True, capture_output=True, text=True
    ).stdout
    indexes = re.findall(r"^\S+\.index-url='(.*)'$", settings, re.MULTILINE)
    return {"UV_DEFAULT_INDEX": indexes[-1]} if indexes else {}


def _last_line(text: str) -> str:
    """The reason that uv gives, without addresses."""
    lines = [re.sub(r"^[^A-Za-z`]+", "", line) for line in text.splitlines() if line.strip()]
    return re.sub(r"\S+://\S+", "the index", lines[-1]) if lines else "it ended without a word"


def page(rows: Sequence[Row], made_by: str, machine: str) -> str:
    lines = [
        "# Benchmarks of the installation",
        "",
        f"Made by `{made_by}`; do not edit. From the start of the command to the answer to tools/list, over stdio.",
        "",
        machine,
        "",
        "| server | tools | uvx, empty cache | uvx, full cache | installed | their processor time | | |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *map(_line, rows),
        "",
        "- **uvx, empty cache**: all libraries are loaded from the package index, on whose speed this depends most.",
        "- **uvx, full cache**: what a client pays at each start, if it runs the server with `uvx`.",
        "- **installed**: the program of an environment, as `toolcharter install` writes it into the file of a client.",
        "- Our servers are installed from the wheel of this checkout, the others from the index. Medians, in seconds.",
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    if row.skipped:
        return f"| {row.title} | | skipped: {row.skipped} | | | | | |"
    kinds = (row.cold, row.warm, row.start)
    elapsed = [f"{median(taken.seconds for taken in kind):.2f}" for kind in kinds]
    used = [f"{median(taken.cpu for taken in kind):.2f}" for kind in kinds]
    return f"| {row.title} | {row.start[0].tools} | {' | '.join([*elapsed, *used])} |"
