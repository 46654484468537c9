"""A real server when what it depends on fails: PostgreSQL hangs, the disk is full, a process is killed."""

import asyncio
import json
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bench.messages import MODERN, SDK, recorded
from mcp_core.calling.stages.idempotency import KEY
from tests.conftest import PostgresServer
from tests.forkserver.commands import command_path
from tests.mcp_todo.talking import COMMAND, over_http
from tests.mcp_todo.test_idempotency import ask, request, served, titles_of

DEADLINE = 2.0
PATIENCE = 60.0


def http() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=PATIENCE, limits=httpx2.Limits(max_connections=64))


async def call(client: httpx2.AsyncClient, url: str, tool: str, key: str | None = None, **arguments: Any) -> Any:
    """The result of a call: whether it failed, the value, and the type of an error."""
    meta = dict(recorded(SDK, MODERN).metadata) | ({} if key is None else {KEY: key})
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params = {"name": tool, "arguments": {"user_id": "ana", **arguments}, "_meta": meta}
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
    headers |= {"accept": "application/json, text/event-stream"}
    answer = await client.post(url, json=body | {"params": params}, headers=headers)
    result = answer.json()["result"]
    value = json.loads(result["content"][0]["text"])
    return result["isError"], value, result.get("_meta", {}).get("dev.toolcharter/error-type")


@contextmanager
def hung(server: PostgresServer) -> Iterator[None]:
    """PostgreSQL with all its processes stopped: it accepts connections, and answers nothing."""
    postmaster = server.served.get_pid()
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children")
    pids = [postmaster]
    try:
        os.kill(postmaster, signal.SIGSTOP)
        pids += map(int, children.read_text().split())
        for pid in pids[1:]:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.requirement("OPS-7")
async def test_calls_of_a_hung_postgresql_end_at_their_deadline_and_work_again_when_it_goes_on(
    postgres_server: PostgresServer, postgres_url: str
):
    with over_http("--db", postgres_url, "--deadline", str(DEADLINE)) as url:
        async with http() as client:
            assert not (await call(client, url, "add_task", "before", title="Before"))[0]
            assert not (await call(client, url, "add_task", title="Before, too"))[0]
            calls: list[tuple[tuple[str, ...], dict[str, str]]] = []
            for n in range(10):
                calls += [(("add_task",), {"title": "Plain"}), (("add_task", f"k{n}"), {"title": f"Keyed {n}"})]
                calls += [(("list_tasks",), {})]
            with hung(postgres_server):
                started = time.monotonic()
                answers = await asyncio.gather(*(call(client, url, *words, **more) for words, more in calls))
                taken = time.monotonic() - started
                again = time.monotonic()
                assert (await call(client, url, "list_tasks"))[0]
                again = time.monotonic() - again
            assert {(failed, kind) for failed, _, kind in answers} <= {
                (True, "DeadlineError"),
                (True, "UnavailableError"),
                (True, "InProgressError"),
            }
            assert taken < DEADLINE + 20, "on a busy machine; without a deadline it would be a minute"
            assert again < DEADLINE + 20
            end = time.monotonic() + PATIENCE
            while (answer := await call(client, url, "add_task", "k1", title="Keyed 1"))[0]:
                assert time.monotonic() < end, answer
            failed, tasks, _ = await call(client, url, "list_tasks")
            assert not failed
            titles = Counter(task["title"] for task in tasks)
            assert titles["Before"] == titles["Before, too"] == titles["Keyed 1"] == 1
            # More at once than a pool has connections: none may be lost.
            many = [call(client, url, "add_task", title="After") for _ in range(30)]
            many += [call(client, url, "list_tasks") for _ in range(30)]
            assert {failed for failed, *_ in await asyncio.gather(*many)} == {False}
        name = postgres_url.rpartition("/")[2].partition("?")[0]
        backends = postgres_server.sql(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'")
        assert int(backends) <= 16


# ---- a full disk ---------------------------------------------------------------------------------

FULL = """
import os, resource, signal
from pathlib import Path
from mcp_todo.main import main

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, lambda *_: limit(resource.RLIM_INFINITY))
Path(PID_FILE).write_text(str(os.getpid()))
limit(400_000)
main()
"""
"""The todo server, whose files cannot grow beyond 400 kB until it gets a signal."""


@pytest.mark.requirement("OPS-7")
def test_a_full_disk_is_an_error_of_writes_that_goes_away_with_it(tmp_path: Path):
    script = tmp_path / "full.py"
    script.write_text(FULL.replace("PID_FILE", repr(str(tmp_path / "pid"))))
    db = f"sqlite:///{tmp_path / 'todo.db'}"
    with served(command_path("python"), str(script), "--db", db) as process:
        written, refused, number = 0, [], 0
        while len(refused) < 6:
            number += 1
            # Every other one with a key: its transaction is another one.
            line = request(number, f"k{number}" if number % 2 else None, f"Task {number}", "x" * 10_000)
            result = ask(process, line)
            if result["isError"]:
                refused.append(result)
            else:
                written += 1
            assert number < 200, "the disk is never full"
        assert written > 5
        for result in refused:
            assert result["_meta"]["dev.toolcharter/error-type"] == "UnavailableError"
            said = json.loads(result["content"][0]["text"])
            assert said == {"error": "The database cannot be used at the moment. Try again shortly."}
        assert len(titles_of(process)) == written
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGUSR1)
        assert ask(process, request(number, f"k{number}", "With room again"))["isError"] is False
        assert len(titles_of(process)) == written + 1


# ---- a process that is killed --------------------------------------------------------------------


@pytest.mark.requirement("OPS-4", "OPS-6")
def test_after_a_kill_under_load_retries_lose_nothing_and_double_nothing(db_url: str):
    calls, before_the_kill = 100, 20
    lines = {name: [request(n, f"{name}{n}", f"{name} {n}") for n in range(calls)] for name in ("one", "two")}
    answers: dict[str, list[Any]] = {"one": [], "two": []}
    with served(COMMAND, "--db", db_url) as one, served(COMMAND, "--db", db_url) as two:

        def send(name: str, process: subprocess.Popen[str]) -> None:
            with suppress(BrokenPipeError):
                process.stdin.write("".join(lines[name]))
                process.stdin.flush()

        def read(name: str, process: subprocess.Popen[str], most: int) -> None:
            while len(answers[name]) < most and (line := process.stdout.readline()).endswith("\n"):
                answers[name].append(json.loads(line))

        threads = [threading.Thread(target=send, args=pair) for pair in (("one", one), ("two", two))]
        threads.append(threading.Thread(target=read, args=("two", two, calls)))
        for thread in threads:
            thread.start()
        read("one", one, before_the_kill)
        one.kill()
        read("one", one, calls)
        for thread in threads:
            thread.join(PATIENCE)
        assert len(answers["two"]) == calls, "the other process goes on"
        retried = [ask(two, line) for line in lines["one"]]
        titles = titles_of(two)
    assert {answer["result"]["isError"] for answer in [*answers["one"], *answers["two"]]} == {False}
    for answer in answers["one"]:
        assert retried[answer["id"]]["content"] == answer["result"]["content"]
    assert titles == {f"{name} {n}": 1 for name in ("one", "two") for n in range(calls)}
