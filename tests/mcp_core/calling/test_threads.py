"""Handlers that are not async run in a bounded pool of their server, and the answers say what is known of them."""

import asyncio
import json
import threading
from collections import Counter
from typing import Any

import pytest

from mcp_core import App, Settings, ToolContext
from mcp_core.auth import user
from mcp_core.logs.telemetry import prometheus
from tests.mcp_core.declared import mutation, query
from tests.toolcharter.serving.raw_http import until


def texts(answers: list[Any]) -> Counter[tuple[str, str]]:
    return Counter(
        (found.get("error_type", "ok"), found.get("error", "")) for found in (json.loads(a.text) for a in answers)
    )


def threads_in(state: str, app: App) -> int:
    row = f'toolcharter_threads{{server="test",state="{state}"}} '
    (line,) = [line for line in prometheus([app.telemetry]).splitlines() if line.startswith(row)]
    return int(line.removeprefix(row))


@pytest.mark.requirement("OPS-8")
async def test_a_burst_of_hung_calls_is_answered_with_what_is_known_and_leaves_the_other_tools_alone():
    go_on, begun, returned = threading.Event(), Counter[str](), threading.Semaphore(0)

    @mutation(response_time=0.5)
    def hang() -> int:
        begun["hang"] += 1
        go_on.wait(60)
        returned.release()
        return 1

    @query(response_time=60.0)
    def quick() -> int:
        return 2

    settings = Settings(threads=6)
    async with App("test", version="1.0.0", format="result", tools=[hang, quick], settings=settings) as app:
        # First those that a thread takes: they run past their deadline, and cannot be stopped.
        first = await asyncio.gather(*(app.call("hang") for _ in range(3)))
        assert texts(first) == {
            (
                "DeadlineError",
                "'hang' took longer than 0.5 seconds. It cannot be stopped and still runs: its outcome is unknown.",
            ): 3
        }
        assert json.loads(first[0].text)["instruction"] == (
            "Present this error to the user and take no further action. "
            "It may still be done: check before it is called again."
        )
        assert (threads_in("limit", app), threads_in("running", app), threads_in("stuck", app)) == (6, 3, 3)
        # Half of the threads are stuck in one tool: it is refused at once, and the others go on.
        refused = await asyncio.gather(*(app.call("hang") for _ in range(500)))
        assert texts(refused) == {
            (
                "BusyError",
                "'hang' is busy: 3 earlier calls still run after the deadline. Nothing was done.",
            ): 500
        }
        assert json.loads((await app.call("quick")).text) == {"success": True, "value": 2}
        assert begun["hang"] == 3
        go_on.set()
        for _ in range(3):
            assert await asyncio.to_thread(returned.acquire, timeout=60)
        # A thread is free a moment after its handler has returned.
        while (answer := json.loads((await app.call("hang")).text)).get("error_type") == "BusyError":
            pass
        assert answer == {"success": True, "value": 1}
        async with asyncio.timeout(60):
            while threads_in("stuck", app):  # noqa: ASYNC110 - the other two are free a moment later
                await asyncio.sleep(0)


async def test_a_call_that_waited_in_vain_for_a_thread_never_began_and_a_full_queue_refuses_at_once():
    go_on, begun = threading.Event(), threading.Semaphore(0)

    @query(response_time=60.0)
    def occupy() -> int:
        begun.release()
        return int(go_on.wait(60))

    ran: list[int] = []

    @mutation(response_time=0.05)
    def late() -> int:
        ran.append(1)
        return 1

    @mutation(response_time=60.0)
    def patient() -> int:
        return 7

    settings = Settings(threads=1)
    async with App("test", version="1.0.0", format="result", tools=[occupy, late, patient], settings=settings) as app:
        occupied = asyncio.create_task(app.call("occupy"))
        assert await asyncio.to_thread(begun.acquire, timeout=60)
        assert texts([await app.call("late")]) == {
            ("BusyError", "'late' waited 0.05 seconds for a free thread and never began. Nothing was done."): 1
        }
        waiting = [asyncio.create_task(app.call("patient")) for _ in range(13)]
        await asyncio.sleep(0)
        assert threads_in("waiting", app) == 13
        assert texts([await app.call("late")]) == {
            ("BusyError", "'late' is busy: you have 14 calls in threads, the rest is for others. Nothing was done."): 1
        }
        go_on.set()
        assert texts(await asyncio.gather(*waiting)) == {("ok", ""): 13}
        assert json.loads((await occupied).text) == {"success": True, "value": 1}
    assert ran == []


async def test_a_read_that_runs_on_says_so_without_an_unknown_outcome():
    go_on = threading.Event()

    @query(response_time=0.5)
    def look() -> bool:
        return go_on.wait(60)

    async with App("test", version="1.0.0", format="result", tools=[look]) as app:
        answer = await app.call("look")
        go_on.set()
    assert texts([answer]) == {
        ("DeadlineError", "'look' took longer than 0.5 seconds. It cannot be stopped and still runs."): 1
    }


async def test_a_busy_server_is_one_warning_a_call_without_a_stack(log):
    go_on = threading.Event()

    @query(response_time=0.5)
    def hang() -> bool:
        return go_on.wait(60)

    async with App("test", version="1.0.0", format="result", tools=[hang], settings=Settings(threads=1)) as app:
        await app.call("hang")
        await app.call("hang")
        go_on.set()
    entries = [entry for entry in log.entries if entry["level"] in ("WARNING", "ERROR")]
    assert [(entry["level"], "stack" in entry) for entry in entries] == [("ERROR", False), ("WARNING", False)]


async def test_many_quick_calls_share_a_few_threads():
    seen: set[str] = set()

    @query(response_time=60.0)
    def name() -> int:
        seen.add(threading.current_thread().name)
        return 1

    async with App("test", version="1.0.0", format="result", tools=[name], settings=Settings(threads=4)) as app:
        for _ in range(20):
            assert texts(await asyncio.gather(*(app.call("name") for _ in range(50)))) == {("ok", ""): 50}
        await until(lambda: threads_in("running", app) == 0)  # a thread hands over its result before it is free
    assert 1 <= len(seen) <= 4


async def test_a_system_without_threads_left_refuses_the_call_and_goes_on_later(monkeypatch: pytest.MonkeyPatch):
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    @query(response_time=60.0)
    def one() -> int:
        return 1

    async with App("test", version="1.0.0", format="result", tools=[one]) as app:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            assert texts([await app.call("one")]) == {
                ("BusyError", "'one' is busy: all threads are in use. Nothing was done."): 1
            }
        assert (threads_in("running", app), threads_in("waiting", app)) == (0, 0)
        assert texts([await app.call("one")]) == {("ok", ""): 1}


@pytest.mark.requirement("FAR-3")
async def test_a_caller_with_many_calls_in_threads_leaves_threads_and_the_next_turn_to_others():
    go_on, begun, ended = threading.Event(), threading.Semaphore(0), list[str]()

    @query(response_time=60.0)
    def occupy() -> int:
        begun.release()
        go_on.wait(60)
        return 1

    @query(response_time=60.0)
    def quick(context: ToolContext) -> int:
        ended.append(context.caller_key)
        return 2

    ana, ben, cleo = (user(name, frozenset()) for name in ("ana", "ben", "cleo"))
    async with App(
        "test", version="1.0.0", format="result", tools=[occupy, quick], settings=Settings(threads=5)
    ) as app:
        occupied = [asyncio.create_task(app.call("occupy", caller=ana)) for _ in range(5)]
        for _ in range(4):
            assert await asyncio.to_thread(begun.acquire, timeout=60)
        assert texts([await app.call("quick", caller=ben)]) == {("ok", ""): 1}
        await until(lambda: threads_in("running", app) == 4)  # a thread hands over its result before it is free
        waiting = [asyncio.create_task(app.call("quick", caller=ana)) for _ in range(68)]
        await asyncio.sleep(0)
        assert texts([await app.call("quick", caller=ana)]) == {
            ("BusyError", "'quick' is busy: you have 68 calls in threads, the rest is for others. Nothing was done."): 1
        }
        assert 'toolcharter_share_refusals_total{server="test",bound="threads"} 6' in prometheus([app.telemetry])
        assert texts(await asyncio.gather(*(app.call("quick", caller=one) for one in (ben, cleo)))) == {("ok", ""): 2}
        assert ended == ["user:ben", "user:ben", "user:cleo"]
        go_on.set()
        assert texts(await asyncio.gather(*occupied, *waiting))["ok", ""] == 68
