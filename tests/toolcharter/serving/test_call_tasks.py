"""Calls run at once; one that waits is resumed in a task, which it has had from its beginning."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from toolcharter.serving.call_tasks import CallTasks

name: ContextVar[str] = ContextVar("name", default="")


async def in_callback(function: Callable[[], Any]) -> Any:
    """Call a function from the event loop, outside of any task."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(lambda: done.set_result(function()))
    return await done


async def started(tasks: CallTasks, call: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
    waiting: list[asyncio.Task[None]] = []
    await in_callback(lambda: tasks.run(call, waiting.append))
    return waiting[0] if waiting else None


async def test_a_call_that_never_waits_has_ended_and_had_a_task():
    seen: list[Any] = []

    async def call() -> None:
        async with asyncio.timeout(60):  # noqa: ASYNC100 - it asks for the task
            seen.append(asyncio.current_task())

    tasks = CallTasks()
    assert await started(tasks, call()) is None
    assert await started(tasks, call()) is None
    assert isinstance(seen[0], asyncio.Task)
    assert seen[0] is seen[1]
    assert not seen[0].done()


async def test_a_call_that_waits_keeps_its_task_and_its_context():
    seen: list[Any] = []
    event = asyncio.Event()

    async def call(own: str) -> None:
        name.set(own)
        seen.append(asyncio.current_task())
        await event.wait()
        await asyncio.sleep(0)
        seen.extend((asyncio.current_task(), name.get()))

    tasks = CallTasks()
    task = await started(tasks, call("first"))
    assert task is not None
    event.set()
    await task
    assert seen == [task, task, "first"]


@pytest.mark.parametrize("waits", [False, True])
async def test_a_call_leaves_no_context_variable_to_the_next(waits: bool):
    seen: list[str] = []

    async def call() -> None:
        seen.append(name.get())
        name.set("left behind")
        if waits:
            await asyncio.sleep(0)

    tasks = CallTasks()
    running = [await started(tasks, call()) for _ in range(3)]
    await asyncio.gather(*(task for task in running if task is not None))
    assert seen == ["", "", ""]


async def test_a_call_that_cancels_itself_leaves_no_cancellation_to_the_next():
    ended: list[str] = []

    async def cancels_itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        ended.append("first")

    async def call() -> None:
        await asyncio.sleep(0)
        ended.append("second")

    tasks = CallTasks()
    assert await started(tasks, cancels_itself()) is None
    task = await started(tasks, call())
    assert task is not None
    await task
    assert ended == ["first", "second"]


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
@pytest.mark.parametrize("used", [False, True])
async def test_a_call_that_waits_can_be_cancelled_at_any_time_with_what_it_waits_for(turns: int, used: bool):
    inner: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    ended: list[str] = []

    async def call() -> None:
        try:
            await inner
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    tasks, waiting = CallTasks(), list[asyncio.Task[None]]()
    if used:
        assert await started(tasks, _nothing()) is None
        await asyncio.sleep(0)

    def begin() -> asyncio.Task[None]:
        tasks.run(call(), waiting.append)
        if not turns:
            waiting[0].cancel()
        return waiting[0]

    task = await in_callback(begin)
    for _ in range(turns):
        await asyncio.sleep(0)
    if turns:
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["cancelled"]
    assert inner.cancelled()


async def test_a_call_can_cancel_a_group_of_anyio():
    ended: list[str] = []

    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("inner")

    async def call() -> None:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(wait)
                await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
        ended.append("outer")

    task = await started(CallTasks(), call())
    assert task is not None
    assert task.get_stack()[0].f_code.co_name == "call"
    await task
    assert ended == ["inner", "outer"]


async def test_the_next_call_has_a_task_after_the_ready_one_was_cancelled():
    tasks = CallTasks()
    seen: list[Any] = []

    async def call() -> None:
        seen.append(asyncio.current_task())
        await asyncio.sleep(0)
        seen.append("ended")

    assert await started(tasks, _nothing()) is None
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    task = await started(tasks, call())
    assert task is not None
    await task
    assert seen == [task, "ended"]


async def test_an_error_that_a_call_raises_is_reported_and_the_next_call_runs():
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))

    async def call() -> None:
        raise ValueError("a defect")

    tasks = CallTasks()
    assert await started(tasks, call()) is None
    assert await started(tasks, _nothing()) is None
    assert [str(error) for error in reported] == ["a defect"]


async def _nothing() -> None:
    pass
