"""The handlers that run, and those that held the event loop: while one does, no other call goes on."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mcp_core.errors import ToolError
from mcp_core.mcp_log import get_logger

if TYPE_CHECKING:
    from mcp_core.calling.bound import BoundTool

logger = get_logger(__name__)

MAX_HOLD_SECONDS = 0.25
"""How long a handler may hold the event loop before the log says so."""
MARK_SECONDS = 0.25
"""How old a mark of the time spent waiting for a processor may be."""
_MAX_NAMED = 1000

Reason = Callable[["BoundTool", asyncio.CancelledError], ToolError]
"""Why a handler is cancelled: `deadline_exceeded` or `server_stopping`, which make the error for its caller."""


class LoopHold(NamedTuple):
    """A time during which a handler held the event loop; `ended` is by `time.perf_counter`."""

    tool: str
    seconds: float
    ended: float

    def __str__(self) -> str:
        return f"{self.tool!r} held the event loop for {self.seconds:.1f} s"


class RunningHandlers(set[Callable[[Reason], None]]):
    """A function for each handler or gate that waits for something, which cancels it."""

    def __init__(self) -> None:
        super().__init__()
        self.last_hold: LoopHold | None = None
        self.marked = -MARK_SECONDS
        """When `mark` was last called, by `time.perf_counter`."""
        self._waited = processor_wait()
        self._named: set[str] = set()

    def mark(self, now: float) -> None:
        """Note how long this thread has waited for a processor so far: before a handler, at most 4 times a second."""
        self.marked, self._waited = now, processor_wait()

    def note_hold(self, tool: str, seconds: float, ended: float) -> None:
        """Remember that the handler of a tool held the event loop, and log it once for each tool.

        On a busy machine, the thread may only have waited for a processor. That is not the fault of the handler.
        """
        if seconds - (processor_wait() - self._waited) <= MAX_HOLD_SECONDS:
            return
        self.last_hold = hold = LoopHold(tool, seconds, ended)
        if tool in self._named or len(self._named) >= _MAX_NAMED:
            return
        self._named.add(tool)
        logger.warning(
            "%s, and nothing else was answered meanwhile. Declare its function with `def` instead of `async def`, so "
            "that it runs in a thread, or await asyncio.to_thread(...) where it blocks. This is logged once.",
            hold,
        )


def processor_wait(native_id: int | None = None) -> float:
    """How long a thread has waited for a processor since it began, in seconds; by default this thread.

    0 where the system does not say.
    """
    thread = "thread-self" if native_id is None else f"self/task/{native_id}"
    with suppress(OSError, ValueError, IndexError):  # Linux has the file
        return int(Path(f"/proc/{thread}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return 0.0
