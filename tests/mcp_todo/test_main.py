"""The command `mcp-todo`, as a process: started, killed, started again."""

import itertools
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.mcp_todo.talking import COMMAND, DENIED, PATIENT, Said

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def request(number: int, tool: str, **arguments: str) -> str:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n"


def value_of(line: str) -> Said:
    result = json.loads(line)["result"]
    return result["isError"], json.loads(result["content"][0]["text"])


@contextmanager
def served(*options: str) -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([COMMAND, *PATIENT, *options], **pipes) as process:
        try:
            yield process
        finally:
            process.kill()
            # What could not be written any more is no concern of ours.
            with suppress(BrokenPipeError):
                process.stdin.close()


def ask(process: subprocess.Popen[str], tool: str, **arguments: str) -> Said:
    process.stdin.write(request(0, tool, **arguments))
    process.stdin.flush()
    return value_of(process.stdout.readline())


def add_until_it_ends(process: subprocess.Popen[str]) -> None:
    with suppress(BrokenPipeError, ValueError):
        for number in itertools.count(1):
            process.stdin.write(request(number, "add_task", user_id="ana", title=f"Task {number}"))
            process.stdin.flush()


@pytest.mark.requirement("TOD-6")
def test_every_write_that_was_answered_survives_a_kill(db_url):
    answered: set[str] = set()
    for before_the_kill in (1, 20, 100):
        with served("--db", db_url) as process:
            assert answered <= ids(process)
            # The stream does not end by itself, so the kill always comes in the middle of it.
            stream = threading.Thread(target=add_until_it_ends, args=(process,))
            stream.start()
            lines = [process.stdout.readline() for _ in range(before_the_kill)]
            process.kill()
            lines += process.stdout.readlines()
            stream.join(30)
        whole = [value_of(line) for line in lines if line.endswith("\n")]
        assert {failed for failed, _ in whole} == {False}
        answered |= {value["task_id"] for _, value in whole}
    assert len(answered) >= 121
    with served("--db", db_url) as process:
        assert answered <= ids(process)


def ids(process: subprocess.Popen[str]) -> set[str]:
    failed, tasks = ask(process, "list_tasks", user_id="ana")
    assert not failed, tasks
    return {task["id"] for task in tasks}


@pytest.mark.requirement("TOD-5")
def test_the_option_user_fixes_who_calls_on_stdio(tmp_path):
    with served("--db", f"sqlite:///{tmp_path / 'todo.db'}", "--user", "ana") as process:
        failed, made = ask(process, "add_task", user_id="ana", title="Buy milk")
        assert (failed, made["status"]) == (False, "created")
        assert ask(process, "list_tasks", user_id="bob") == DENIED
        assert ask(process, "delete_task", user_id="bob", task_id=made["task_id"]) == DENIED


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(
    ("db", "words"),
    [
        ("mysql://ana:secret@db/todo", "'mysql' is not a supported database; write sqlite:///relative/file.db"),
        ("sqlite://todo.db", "'sqlite://todo.db' names a host, not a file; a file has three slashes"),
        ("postgresql://ana:secret@127.0.0.1:1/todo", "@127.0.0.1:1/todo cannot be opened: "),
    ],
)
def test_a_database_that_cannot_be_used_ends_the_start_with_a_sentence(transport, db, words):
    options = ["--port", "0"] if transport == "http" else []
    command = [COMMAND, transport, "--db", db, *options]
    ended = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
    assert words in ended.stderr
    assert (ended.stdout, "Traceback" in ended.stderr, "secret" in ended.stderr) == ("", False, False)
    assert ended.returncode != 0
