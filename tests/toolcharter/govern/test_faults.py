"""What upstreams do wrong: each call gets an answer or a typed error, and nothing of ours is left."""

import asyncio
import gc
import json
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import uvloop

from mcp_core.errors import SignInRequired, Unavailable
from tests.thorough import VARIABLE
from tests.toolcharter.govern.faulty_http import FaultyServer
from tests.toolcharter.govern.test_upstream import SERVER, call, upstream
from toolcharter.govern.charter import UpstreamTable
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.upstream import Upstream

ANSWER_BYTES = 50_000_000
MAX_GROWTH = 250_000_000
SESSIONS = 200 if VARIABLE in os.environ else 10
CALLS = 1_000 if VARIABLE in os.environ else 200

pytestmark = pytest.mark.requirement("GOV-5")


@asynccontextmanager
async def faulty(url: str, **table: Any) -> AsyncIterator[Upstream]:
    groups = ProcessGroups()
    made = Upstream("faulty", UpstreamTable(url=url, **table), groups, Path.cwd())
    try:
        yield made
    finally:
        await made.close()
        groups.close()


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# --- processes ---------------------------------------------------------------------------------------------


async def test_each_of_200_calls_ends_when_the_process_is_killed_and_the_next_ones_work():
    async with upstream() as server:
        process, _ = json.loads(await call(server, "fork"))
        calls = [asyncio.create_task(call(server, "hang" if n % 2 else "echo")) for n in range(200)]
        await calls[100]
        os.kill(process, signal.SIGKILL)
        async with asyncio.timeout(60):
            answers = await asyncio.gather(*calls, return_exceptions=True)
        assert {str(one) for one in answers[1::2]} <= {
            "The server 'unkind' was killed by signal 9.",
            "The server 'unkind' closed its input.",
        }
        assert {type(one) for one in answers[::2]} <= {str, Unavailable}
        assert [await call(server, "echo") for _ in range(3)] == ["{}"] * 3


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_calls_that_go_on_while_the_process_is_killed_get_an_answer_or_the_reason(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
):
    async def scenario() -> list[Any]:
        async with upstream() as server:
            await call(server, "echo")
            process = server._connections[""].session._transport.process_id
            calls: list[asyncio.Task[str]] = []
            for number in range(CALLS):
                if number == CALLS // 2:
                    os.kill(process, signal.SIGKILL)
                calls.append(asyncio.create_task(call(server, "echo")))
                await asyncio.sleep(0.001)  # callers do not wait for each other
            return [*await asyncio.gather(*calls, return_exceptions=True), await call(server, "echo")]

    with asyncio.Runner(loop_factory=new_loop) as runner:
        ended = runner.run(asyncio.wait_for(scenario(), 60))
    assert len(ended) == CALLS + 1
    assert {type(one) for one in ended} <= {str, Unavailable}, ended
    assert ended[-1] == "{}"


async def test_a_process_that_ended_while_nobody_called_is_started_again_for_the_next_call():
    async with upstream() as server:
        process, _ = json.loads(await call(server, "fork"))
        os.kill(process, signal.SIGKILL)
        session = server._connections[""].session
        async with asyncio.timeout(60):
            while session.is_open:  # noqa: ASYNC110 - nothing tells us
                await asyncio.sleep(0.01)
        assert await call(server, "echo") == "{}"


async def test_a_process_that_does_not_read_delays_no_call_beyond_its_deadline():
    async with upstream() as server:
        await call(server, "echo")
        stopped = asyncio.create_task(call(server, "stop", seconds=0.5))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            # More than the pipe holds.
            with pytest.raises(Unavailable, match=r"did not answer within 0\.5 seconds"):
                await call(server, "echo", text="x" * 1_000_000, seconds=0.5)
            with pytest.raises(Unavailable):
                await stopped
            cancelled = asyncio.create_task(call(server, "echo", text="x" * 1_000_000))
            await asyncio.sleep(0)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled


async def test_calls_that_were_cancelled_do_not_end_a_process_that_answers():
    async with upstream() as server:
        process, _ = json.loads(await call(server, "fork"))
        other = asyncio.create_task(call(server, "hang"))
        for _ in range(5):
            with pytest.raises(Unavailable):
                await call(server, "hang", seconds=0.01)
        assert json.loads(await call(server, "fork"))[0] == process
        assert not other.done()
        other.cancel()


async def test_a_process_that_answers_nothing_is_replaced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcharter.govern.upstream.session.ANSWER_SECONDS", 0.1)
    async with upstream() as server:
        await call(server, "echo")
        for _ in range(3):
            with pytest.raises(Unavailable):
                await call(server, "stop", seconds=0.01)
        async with asyncio.timeout(60):
            while server.health().connections:  # noqa: ASYNC110 - nothing tells us
                await asyncio.sleep(0.01)
        assert await call(server, "echo") == "{}"


async def test_an_answer_of_50_megabytes_is_refused():
    before = peak_memory()
    async with upstream() as server:
        with pytest.raises(Unavailable, match="sent a message that is larger than 32,000,000 bytes"):
            await call(server, "big", bytes=ANSWER_BYTES)
        assert await call(server, "echo") == "{}"
    assert peak_memory() - before < MAX_GROWTH


async def test_a_line_without_an_end_is_refused():
    before = peak_memory()
    async with upstream() as server:
        with pytest.raises(Unavailable, match="sent a message that is larger than 32,000,000 bytes"):
            await call(server, "partial")
        assert await call(server, "echo") == "{}"
    assert peak_memory() - before < MAX_GROWTH


async def test_noise_on_stderr_is_read_and_not_kept():
    before = peak_memory()
    async with upstream() as server:
        assert await call(server, "stderr", bytes=ANSWER_BYTES) == "after noise"
    assert peak_memory() - before < MAX_GROWTH


async def test_a_process_that_closes_its_output_is_not_waited_for():
    async with upstream() as server:
        with pytest.raises(Unavailable, match="closed its output"):
            await call(server, "close", seconds=60)
        assert await call(server, "echo") == "{}"


async def test_many_announcements_of_a_new_list_are_answered_together():
    lists: list[int] = []
    groups = ProcessGroups()

    def count(tools: Any) -> None:
        lists.append(len(tools))

    server = Upstream("unkind", UpstreamTable(command=[sys.executable, SERVER]), groups, Path.cwd(), count)
    await call(server, "announce")
    for _ in range(5):
        await call(server, "echo")
    await server.close()
    groups.close()
    assert len(lists) < 50


# --- HTTP --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "problem"),
    [
        ("hang", "did not answer within 0.5 seconds"),
        ("drip", "did not answer within 0.5 seconds"),
        ("drip-events", "did not answer within 0.5 seconds"),
        ("cut", "broke the connection to"),
        ("cut-headers", "broke the connection to"),
        ("cut-events", "broke the connection to|ended the stream without an answer"),
        ("html", "answered 500 Error without a message of MCP"),
        ("unauthorized", "requires a token"),
        ("redirect", "moved from .* to 'http.*'. If you trust that address, set it as url in the charter"),
    ],
)
async def test_a_call_that_fails_over_http_gets_a_typed_error_and_costs_the_others_nothing(tool: str, problem: str):
    async with FaultyServer() as http, faulty(http.url) as server:
        await call(server, "echo")
        other = asyncio.create_task(call(server, "wait"))
        await http.waits.wait()
        with pytest.raises((Unavailable, SignInRequired), match=problem):
            await call(server, tool, seconds=0.5 if "hang" in tool or "drip" in tool else 20)
        http.go_on.set()
        assert await other == "done"
        assert await call(server, "echo") == "done"


async def test_credentials_do_not_follow_a_redirect(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("THEIR_TOKEN", "t0ken")
    secrets = {"X-Api-Key": "env:THEIR_TOKEN", "Authorization": "env:THEIR_TOKEN"}
    async with FaultyServer() as elsewhere, FaultyServer(elsewhere.url) as http:
        async with faulty(http.url, secrets=secrets, handshake=True) as server:
            with pytest.raises(Unavailable, match="moved from"):
                await call(server, "redirect")
        # Closing the session is a request too.
        assert http.methods[-1] == "DELETE"
        assert elsewhere.methods == []


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("unauthorized", "requires a token"),
        ("html", "answered 500 Error without a message of MCP"),
        ("redirect", "moved from"),
        ("cut", "broke the connection"),
    ],
)
async def test_a_server_that_fails_at_once_is_named_with_the_reason(fault: str, problem: str):
    async with FaultyServer(at_once=fault) as http, faulty(http.url) as server:
        with pytest.raises((Unavailable, SignInRequired), match=problem):
            await call(server, "echo")
        # A server that asks for a token works: the next caller may have one.
        assert (server.health().problem is None) == (fault == "unauthorized")


async def test_a_notification_that_is_never_accepted_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcharter.govern.upstream.http._NOTIFY_SECONDS", 0.2)
    async with FaultyServer(at_once="notification") as http, faulty(http.url, handshake=True) as server:
        with pytest.raises(Unavailable, match=r"did not accept 'notifications/initialized' within 0\.2 seconds"):
            await call(server, "echo")


async def test_an_answer_of_50_megabytes_over_http_is_refused():
    before = peak_memory()
    async with FaultyServer() as http, faulty(http.url) as server:
        with pytest.raises(Unavailable, match="sent an answer that is larger than 32,000,000 bytes"):
            await call(server, "big")
        assert await call(server, "echo") == "done"
    assert peak_memory() - before < MAX_GROWTH


# --- what is left ------------------------------------------------------------------------------------------


async def test_nothing_is_left_of_sessions_that_were_closed():
    ourselves = psutil.Process()

    async def open_and_close(http: FaultyServer) -> None:
        async with upstream(per="caller") as server, faulty(http.url) as web:
            await call(server, "fork", caller=os.urandom(4).hex())
            await call(web, "echo")
            with pytest.raises(Unavailable):
                await call(web, "cut")

    def left() -> tuple[int, int, int]:
        gc.collect()
        return ourselves.num_fds(), len(ourselves.children(recursive=True)), len(asyncio.all_tasks())

    async with FaultyServer() as http:
        await open_and_close(http)
        await http.is_quiet()
        before = left()
        for _ in range(SESSIONS):
            await open_and_close(http)
        await http.is_quiet()
        assert left() == before


async def test_nothing_is_kept_of_callers_who_are_gone():
    async with FaultyServer() as http, faulty(http.url, per="caller", idle_seconds=0.001) as server:
        for number in range(SESSIONS):
            await call(server, "echo", caller=f"caller {number}")
        await asyncio.sleep(0.01)
        await server.close_idle()
        gc.collect()
        assert (len(server._connections), len(server._locks), len(server._tasks)) == (0, 0, 0)
