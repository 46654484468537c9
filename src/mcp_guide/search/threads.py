"""Threads for searches alone, so that slow searches never take the threads that read documents."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from toolcharter import Unavailable

T = TypeVar("T")

MAX_THREADS = 2
"""Searches of one index run one at a time anyway."""
MAX_SEARCHES = 32
"""The number of searches that run or wait for a thread."""


class SearchThreads:
    """A few threads with a limited queue. They are started when first needed."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._searches = set[Future[Any]]()

    async def run(self, work: Callable[[], T]) -> T:
        """Run the work in a thread. Raises Unavailable if too many searches wait."""
        if len(self._searches) >= MAX_SEARCHES:
            raise Unavailable(f"The server already has {MAX_SEARCHES} searches to do. Search again in a moment.")
        if self._executor is None:
            self._executor = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="search")
        search: Future[T] = self._executor.submit(copy_context().run, work)
        self._searches.add(search)
        # A search that was cancelled counts until its thread is free again.
        search.add_done_callback(self._searches.discard)
        return await asyncio.wrap_future(search)

    def close(self) -> None:
        """Cancel the searches that wait."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
