"""Takes calls from the pipelines, and writes them in batches.

Every call is counted as it ends, and some are kept. A moment later a task redacts those, and writes both. Of more than
`MAX_IN_BATCH` calls, the failures come first, and then a sample at equal distances. Nobody can read more, and to keep
a call in full takes longer than its way through the pipeline.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from mcp_core.app import App
from mcp_core.logs.telemetry import CALL_LOG_CALLS, Sample
from mcp_core.mcp_log import get_logger
from toolcharter.call_log.counts import Counts
from toolcharter.call_log.ended_calls import MAX_IN_BATCH, EndedCalls
from toolcharter.call_log.entry import CallEntry
from toolcharter.call_log.feed import CallFeed
from toolcharter.call_log.lines import CallLines

if TYPE_CHECKING:
    from toolcharter.call_log.store import CallStore

logger = get_logger(__name__)

COLLECT_SECONDS = 0.25
"""How often calls are taken from the pipelines."""
BUSY_SECONDS = 1.0
"""How often they are written while there are many; otherwise at once, so that people see them."""
MAX_WHILE_BUSY = 6
"""Calls of a server that are kept in full each time while there are more than `MAX_IN_BATCH`: 24 a second."""
RETENTION_SECONDS = 60.0
"""How often old calls are deleted."""
_PATIENCE_SECONDS = 10.0
"""How long one batch may take, and how often the log repeats that calls cannot be written."""


class CallLog:
    """The record of recent calls of one process, for all its servers. Several processes may share its store."""

    def __init__(self, store: "CallStore", clock: Callable[[], float] = time.monotonic) -> None:
        self.store, self.feed = store, CallFeed(store)
        self._sources: list[EndedCalls] = []
        self.counts, self._lines = Counts(), CallLines()
        self._entries: list[CallEntry] = []
        self._is_busy = False
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._clock, self._cleaned, self._written_at, self._logged = clock, clock(), clock(), -_PATIENCE_SECONDS
        self.written = self.sampled_out = self.lost = 0

    async def open(self) -> None:
        """Begin to write."""
        logging.getLogger().addHandler(self._lines)
        self._task = asyncio.ensure_future(self._run())

    async def close(self) -> None:
        """Write what is left, and close the store."""
        self.feed.stop()
        if self._task is not None:
            self._closing.set()
            await self._task
        logging.getLogger().removeHandler(self._lines)
        await self.store.close()

    @asynccontextmanager
    async def record(self, app: App) -> AsyncGenerator[None]:
        """Write the calls of an open app."""
        ended = EndedCalls(app.name, self.counts)
        self._sources.append(ended)
        with app.keep_calls(ended.add):
            yield
        await self.write()
        self._sources.remove(ended)

    async def _run(self) -> None:
        while not self._closing.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(COLLECT_SECONDS):
                    await self._closing.wait()
            self._collect()
            now = self._clock()
            if not self._is_busy or now - self._written_at >= BUSY_SECONDS:
                await self._write_collected()
            if now - self._cleaned >= RETENTION_SECONDS:
                self._cleaned = now
                await self._try(self.store.delete_old)
        await self.write()

    async def write(self) -> None:
        """Write all calls that have ended so far."""
        self._collect()
        await self._write_collected()

    def _collect(self) -> None:
        """Take what has ended."""
        find_lines, most = self._lines.take(), MAX_WHILE_BUSY if self._is_busy else MAX_IN_BATCH
        self._is_busy = False
        for source in self._sources:
            taken, ended = source.take(most)
            self._entries += [source.entry(one, find_lines) for one in taken]
            self.sampled_out += ended - len(taken)
            self._is_busy = self._is_busy or ended > MAX_IN_BATCH

    async def _write_collected(self) -> None:
        """Write what has been collected. What cannot be written is dropped, and the log says so."""
        self._written_at = self._clock()
        entries, self._entries = self._entries, []
        counts = self.counts.take()
        if not counts:
            return
        if await self._try(self.store.write, entries, counts):
            self.written += len(entries)
            self.feed.wake()
        else:
            self.lost += sum(calls for calls, _ in counts.values())

    async def _try(self, work: Callable[..., Any], *arguments: Any) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await work(*arguments)
        except Exception as error:  # noqa: BLE001 - whatever the database raises: calls go on without the record
            if self._clock() - self._logged >= _PATIENCE_SECONDS:
                self._logged = self._clock()
                logger.warning("Recent calls cannot be kept in %s: %s", self.store.location, error)
            return False
        return True

    def samples(self) -> Iterator[Sample]:
        """The calls as a metric."""
        yield Sample(CALL_LOG_CALLS, ("written",), self.written)
        yield Sample(CALL_LOG_CALLS, ("counted",), self.sampled_out)
        yield Sample(CALL_LOG_CALLS, ("lost",), self.lost)
