"""Signals end a process in time, whatever its threads do."""

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

INTERRUPTED = 128 + signal.SIGINT
"""The exit code after Ctrl+C, as shells have it."""
CLEANUP_SECONDS = 5.0
"""Enough to end a server that a command has started, and that does not answer."""


def exit_after(seconds: float, code: int) -> None:
    """End the process if it has not ended by then: Python would wait for threads that cannot be stopped."""
    timer = threading.Timer(seconds, os._exit, [code])
    timer.daemon = True
    timer.start()


def drain_notice(calls: int, seconds: float) -> str:
    """The line for a person who stops a server that still runs calls."""
    running = "1 call that is" if calls == 1 else f"{calls} calls that are"
    limit = "1 second" if seconds == 1 else f"{seconds:g} seconds"
    return f"Waiting up to {limit} for {running} running. A second signal stops at once.\n"


def run_interruptible(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as `asyncio.run` does. After Ctrl+C, the process cleans up for a few seconds at most."""
    return asyncio.run(_limit_cleanup(main))


async def _limit_cleanup(main: Coroutine[Any, Any, T]) -> T:
    # The handler of asyncio, which cancels the coroutine. An exception from here could end another task.
    cancel = signal.getsignal(signal.SIGINT)
    if not callable(cancel):  # ignored, as in the background of a script
        return await main

    def interrupt(sig: int, frame: FrameType | None) -> None:
        exit_after(CLEANUP_SECONDS, 128 + sig)
        cancel(sig, frame)

    # A signal that comes just before the event loop waits, or to another thread, would not wake it.
    # asyncio has it wake the loop for a handler of its own; ours does the work, and also while a tool blocks the loop.
    with suppress(NotImplementedError):  # Windows, where every signal wakes the loop
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
    signal.signal(signal.SIGINT, interrupt)
    try:
        return await main
    finally:
        signal.signal(signal.SIGINT, cancel)
