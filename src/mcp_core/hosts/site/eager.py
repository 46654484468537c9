"""Begins a coroutine at once, and makes a task of it only where it waits for something.

A task that the event loop begins waits for the next turn of the loop. Most direct calls wait for nothing: to begin and
end them in the callback that received them saves that turn, and on Python 3.11 the task too.
"""

import asyncio
import sys
from collections.abc import Coroutine, Generator
from contextvars import Context, copy_context
from types import coroutine
from typing import Any, cast
from weakref import getweakrefcount

Steps = Coroutine[Any, Any, None]


def _report(loop: asyncio.AbstractEventLoop, error: BaseException) -> None:
    loop.call_exception_handler({"message": "A call failed", "exception": error})


if sys.version_info >= (3, 12):

    class EagerTasks:
        """Begins coroutines. To be called from a callback of the event loop, not from a task."""

        def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
            self._loop = loop

        def begin(self, steps: Steps) -> asyncio.Task[None] | None:
            """Run a coroutine until it waits for something. Returns its task, or None where it has ended."""
            task = asyncio.Task(steps, loop=self._loop, eager_start=True)
            if not task.done():
                return task
            if not task.cancelled() and (error := task.exception()) is not None:
                _report(self._loop, error)
            return None

else:
    from asyncio.tasks import _enter_task, _leave_task  # pyright: ignore[reportPrivateUsage] - for makers of tasks

    class EagerTasks:
        """Begins coroutines. To be called from a callback of the event loop, not from a task.

        A handler may ask for its task, as `asyncio.timeout` does. It gets a spare one, which does nothing unless the
        coroutine waits for something: then it goes on with it. After a coroutine that ended at once, the spare task
        serves the next one, unless something still knows it.
        """

        def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
            self._loop, self._spare = loop, _SpareTask(loop)

        def begin(self, steps: Steps) -> asyncio.Task[None] | None:
            """Run a coroutine until it waits for something. Returns its task, or None where it has ended."""
            loop, spare = self._loop, self._spare
            if not spare.is_waiting:
                return loop.create_task(steps)
            context, task = copy_context(), spare.task
            _enter_task(loop, task)
            if not spare.references:
                spare.references = sys.getrefcount(task) + getweakrefcount(task)
            try:
                future = context.run(steps.send, None)
            except StopIteration:
                references = sys.getrefcount(task) + getweakrefcount(task)
                is_unknown = references <= spare.references and not task.cancelling()
            except Exception as error:  # noqa: BLE001 - as the loop does with that of a task
                _report(loop, error)
                is_unknown = False
            else:
                self._spare = _SpareTask(loop)
                spare.go_on(steps, future, context)
                return task
            finally:
                _leave_task(loop, task)
            if not is_unknown:
                self._spare = _SpareTask(loop)
                spare.end()
            return None

    class _SpareTask:
        """A task that waits until there is a coroutine to go on with."""

        def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
            self._needed: asyncio.Future[None] = loop.create_future()
            self._rest: tuple[Steps, Any, Context] | None = None
            self.is_waiting = False
            self.references = 0
            """To the task, also weak ones, where only this module and asyncio know it; 0 before they are counted."""
            self.task: asyncio.Task[None] = loop.create_task(cast(Steps, self._run()))

        def go_on(self, steps: Steps, future: Any, context: Context) -> None:
            """Go on with a coroutine that has been begun in the name of this task and has yielded `future`."""
            if future is not None:
                future._asyncio_future_blocking = False  # noqa: SLF001 - others may wait for it before this task does
            self._rest = (steps, future, context)
            self.end()

        def end(self) -> None:
            """End, after the coroutine if there is one."""
            if not self._needed.done():  # it is, if the coroutine has cancelled its task
                self._needed.set_result(None)

        @coroutine
        def _run(self) -> Generator[Any, Any, None]:
            self.is_waiting, cancelled = True, None
            try:
                yield from self._needed
            except asyncio.CancelledError as error:
                cancelled = error
            self.is_waiting = False
            if self._rest is None:
                if cancelled is not None:
                    raise cancelled
                return
            steps, future, context = self._rest
            if future is not None:
                future._asyncio_future_blocking = True  # noqa: SLF001 - now it is yielded
            try:
                while True:
                    try:
                        if cancelled is not None and (future is None or not future.cancel()):
                            raise cancelled
                        cancelled = None
                        sent = yield future
                    except BaseException as error:  # noqa: BLE001 - mostly a cancellation, which may be caught
                        cancelled, future = None, context.run(steps.throw, error)
                    else:
                        future = context.run(steps.send, sent)
            except StopIteration:
                return
