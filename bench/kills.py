"""Kills a server with -9 again and again while it writes, and sends again what was not answered.

`python -m bench --only kills` kills 1,000 servers, half on SQLite, half on PostgreSQL; `--kills N` changes that. Every
call has an idempotency key. At the end each task exists exactly once, and each answer was the same whenever it was
given.
"""

import asyncio
import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bench import messages
from bench.postgres import postgres
from mcp_core.calling.stages.idempotency import KEY, REPEATED
from mcp_core.db import address, open_database
from mcp_todo.store import tasks
from tests.forkserver.commands import command_path, commands

KIND = "kills"
KILLS = 1_000
BATCH = 24
"""New calls that each server is sent at once."""


@dataclass
class Trial:
    """What one database has seen."""

    database: str
    kills: int = 0
    answers: dict[int, str] = field(default_factory=dict)
    """The first answer to each call, by its number."""
    unanswered: list[int] = field(default_factory=list)
    committed: int = 0
    """Calls that were carried out, but not answered before the kill."""
    changed: int = 0
    """Calls whose second answer was another one."""
    missing: int = 0
    doubled: int = 0
    """Tasks that are missing at the end, and tasks that exist twice."""

    @property
    def is_clean(self) -> bool:
        return not (self.changed or self.missing or self.doubled)

    def line(self) -> str:
        return (
            f"| {self.database} | {self.kills:,} | {len(self.answers):,} | {self.committed:,} "
            f"| {self.missing} | {self.doubled} | {self.changed} |"
        )


def measure(kills: int, folder: Path, log: Callable[[str], None]) -> list[Trial]:
    with commands(forked=True), postgres(folder) as postgres_url:
        urls = {"SQLite": f"sqlite:///{folder}/kills.db", "PostgreSQL": postgres_url}
        return [kill_servers(name, url, kills // len(urls), log) for name, url in urls.items()]


def page(trials: list[Trial]) -> str:
    head = "| database | kills | calls | carried out, not answered | lost | doubled | another answer |"
    return "\n".join([head, "|---|---:|---:|---:|---:|---:|---:|", *(trial.line() for trial in trials)])


def kill_servers(name: str, url: str, kills: int, log: Callable[[str], None]) -> Trial:
    trial, dice, number = Trial(name), random.Random(1), 0
    for kill in range(kills):
        # What was not answered comes first, and some that was: the answer must be the same.
        known = dice.sample(sorted(trial.answers), min(2, len(trial.answers)))
        batch = [*trial.unanswered, *known, *range(number, number + BATCH)]
        number += BATCH
        process = _start(url)
        with suppress(BrokenPipeError):
            process.stdin.write("".join(map(_line, batch)))
            process.stdin.flush()
        # Somewhere in the middle; sometimes before the first answer, and sometimes while nothing is left to do.
        for _ in range(dice.randint(0, len(batch))):
            _note(trial, process.stdout.readline())
        process.kill()
        for line in process.stdout:
            _note(trial, line)
        _end(process)
        trial.unanswered = [call for call in batch if call not in trial.answers]
        trial.kills += 1
        if kill % 50 == 49:
            log(f"{name}: {kill + 1} kills, {len(trial.answers):,} calls answered")
    _finish(trial, url, number)
    return trial


def _finish(trial: Trial, url: str, calls: int) -> None:
    process = _start(url)
    for call in trial.unanswered:
        process.stdin.write(_line(call))
        process.stdin.flush()
        _note(trial, process.stdout.readline())
    _end(process)
    titles = Counter(asyncio.run(_titles(url)))
    trial.missing = sum(not titles[f"Task {call}"] for call in range(calls))
    trial.doubled = sum(count > 1 for count in titles.values())


async def _titles(url: str) -> list[str]:
    """The titles of all tasks; list_tasks shows the newest 5,000."""
    async with open_database(address(url, "todo")) as database:
        return await database.read(lambda connection: list(connection.execute(sa.select(tasks.c.title)).scalars()))


def _note(trial: Trial, line: str) -> None:
    if not line.endswith("\n"):
        return  # cut by the kill
    answer = json.loads(line)
    call, result = answer["id"], answer["result"]
    if result["isError"]:
        raise ValueError(f"call {call}: {result}")
    text = result["content"][0]["text"]
    if call not in trial.answers:
        trial.committed += bool(result["_meta"].get(REPEATED))
    elif trial.answers[call] != text:
        trial.changed += 1
    trial.answers.setdefault(call, text)


def _start(url: str) -> "subprocess.Popen[str]":
    command = [command_path("mcp-todo"), "--db", url, "--deadline", "60"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.stdout.close()
    process.wait()


def _line(call: int) -> str:
    return _request(call, "add_task", {"title": f"Task {call}"}, {KEY: f"call-{call}"})


def _request(number: int, tool: str, more: dict[str, Any] | None = None, meta: dict[str, Any] | None = None) -> str:
    body = messages.request(
        messages.MODERN, number, "tools/call", name=tool, arguments={"user_id": "ana", **(more or {})}
    )
    body["params"]["_meta"] |= meta or {}
    return json.dumps(body) + "\n"
