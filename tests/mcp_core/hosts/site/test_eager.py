"""A coroutine that is begun at once behaves as in a task of its own."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import pytest

from mcp_core.hosts.site.eager import EagerTasks

number: ContextVar[int] = ContextVar("number", default=0)


async def in_callback(call: Callable[[], Any]) -> Any:
    """The result of a function that the event loop calls, without a task."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    loop.call_soon(lambda: done.set_result(call()))
    return await done


class Begin:
    """Begins coroutines in callbacks, after the spare task is ready."""

    def __init__(self) -> None:
        self.tasks = EagerTasks(asyncio.get_running_loop())

    async def __call__(self, *steps: Coroutine[Any, Any, None]) -> list[asyncio.Task[None] | None]:
        await asyncio.sleep(0)
        return await in_callback(lambda: [self.tasks.begin(coroutine) for coroutine in steps])


@pytest.fixture
async def begin() -> Begin:
    return Begin()


async def test_a_coroutine_that_does_not_wait_ends_at_once(begin: Begin):
    seen = []

    async def work() -> None:
        seen.append(asyncio.current_task() is not None)

    assert await begin(work(), work()) == [None, None]
    assert seen == [True, True]
    assert await in_callback(asyncio.current_task) is None


async def test_a_coroutine_that_waits_goes_on_in_the_task_that_it_began_in(begin: Begin):
    opened, tasks = asyncio.Event(), []

    async def work() -> None:
        tasks.append(asyncio.current_task())
        await opened.wait()
        tasks.append(asyncio.current_task())
        await asyncio.sleep(0)
        tasks.append(asyncio.current_task())

    first, second = await begin(work(), work())
    assert first is not None
    assert second is not None
    opened.set()
    await asyncio.gather(first, second)
    assert [tasks.count(first), tasks.count(second)] == [3, 3]


async def test_a_timeout_that_is_set_at_once_ends_a_wait(begin: Begin):
    ended = []

    async def work() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        with anyio.move_on_after(0.001) as scope:
            await anyio.sleep_forever()
        task = asyncio.current_task()
        assert task is not None
        ended.append((scope.cancelled_caught, task.cancelling()))

    for task in await begin(work(), work()):
        assert task is not None
        await task
    assert ended == [(True, 0), (True, 0)]


async def test_context_variables_stay_for_the_coroutine_and_do_not_reach_the_next_one(begin: Begin):
    seen = []

    async def work(value: int, *, waits: bool) -> None:
        seen.append(number.get())
        number.set(value)
        if waits:
            await asyncio.sleep(0)
            seen.append(number.get())

    tasks = await begin(work(1, waits=False), work(2, waits=True), work(3, waits=True))
    await asyncio.gather(*filter(None, tasks))
    assert sorted(seen) == [0, 0, 0, 2, 3]
    assert number.get() == 0


@pytest.mark.parametrize("when", ["by itself", "before it goes on", "while it waits"])
async def test_a_cancelled_coroutine_gets_the_cancellation_where_it_waits(begin: Begin, when: str):
    caught = []

    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        if when == "by itself":
            task.cancel()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            caught.append(task)
        task.uncancel()
        await asyncio.sleep(0)

    loop = asyncio.get_running_loop()
    tasks = EagerTasks(loop)
    await asyncio.sleep(0)

    def begin_and_cancel() -> asyncio.Task[None] | None:
        task = tasks.begin(work())
        if task is not None and when == "before it goes on":
            task.cancel()
        return task

    task = await in_callback(begin_and_cancel)
    if when == "while it waits":
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
    await task
    assert caught == [task]


async def test_several_coroutines_can_wait_for_one_future(begin: Begin):
    shared, seen = asyncio.get_running_loop().create_future(), []

    async def work() -> None:
        seen.append(await shared)

    def begin_after_another() -> list[asyncio.Task[None] | None]:
        return [asyncio.ensure_future(work()), begin.tasks.begin(work()), begin.tasks.begin(work())]

    await asyncio.sleep(0)
    tasks = await in_callback(begin_after_another)
    await asyncio.sleep(0)
    shared.set_result("ready")
    await asyncio.gather(*tasks)
    assert seen == ["ready"] * 3


async def test_what_is_kept_for_a_task_ends_with_its_coroutine(begin: Begin):
    kept: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
    done: list[int] = []

    async def work(value: int) -> None:
        task = asyncio.current_task()
        assert task is not None
        assert task not in kept
        kept[task] = value
        task.add_done_callback(lambda _: done.append(value))

    for value in range(3):
        assert await begin(work(value)) == [None]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert (len(kept), done) == (0, [0, 1, 2])


async def test_a_task_that_was_cancelled_by_a_coroutine_that_has_ended_is_not_used_again(begin: Begin):
    async def cancel() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    async def work() -> None:
        await asyncio.sleep(0)
        waited.append(True)

    waited: list[bool] = []
    await begin(cancel())
    (task,) = await begin(work())
    assert task is not None
    await task
    assert waited == [True]


async def test_an_exception_of_one_coroutine_is_reported_and_does_not_reach_others(begin: Begin):
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    error = RuntimeError("broken")

    async def fail() -> None:
        raise error

    ended: list[bool] = []

    async def work() -> None:
        ended.append(True)

    assert await begin(fail(), work()) is not None
    await asyncio.sleep(0)
    assert (reported, ended) == ([error], [True])
