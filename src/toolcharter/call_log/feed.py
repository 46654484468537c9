"""Sends new calls to whoever looks. Nothing runs while nobody does.

The calls are read from the store, once for all who look, so that those of other processes are among them.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from mcp_core.mcp_log import get_logger
from mcp_core.state.subscribers import Subscribers
from toolcharter.call_log.entry import CallEntry

if TYPE_CHECKING:
    from toolcharter.call_log.store import CallStore

logger = get_logger(__name__)

LOOK_SECONDS = 1.0
"""How often the store is asked for calls of other processes."""
IDLE_SECONDS = 15.0
"""After which a connection gets a sign of life, so that a proxy does not close it."""
MAX_AT_ONCE = 500


class CallFeed:
    """The new calls of all processes that share a store."""

    def __init__(self, store: "CallStore") -> None:
        self._store = store
        self._subscribers: Subscribers[Sequence[CallEntry]] = Subscribers(self._start, self._end)
        self._written, self._ready = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._last: int | None = None

    @property
    def is_full(self) -> bool:
        """Whether no more can look."""
        return self._subscribers.is_full

    @property
    def is_running(self) -> bool:
        """Whether somebody looks."""
        return self._task is not None

    def wake(self) -> None:
        """Look at once: this process has written calls."""
        self._written.set()

    def stop(self) -> None:
        """End all connections."""
        self._subscribers.stop()

    async def listen(self) -> AsyncGenerator[Sequence[CallEntry] | None]:
        """None when it listens; then each call that is written, in their order, and None as a sign of life."""
        async with aclosing(self._subscribers.listen(IDLE_SECONDS)) as items:
            async for item in items:
                if not self._ready.is_set():
                    await self._ready.wait()
                yield item

    def _start(self) -> None:
        self._task = asyncio.ensure_future(self._look())

    def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = self._last = None
            self._ready.clear()

    async def _look(self) -> None:
        while True:
            try:
                if self._last is None:
                    self._last = await self._store.last_id()
                    self._ready.set()
                elif entries := await self._store.after(self._last, MAX_AT_ONCE):
                    self._last = entries[-1].id
                    self._subscribers.send(entries)
            except Exception as error:  # noqa: BLE001 - whatever the database raises: the next look may work
                logger.debug("New calls cannot be read: %s", error)
            self._written.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._written.wait()
