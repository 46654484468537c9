"""What upstreams do wrong: each call gets an answer or a typed error, and nothing of ours is left."""

import asyncio
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_core.errors import Unavailable
from tests.toolcharter.govern.test_upstream import SERVER, call, upstream
from toolcharter.govern.charter import UpstreamTable
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.upstream import Upstream

ANSWER_BYTES = 50_000_000
MAX_GROWTH = 250_000_000

pytestmark = pytest.mark.requirement("GOV-5")


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# --- processes ---------------------------------------------------------------------------------------------


async def test_each_of_200_calls_ends_when_the_process_is_killed_and_the_next_ones_work():
    async with upstream() as server:
        process, _ = json.loads(await call(server, "fork"))
        calls = [asyncio.create_task(call(server, "hang" if n % 2 else "echo")) for n in range(200)]
        await calls[100]
        os.kill(process, signal.SIGKILL)
        async with asyncio.timeout(20):
            answers = await asyncio.gather(*calls, return_exceptions=True)
        assert {str(one) for one in answers[1::2]} <= {
            "The server 'unkind' was killed by signal 9.",
            "The server 'unkind' closed its input.",
        }
        assert {type(one) for one in answers[::2]} <= {str, Unavailable}
        assert [await call(server, "echo") for _ in range(3)] == ["{}"] * 3


async def test_a_process_that_ended_while_nobody_called_is_started_again_for_the_next_call():
    async with upstream() as server:
        process, _ = json.loads(await call(server, "fork"))
        os.kill(process, signal.SIGKILL)
        session = server._connections[""].session
        async with asyncio.timeout(20):
            while session.is_open:  # noqa: ASYNC110 - nothing tells us
                await asyncio.sleep(0.01)
        assert await call(server, "echo") == "{}"


async def test_a_process_that_does_not_read_delays_no_call_beyond_its_deadline():
    async with upstream() as server:
        await call(server, "echo")
        stopped = asyncio.create_task(call(server, "stop", seconds=0.5))
        await asyncio.sleep(0)
        async with asyncio.timeout(20):
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

    async def count(tools: Any) -> None:
        lists.append(len(tools))

    server = Upstream("unkind", UpstreamTable(command=[sys.executable, SERVER]), groups, Path.cwd(), count)
    await call(server, "announce")
    for _ in range(5):
        await call(server, "echo")
    await server.close()
    groups.close()
    assert len(lists) < 50
