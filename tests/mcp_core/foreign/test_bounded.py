import asyncio
import operator
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from mcp_core.foreign import bounded
from mcp_core.foreign.bounded import MAX_WAITING, MAX_WORKERS, Unfinished, run_bounded, run_bounded_sync

LONG = 60.0
"""Enough for work that is done at once on a busy machine."""
CATASTROPHE = ("(a+)+$", "a" * 60 + "b")
"""A pattern and a text that hold the interpreter's lock for years."""


class Unreadable(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)


def raise_unreadable() -> None:
    raise Unreadable("a", "b")


def take_memory() -> int:
    return len(bytearray(1 << 40))


def end_process() -> None:
    os._exit(3)


def test_a_function_runs_in_another_process_that_is_used_again():
    first = run_bounded_sync(os.getpid, deadline=LONG)
    assert first == run_bounded_sync(os.getpid, deadline=LONG) != os.getpid()
    assert run_bounded_sync(operator.add, [1], ["two"], deadline=LONG) == [1, "two"]


def test_what_a_function_raises_is_raised():
    with pytest.raises(ZeroDivisionError, match="zero"):
        run_bounded_sync(operator.truediv, 1, 0, deadline=LONG)
    with pytest.raises(RuntimeError, match=r"^Unreadable: ab$"):
        run_bounded_sync(raise_unreadable, deadline=LONG)


def test_a_function_that_prints_does_not_disturb_its_value(capfd: pytest.CaptureFixture[str]):
    assert run_bounded_sync(print, "words", deadline=LONG) is None


async def test_work_that_holds_the_lock_is_stopped_while_the_event_loop_goes_on():
    await run_bounded(os.getpid, deadline=LONG)
    search = asyncio.ensure_future(run_bounded(re.search, *CATASTROPHE, deadline=0.3))
    turns, began = 0, time.process_time()
    while not search.done():
        await asyncio.wait({search}, timeout=0.01)
        turns += 1
    assert turns > 5
    assert time.process_time() - began < 0.25
    with pytest.raises(Unfinished, match=r"^The work was stopped after 0.3 s\.$"):
        await search
    assert await run_bounded(operator.add, 1, 2, deadline=LONG) == 3


@pytest.mark.parametrize("function", [take_memory, end_process])
def test_work_that_ends_its_process_is_an_error_and_the_next_goes_on(function: object):
    with pytest.raises(Unfinished, match="ended before the work was done"):
        run_bounded_sync(function, deadline=LONG)  # pyright: ignore[reportArgumentType]
    assert run_bounded_sync(operator.add, 1, 2, deadline=LONG) == 3


def test_a_worker_that_was_killed_is_replaced():
    first = run_bounded_sync(os.getpid, deadline=LONG)
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert run_bounded_sync(os.getpid, deadline=LONG) not in (first, os.getpid())


async def test_work_that_cannot_begin_is_refused():
    taken = [bounded._workers.take(LONG) for _ in range(MAX_WORKERS)]
    with pytest.raises(Unfinished, match=r"^No worker process was free within 0.1 s\.$"):
        await run_bounded(operator.add, 1, 2, deadline=0.1)
    waiting = {asyncio.ensure_future(run_bounded(operator.add, 1, 2, deadline=LONG)) for _ in range(MAX_WAITING + 1)}
    refused, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for worker in taken:
        bounded._workers.give_back(worker)
    assert [str(one.exception()) for one in refused] == ["64 other pieces of work already wait for a worker process."]
    assert await asyncio.gather(*waiting) == [3] * MAX_WAITING


PARENT = """
import os, re, sys, threading
from mcp_core.foreign.bounded import run_bounded_sync
run_bounded_sync(os.getpid, deadline=60)
work = threading.Thread(
    target=run_bounded_sync, args=(re.search, "(a+)+$", "a" * 60 + "b"), kwargs={"deadline": 5}, daemon=True
)
if sys.argv[1] == "busy":
    work.start()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("doing", ["busy", "idle"])
@pytest.mark.parametrize("end", ["killed", "done"])
def test_no_worker_outlives_its_parent(doing: str, end: str):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, doing],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stderr is not None
        assert parent.stdout.readline() == b"ready\n"
        if end == "killed":
            parent.kill()
        else:
            parent.stdin.close()
        # The worker has its parent's standard error: it ends when both have ended.
        assert parent.stderr.read() == b""


def test_loading_the_module_starts_nothing():
    shown = "print(threading.active_count(), [worker._process for worker in bounded._workers._all])"
    code = f"import threading; from mcp_core.foreign import bounded; import toolcharter.foreign; {shown}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 [None, None]\n"
