"""What a shared store must do, whichever it is."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from mcp_core.declare.spec import RateLimit

LARGEST_ENTRY = 1_000_000
"""Characters of an answer that is still kept."""


class CachedAnswer(NamedTuple):
    """A successful answer as it is kept: JSON text, and the words that go with it."""

    data: str | None = None
    message: str | None = None
    instruction: str | None = None
    hints: str | None = None


class StateUnavailable(Exception):
    """The shared store cannot be reached."""


class State(Protocol):
    """The shared store. A method raises StateUnavailable when it cannot be reached."""

    async def hit(self, key: str, limit: RateLimit) -> float:
        """Count a call. 0 when it is within the limit, else the seconds to wait."""
        ...

    async def generation(self, tags: Sequence[str]) -> str:
        """The age of the data behind these tags; part of each cache key."""
        ...

    async def forget(self, tags: Sequence[str]) -> None:
        """Make every cached answer behind these tags unreachable."""
        ...

    async def recall(self, key: str) -> CachedAnswer | None:
        """A cached answer that is still fresh."""
        ...

    async def remember(self, key: str, answer: CachedAnswer, ttl: float) -> None:
        """Keep an answer for `ttl` seconds."""
        ...

    async def claim(self, nonce: str, ttl: float) -> bool:
        """Use up a one-time value. False when it was used before."""
        ...

    async def seal_key(self) -> bytes:
        """The key that all processes sharing this store seal confirmations with."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
