"""The fast path on a real pipe, with clients that send too much, do not read, change their minds, or go away."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from mcp_core import Settings
from mcp_core.hosts.fast_path import pipe as fast_path_pipe
from mcp_core.hosts.fast_path import stdio as fast_path_stdio
from mcp_core.hosts.fast_path import stdio_connection
from mcp_core.hosts.fast_path.methods import FastPath
from mcp_core.hosts.fast_path.stdio_connection import StdioConnection
from tests.behaviour.combinations import ENVIRONMENT, SCRIPT
from tests.behaviour.served import build

COMMAND = [sys.executable, SCRIPT, "native", "stdio", "--log-level", "CRITICAL"]
PATIENCE = 90
LONGEST = 64 * 1024 * 1024
MEGABYTE = 1024 * 1024
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
YES = {"action": "accept", "content": {"confirm": True}}


def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number: Any, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return request(number, "tools/call", name=tool, arguments=arguments)


def cancelled(number: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


def data(answer: dict[str, Any]) -> Any:
    return json.loads(answer["result"]["content"][0]["text"])["data"]


class Pipe:
    """A client that writes lines by hand."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def write(self, *messages: dict[str, Any]) -> None:
        self.process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    async def send(self, *messages: dict[str, Any]) -> None:
        self.write(*messages)
        await self.process.stdin.drain()

    async def read(self) -> dict[str, Any]:
        line = await self.process.stdout.readline()
        assert line, "the server has ended"
        return json.loads(line)

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        await self.send(message)
        return await self.read()

    async def until(self, tool: str, wanted: int, key: str) -> None:
        """Ask again until something has happened so often."""
        number = 0
        while data(await self.ask(call(f"{tool} {key} {number}", tool, key=key))) != wanted:
            number += 1

    async def greet(self, capabilities: dict[str, Any] | None = None) -> None:
        await self.ask(request(0, "initialize", **OPENING | {"capabilities": capabilities or {}}))
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


@asynccontextmanager
async def served(
    stdin: Any = PIPE, limit: int = LONGEST, stdout: Any = PIPE, log_level: str = "CRITICAL"
) -> AsyncIterator[Pipe]:
    process = await asyncio.create_subprocess_exec(
        *COMMAND[:-1], log_level, stdin=stdin, stdout=stdout, stderr=PIPE, env=ENVIRONMENT, limit=limit
    )
    try:
        async with asyncio.timeout(PATIENCE):
            yield Pipe(process)
    finally:
        process._transport.close()  # kills it where it still runs, and closes pipes that nobody reads
        await process.wait()


async def test_a_line_of_more_than_4_mb_is_refused_and_the_next_one_is_served():
    async with served() as pipe:
        await pipe.greet()
        await pipe.send(call(1, "create_note", title="x", body="y" * 5 * MEGABYTE), call(2, "add", a=1, b=2))
        refused, answer = await pipe.read(), await pipe.read()
    assert (refused["id"], refused["error"]["code"]) == (None, -32700)
    assert data(answer) == 3


async def test_a_line_of_nearly_4_mb_is_read():
    async with served() as pipe:
        await pipe.greet()
        answer = await pipe.ask(call(1, "create_note", title="x", body="y" * (4 * MEGABYTE - 1000)))
    assert "body" in answer["result"]["content"][0]["text"]
    assert answer["result"]["isError"]


async def test_a_thousand_calls_in_flight_are_all_answered():
    async with served() as pipe:
        await pipe.greet()
        pipe.write(*(call(n, "add", a=n, b=1) for n in range(1, 1001)))
        answers = [await pipe.read() for _ in range(1000)]
    assert {answer["id"]: data(answer) for answer in answers} == {n: n + 1 for n in range(1, 1001)}


async def test_more_calls_than_may_be_under_way_wait_for_their_turn():
    async with served() as pipe:
        await pipe.greet()
        waiting = [call(n, "wait_long", key="k") for n in range(1, 1002)]
        await pipe.send(*waiting[:1000], call("late", "add", a=1, b=1))
        # The thousand leave no room, so nothing is answered until one of them goes.
        silent = asyncio.ensure_future(pipe.read())
        done, _ = await asyncio.wait({silent}, timeout=0.5)
        assert not done
        silent.cancel()


async def test_a_call_that_waits_and_one_that_runs_can_be_cancelled_behind_a_thousand_others():
    async with served() as pipe:
        await pipe.greet()
        await pipe.ask(call("first", "count", key="k"))  # opens the app, so that the calls below run at once
        await pipe.send(*(call(n, "wait_long", key="k") for n in range(1, 1001)))
        await pipe.send(call("waits", "wait_long", key="waits"), call("next", "count", key="waits started"))
        await pipe.send(cancelled("waits"), cancelled(7))
        # The place of the one that ran goes to the next that waits, which is not the one that was cancelled.
        answer = await pipe.read()
        assert (answer["id"], data(answer)) == ("next", 0)
        assert data(await pipe.ask(call("stopped", "count", key="k stopped"))) == 1


async def test_a_persons_answer_is_processed_behind_a_thousand_calls():
    async with served() as pipe:
        await pipe.greet({"elicitation": {}})
        question = await pipe.ask(call("asks", "wipe", key="k", explicit_action="WIPE"))
        await pipe.send(*(call(n, "wait_long", key="k") for n in range(1, 1101)))
        answer = await pipe.ask({"jsonrpc": "2.0", "id": question["id"], "result": YES})
    assert (answer["id"], data(answer)) == ("asks", "wiped")


@pytest.mark.parametrize(("most", "size"), [("MAX_WAITING", 2), ("MAX_WAITING_BYTES", 250)])
async def test_when_too_many_calls_wait_no_further_line_is_read(monkeypatch: pytest.MonkeyPatch, most: str, size: int):
    monkeypatch.setattr(stdio_connection, "MAX_CALLS", 1)
    monkeypatch.setattr(stdio_connection, most, size)
    written: list[bytes] = []

    async def drain() -> None:
        pass

    async with build(Settings()) as app:
        connection = StdioConnection(FastPath(app), written.append, drain)
        lines = [call(n, "wait_long", key="k") for n in range(1, 5)] + [cancelled(4)]

        async def read() -> None:
            for line in (request(0, "initialize", **OPENING), *lines):
                await connection.receive(json.dumps(line).encode())

        reading = asyncio.ensure_future(read())
        done, _ = await asyncio.wait({reading}, timeout=0)
        assert not done
        assert [waiting.request.id for waiting in connection._waiting] == [2, 3, 4]
        (running,) = connection._running
        running.cancel()
        async with asyncio.timeout(PATIENCE):
            await reading
        assert [waiting.request.id for waiting in connection._waiting] == [3]
        await connection.close()
    assert [json.loads(line)["id"] for line in written] == [0]


async def test_a_client_that_does_not_read_holds_the_server_back_and_not_its_memory():
    async with served(limit=64 * 1024) as pipe:  # beyond twice that, this client stops reading
        await pipe.greet()
        memory = psutil.Process(pipe.process.pid).memory_info
        await pipe.ask(request("list", "tools/list"))
        before, sent = memory().rss, 0
        # A list is about 20 kB: were all of these answered at once, it would be hundreds of megabytes.
        stuck = False
        while not stuck and sent < 20_000:
            pipe.write(*(request(sent + n, "tools/list", padding="x" * 4000) for n in range(100)))
            sent += 100
            try:
                await asyncio.wait_for(pipe.process.stdin.drain(), 1)
            except TimeoutError:
                stuck = True
        assert stuck
        assert memory().rss - before < 60 * MEGABYTE
        seen = {(await pipe.read())["id"] for _ in range(sent)}
    assert seen == set(range(sent))


async def test_the_end_of_the_input_ends_the_server_though_a_call_is_under_way():
    assert stdio_connection.FINISH_SECONDS + stdio_connection.ANSWER_SECONDS < 2  # then clients kill it
    async with served() as pipe:
        await pipe.greet()
        await pipe.send(call(1, "wait_long", key="k"))
        pipe.process.stdin.close()
        assert await pipe.process.wait() == 0


async def test_what_was_asked_before_the_end_of_the_input_is_answered():
    async with served() as pipe:
        await pipe.greet()
        pipe.write(*(call(n, "add", a=n, b=1) for n in range(1, 51)))
        pipe.process.stdin.close()
        lines = (await pipe.process.stdout.read()).splitlines()
    assert {json.loads(line)["id"] for line in lines} == set(range(1, 51))


async def test_the_server_ends_only_after_the_client_has_read_everything():
    source, sink = os.pipe()
    output = await fast_path_pipe.open_output(sink)
    output.write(b"x" * 100_000)  # more than a pipe holds, and not so much that the server would hold back

    async def no_lines() -> AsyncIterator[bytes]:
        return
        yield b""

    connection = StdioConnection(FastPath(build(Settings())), output.write, output.drain)
    serving = asyncio.ensure_future(
        fast_path_stdio._serve(connection, no_lines(), output, fast_path_stdio.StopSignals())
    )
    done, _ = await asyncio.wait({serving}, timeout=0)
    assert not done
    seen = 0
    while part := await asyncio.to_thread(os.read, source, MEGABYTE):
        seen += len(part)
    await serving
    os.close(source)
    assert seen == 100_000


@pytest.mark.parametrize("says", [[], [call(2, "add", a=1, b=1)]], ids=["silent", "asking"])
async def test_a_client_that_closes_its_side_of_the_output_ends_the_server_and_what_it_runs(says: list[Any]):
    async with served(log_level="TRACE") as pipe:
        await pipe.greet()
        await pipe.send(call(1, "wait_long", key="k"))
        await pipe.until("count", 1, "k started")
        pipe.process._transport.get_pipe_transport(1).close()
        pipe.write(*says)
        # Its input is still open.
        assert await pipe.process.wait() == 0
        log = await pipe.process.stderr.read()
    assert b"Tool wait_long ended: cancelled" in log
    assert b"Traceback" not in log


async def test_an_output_that_cannot_be_written_ends_the_server():
    full = os.open("/dev/full", os.O_WRONLY)
    async with served(stdout=full) as pipe:
        os.close(full)
        await pipe.send(request(0, "initialize", **OPENING))
        assert await pipe.process.wait() == 0
        assert await pipe.process.stderr.read() == b""


async def test_sigterm_ends_the_server_though_a_call_is_under_way():
    async with served() as pipe:
        await pipe.greet()
        await pipe.send(call(1, "wait_long", key="k"))
        await pipe.until("count", 1, "k started")
        pipe.process.terminate()
        assert await pipe.process.wait() in (0, -signal.SIGTERM)


async def test_a_cancelled_call_is_stopped_and_not_answered():
    async with served() as pipe:
        await pipe.greet()
        await pipe.send(call(7, "wait_long", key="k"))
        await pipe.until("count", 1, "k started")
        await pipe.send(cancelled(7))
        await pipe.until("count", 1, "k stopped")
        assert (await pipe.ask(request(8, "ping")))["id"] == 8


async def test_of_two_calls_with_one_id_both_are_answered():
    async with served() as pipe:
        await pipe.greet()
        await pipe.send(call(1, "add", a=1, b=1), call(1, "add", a=2, b=2))
        answers = [await pipe.read(), await pipe.read()]
    assert sorted(data(answer) for answer in answers) == [2, 4]
    assert [answer["id"] for answer in answers] == [1, 1]


async def answered(reply: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The question to the person, what became of the call, and how often it was carried out."""
    async with served() as pipe:
        await pipe.greet({"elicitation": {}})
        question = await pipe.ask(call(1, "wipe", key="k", explicit_action="WIPE"))
        result = await pipe.ask({"jsonrpc": "2.0", "id": question["id"], **reply})
        return question, result["result"], data(await pipe.ask(call(2, "count", key="k")))


async def test_a_person_who_agrees_lets_the_call_run():
    question, result, done = await answered({"result": {"action": "accept", "content": {"confirm": True}}})
    assert question["method"] == "elicitation/create"
    assert (result["isError"], done) == (False, 1)


async def test_a_person_who_declines_stops_the_call():
    _, result, done = await answered({"result": {"action": "decline"}})
    assert (result["isError"], done) == (True, 0)


async def test_a_client_that_cannot_ask_does_not_count_as_a_yes():
    _, result, done = await answered({"error": {"code": -32603, "message": "no window"}})
    assert (result["isError"], done) == (True, 0)


async def test_what_a_handler_prints_does_not_reach_the_pipe():
    async with served() as pipe:
        await pipe.greet()
        assert data(await pipe.ask(call(1, "chatter"))) == "said"
        assert data(await pipe.ask(call(2, "add", a=1, b=1))) == 2
        pipe.process.stdin.close()
        assert b"written by a handler" in await pipe.process.stderr.read()


async def test_a_plain_file_is_served_and_its_long_line_refused(tmp_path: Path):
    long = call(1, "create_note", title="x", body="y" * 9 * MEGABYTE)
    lines = [request(0, "initialize", **OPENING), long, call(2, "add", a=1, b=1)]
    file = tmp_path / "input"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    with file.open("rb") as source:
        async with served(source) as pipe:
            greeting, refused, answer = await pipe.read(), await pipe.read(), await pipe.read()
            rest = await pipe.process.stdout.read()
            assert await pipe.process.wait() == 0
    assert (greeting["id"], refused["id"], refused["error"]["code"], data(answer), rest) == (0, None, -32700, 2, b"")


CONFESSING = """
import atexit, runpy, sys
loaded = lambda: sorted({name.partition(".")[0] for name in sys.modules} & {"mcp", "mcp_types"})
atexit.register(lambda: sys.stderr.write(repr(loaded())))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


async def test_the_sdk_is_not_loaded_for_ordinary_requests():
    """The server is run by a script that says at its end which parts of the SDK were imported."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CONFESSING, *COMMAND[1:], stdin=PIPE, stdout=PIPE, stderr=PIPE, env=ENVIRONMENT
    )
    asked = [request(0, "initialize", **OPENING), request(1, "tools/list"), call(2, "add", a=1, b=1), request(3, "no")]
    text = "".join(json.dumps(message) + "\n" for message in asked)
    async with asyncio.timeout(PATIENCE):
        output, errors = await process.communicate(text.encode())
    assert len(output.splitlines()) == 4
    assert errors.decode().endswith("[]")
