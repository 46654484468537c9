import asyncio
import threading
import time

import pytest

from mcp_core.hosts import loop_watchdog
from mcp_core.hosts.loop_watchdog import watching


def hold(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


async def seen_holds(log: pytest.LogCaptureFixture) -> list[str]:
    async with asyncio.timeout(30):
        while not (found := [r.getMessage() for r in log.records if r.name == loop_watchdog.__name__]):  # noqa: ASYNC110 - a thread logs
            await asyncio.sleep(0.01)
    return found


async def test_who_holds_the_event_loop_is_logged_once_with_its_callers(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(loop_watchdog, "processor_wait", lambda _: 0.0)  # of a busy machine
    with watching(asyncio.get_running_loop()):
        hold(0.6)
        (line,) = await seen_holds(caplog)
        hold(0.6)
    assert line.startswith("The event loop was held for ")
    assert " s, and nothing else was answered meanwhile: hold (" in line
    assert "called by test_who_holds_the_event_loop_is_logged_once_with_its_callers (" in line


async def test_a_loop_whose_thread_waits_for_a_processor_is_not_held(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    asked: list[int] = []
    monkeypatch.setattr(loop_watchdog, "processor_wait", lambda thread: asked.append(thread) or time.monotonic())
    with watching(asyncio.get_running_loop()):
        hold(0.6)
        async with asyncio.timeout(30):
            while len(asked) < 3:  # two of the hold, and one of the next look  # noqa: ASYNC110 - a thread asks
                await asyncio.sleep(0.01)
    assert set(asked) == {threading.get_native_id()}
    assert not caplog.records


async def test_a_loop_that_waits_is_not_held(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loop_watchdog, "MAX_HOLD_SECONDS", 30.0)  # of a busy machine
    with watching(asyncio.get_running_loop(), pause=0.001):
        for _ in range(50):
            await asyncio.sleep(0.001)
    assert not caplog.records
