"""Several workers on one port, in real processes: they act as one, and outlive each other."""

import asyncio
import json
import re
import signal
import sqlite3
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import httpx2
import psutil
import pytest

from mcp_core import Settings
from mcp_core.process.start_errors import InvalidSetting
from tests.forkserver.commands import INSTALLED
from tests.toolcharter.serving.processes import GATE_SERVER, PATIENCE, PAUSE, Process, call, started, until
from toolcharter.serving.http import _refuse_unshared_workers

WORKERS = 2
CLIENTS = 4
TODO = str(INSTALLED / "mcp-todo")


class Load:
    """Clients that add tasks without a pause, each on a connection of its own."""

    def __init__(self, base: str) -> None:
        self._base, self._stopped = base, False
        self.acknowledged: list[str] = []
        self.errors: list[str] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Load"]:
        clients = [asyncio.ensure_future(self._add_tasks(number)) for number in range(CLIENTS)]
        try:
            yield self
        finally:
            self._stopped = True
            await asyncio.gather(*clients)

    async def more(self, count: int = 10 * CLIENTS) -> None:
        """Wait until that many more tasks were added."""
        end = len(self.acknowledged) + count
        await until(lambda: len(self.acknowledged) >= end)

    async def _add_tasks(self, client: int) -> None:
        async with httpx2.AsyncClient(base_url=self._base, timeout=PATIENCE) as http:
            number = 0
            while not self._stopped:
                number += 1
                title = f"task {client}-{number}"
                try:
                    answer = await call(http, number, "add_task", user_id="ana", title=title)
                except httpx2.HTTPError as error:
                    self.errors.append(repr(error))
                    continue
                if answer.status_code == httpx2.codes.OK and answer.json()["result"]["isError"] is False:
                    self.acknowledged.append(title)
                else:
                    self.errors.append(answer.text)


def worker_processes(server: Process) -> dict[int, psutil.Process]:
    return {child.pid: child for child in psutil.Process(server.process.pid).children()}


async def figures(base: str) -> Counter[str]:
    """The metrics without labels, added up, as any of the workers shows them."""
    async with httpx2.AsyncClient(timeout=PATIENCE) as http:
        text = (await http.get(f"{base}/metrics")).text
    total: Counter[str] = Counter()
    for name, value in re.findall(r"^(\w+)(?:\{[^\n]*\})? (\S+)$", text, re.MULTILINE):
        total[name] += float(value)
    return total


async def wait_for_workers(base: str, count: int) -> Counter[str]:
    async with asyncio.timeout(PATIENCE):
        while (seen := await figures(base))["toolcharter_workers"] != count:  # noqa: ASYNC110
            await asyncio.sleep(PAUSE)
    return seen


@pytest.mark.requirement("OPS-6")
async def test_workers_act_as_one_survive_a_kill_and_are_replaced_without_losing_a_request(
    tmp_path: Path, redis_url: str
):
    database = tmp_path / "todo.db"
    options = [
        "--db",
        f"sqlite:///{database}",
        "--redis",
        redis_url,
        "--redis-timeout",
        "20",
        "--workers",
        str(WORKERS),
    ]
    with started(TODO, "http", "--port", "0", *options) as server:
        base = await asyncio.to_thread(server.base_url)
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            ready = await http.get(f"{base}/health/ready")
        first = worker_processes(server)

        # A worker dies: the others go on, another takes its place.
        async with Load(base).running() as load:
            await load.more()
            victim = next(iter(first))
            psutil.Process(victim).kill()
            await load.more()
        seen = await wait_for_workers(base, WORKERS)
        second = worker_processes(server)

        # All are replaced, one by one, and nobody notices.
        async with Load(base).running() as rolling:
            await rolling.more()
            server.process.send_signal(signal.SIGHUP)
            await until(lambda: not second.keys() & worker_processes(server).keys())
            await rolling.more()
        third = await wait_for_workers(base, WORKERS)

        server.process.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(server.wait)
    assert (ready.status_code, ready.json()["status"]) == (200, "ok")
    assert server.log.count("Serving ") == 1
    assert len(first) == len(second) == WORKERS
    assert len(first.keys() & second.keys()) == WORKERS - 1
    # Only requests that the killed worker was working on may fail.
    assert len(load.errors) <= CLIENTS, load.errors
    assert f"Worker 1 (process {victim}) was ended by signal 9. Starting another." in server.log
    assert seen["toolcharter_worker_restarts_total"] == 1
    assert rolling.errors == []
    # What a killed worker counted since the last look is lost; no counter ever falls, and a replaced worker's stays.
    assert third["toolcharter_tool_calls_total"] == seen["toolcharter_tool_calls_total"] + len(rolling.acknowledged)
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        titles = [title for (title,) in connection.execute("SELECT title FROM todo_tasks")]
    connection.close()
    assert set(titles) >= {*load.acknowledged, *rolling.acknowledged}
    assert code == 0
    assert "Traceback" not in server.log
    with suppress(psutil.NoSuchProcess):
        assert not any(process.is_running() for process in (*first.values(), *second.values()))


async def test_calls_outlive_the_replacement_of_their_worker_and_are_answered_at_the_end(
    tmp_path: Path, redis_url: str
):
    gate, audit = tmp_path / "gate", tmp_path / "audit.jsonl"
    options = [
        "--redis",
        redis_url,
        "--redis-timeout",
        "20",
        "--workers",
        "2",
        "--drain-seconds",
        str(PATIENCE),
        "--deadline",
        "600",
    ]
    with started(GATE_SERVER, "http", "--port", "0", "--audit", str(audit), *options) as server:
        async with httpx2.AsyncClient(base_url=await asyncio.to_thread(server.base_url), timeout=PATIENCE) as http:
            calls = [asyncio.ensure_future(call(http, n, "wait", gate=str(gate))) for n in range(CLIENTS)]
            await asyncio.to_thread(server.read_until, "running", CLIENTS)
            first = worker_processes(server)
            server.process.send_signal(signal.SIGHUP)
            await until(lambda: len(worker_processes(server)) > len(first))
            gate.touch()
            finished = await asyncio.gather(*calls)
            await until(
                lambda: len(worker_processes(server)) == 2 and not first.keys() & worker_processes(server).keys()
            )
            calls = [asyncio.ensure_future(call(http, n, "wait", gate="/never")) for n in range(CLIENTS)]
            await asyncio.to_thread(server.read_until, "running", CLIENTS)
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(server.read_until, "Waiting up to")
            server.process.send_signal(signal.SIGTERM)
            cut = await asyncio.gather(*calls)
        code = await asyncio.to_thread(server.wait)
    assert all("passed" in answer.text for answer in finished)
    assert all("The server is stopping, and 'wait' was stopped" in answer.text for answer in cut)
    outcomes = Counter(json.loads(line).get("outcome") for line in audit.read_text().splitlines())
    assert (outcomes["ok"], outcomes["cancelled"]) == (CLIENTS, CLIENTS)
    assert code == 0


async def test_workers_end_when_their_supervisor_is_killed(tmp_path: Path, redis_url: str):
    options = [
        "--db",
        f"sqlite:///{tmp_path / 'todo.db'}",
        "--redis",
        redis_url,
        "--redis-timeout",
        "20",
        "--workers",
        "2",
    ]
    with started(TODO, "http", "--port", "0", *options) as server:
        await asyncio.to_thread(server.base_url)
        workers = list(worker_processes(server).values())
        server.process.kill()
        _, alive = await asyncio.to_thread(psutil.wait_procs, workers, PATIENCE)
    assert len(workers) == 2
    assert alive == []


def test_workers_that_cannot_start_end_the_server_with_one_message(tmp_path: Path, redis_url: str):
    options = ["--db", f"sqlite:///{tmp_path}", "--redis", redis_url, "--redis-timeout", "20", "--workers", "2"]
    command = [TODO, "http", "--port", "0", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert done.stderr.count("cannot start") == 1
    assert "Traceback" not in done.stderr


def test_workers_that_share_nothing_are_refused():
    with pytest.raises(InvalidSetting, match="--workers 4 needs --redis"):
        _refuse_unshared_workers(Settings(workers=4))
    _refuse_unshared_workers(Settings(workers=1))
    _refuse_unshared_workers(Settings(workers=4, redis="redis://localhost"))
