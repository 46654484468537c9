import asyncio
import gc
import json
import threading
import time

import pytest

from mcp_core import App, Settings
from tests.mcp_core.declared import Number, query


@pytest.mark.requirement("DEF-5")
async def test_a_handler_past_its_deadline_is_cancelled_and_the_call_ends_with_a_system_error():
    ended = []

    @query(response_time=0.05)
    async def hang() -> int:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return 1

    async with asyncio.timeout(60), App("test", version="1.0.0", format="result", tools=[hang]) as app:
        answer = await app.call("hang")
        assert app.telemetry.tallies["hang"].outcomes == {"system": 1}
    assert ended == ["cancelled"]
    assert json.loads(answer.text) == {
        "success": False,
        "error": "'hang' took longer than 0.05 seconds and was stopped.",
        "error_type": "DeadlineError",
        "instruction": "Present this error to the user and take no further action.",
    }


@pytest.mark.requirement("DEF-5")
async def test_the_response_time_sets_the_deadline_and_a_setting_overrides_it(default_settings: None):
    @query(response_time="fast")
    async def fast() -> int:
        return 1

    @query(response_time="medium")
    async def medium() -> int:
        return 1

    @query(response_time="slow")
    async def slow() -> int:
        return 1

    @query(response_time=7.0)
    async def own() -> int:
        return 1

    async def deadlines(settings: Settings) -> dict[str, float]:
        async with App(
            "test", version="1.0.0", format="result", tools=[fast, medium, slow, own], settings=settings
        ) as app:
            return {name: bound.deadline for name, bound in app._pipeline._tools.items()}

    assert await deadlines(Settings()) == {"fast": 1.0, "medium": 10.0, "slow": 120.0, "own": 7.0}
    assert await deadlines(Settings(deadline=3.0)) == {"fast": 3.0, "medium": 3.0, "slow": 3.0, "own": 7.0}


@pytest.mark.requirement("DEF-5")
async def test_the_deadline_of_the_setting_ends_a_call():
    @query(response_time="slow")
    async def hang() -> int:
        await asyncio.sleep(600)
        return 1

    settings = Settings(deadline=0.05)
    async with (
        asyncio.timeout(60),
        App("test", version="1.0.0", format="result", tools=[hang], settings=settings) as app,
    ):
        assert json.loads((await app.call("hang")).text)["error_type"] == "DeadlineError"


async def test_a_timeout_inside_a_handler_is_not_taken_for_the_deadline():
    @query()
    async def impatient() -> int:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(600)
        return 1

    async with App("test", version="1.0.0", format="result", tools=[impatient]) as app:
        assert json.loads((await app.call("impatient")).text)["error_type"] == "SystemError"


async def test_a_handler_that_is_not_async_does_not_block_the_others():
    go_on, main = threading.Event(), threading.current_thread()

    @query(response_time=60.0)
    def wait() -> bool:
        return go_on.wait(60) and threading.current_thread() is not main

    @query()
    async def quick() -> int:
        return 1

    async with App("test", version="1.0.0", format="result", tools=[wait, quick]) as app:
        waiting = asyncio.create_task(app.call("wait"))
        await asyncio.sleep(0)
        assert json.loads((await app.call("quick")).text) == {"success": True, "value": 1}
        assert not waiting.done()
        go_on.set()
        assert json.loads((await waiting).text) == {"success": True, "value": True}


@pytest.mark.requirement("DEF-5")
async def test_a_handler_that_is_not_async_has_a_deadline_too():
    go_on = threading.Event()

    @query(response_time=0.5)  # it begins in that time, also on a busy machine
    def hang() -> bool:
        return go_on.wait(60)

    async with App("test", version="1.0.0", format="result", tools=[hang]) as app:
        # The handler still waits when the call ends: nothing else would set the event.
        answer = json.loads((await app.call("hang")).text)
        go_on.set()
    assert answer["error_type"] == "DeadlineError"


class Stop(BaseException):
    """An exception that no `except Exception` catches."""


RAISED = {
    "a bug": ZeroDivisionError("division by zero"),
    "a system exit": SystemExit(3),
    "a base exception": Stop("stop"),
    "a group": BaseExceptionGroup("several", [SystemExit(1), ValueError("x")]),
    "a cancellation that nobody asked for": asyncio.CancelledError(),
    "the end of an iterator": StopIteration(1),
    "the end of an async iterator": StopAsyncIteration(1),
    "no memory": MemoryError(),
    "no stack": RecursionError("maximum recursion depth exceeded"),
}


@pytest.mark.requirement("ERR-1")
@pytest.mark.parametrize("kind", ["async", "sync"])
@pytest.mark.parametrize("error", RAISED.values(), ids=RAISED)
async def test_an_exception_of_a_handler_ends_only_its_call(error: BaseException, kind: str, log):
    @query()
    async def fail_async() -> int:
        raise error

    @query()
    def fail_sync() -> int:
        raise error

    @query({"a": 1, "b": 2})
    async def add(a: Number, b: Number) -> int:
        return a + b

    settings = Settings(deadline=60.0)  # a busy machine may need a second to start a thread
    async with App(
        "test", version="1.0.0", format="result", tools=[fail_async, fail_sync, add], settings=settings
    ) as app:
        result = json.loads((await app.call(f"fail_{kind}")).text)
        assert json.loads((await app.call("add", {"a": 2, "b": 3})).text) == {"success": True, "value": 5}
    assert result == {
        "success": False,
        "error": f"'fail_{kind}' failed because of an error in the server. "
        f"Error id {result['error_id']}: the server's log has the details.",
        "error_type": "SystemError",
        "error_id": result["error_id"],
        "instruction": "Present this error to the user and take no further action.",
    }
    (explained,) = [entry for entry in log.entries if entry.get("fields", {}).get("errorId") == result["error_id"]]
    assert explained["level"] == "ERROR"
    assert "Traceback" in explained["stack"]


async def test_a_generator_exit_out_of_a_thread_is_an_error_like_any_other():
    @query()
    def fail() -> int:
        raise GeneratorExit

    async with App("test", version="1.0.0", format="result", tools=[fail]) as app:
        assert json.loads((await app.call("fail")).text)["error_type"] == "SystemError"


async def test_a_cancelled_call_is_not_answered():
    begun = asyncio.Event()

    @query()
    async def hang() -> int:
        begun.set()
        await asyncio.sleep(600)
        return 1

    async with App("test", version="1.0.0", format="result", tools=[hang]) as app:
        call = asyncio.create_task(app.call("hang"))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_a_handler_that_ignores_its_deadline_leaves_no_cancellation_behind():
    @query(response_time=0.01)
    async def stubborn() -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return 7
        return 0

    async with App("test", version="1.0.0", format="result", tools=[stubborn]) as app:
        answer = await app.call("stubborn")
        assert json.loads(answer.text) == {"success": True, "value": 7}
        assert asyncio.current_task().cancelling() == 0


async def test_only_a_handler_that_waits_gets_a_timer_and_its_time_runs_from_the_start(monkeypatch: pytest.MonkeyPatch):
    loop = asyncio.get_running_loop()
    clock, timers = [100.0], []

    @query(response_time=30)
    async def busy() -> int:
        clock[0] += 20
        return 1

    @query(response_time=30)
    async def busy_then_waits() -> int:
        clock[0] += 20
        await asyncio.sleep(0)
        return 2

    def call_later(delay: float, *_: object) -> asyncio.TimerHandle:
        timers.append(delay)
        return asyncio.TimerHandle(delay, print, (), loop)

    async with App("test", version="1.0.0", format="result", tools=[busy, busy_then_waits]) as app:
        monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
        monkeypatch.setattr(loop, "call_later", call_later)
        answers = [(await app.call(tool)).text for tool in ("busy", "busy_then_waits")]
        monkeypatch.undo()
    assert [json.loads(text)["value"] for text in answers] == [1, 2]
    assert timers == [30 - 20]


async def test_a_handler_waits_as_often_as_it_likes_and_deals_with_what_its_waits_raise():
    async def refuse() -> None:
        await asyncio.sleep(0)
        raise LookupError("not there")

    @query()
    async def patient() -> list[str]:
        seen = [await asyncio.to_thread(str, number) for number in range(3)]
        try:
            await asyncio.create_task(refuse())
        except LookupError as error:
            seen.append(str(error))
        await asyncio.sleep(0)
        return seen

    async with App("test", version="1.0.0", format="result", tools=[patient]) as app:
        answer = await app.call("patient")
    assert json.loads(answer.text) == {"success": True, "value": ["0", "1", "2", "not there"]}


async def test_a_call_that_waits_leaves_no_garbage():
    """What refers to itself, such as a function to its own name, stays until garbage is collected."""

    @query(response_time=60, asks=True)
    async def wait_a_turn() -> int:
        await asyncio.sleep(0)
        return 1

    async with App("test", version="1.0.0", format="result", tools=[wait_a_turn]) as app:
        await asyncio.create_task(app.call("wait_a_turn"))
        gc.disable()
        try:
            left = []
            for _ in range(3):  # in one of the rounds, an earlier test may still leave something
                gc.collect()
                for _ in range(10):
                    await asyncio.create_task(app.call("wait_a_turn"))
                left.append(gc.collect())
            assert min(left) == 0
        finally:
            gc.enable()
