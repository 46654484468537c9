"""The shared store in memory, for a single process."""

import secrets
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence

from mcp_core.declare.spec import RateLimit
from mcp_core.result import Body
from mcp_core.state.interface import MAX_ENTRY_LENGTH, MAX_EXACT_CALLS, Lookup, StateUnavailable

MAX_ENTRIES = 4096
MAX_CLAIMS = 65_536
"""Forgetting one that is still valid would allow it a second time, so more are refused."""
MAX_RESERVED = 65_536
MAX_RESERVED_TEXT = 64_000_000
"""Keys and characters of the texts under them. More are refused, as above."""
_NO_MEMBERS: frozenset[str] = frozenset()


class MemoryState:
    """The shared store of one process, in memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._windows: dict[str, _CallTimes | _CallCounter] = {}
        self._max_windows = MAX_ENTRIES
        self._generations: dict[str, int] = {}
        self._generation_texts: dict[tuple[str, ...], str] = {}
        """The generations of all tags of a tool as one text, since the last change."""
        self._answers: OrderedDict[str, tuple[float, str, Body]] = OrderedDict()
        self._claims: dict[str, float] = {}
        self._marks: OrderedDict[str, float] = OrderedDict()
        self._sets: OrderedDict[str, tuple[float, frozenset[str]]] = OrderedDict()
        self._receivers: list[Callable[[str], None]] = []
        self._reserved: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._reserved_text = 0
        self._key = secrets.token_bytes(32)

    async def open(self) -> None:
        pass

    async def hit(self, key: str, limit: RateLimit) -> float:
        now = self._clock()
        window = self._windows.get(key)
        if window is None:
            if len(self._windows) >= self._max_windows:
                self._drop_ended_windows(now)
            kind = _CallTimes if limit.max_calls <= MAX_EXACT_CALLS else _CallCounter
            window = self._windows[key] = kind(limit)
        return window.hit(now)

    async def hit_here(self, key: str, limit: RateLimit) -> float:
        return await self.hit(key, limit)

    def _drop_ended_windows(self, now: float) -> None:
        self._windows = {key: window for key, window in self._windows.items() if window.ends > now}
        # Not again for each of many callers who are all within their windows.
        self._max_windows = max(MAX_ENTRIES, 2 * len(self._windows))

    async def lookup(self, key: str, tags: Sequence[str]) -> Lookup:
        tags = tuple(tags)
        generation = self._generation_texts.get(tags)
        if generation is None:
            generation = ".".join(str(self._generations.get(tag, 0)) for tag in tags)
            self._generation_texts[tags] = generation
        entry = self._answers.get(key)
        if entry is None or entry[1] != generation or entry[0] <= self._clock():
            return Lookup(generation, None)
        self._answers.move_to_end(key)
        return Lookup(generation, entry[2])

    async def store(self, key: str, generation: str, answer: Body, ttl: float) -> None:
        if len(answer.data or "") + len(answer.blocks) + len(key) > MAX_ENTRY_LENGTH:
            return
        self._answers[key] = (self._clock() + ttl, generation, answer)
        if len(self._answers) > MAX_ENTRIES:
            self._answers.popitem(last=False)

    async def invalidate(self, tags: Sequence[str]) -> None:
        self._generation_texts.clear()
        for tag in tags:
            self._generations[tag] = self._generations.get(tag, 0) + 1

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

    async def reserve(self, key: str, text: str, ttl: float) -> str | None:
        if (kept := await self.reserved(key)) is not None:
            return kept
        now = self._clock()
        # The oldest come first, and all live equally long.
        while self._reserved and next(iter(self._reserved.values()))[0] <= now:
            self._drop(next(iter(self._reserved)))
        if len(self._reserved) >= MAX_RESERVED or self._reserved_text > MAX_RESERVED_TEXT:
            raise StateUnavailable("idempotency keys")
        await self.replace(key, text, ttl)
        return None

    async def replace(self, key: str, text: str, ttl: float) -> None:
        self._drop(key)
        self._reserved[key] = (self._clock() + ttl, text)
        self._reserved_text += len(text)

    async def reserved(self, key: str) -> str | None:
        expires, text = self._reserved.get(key, (0.0, ""))
        return text if expires > self._clock() else None

    def _drop(self, key: str) -> None:
        self._reserved_text -= len(self._reserved.pop(key, (0.0, ""))[1])

    async def seal_key(self) -> bytes:
        return self._key

    async def mark(self, name: str, ttl: float) -> None:
        self._marks[name] = self._clock() + ttl
        if len(self._marks) > MAX_ENTRIES:
            self._marks.popitem(last=False)

    async def is_marked(self, name: str) -> bool:
        return self._marks.get(name, 0.0) > self._clock()

    async def take_mark(self, name: str) -> bool:
        return self._marks.pop(name, 0.0) > self._clock()

    async def add_member(self, name: str, member: str, ttl: float) -> None:
        members = await self.members(name) | {member}
        self._sets[name] = (self._clock() + ttl, members)
        self._sets.move_to_end(name)
        if len(self._sets) > MAX_ENTRIES:
            self._sets.popitem(last=False)

    async def remove_member(self, name: str, member: str) -> None:
        expires, members = self._sets.get(name, (0.0, _NO_MEMBERS))
        if member in members:
            self._sets[name] = (expires, members - {member})

    async def members(self, name: str) -> frozenset[str]:
        expires, members = self._sets.get(name, (0.0, _NO_MEMBERS))
        return members if expires > self._clock() else _NO_MEMBERS

    async def announce(self, message: str) -> None:
        for receive in self._receivers:
            receive(message)

    async def listen(self, receive: Callable[[str], None]) -> None:
        self._receivers.append(receive)

    def health(self) -> None:
        return None

    async def check_health(self) -> None:
        return None

    async def close(self) -> None:
        self._answers.clear()


# --- rate limits: the same two algorithms as in redis_scripts --------------------------------------------------


class _CallTimes:
    """The times of the last calls, as many as the limit allows. A call must wait while the oldest is in the window."""

    __slots__ = ("_limit", "_oldest", "_times", "_window", "ends")

    def __init__(self, limit: RateLimit) -> None:
        self._limit, self._window = limit.max_calls, limit.window_ms / 1000
        self._times, self._oldest, self.ends = array("d"), 0, 0.0

    def hit(self, now: float) -> float:
        times = self._times
        if len(times) < self._limit:
            times.append(now)
        else:
            oldest = self._oldest
            wait = times[oldest] + self._window - now
            if wait > 0:
                return wait
            times[oldest] = now
            self._oldest = (oldest + 1) % self._limit
        self.ends = now + self._window
        return 0.0


class _CallCounter:
    """The calls of this window and the previous one, which counts by the share that the sliding window still covers."""

    __slots__ = ("_current", "_index", "_limit", "_previous", "_window", "ends")

    def __init__(self, limit: RateLimit) -> None:
        self._limit, self._window = limit.max_calls, limit.window_ms / 1000
        self._index: int = 0
        self._current: int = 0
        self._previous: int = 0
        self.ends = 0.0

    def hit(self, now: float) -> float:
        index, passed = int(now // self._window), now % self._window / self._window
        if index != self._index:
            self._previous = self._current if index == self._index + 1 else 0
            self._index, self._current = index, 0
        if self._previous * (1 - passed) + self._current + 1 > self._limit:
            return max(0.001, self._wait(passed) * self._window)
        self._current += 1
        self.ends = (index + 2) * self._window
        return 0.0

    def _wait(self, passed: float) -> float:
        """The share of a window that must pass until one more call is allowed."""
        if self._current + 1 <= self._limit and self._previous:
            return 1 - (self._limit - 1 - self._current) / self._previous - passed
        # The current window alone is full: it must end, and then lose weight.
        return (1 - passed) + max(0.0, 1 - (self._limit - 1) / self._current)
