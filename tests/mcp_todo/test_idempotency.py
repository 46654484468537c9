"""Idempotency keys with real processes: killed between commit and answer, and at the same time."""

import json
import subprocess
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from mcp_core.calling.stages.idempotency import KEY, REPEATED
from tests.forkserver.commands import command_path
from tests.mcp_todo.talking import COMMAND, PATIENT, over_http
from tests.mcp_todo.test_main import META

KILLED = """
import os, signal, sys
from mcp_core.db import transaction
from mcp_todo.main import main

commit = transaction.Transaction.commit

async def commit_and_die(self, last):
    if WHEN == "after":
        await commit(self, last)
    os.kill(os.getpid(), signal.SIGKILL)

transaction.Transaction.commit = commit_and_die
main()
"""
"""The todo server, which is killed just before or just after it commits a call with a key."""


def request(number: int, key: str | None, title: str = "Buy milk", description: str = "") -> str:
    arguments = {"user_id": "ana", "title": title, "description": description}
    params = {"name": "add_task", "arguments": arguments, "_meta": META if key is None else {**META, KEY: key}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n"


@contextmanager
def served(*command: str):
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, *PATIENT], **pipes) as process:
        try:
            yield process
        finally:
            process.kill()
            with suppress(BrokenPipeError):
                process.stdin.close()


def ask(process: subprocess.Popen[str], line: str) -> Any:
    process.stdin.write(line)
    process.stdin.flush()
    return json.loads(process.stdout.readline())["result"]


def titles_of(process: subprocess.Popen[str]) -> Counter[str]:
    """The titles of all tasks."""
    params = {"name": "list_tasks", "arguments": {"user_id": "ana"}, "_meta": META}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}) + "\n"
    return Counter(task["title"] for task in json.loads(ask(process, line)["content"][0]["text"]))


def tasks(db: str) -> Counter[str]:
    """The titles of all tasks, as a fresh process reads them."""
    with served(COMMAND, "--db", db) as process:
        return titles_of(process)


@pytest.mark.requirement("OPS-4")
@pytest.mark.parametrize("when", ["before", "after"])
def test_after_a_kill_around_the_commit_a_retry_gives_one_task_and_its_first_answer(
    when: str, db_url: str, tmp_path: Path
):
    script = tmp_path / "killed.py"
    script.write_text(KILLED.replace("WHEN", repr(when)))
    with served(command_path("python"), str(script), "--db", db_url) as process:
        process.stdin.write(request(1, "k"))
        process.stdin.flush()
        assert process.stdout.read() == "", "it was killed before it answered"
    assert tasks(db_url) == ({"Buy milk": 1} if when == "after" else {})
    with served(COMMAND, "--db", db_url) as process:
        first, again = (ask(process, request(number, "k")) for number in (1, 2))
        other = ask(process, request(3, "k", "Buy bread"))
    assert [(result["isError"], result.get("_meta", {}).get(REPEATED)) for result in (first, again, other)] == [
        (False, True if when == "after" else None),
        (False, True),
        (True, None),
    ]
    assert first["content"] == again["content"]
    assert tasks(db_url) == {"Buy milk": 1}


@pytest.mark.requirement("OPS-4")
def test_of_the_same_calls_at_two_processes_at_once_one_acts(db_url: str):
    keys, answers = 20, [[], []]
    lines = "".join(request(number, f"k{number % keys}", f"Task {number % keys}") for number in range(3 * keys))
    with served(COMMAND, "--db", db_url) as one, served(COMMAND, "--db", db_url) as two:
        start = threading.Barrier(2)

        def send(process: subprocess.Popen[str], into: list[Any]) -> None:
            start.wait(30)
            process.stdin.write(lines)
            process.stdin.flush()
            into.extend(json.loads(process.stdout.readline()) for _ in range(3 * keys))

        threads = [threading.Thread(target=send, args=pair) for pair in zip((one, two), answers, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    texts: dict[int, set[str]] = {}
    for answer in [*answers[0], *answers[1]]:
        assert answer["result"]["isError"] is False, answer
        texts.setdefault(answer["id"] % keys, set()).add(answer["result"]["content"][0]["text"])
    assert sum(map(len, answers)) == 6 * keys
    assert {number: len(said) for number, said in texts.items()} == dict.fromkeys(range(keys), 1)
    assert tasks(db_url) == {f"Task {number}": 1 for number in range(keys)}


def test_the_command_sends_a_key(tmp_path: Path):
    db = f"sqlite:///{tmp_path / 'todo.db'}"

    def add(server: str, key: str, title: str, *options: str) -> tuple[int, str]:
        words = ["add_task", "user_id=ana", f"title={title}", "--idempotency-key", key, *options]
        command = [command_path("toolcharter"), "call", server, *words]
        ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        return ran.returncode, ran.stdout

    assert add("todo", "k", "Buy milk", "--db", db) == add("todo", "k", "Buy milk", "--db", db)
    with over_http("--db", db) as url:
        assert add(url, "remote", "Buy bread") == add(url, "remote", "Buy bread")
        assert add(url, "remote", "Buy wine")[0] == 1
    assert tasks(db) == {"Buy milk": 1, "Buy bread": 1}
