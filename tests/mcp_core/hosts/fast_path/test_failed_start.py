"""The client of a server that cannot start gets the reason, in answer to its requests."""

import json
import subprocess
from typing import Any

import pytest

from tests.forkserver.commands import command_path

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_tasks", "arguments": {}}}
DISCOVER = {"jsonrpc": "2.0", "id": 3, "method": "server/discover", "params": {}}


def talk(command: list[str], *messages: dict[str, Any]) -> tuple[list[dict[str, Any]], str, int]:
    """Its answers, its log and its exit code, each message sent after the answer to the one before."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as server:
        answers = []
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            answers.append(json.loads(server.stdout.readline()))
        _, log = server.communicate(timeout=60)
    return answers, log, server.returncode


@pytest.mark.requirement("FAR-5")
@pytest.mark.parametrize("fast_path", ["on", "off"])
def test_a_server_without_its_database_answers_with_the_reason_and_the_fix(fast_path: str):
    url = "postgresql://ana:secret@127.0.0.1:1/todo"
    command = [command_path("mcp-todo"), "--db", url, "--fast-path", fast_path]
    messages = [INITIALIZE, CALL, CALL] if fast_path == "on" else [INITIALIZE, CALL]
    answers, log, code = talk(command, *messages)
    reason = answers[-1]["error"]["message"]
    assert reason.partition("cannot start. ")[2].startswith("postgresql://ana:***@127.0.0.1:1/todo cannot be opened: ")
    assert reason.endswith("Choose another with --db.")
    assert [answer["error"]["data"] for answer in answers[1:]] == [{"reason": "cannot_start"}] * (len(answers) - 1)
    assert (log.count(reason), code) == (1, 1)


@pytest.mark.requirement("FAR-5")
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["mcp-todo", "--bd", "x"], "mcp-todo cannot start. unrecognized arguments: --bd; did you mean --db?"),
        (["mcp-todo", "--port", "many"], "mcp-todo cannot start. --port: Input should be a valid integer"),
        (["toolcharter", "stdio", "tood"], "No server 'tood' is installed. Did you mean 'todo'?"),
    ],
)
def test_a_wrong_command_line_is_the_answer_to_all_requests(command: list[str], reason: str):
    answers, log, code = talk([command_path(command[0]), *command[1:]], DISCOVER, INITIALIZE)
    assert [answer["error"]["message"].startswith(reason) for answer in answers] == [True, True]
    assert [answer["id"] for answer in answers] == [3, 1]
    assert (reason.partition("start. ")[2] in log, code) == (True, 2)


@pytest.mark.requirement("FAR-5")
def test_a_fault_in_a_server_is_named_and_its_stack_stays_in_the_log(tmp_path):
    (tmp_path / "broken.py").write_text("from toolcharter import run\n\ndef build(_):\n    1 / 0\n\nrun(build)\n")
    answers, log, code = talk([command_path("python"), str(tmp_path / "broken.py")], INITIALIZE)
    assert answers[0]["error"]["message"] == (
        "broken.py cannot start because of a fault in it: ZeroDivisionError. Its log has the stack."
    )
    assert ("1 / 0" in log, code) == (True, 1)
