"""Hands each item to everyone who listens. Who does not keep up is dropped, so that nothing waits without bound."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_WAITING = 100
"""Items that may wait for a subscriber."""
MAX_SUBSCRIBERS = 100


class TooManySubscribers(Exception):
    """No more can listen at the same time."""


class Subscriber(Generic[T]):
    """One who listens, or is about to."""

    def __init__(self) -> None:
        self.items: deque[T] = deque()
        self.added = asyncio.Event()
        self.ended = False

    def send(self, item: T) -> None:
        """Hand an item to this one. It never waits."""
        if len(self.items) >= MAX_WAITING:
            self.ended = True
        else:
            self.items.append(item)
        self.added.set()


class Subscribers(Generic[T]):
    """Everyone who listens in this process."""

    def __init__(
        self,
        on_first: Callable[[], object] = lambda: None,
        on_last: Callable[[], object] = lambda: None,
        most: int = MAX_SUBSCRIBERS,
    ) -> None:
        """`on_first` is called when somebody begins to listen, `on_last` when nobody does any more."""
        self._subscribers: set[Subscriber[T]] = set()
        self._on_first, self._on_last, self._most = on_first, on_last, most
        self.stopped = False

    @property
    def is_full(self) -> bool:
        """Whether no more can listen."""
        return len(self._subscribers) >= self._most

    def send(self, item: T) -> None:
        """Hand an item to everyone. It never waits."""
        for subscriber in self._subscribers:
            subscriber.send(item)

    def stop(self) -> None:
        """End all subscriptions, for ever."""
        self.stopped = True
        for subscriber in self._subscribers:
            subscriber.ended = True
            subscriber.added.set()

    async def listen(self, idle_seconds: float, subscriber: Subscriber[T] | None = None) -> AsyncGenerator[T | None]:
        """None at once, when it listens; then the items, and None whenever none has come for a while.

        It ends for one who does not keep up. Raises TooManySubscribers. A `subscriber` also gets items of its own.
        """
        if self.is_full:
            raise TooManySubscribers
        subscriber = subscriber or Subscriber[T]()
        subscriber.ended = self.stopped
        self._subscribers.add(subscriber)
        if len(self._subscribers) == 1:
            self._on_first()
        try:
            yield None
            while not subscriber.ended:
                if subscriber.items:
                    yield subscriber.items.popleft()
                    continue
                subscriber.added.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(idle_seconds):
                        await subscriber.added.wait()
                        continue
                yield None
        finally:
            self._subscribers.discard(subscriber)
            if not self._subscribers:
                self._on_last()
