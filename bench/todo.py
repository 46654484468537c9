"""The todo server on SQLite and PostgreSQL: each tool at 1 and 32 in flight, a large table.

`python -m bench --only todo --write` writes docs/benchmarks-todo.md.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa

from bench import load, messages
from bench.contenders import IN_FLIGHT
from bench.measure import median, ratio, spread
from bench.postgres import new_database, postgres
from bench.processes import Served, serving
from mcp_core.db import address, open_database
from mcp_todo.model import Task
from mcp_todo.store import MIGRATIONS, SqlTaskRepository, tasks

KIND = "todo"
TOOLS = ("add_task", "list_tasks", "complete_task", "update_task", "delete_task")
LISTED = 100
"""The number of tasks of the user whose tasks are listed."""
SMALL, LARGE = 1_000, 1_000_000
OWNER = "bench"


@dataclass(frozen=True)
class Figure:
    """One line of a table, with the figures of each round."""

    database: str
    tool: str
    in_flight: int
    rounds: Sequence[dict[str, float]]

    def of(self, metric: str) -> list[float]:
        return [taken[metric] for taken in self.rounds]


def measure(rounds: int, calls: int, folder: Path, *, log: Callable[[str], None], quick: bool) -> dict[str, Any]:
    with ExitStack() as stack:
        urls = {"SQLite": f"sqlite:///{folder}/todo.db", "PostgreSQL": stack.enter_context(postgres(folder))}
        log("preparing the databases")
        large = 100_000 if quick else LARGE
        for url in urls.values():
            asyncio.run(_fill(url, SMALL))
        sized = {name: {SMALL: url, large: _other(url, folder)} for name, url in urls.items()}
        for by_size in sized.values():
            asyncio.run(_fill(by_size[large], large))
        calls_taken = _calls(stack, urls, rounds, calls, folder=folder, log=log)
        lists_taken = _lists(stack, sized, rounds, calls, folder=folder, log=log)
    return {"calls": calls_taken, "lists": lists_taken, "large": large}


# --- databases ---------------------------------------------------------------------------------------------


def _other(url: str, folder: Path) -> str:
    """A second database beside the first."""
    return f"sqlite:///{folder}/large.db" if url.startswith("sqlite") else asyncio.run(new_database(url, "large"))


FILL = {
    "sqlite": """
        INSERT INTO todo_tasks (id, user_id, title, is_completed, created_at)
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :rows)
        SELECT lower(hex(randomblob(16))), 'user' || (i % :users), 'Task number ' || i, i % 2,
               strftime('%Y-%m-%d %H:%M:%f000', 1700000000 + i, 'unixepoch') FROM n""",
    "postgresql": """
        INSERT INTO todo_tasks (id, user_id, title, is_completed, created_at)
        SELECT gen_random_uuid(), 'user' || (i % :users), 'Task number ' || i, i % 2 = 1, to_timestamp(1700000000 + i)
        FROM generate_series(0, :rows - 1) AS i""",
}


async def _fill(url: str, rows: int) -> None:
    """Add tasks, a hundred for each user; the tasks of different users alternate."""
    async with open_database(address(url, "todo")) as database:
        await MIGRATIONS.apply(database)

        def fill(connection: sa.Connection) -> None:
            text = FILL[connection.dialect.name].replace(":rows", str(rows)).replace(":users", str(rows // LISTED))
            connection.exec_driver_sql(text)

        await database.write(fill)
        await database.write(lambda connection: connection.exec_driver_sql("ANALYZE") and None)


async def _tasks(url: str, count: int) -> list[UUID]:
    """Add tasks of the measured user, and return their ids."""
    ids = [uuid4() for _ in range(count)]
    now = Task("x").created_at
    rows = [
        {"id": new, "user_id": OWNER, "title": "A task", "description": None, "is_completed": False, "created_at": now}
        for new in ids
    ]
    async with open_database(address(url, "todo")) as database:
        await database.write(lambda connection: connection.execute(sa.insert(tasks), rows) and None)
    return ids


# --- calls -------------------------------------------------------------------------------------------------


def _arguments(tool: str, number: int, ids: Sequence[UUID]) -> dict[str, Any]:
    if tool == "add_task":
        return {"user_id": "adder", "title": f"Task {number}"}
    if tool == "list_tasks":
        return {"user_id": "user1"}
    more = {"title": f"Renamed {number}"} if tool == "update_task" else {}
    return {"user_id": OWNER, "task_id": str(ids[number]), **more}


def _sample(served: Served, url: str, tool: str, in_flight: int, calls: int) -> dict[str, float]:
    ids = asyncio.run(_tasks(url, calls)) if tool not in ("add_task", "list_tasks") else []
    requests = [
        (number, messages.post_call(served.port, tool, _arguments(tool, number, ids), number))
        for number in range(calls)
    ]
    answers, figures = asyncio.run(load.drive(served.port, served.pid, requests, in_flight, load.GIVE_UP))
    for number, response in answers:
        result = load.body(response)["result"]
        listed = tool == "list_tasks" and len(json.loads(result["content"][0]["text"])) != LISTED
        if result.get("isError") or listed:
            raise ValueError(f"{tool} {number}: {result}")
    return {**figures, "ms": 1000 * in_flight / figures["calls_per_s"]}


def _calls(
    stack: ExitStack, urls: dict[str, str], rounds: int, calls: int, *, folder: Path, log: Callable[[str], None]
) -> list[Figure]:
    servers = {name: stack.enter_context(serving("todo", folder, BENCH_DB=url)) for name, url in urls.items()}
    cells = [(name, tool, busy) for tool in TOOLS for busy in IN_FLIGHT for name in urls]
    taken: dict[Any, list[dict[str, float]]] = {cell: [] for cell in cells}
    for number in range(-1, rounds):
        log(f"calls, round {number + 1} of {rounds}")
        for cell in cells:
            name, tool, busy = cell
            figures = _sample(servers[name], urls[name], tool, busy, calls if number >= 0 else 50)
            figures["store_ms"] = asyncio.run(_store_alone(urls[name], tool, min(calls, 100)))
            if number >= 0:  # the first round warms up
                taken[cell].append(figures)
    return [Figure(*cell, shown) for cell, shown in taken.items()]


async def _store_alone(url: str, tool: str, calls: int) -> float:
    """The time of the same work in the store alone, in ms, one after the other."""
    ids = await _tasks(url, calls) if tool not in ("add_task", "list_tasks") else []
    async with open_database(address(url, "todo")) as database:
        store = SqlTaskRepository(database)
        work: dict[str, Callable[[int], Any]] = {
            "add_task": lambda n: store.add("adder", Task(f"Task {n}")),
            "list_tasks": lambda _: store.list("user1", "all"),
            "complete_task": lambda n: store.toggle(OWNER, ids[n]),
            "update_task": lambda n: store.update(OWNER, ids[n], f"Renamed {n}", None),
            "delete_task": lambda n: store.delete(OWNER, ids[n]),
        }
        await store.list("user1", "all")
        started = time.perf_counter()
        for number in range(calls):
            await work[tool](number)
        return (time.perf_counter() - started) / calls * 1000


def _lists(
    stack: ExitStack,
    sized: dict[str, dict[int, str]],
    rounds: int,
    calls: int,
    *,
    folder: Path,
    log: Callable[[str], None],
) -> dict[str, dict[int, list[dict[str, float]]]]:
    taken: dict[str, dict[int, list[dict[str, float]]]] = {}
    for name, urls in sized.items():
        servers = {size: stack.enter_context(serving("todo", folder, BENCH_DB=url)) for size, url in urls.items()}
        taken[name] = {size: [] for size in urls}
        for number in range(-1, rounds + 2):
            log(f"one user's list on {name}, round {number + 1}")
            for size, url in urls.items():
                figures = _sample(servers[size], url, "list_tasks", 1, calls if number >= 0 else 50)
                if number >= 0:
                    taken[name][size].append(figures)
    return taken


# --- the page ----------------------------------------------------------------------------------------------


def page(taken: dict[str, Any], made_by: str, about: str) -> str:
    lines = [
        "# Benchmarks of the todo server",
        "",
        f"Made by `{made_by}`; do not edit. Protocol 2026-07-28 over HTTP, one server process, everything governed.",
        "",
        about,
        "",
        "## Calls",
        "",
        (
            "Processor time is that of our server only. *Database alone* is the time of the same work in the store "
            "alone, one call after the other; *ours* is the rest of a call at 1 in flight."
        ),
        "",
        "| database | tool | in flight | calls/s | ms each | µs of processor time | database alone, ms | ours |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for figure in taken["calls"]:
        alone = median(figure.of("store_ms"))
        ours = f"{max(0.0, 1 - alone / median(figure.of('ms'))):.0%}" if figure.in_flight == 1 else ""
        lines.append(
            f"| {figure.database} | {figure.tool} | {figure.in_flight} "
            f"| {median(figure.of('calls_per_s')):,.0f} ± {spread(figure.of('calls_per_s')):.0%} "
            f"| {median(figure.of('ms')):.2f} | {median(figure.of('cpu_us')):,.0f} | {alone:.2f} | {ours} |"
        )
    return "\n".join([*lines, "", f"## One user's {LISTED} tasks out of many", "", *_list_table(taken), ""])


def _list_table(taken: dict[str, Any]) -> list[str]:
    large = taken["large"]
    lines = [
        f"| database | out of {SMALL:,}, ms | out of {large:,}, ms | ratio | by processor time | target |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for name, by_size in taken["lists"].items():
        small, big = ([t["ms"] for t in by_size[size]] for size in (SMALL, large))
        cpu_small, cpu_big = ([t["cpu_us"] for t in by_size[size]] for size in (SMALL, large))
        shown = ratio(big, small)
        lines.append(
            f"| {name} | {median(small):.2f} | {median(big):.2f} | {shown:.2f} | {ratio(cpu_big, cpu_small):.2f} "
            f"| at most 1.50: {'met' if shown <= 1.5 else '**missed**'} |"
        )
    return lines
