"""Functions that foreign data can make run for minutes, in worker processes that are ended at a deadline.

A thread is not enough: the search of a regular expression, or a schema in a library, holds the interpreter's lock, so
that nothing else runs, not even the handler of a signal.
"""

import asyncio
import atexit
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar, cast

T = TypeVar("T")

MAX_WORKERS = 2
MAX_WAITING = 64
"""Work that waits for a worker. More is refused at once."""
START_SECONDS = 30.0
"""How long a worker may take to start and to import the module of the function."""
_WORKER = Path(__file__).with_name("worker.py")


class Unfinished(Exception):
    """Work was not finished in a worker process. The message says why."""


async def run_bounded(function: Callable[..., T], *arguments: Any, deadline: float) -> T:
    """The value of a function of a module, called in a worker process that is ended after `deadline` seconds.

    Raises Unfinished, also if no worker becomes free in the same time, and whatever the function raises. Function,
    arguments and value are pickled.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def finish(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def work() -> None:
        try:
            value, error = run_bounded_sync(function, *arguments, deadline=deadline), None
        except Exception as raised:  # noqa: BLE001 - handed to whoever waits
            value, error = None, raised
        with suppress(RuntimeError):  # the event loop has been closed, and nobody waits
            loop.call_soon_threadsafe(finish, value, error)

    # A thread of a pool would keep the process from ending.
    threading.Thread(target=work, name="bounded", daemon=True).start()
    return await future


def run_bounded_sync(function: Callable[..., T], *arguments: Any, deadline: float) -> T:
    """The same for commands: it blocks."""
    request = pickle.dumps((function, arguments))
    worker = _workers.take(deadline)
    try:
        outcome = worker.run(request, deadline)
    finally:
        _workers.give_back(worker)
    value, error = pickle.loads(outcome)  # noqa: S301 - written by our own worker
    if error is not None:
        raise error
    return value


class _WorkerProcess:
    """A process that runs one function at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, request: bytes, deadline: float) -> Any:
        """The pickled value and error of a pickled call. Raises Unfinished after ending the process."""
        process, has_begun = self._started(), False
        pipe = cast(IO[bytes], process.stdout)
        try:
            with _ending(process, START_SECONDS):
                _send(process, (deadline, request))
                if outcome := pickle.load(pipe):  # noqa: S301 - written by our own worker
                    return outcome  # the function could not be imported
            has_begun = True
            with _ending(process, deadline):
                return pickle.load(pipe)  # noqa: S301 - the same
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self.close()
            if not has_begun:
                raise Unfinished("The worker process could not begin the work.") from error
            if isinstance(error, TimeoutError):
                raise Unfinished(f"The work was stopped after {deadline:g} s.") from None
            raise Unfinished("The worker process ended before the work was done.") from error

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError), process:  # closes the pipes, and waits
                pass

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            # -I: nothing but the standard library can be imported until the first message has brought our path.
            command = [sys.executable, "-I", str(_WORKER)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
            with suppress(OSError):  # it has ended already, as the call that follows will find
                _send(self._process, sys.path)
        return self._process


def _send(process: "subprocess.Popen[bytes]", message: Any) -> None:
    pipe = cast(IO[bytes], process.stdin)
    pickle.dump(message, pipe)
    pipe.flush()


@contextmanager
def _ending(process: "subprocess.Popen[bytes]", seconds: float) -> Generator[None]:
    """A block that may take so many seconds. Then the process is killed, and TimeoutError is raised."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, EOFError, pickle.UnpicklingError):
        if is_late.is_set():
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
        timer.join()
    if is_late.is_set():  # the answer came in the same moment
        raise TimeoutError


class _WorkerProcesses:
    """The worker processes of this process. They are started when they are first needed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._idle = [_WorkerProcess() for _ in range(MAX_WORKERS)]
        self._all = tuple(self._idle)
        self._waiting = 0

    def take(self, seconds: float) -> _WorkerProcess:
        """The worker that was used last. Raises Unfinished if none is free in time."""
        with self._changed:
            if self._waiting >= MAX_WAITING:
                raise Unfinished(f"{MAX_WAITING} other pieces of work already wait for a worker process.")
            self._waiting += 1
            try:
                if not self._changed.wait_for(lambda: self._idle, seconds):
                    raise Unfinished(f"No worker process was free within {seconds:g} s.")
            finally:
                self._waiting -= 1
            return self._idle.pop()

    def give_back(self, worker: _WorkerProcess) -> None:
        with self._changed:
            self._idle.append(worker)
            self._changed.notify()

    def close(self) -> None:
        """End all processes."""
        for worker in self._all:
            worker.close()


_workers = _WorkerProcesses()


def _forget_workers() -> None:
    global _workers  # noqa: PLW0603 - a forked process cannot share the pipes of its parent
    _workers = _WorkerProcesses()


@atexit.register
def _end_workers() -> None:
    _workers.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)
