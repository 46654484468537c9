"""The threads in which handlers that are not async run: a bounded number for each server, with a bounded queue.

A running thread cannot be stopped. A handler that exceeds its deadline keeps its thread until it returns: until then
the thread is stuck. A tool with half of all threads stuck is refused, so that the other tools go on.

Callers take turns, and none has all threads or the whole queue.
"""

import asyncio
import contextvars
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from mcp_core.errors import Busy
from mcp_core.logs.telemetry import SHARE_REFUSALS, THREADS, Sample
from mcp_core.mcp_log import current_log_context
from mcp_core.process.shares import Shares
from mcp_core.text.plurals import count, verb

WAITING_PER_THREAD = 16
"""How many calls may wait for each thread. Further ones are refused at once."""


class NeverBegan(asyncio.CancelledError):
    """A call was cancelled while it waited for a thread. Nothing was done."""


class StillRuns(asyncio.CancelledError):
    """A call was cancelled while its handler ran in a thread, which goes on."""


class _Job:
    """One call: a function to run, and the future of what it returns."""

    __slots__ = ("caller", "context", "function", "future", "loop", "started", "stuck", "tool")

    def __init__(self, tool: str, function: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.tool, self.function, self.loop = tool, function, loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.context = contextvars.copy_context()
        self.caller = log.caller if (log := current_log_context()) is not None else ""
        self.started = self.stuck = False

    def run(self) -> None:
        try:
            value, error = self.context.run(self.function), None
        except BaseException as raised:  # noqa: BLE001 - the pipeline deals with every exception of a handler
            value, error = None, raised
        with suppress(RuntimeError):  # the event loop has been closed, and nobody waits
            self.loop.call_soon_threadsafe(self._finish, value, error)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(error)


class HandlerThreads:
    """Runs handlers in at most `size` threads, which are started when they are first needed.

    They are daemon threads: a handler that hangs does not keep the process from ending.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._most_waiting = size * WAITING_PER_THREAD
        self._most_stuck = max(1, size // 2)
        self._jobs: dict[str, deque[_Job]] = {}
        """Those that wait, by caller; the caller whose turn is next comes first."""
        self._waiting = 0
        self._in_threads = Shares(size)
        self._taken = Shares(size + self._most_waiting)
        """The jobs that run or wait."""
        self.refused = 0
        """Calls that were refused because their caller had more than an equal share."""
        self._changed = threading.Condition()
        self._threads = self._idle = 0
        self._stuck: Counter[str] = Counter()
        self._closed = False

    @property
    def running(self) -> int:
        """Threads that run a handler, the stuck ones included."""
        return self._threads - self._idle

    @property
    def waiting(self) -> int:
        """Calls that wait for a thread."""
        return self._waiting

    @property
    def stuck(self) -> int:
        """Threads whose handler exceeded its deadline, or whose call was cancelled, and that still run."""
        return self._stuck.total()

    async def run(self, tool: str, function: Callable[[], Any]) -> Any:
        """Run a function. Raises Busy if it is not even queued, NeverBegan or StillRuns if it is cancelled."""
        job = self._add(tool, function)
        try:
            return await job.future
        except asyncio.CancelledError as error:
            if job.future.done() and not job.future.cancelled():
                raise  # raised by the handler itself
            raise (StillRuns if self._give_up(job) else NeverBegan) from error

    def close(self) -> None:
        """Let the threads end when they are idle."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _add(self, tool: str, function: Callable[[], Any]) -> _Job:
        job = _Job(tool, function, asyncio.get_running_loop())
        with self._changed:
            if (stuck := self._stuck[tool]) >= self._most_stuck:
                reason = f"{count(stuck, 'earlier call')} still {verb(stuck, 'runs', 'run')} after the deadline"
                raise Busy(f"{tool!r} is busy: {reason}. Nothing was done.")
            if self._threads - self._idle + self._waiting >= self._taken.most and self._taken.exceeds(job.caller, 1):
                self.refused += 1
                held = count(self._taken.held[job.caller], "call")
                raise Busy(f"{tool!r} is busy: you have {held} in threads, the rest is for others. Nothing was done.")
            if self._stuck.total() >= self.size or self._waiting >= self._most_waiting:
                raise _no_thread(tool)
            self._jobs.setdefault(job.caller, deque()).append(job)
            self._waiting += 1
            self._taken.take(job.caller)
            # Idle threads that have been notified, but have not taken their job yet, are counted by the queue.
            start = self._waiting > self._idle and self._threads < self.size
            if start:
                self._threads += 1
            else:
                self._changed.notify()
        if start:
            self._start(job)
        return job

    def _start(self, job: _Job) -> None:
        try:
            threading.Thread(target=self._work, name=f"handler-{self._threads}", daemon=True).start()
        except RuntimeError as error:  # the system has no more threads
            with self._changed:
                self._threads -= 1
                if not job.started:
                    self._remove(job)
                    raise _no_thread(job.tool) from error

    def _give_up(self, job: _Job) -> bool:
        """Take a job out of the queue, or mark its thread as stuck. Returns whether the handler has begun."""
        with self._changed:
            if job.started:
                if job.function is not _done:
                    job.stuck = True
                    self._stuck[job.tool] += 1
                return True
            self._remove(job)
            return False

    def _remove(self, job: _Job) -> None:
        """Take a job that has not begun out of the queue."""
        self._jobs[job.caller].remove(job)
        if not self._jobs[job.caller]:
            del self._jobs[job.caller]
        self._waiting -= 1
        self._taken.give_back(job.caller)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job.run()
            with self._changed:
                job.function = _done
                if job.stuck:
                    self._stuck[job.tool] -= 1
                self._in_threads.give_back(job.caller)
                self._taken.give_back(job.caller)
            del job

    def _next(self) -> _Job | None:
        with self._changed:
            self._idle += 1
            while (caller := self._next_caller()) is None and not self._closed:
                self._changed.wait()
            self._idle -= 1
            if caller is None:
                self._threads -= 1
                return None
            jobs = self._jobs.pop(caller)
            job = jobs.popleft()
            if jobs:
                self._jobs[caller] = jobs  # at the end
            self._waiting -= 1
            self._in_threads.take(caller)
            job.started = True
            return job

    def _next_caller(self) -> str | None:
        """The first caller who waits and may have another thread."""
        held, most = self._in_threads.held, self._in_threads.most
        return next((caller for caller in self._jobs if held.get(caller, 0) < most), None)


def _no_thread(tool: str) -> Busy:
    return Busy(f"{tool!r} is busy: all threads are in use. Nothing was done.")


def thread_samples(threads: HandlerThreads) -> Iterator[Sample]:
    """The threads as a metric."""
    yield Sample(THREADS, ("limit",), threads.size)
    yield Sample(THREADS, ("running",), threads.running)
    yield Sample(THREADS, ("stuck",), threads.stuck)
    yield Sample(THREADS, ("waiting",), threads.waiting)
    yield Sample(SHARE_REFUSALS, ("threads",), threads.refused)


def _done() -> None:
    """Stands in for the function of a job that has returned."""
