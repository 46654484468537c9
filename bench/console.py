"""What the console costs the calls of a server, at 2,000 calls a second.

`python -m bench --only console --write` writes docs/benchmarks-console.md. The todo server over HTTP in one process,
three times: without the console, with it and nobody looking, and with the page *Live* open, which reads the stream of
new calls and the figures. Calls come at a fixed rate, and what is compared is the processor time of the server for
each: of a server that is busy all the time, it decides how many calls a second it can answer.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench import load, messages
from bench.measure import cpu_seconds, difference, median, ratio, spread
from bench.processes import serving_command

KIND = "console"
RATE = 2_000
CONNECTIONS = 32
TASKS = 10
MAX_LOSS, MAX_MB = 0.03, 20.0
"""The targets: processor time for each call, and memory."""
SERVER = "from mcp_todo.main import main; main()"
OFF, UNSEEN, OPEN = "without the console", "with it, nobody looks", "with the page *Live* open"
SETUPS = (OFF, UNSEEN, OPEN)


@dataclass(frozen=True)
class Taken:
    """What one sample showed."""

    cpu_us: float
    calls_per_s: float
    resident_mb: float
    shown: int
    """Calls that the open page was sent."""


Figures = dict[str, list[Taken]]


def measure(rounds: int, seconds: float, folder: Path, log: Callable[[str], None]) -> Figures:
    figures: Figures = {setup: [] for setup in SETUPS}
    with ExitStack() as stack:
        servers = {setup: stack.enter_context(_serve(setup, folder)) for setup in SETUPS}
        for number in range(-1, rounds):
            log(f"round {number + 1} of {rounds}")
            for setup in SETUPS if number % 2 else reversed(SETUPS):
                taken = asyncio.run(_sample(*servers[setup], seconds if number >= 0 else 1.0, is_open=setup == OPEN))
                if number >= 0:  # the first round warms up
                    figures[setup].append(taken)
    return figures


@contextmanager
def _serve(setup: str, folder: Path) -> Iterator[tuple[int, int]]:
    """The process id and the port of a server."""
    place = folder / setup.replace(" ", "-").replace("*", "")
    place.mkdir()
    options = [
        "http",
        "--port",
        "0",
        "--db",
        f"sqlite:///{place / 'todo.db'}",
        *(["--no-console"] if setup == OFF else []),
    ]
    with serving_command([sys.executable, "-c", SERVER, *options], place, as_installed=True) as served:
        asyncio.run(_add_tasks(served.port))
        yield served.pid, served.port


async def _add_tasks(port: int) -> None:
    wire = await load.connect(port)
    for number in range(TASKS):
        await wire.ask(*messages.post_call(port, "add_task", {"user_id": "ana", "title": f"Task {number}"}))
    wire.close()


async def _sample(pid: int, port: int, seconds: float, *, is_open: bool) -> Taken:
    request, done = messages.post_call(port, "list_tasks", {"user_id": "ana", "status": "all"}), 0
    wires = [await load.connect(port) for _ in range(CONNECTIONS)]
    page = Page(port)
    looking = asyncio.ensure_future(page.look()) if is_open else None
    busy, started = cpu_seconds(pid), time.perf_counter()

    async def converse(wire: load.Wire, first: int) -> None:
        nonlocal done
        for number in range(first, int(seconds * RATE), CONNECTIONS):
            if (wait := started + number / RATE - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            answer = await wire.ask(*request)
            if not answer.startswith(b"HTTP/1.1 200") or b'"isError":true' in answer:
                raise ValueError(answer)
            done += 1

    await asyncio.gather(*(converse(wire, first) for first, wire in enumerate(wires)))
    passed, spent = time.perf_counter() - started, cpu_seconds(pid) - busy
    if looking is not None:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
    for wire in wires:
        wire.close()
    resident = psutil.Process(pid).memory_info().rss / 1e6
    return Taken(spent / done * 1e6, done / passed, resident, page.shown)


class Page:
    """Does what the script of the page does: reads the stream, and the figures every five seconds."""

    def __init__(self, port: int) -> None:
        self._port, self.shown = port, 0
        self._writers: list[asyncio.StreamWriter] = []

    async def look(self) -> None:
        await asyncio.gather(self._read_stream(), self._read_figures())

    async def _ask(self, path: str) -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**24)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n".encode())
        self._writers.append(writer)  # the connection ends with it
        return reader

    async def _read_stream(self) -> None:
        reader = await self._ask("/console/live/events?after=0")
        while line := await reader.readline():
            self.shown += line.count(b'"tool":') if line.startswith(b"data:") else 0

    async def _read_figures(self) -> None:
        while True:
            reader = await self._ask("/console/live/figures?span=hour")
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(5)


def page(figures: Figures, made_by: str, about: str) -> str:
    off = [one.cpu_us for one in figures[OFF]]
    lines = [
        "# What the console costs",
        "",
        f"Made by `{made_by}`; do not edit.",
        f"The todo server over HTTP, one process, SQLite, {RATE:,} calls of `list_tasks` a second.",
        "",
        about,
        "",
        "| | CPU a call | more than without | calls/s | memory |",
        "|---|---|---|---|---|",
        *(_row(setup, figures[setup], off) for setup in SETUPS),
        "",
        *_targets(figures),
        "",
    ]
    return "\n".join(lines)


def _row(setup: str, taken: Sequence[Taken], off: Sequence[float]) -> str:
    cpu = [one.cpu_us for one in taken]
    more = "" if setup == OFF else f"{ratio(cpu, off) - 1:+.1%}"
    rate, memory = median([one.calls_per_s for one in taken]), median([one.resident_mb for one in taken])
    return f"| {setup} | {median(cpu):.1f} µs ± {spread(cpu):.0%} | {more} | {rate:,.0f} | {memory:.0f} MB |"


def _targets(figures: Figures) -> Iterator[str]:
    opened, unseen, off = ([one.cpu_us for one in figures[setup]] for setup in (OPEN, UNSEEN, OFF))
    fewer, of_looking = 1 - 1 / ratio(opened, off), 1 - 1 / ratio(opened, unseen)
    memory = difference([one.resident_mb for one in figures[OPEN]], [one.resident_mb for one in figures[OFF]])
    shown = median([one.shown for one in figures[OPEN]])
    yield f"- Fewer calls a second with the page open than without the console: {fewer:.1%} (target: {MAX_LOSS:.0%})."
    yield f"- Fewer than with the console while nobody looks: {of_looking:.1%}."
    yield f"- More memory: {memory:.0f} MB (target: {MAX_MB:.0f} MB)."
    yield f"- The page was sent {shown:,.0f} calls in a sample; all are in its figures."
