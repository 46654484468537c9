"""The interface of the shared store."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from mcp_core.declare.spec import RateLimit

LARGEST_ENTRY = 1_000_000
"""In characters. Longer answers are not cached."""


class CachedAnswer(NamedTuple):
    """A successful answer in the cache: its parts as JSON texts, and its message and instruction."""

    data: str | None = None
    message: str | None = None
    instruction: str | None = None
    hints: str | None = None
    blocks: str = ""
    verbatim: bool = False


class StateUnavailable(Exception):
    """The shared store cannot be reached."""


class DependencyHealth(NamedTuple):
    """Whether something that a server depends on can be reached."""

    name: str
    ok: bool
    since: float
    """When it became so, in seconds since the epoch."""
    detail: str = ""
    """Why it cannot be reached."""


class State(Protocol):
    """The shared store. Methods raise StateUnavailable where it cannot be reached."""

    async def hit(self, key: str, limit: RateLimit) -> float:
        """Count a call. Returns 0 within the limit, otherwise the seconds to wait."""
        ...

    async def generation(self, tags: Sequence[str]) -> str:
        """The generation of the data behind these tags, a part of each cache key."""
        ...

    async def forget(self, tags: Sequence[str]) -> None:
        """Invalidate all cached answers behind these tags."""
        ...

    async def recall(self, key: str) -> CachedAnswer | None:
        """The cached answer, if it is still fresh."""
        ...

    async def remember(self, key: str, answer: CachedAnswer, ttl: float) -> None:
        """Cache an answer for `ttl` seconds."""
        ...

    async def claim(self, nonce: str, ttl: float) -> bool:
        """Use a one-time value. False where it was used before."""
        ...

    async def seal_key(self) -> bytes:
        """The key for sealing confirmations, the same for all processes that share this store."""
        ...

    def health(self) -> DependencyHealth | None:
        """What is known of the store without using it. None where it is a part of this process."""
        ...

    async def check_health(self) -> DependencyHealth | None:
        """The same after a try, which takes a bounded time: for readiness."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
