"""A handler that holds the event loop is named in the log, and by the deadline that passed because of it."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from mcp_core import App, Settings
from mcp_core.calling import running
from mcp_core.calling.running import RunningHandlers


@pytest.fixture
def block(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A function that blocks for some seconds: all clocks go on, and nobody waits for it."""
    passed = 0.0

    def pass_time(seconds: float) -> None:
        nonlocal passed
        passed += seconds

    for name in ("perf_counter", "monotonic"):
        clock = getattr(time, name)
        monkeypatch.setattr(time, name, lambda clock=clock: clock() + passed)
    monkeypatch.setattr(running, "processor_wait", lambda: 0.0)
    return pass_time


def warnings_of(log: Any) -> list[str]:
    return [text for level, text in log.messages if level == "WARNING"]


def held(tool: str, seconds: str) -> str:
    return (
        f"{tool!r} held the event loop for {seconds} s, and nothing else was answered meanwhile. Declare its function "
        "with `def` instead of `async def`, so that it runs in a thread, or await asyncio.to_thread(...) where it "
        "blocks. This is logged once."
    )


async def test_a_handler_that_never_waits_is_named_once_with_what_to_do(block, log):
    app = App("test", version="1.0.0", settings=Settings(deadline=60))

    @app.tool
    async def compute(seconds: float) -> str:
        """Block for a while."""
        block(seconds)
        return "done"

    @app.tool
    async def fail() -> str:
        """Block for a while, and fail."""
        block(0.5)
        raise ValueError("after half a second")

    async with app:
        assert (await app.call("compute", {"seconds": 0.2})).text == "done"
        assert warnings_of(log) == []
        for _ in range(2):
            assert (await app.call("compute", {"seconds": 3.0})).text == "done"
        await app.call("fail")
    assert warnings_of(log) == [held("compute", "3.0"), held("fail", "0.5")]


async def test_a_handler_whose_thread_waited_for_a_processor_is_not_named(block, log, monkeypatch):
    app, waited = App("test", version="1.0.0", settings=Settings(deadline=60)), 0.0
    monkeypatch.setattr(running, "processor_wait", lambda: waited)

    @app.tool
    async def compute(seconds: float, waits: float) -> str:
        """Take some seconds, in some of which another process runs."""
        nonlocal waited
        block(seconds)
        waited += waits
        return "done"

    async with app:
        for waits in (3.0, 2.9):
            assert (await app.call("compute", {"seconds": 3.0, "waits": waits})).text == "done"
        assert warnings_of(log) == []
        assert (await app.call("compute", {"seconds": 3.0, "waits": 1.0})).text == "done"
    assert warnings_of(log) == [held("compute", "3.0")]


def test_the_time_that_this_thread_waited_for_a_processor_never_shrinks():
    first = running.processor_wait()
    assert 0 <= first <= running.processor_wait()


async def test_each_time_between_two_waits_counts_by_itself(block, log):
    app = App("test", version="1.0.0", settings=Settings(deadline=60))

    @app.tool
    async def crawl(first: float, second: float, third: float) -> str:
        """Block three times."""
        for seconds in (first, second, third):
            block(seconds)
            await asyncio.sleep(0)
        return "done"

    async with app:
        assert not (await app.call("crawl", {"first": 0.2, "second": 0.2, "third": 0.2})).is_error
        assert warnings_of(log) == []
        assert not (await app.call("crawl", {"first": 0.1, "second": 0.1, "third": 2.0})).is_error
    assert warnings_of(log) == [held("crawl", "2.0")]


async def test_a_wait_and_a_handler_in_a_thread_hold_nothing(block, log):
    app = App("test", version="1.0.0", settings=Settings(deadline=60))

    @app.tool
    async def wait() -> str:
        """Wait while the clock goes on."""
        asyncio.get_running_loop().call_soon(block, 3.0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return "done"

    waits = threading.Event()

    @app.tool
    def compute() -> str:
        """Block in a thread, when the event loop waits for it."""
        waits.wait(60)
        block(3.0)
        return "done"

    async with app:
        assert (await app.call("wait")).text == "done"
        calling = asyncio.ensure_future(app.call("compute"))
        await asyncio.sleep(0)
        waits.set()
        assert (await calling).text == "done"
    assert warnings_of(log) == []


async def test_the_deadline_names_the_handler_that_held_the_loop(block, log):
    app = App("test", version="1.0.0", settings=Settings(deadline=1))
    began = asyncio.Event()

    @app.tool
    async def compute() -> str:
        """Block, then wait."""
        block(3.0)
        await asyncio.sleep(60)
        return "done"

    @app.tool
    async def wait() -> str:
        """Wait for long."""
        began.set()
        await asyncio.sleep(60)
        return "done"

    async with app:
        waiting = asyncio.ensure_future(app.call("wait"))
        await began.wait()
        own = await app.call("compute")
        other = await waiting
    because = "'compute' held the event loop for 3.0 s."
    assert own.text == f'{{"error":"\'compute\' took longer than 1 second and was stopped: {because}"}}'
    assert other.text == f'{{"error":"\'wait\' took longer than 1 second and was stopped: {because}"}}'


async def test_a_deadline_that_would_have_passed_anyhow_names_nobody(block, log):
    app = App("test", version="1.0.0", settings=Settings(deadline=1))

    @app.tool
    async def compute() -> str:
        """Block."""
        block(0.5)
        return "done"

    @app.tool
    async def wait() -> str:
        """Wait for long."""
        asyncio.get_running_loop().call_soon(block, 5.0)
        await asyncio.sleep(60)
        return "done"

    async with app:
        await app.call("compute")
        answer = await app.call("wait")
    assert answer.text == '{"error":"\'wait\' took longer than 1 second and was stopped."}'


def test_the_names_that_are_remembered_are_bounded(block, log):
    handlers = RunningHandlers()
    for number in range(1100):
        handlers.note_hold(f"tool_{number}", 1.0, 0.0)
    assert len(warnings_of(log)) == 1000
