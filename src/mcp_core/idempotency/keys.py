"""Idempotency keys: what is kept for one, and the interface of the store that keeps it.

A client sends a key with a mutation, in `_meta`. The call is carried out once; when it is sent again, the answer is
the first one. `database_store` keeps keys in the transaction of the write, `state_store` in the shared state.
"""

from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol


class KeyedCall(NamedTuple):
    """A call that came with an idempotency key."""

    caller: str
    key: str
    tool: str
    digest: str
    """Of the tool, its validated arguments and the declared headers."""
    deadline: float
    """In seconds. A call that has run for longer is no longer in progress."""
    repeatable: bool
    """Whether carrying it out a second time changes nothing more."""


class KeyRecord(NamedTuple):
    """The record of a key."""

    digest: str
    answer: str | None
    """None while the call is in progress, and where its outcome is not known."""
    in_progress: bool = False


class KeyTaken(Exception):
    """Another call has taken the key."""

    def __init__(self, record: KeyRecord) -> None:
        super().__init__("the idempotency key is taken")
        self.record = record


class KeyBusy(Exception):
    """The call waited for another one that holds the key, or the database, until its deadline. It did nothing."""


class Claim(Protocol):
    """A key that is ours while the call runs."""

    async def complete(self, answer: str, *, failed: bool) -> None:
        """Keep the answer. Without it, nothing is known about the outcome."""
        ...

    def abandon(self) -> None:
        """Note that the call never began."""
        ...


class KeyStore(Protocol):
    """Keeps the answers to calls with idempotency keys."""

    async def find(self, call: KeyedCall) -> KeyRecord | None:
        """The record of the key of a call."""
        ...

    def claim(self, call: KeyedCall) -> AbstractAsyncContextManager[Claim]:
        """Take the key for as long as the call runs. Raises KeyTaken or KeyBusy, here or during the call."""
        ...
