"""What only stdio has: a pipe that nothing but the protocol may write to."""

import asyncio
import json
import os
import pty
import sys
from asyncio.subprocess import PIPE
from dataclasses import dataclass
from typing import Any

import pytest

from tests.behaviour.combinations import ENVIRONMENT, OLD, SCRIPT, Combination, over, served_by
from tests.forkserver.commands import command_path

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass(frozen=True)
class Ended:
    """A server that was talked to by hand, and whose input has ended."""

    lines: list[str]
    errors: str
    code: int


def requests(era: str, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    client = {"name": "raw", "version": "1"}
    meta: dict[str, Any] = {}
    messages: list[dict[str, Any]] = []
    if era == OLD:
        params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": client}
        messages = [{"id": 0, "method": "initialize", "params": params}, {"method": "notifications/initialized"}]
    else:
        meta = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": client,
        }
    for number, (name, arguments) in enumerate(calls, start=1):
        params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
        messages.append({"id": number, "method": "tools/call", "params": params})
    return [{"jsonrpc": "2.0", **message} for message in messages]


async def talk(host: str, *messages: dict[str, Any] | bytes, python: str | None = None) -> Ended:
    """Send each message, wait for its answer where it is due one, and end the input."""
    command = [python or command_path("python"), SCRIPT, *served_by(host, "stdio"), "--log-level", "TRACE"]
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENVIRONMENT)
    errors = asyncio.create_task(process.stderr.read())
    lines: list[str] = []
    async with asyncio.timeout(60):
        for message in messages:
            raw = message if isinstance(message, bytes) else json.dumps(message).encode()
            process.stdin.write(raw + b"\n")
            if isinstance(message, dict) and "id" in message:
                while f'"id":{message["id"]},' not in (line := (await process.stdout.readline()).decode()):
                    assert line, (await errors).decode()
                    lines.append(line)
                lines.append(line)
        process.stdin.close()
        rest, said = (await process.stdout.read()).decode(), (await errors).decode()
        return Ended(lines + rest.splitlines(), said, await process.wait())


@over(transport=("stdio",))
@pytest.mark.requirement("LOG-7")
async def test_what_a_handler_prints_does_not_reach_the_stdout_of_the_protocol(combination: Combination):
    calls = [("chatter", {}), ("crash", {"key": "k"}), ("add", {"a": 1, "b": 2})]
    ended = await talk(combination.host, *requests(combination.era, *calls))
    answers = [json.loads(line) for line in ended.lines]
    assert [answer["jsonrpc"] for answer in answers] == ["2.0"] * len(answers)
    results = {answer["id"]: answer["result"] for answer in answers if answer["id"]}
    assert [results[number]["isError"] for number in (1, 2, 3)] == [False, True, False]
    assert json.loads(results[3]["content"][0]["text"])["data"] == 3
    assert "printed by a handler" in ended.errors
    assert "written by a handler" in ended.errors
    assert "Tool called: add" in ended.errors
    assert ended.code == 0


@over(transport=("stdio",))
async def test_a_line_that_is_not_a_request_does_not_end_the_server(combination: Combination):
    greeting, *call = requests(combination.era, ("add", {"a": 1, "b": 2}))
    first = [greeting] if combination.era == OLD else []
    calls = call if combination.era == OLD else [greeting]
    ended = await talk(combination.host, *first, b"garbage", b"{}", b"\xff\xfe", b"[" * 50_000, *calls)
    last = next(json.loads(line) for line in ended.lines if json.loads(line).get("id") == 1)
    assert json.loads(last["result"]["content"][0]["text"])["data"] == 3
    assert ended.code == 0


@over(transport=("stdio",), era=(OLD,))
async def test_the_end_of_the_input_ends_the_server_though_a_call_is_under_way(combination: Combination):
    waiting = requests(OLD, ("wait_long", {"key": "k"}))
    unanswered = json.dumps(waiting.pop()).encode()
    ended = await talk(combination.host, *waiting, unanswered, python=sys.executable)
    assert ended.code == 0
    assert "Traceback" not in ended.errors


@over(transport=("stdio",), host=("native",), era=(OLD,))
async def test_a_person_at_a_terminal_is_greeted_on_stderr(combination: Combination):
    terminal, stdin = pty.openpty()
    command = [sys.executable, "-m", "toolcharter", "stdio", "demo"]
    process = await asyncio.create_subprocess_exec(*command, stdin=stdin, stdout=PIPE, stderr=PIPE, env=ENVIRONMENT)
    os.close(stdin)
    try:
        async with asyncio.timeout(60):
            said = await process.stderr.readuntil(b"End it with Ctrl+D.")
            os.write(terminal, b"\x04")
            output = await process.stdout.read()
            assert await process.wait() == 0
    finally:
        os.close(terminal)
    assert output == b""
    assert said.startswith(b"Notebook 1.0.0 is waiting for an MCP client on stdin. Tools: add, list_notes, ")


@over(transport=("stdio",), host=("native",), era=(OLD,))
async def test_a_pipe_is_not_greeted(combination: Combination):
    command = [sys.executable, "-m", "toolcharter", "stdio", "demo"]
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENVIRONMENT)
    assert await process.communicate(b"") == (b"", b"")
    assert process.returncode == 0
