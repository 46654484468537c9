"""Whose turn it is to write to a SQLite file, which one connection can do at a time."""

import asyncio
from collections import deque


class WriteTurn:
    """The turn to write. What waits for it gets it in order.

    Writes that the event loop does itself need not hold it, because nothing else runs meanwhile. When the turn ends,
    all of them up to the next one that holds it go on together: one after the other would let new ones queue behind
    them, and under load the queue would never end.
    """

    def __init__(self) -> None:
        self.is_held = False
        """Whether somebody holds the turn."""
        self._waiting: deque[tuple[asyncio.Future[None], bool]] = deque()
        """With each, whether it is going to hold the turn for long."""

    async def until_free(self, *, long: bool = False) -> None:
        """Wait until nobody holds the turn."""
        while self.is_held:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append((future, long))
            try:
                await future
            except asyncio.CancelledError:
                if not self.is_held:
                    self._wake()  # it may have been this one's turn
                raise

    async def take(self, *, long: bool) -> None:
        """Wait for the turn, and hold it until `end`."""
        await self.until_free(long=long)
        self.is_held = True

    def end(self) -> None:
        """Let the next ones go on."""
        self.is_held = False
        self._wake()

    def _wake(self) -> None:
        while self._waiting:
            future, long = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                if long:
                    return
