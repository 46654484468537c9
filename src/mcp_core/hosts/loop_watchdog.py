"""A thread that logs who held the event loop: while somebody does, nothing else is answered."""

import asyncio
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import CodeType, FrameType

from mcp_core.calling.running import processor_wait
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)

MAX_HOLD_SECONDS = 0.25
PAUSE_SECONDS = 0.1
"""Between two looks at the loop: a hold that is longer than both together is always seen."""
_MAX_FRAMES, _MAX_PLACES = 5, 1000


@contextmanager
def watching(loop: asyncio.AbstractEventLoop, pause: float = PAUSE_SECONDS) -> Generator[None]:
    """Watch the loop of this thread."""
    watchdog = _LoopWatchdog(loop, threading.get_ident(), pause)
    thread = threading.Thread(target=watchdog.run, name="loop-watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watchdog.stopped.set()


class _LoopWatchdog:
    def __init__(self, loop: asyncio.AbstractEventLoop, thread: int, pause: float) -> None:
        self._loop, self._thread, self._pause = loop, thread, pause
        self._native_id = threading.get_native_id()
        self._logged: set[CodeType] = set()
        self.stopped = threading.Event()

    def run(self) -> None:
        """Look at the loop, again and again."""
        while not self.stopped.wait(self._pause):
            turned, began, waited = threading.Event(), time.monotonic(), processor_wait(self._native_id)
            try:
                self._loop.call_soon_threadsafe(turned.set)
            except RuntimeError:  # the loop is closed
                return
            if turned.wait(MAX_HOLD_SECONDS):
                continue
            frame = sys._current_frames().get(self._thread)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - the one way to see another thread
            while not turned.wait(1.0):
                if self.stopped.is_set():
                    return
            # On a busy machine, the thread of the loop may only have waited for a processor.
            held = time.monotonic() - began - (processor_wait(self._native_id) - waited)
            if frame is not None and held > MAX_HOLD_SECONDS:
                self._log(frame, held)

    def _log(self, frame: FrameType, seconds: float) -> None:
        """Log a hold, once for each function. It may have begun some time before it was seen."""
        if frame.f_code in self._logged or len(self._logged) >= _MAX_PLACES:
            return
        self._logged.add(frame.f_code)
        logger.warning(
            "The event loop was held for %.1f s, and nothing else was answered meanwhile: %s. This is logged once.",
            seconds,
            ", called by ".join(_places(frame)),
        )


def _places(frame: FrameType | None) -> Generator[str]:
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return
        yield f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})"
        frame = frame.f_back
