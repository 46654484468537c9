"""One renewal of a token for all calls that need a new one at the same time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SharedRenewal(Generic[T]):
    def __init__(self) -> None:
        self._task: asyncio.Task[T] | None = None

    async def run(self, renew: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the renewal that is under way; without one, begin it."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(renew())
        # A call that ends early must not end the renewal: the new refresh token would be lost.
        return await asyncio.shield(self._task)
