"""One renewal of a token for all calls that need a new one at the same time, in one process and among several."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Generic, TypeVar

from mcp_core.files.private_file import locked

T = TypeVar("T")


class SharedRenewal(Generic[T]):
    def __init__(self) -> None:
        self._task: asyncio.Task[T] | None = None

    async def run(self, renew: Callable[[], Coroutine[Any, Any, T]], lock_file: Path | None = None) -> T:
        """The result of the renewal that is under way; without one, begin it.

        Processes with the same lock file renew one after the other: a refresh token is valid once. `renew` reads the
        stored token itself, as another process may have replaced it.
        """
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(renew() if lock_file is None else _run_locked(renew, lock_file))
        # A call that ends early must not end the renewal: the new refresh token would be lost.
        return await asyncio.shield(self._task)


async def _run_locked(renew: Callable[[], Coroutine[Any, Any, T]], lock_file: Path) -> T:
    lock_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = locked(lock_file)
    await asyncio.to_thread(lock.__enter__)
    try:
        return await renew()
    finally:
        lock.__exit__(None, None, None)
