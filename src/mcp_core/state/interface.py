"""The interface of the shared store."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from mcp_core.declare.spec import RateLimit
from mcp_core.result import Body

MAX_ENTRY_LENGTH = 1_000_000
"""In characters. Longer answers are not cached."""

MAX_EXACT_CALLS = 1000
"""Limits up to this many calls are exact: the time of each call is kept. Larger ones count calls in two windows."""


class Lookup(NamedTuple):
    """The generation of the data behind the tags of a tool, and the answer that was cached in it."""

    generation: str
    answer: Body | None


class StateUnavailable(Exception):
    """The shared store cannot be reached."""

    is_known = False
    """Whether the same was reported before, since the store was last reached. Logs need not repeat it."""


class DependencyHealth(NamedTuple):
    """Whether something that a server depends on can be reached."""

    name: str
    ok: bool
    since: float
    """When it became so, in seconds since the epoch."""
    detail: str = ""
    """Why it cannot be reached."""
    failures: int = 0
    """How often it became unreachable, since the start."""


class State(Protocol):
    """The shared store. Methods raise StateUnavailable where it cannot be reached."""

    async def open(self) -> None:
        """Connect. Returns after a bounded time also where that fails; `health` has the result."""
        ...

    async def hit(self, key: str, limit: RateLimit) -> float:
        """Count a call. Returns 0 within the limit, otherwise the seconds to wait."""
        ...

    async def hit_here(self, key: str, limit: RateLimit) -> float:
        """The same, for this process alone: while the store cannot be reached. Calls that it counted before count."""
        ...

    async def lookup(self, key: str, tags: Sequence[str]) -> Lookup:
        """The cached answer, if it is fresh and none of its tags was invalidated since."""
        ...

    async def store(self, key: str, generation: str, answer: Body, ttl: float) -> None:
        """Cache an answer for `ttl` seconds, under the generation that was looked up before it was made."""
        ...

    async def invalidate(self, tags: Sequence[str]) -> None:
        """Invalidate all cached answers behind these tags."""
        ...

    async def claim(self, nonce: str, ttl: float) -> bool:
        """Use a one-time value. False where it was used before."""
        ...

    async def reserve(self, key: str, text: str, ttl: float) -> str | None:
        """Keep a text under a key for `ttl` seconds. Returns the text that it holds already. None is evicted."""
        ...

    async def replace(self, key: str, text: str, ttl: float) -> None:
        """Keep another text under a key that is reserved."""
        ...

    async def reserved(self, key: str) -> str | None:
        """The text under a key that is reserved."""
        ...

    async def seal_key(self) -> bytes:
        """The key for sealing confirmations, the same for all processes that share this store."""
        ...

    # --- between processes -----------------------------------------------------------------------------

    async def mark(self, name: str, ttl: float) -> None:
        """Leave a mark that all processes see."""
        ...

    async def is_marked(self, name: str) -> bool:
        """Whether any process left this mark."""
        ...

    async def take_mark(self, name: str) -> bool:
        """Remove a mark. Only one of many who take it at once gets True."""
        ...

    async def add_member(self, name: str, member: str, ttl: float) -> None:
        """Add a text to a set that all processes see. The set is kept for `ttl` seconds after the last change."""
        ...

    async def remove_member(self, name: str, member: str) -> None:
        """Take a text out of a set."""
        ...

    async def members(self, name: str) -> frozenset[str]:
        """The texts in a set; none if it does not exist."""
        ...

    async def announce(self, message: str) -> None:
        """Send a message to all processes that listen, this one included."""
        ...

    async def listen(self, receive: Callable[[str], None]) -> None:
        """Receive all messages that are announced from now on."""
        ...

    # --- health ----------------------------------------------------------------------------------------

    def health(self) -> DependencyHealth | None:
        """The known health of the store, without using it. None if it is a part of this process."""
        ...

    async def check_health(self) -> DependencyHealth | None:
        """The same after a try, which takes a bounded time: for readiness."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
