"""Runs calls at once, and leaves those that wait for something to a task.

Most calls never wait. A task of their own would be a copy of the context, a turn of the event loop and the task
itself, about a tenth of a whole call. So one task is kept ready. While a call runs until its end, or until it waits
for the first time, asyncio has this task as the current one, with its context. A call that waits is then resumed by
that task, and the next call gets another one.
"""

import asyncio
from asyncio.tasks import _enter_task, _leave_task  # pyright: ignore[reportPrivateUsage] - documented for such uses
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

CallSteps = Coroutine[Any, Any, None]


class CallTasks:
    """The tasks of the calls of one server."""

    def __init__(self) -> None:
        self._ready: _ReadyTask | None = None

    def run(self, call: CallSteps, wait_in: Callable[[asyncio.Task[None]], object]) -> None:
        """Run a call outside of any task, until it ends or waits. `wait_in` gets the task of a call that waits."""
        ready, self._ready = self._ready, None
        if ready is None or ready.steps.parked.done():
            ready = _ReadyTask()
        loop, task = ready.loop, ready.task
        _enter_task(loop, task)
        try:
            future = ready.context.run(call.send, None)
        except StopIteration:
            # Nothing may be left behind for the next call: no cancellation, and no context variable.
            if task.cancelling() or ready.context != ready.before:
                ready.steps.parked.cancel()
            else:
                self._ready = ready
            return
        except BaseException as error:  # noqa: BLE001 - what asyncio does with an error that no task's owner looks at
            ready.steps.parked.cancel()
            loop.call_exception_handler({"message": "A call raised an exception", "exception": error, "task": task})
            return
        finally:
            _leave_task(loop, task)
        ready.steps.resume(call, future)
        wait_in(task)


class _ReadyTask:
    """A task that waits for a call."""

    __slots__ = ("before", "context", "loop", "steps", "task")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.before = copy_context()
        self.context = self.before.copy()
        self.steps = _Steps(self.loop.create_future())
        self.task: asyncio.Task[None] = asyncio.Task(self.steps, loop=self.loop, context=self.context)


class _Steps(Coroutine[Any, Any, None]):
    """The coroutine of a task that is ready: it waits for a call, and is then the rest of that call."""

    __slots__ = ("_call", "_future", "parked")
    cr_running, cr_suspended = False, True
    """Members of every coroutine, which anyio looks at."""

    def __init__(self, parked: asyncio.Future[None]) -> None:
        self.parked = parked
        """Done when there is a call, or when the task is cancelled before."""
        self._call: CallSteps | None = None
        self._future: Any = None
        """The future that the call waits for, until the task does so."""

    @property
    def cr_frame(self) -> Any:
        """The frame of the call, for the stack of its task."""
        return getattr(self._call, "cr_frame", None)

    def resume(self, call: CallSteps, future: Any) -> None:
        """Go on with a call that waits for `future`."""
        self._call, self._future = call, future
        if not self.parked.done():
            self.parked.set_result(None)

    def send(self, value: Any, /) -> Any:
        if self._call is None:
            return next(self.parked.__await__())
        if self._future is not None:
            future, self._future = self._future, None
            return future
        return self._call.send(value)

    def throw(self, *error: Any) -> Any:
        if self._call is None:
            self.parked.cancel()
            raise error[0]
        if self._future is not None and self._future.cancel():
            return self.send(None)  # the cancellation comes from there, as in every task
        self._future = None
        return self._call.throw(*error)

    def close(self) -> None:
        if self._call is not None:
            self._call.close()

    def __await__(self) -> Any:
        raise RuntimeError("only a task runs this")
