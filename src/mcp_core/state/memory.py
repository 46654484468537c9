"""The shared store in memory, for a single process."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from mcp_core.declare.spec import RateLimit
from mcp_core.state.interface import LARGEST_ENTRY, CachedAnswer, StateUnavailable

MAX_ENTRIES = 4096
MAX_CLAIMS = 65_536
"""Forgetting one that is still valid would allow it a second time, so more are refused."""


class MemoryState:
    """The shared store of one process, in memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._windows: dict[str, tuple[int, int, int, float]] = {}
        self._generations: dict[str, int] = {}
        self._answers: OrderedDict[str, tuple[float, CachedAnswer]] = OrderedDict()
        self._claims: dict[str, float] = {}
        self._key = secrets.token_bytes(32)

    async def hit(self, key: str, limit: RateLimit) -> float:
        """A sliding window: the previous window counts with the share of it that the sliding one still covers."""
        window = limit.window_ms / 1000
        now = self._clock()
        index, passed = int(now // window), now % window / window
        seen, current, previous, _ = self._windows.get(key, (index, 0, 0, window))
        if seen != index:
            current, previous = 0, current if seen == index - 1 else 0
        if previous * (1 - passed) + current + 1 > limit.max_calls:
            self._windows[key] = (index, current, previous, window)
            return _wait(limit.max_calls, current, previous, passed) * window
        if len(self._windows) >= MAX_ENTRIES and key not in self._windows:
            self._windows = {k: w for k, w in self._windows.items() if (w[0] + 2) * w[3] > now}
        self._windows[key] = (index, current + 1, previous, window)
        return 0.0

    async def generation(self, tags: Sequence[str]) -> str:
        return ".".join([str(self._generations.get(tag, 0)) for tag in tags])

    async def forget(self, tags: Sequence[str]) -> None:
        for tag in tags:
            self._generations[tag] = self._generations.get(tag, 0) + 1

    async def recall(self, key: str) -> CachedAnswer | None:
        entry = self._answers.get(key)
        if entry is None:
            return None
        if entry[0] <= self._clock():
            del self._answers[key]
            return None
        self._answers.move_to_end(key)
        return entry[1]

    async def remember(self, key: str, answer: CachedAnswer, ttl: float) -> None:
        if len(answer.data or "") + len(key) > LARGEST_ENTRY:
            return
        self._answers[key] = (self._clock() + ttl, answer)
        if len(self._answers) > MAX_ENTRIES:
            self._answers.popitem(last=False)

    async def claim(self, nonce: str, ttl: float) -> bool:
        now = self._clock()
        if self._claims.get(nonce, 0.0) > now:
            return False
        # The oldest come first, and all live equally long.
        while self._claims and next(iter(self._claims.values())) <= now:
            del self._claims[next(iter(self._claims))]
        if len(self._claims) >= MAX_CLAIMS:
            raise StateUnavailable("confirmations")
        self._claims[nonce] = now + ttl
        return True

    async def seal_key(self) -> bytes:
        return self._key

    def health(self) -> None:
        return None

    async def check_health(self) -> None:
        return None

    async def close(self) -> None:
        self._answers.clear()


def _wait(limit: int, current: int, previous: int, passed: float) -> float:
    """The share of a window that must pass until one more call is allowed."""
    if current + 1 <= limit and previous:
        return max(0.0, 1 - (limit - 1 - current) / previous - passed)
    # The current window alone is full: it must end, and then lose weight.
    return (1 - passed) + max(0.0, 1 - (limit - 1) / current)
