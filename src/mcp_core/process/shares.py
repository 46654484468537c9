"""How much of something bounded each caller holds, so that one caller cannot take all of it."""

from collections.abc import Generator
from contextlib import contextmanager

_RESERVE = 5
"""One part in so many is left to other callers."""


class Shares:
    """The numbers that callers hold of something of which there are `bound`.

    A caller who is alone may hold all but a reserve, `most`. Beyond it, whoever holds more than an equal share is
    refused first: the reserve is for those who hold less.
    """

    def __init__(self, bound: int) -> None:
        self.most = bound - bound // _RESERVE
        self.held: dict[str, int] = {}
        """By the key of the caller; only those who hold some."""

    def exceeds(self, caller: str, more: int = 0) -> bool:
        """Whether a caller holds more than an equal share, or would with some more."""
        callers = len(self.held) + (caller not in self.held)
        return self.held.get(caller, 0) + more > max(1, self.most // callers)

    def take(self, caller: str) -> None:
        """Count one more."""
        self.held[caller] = self.held.get(caller, 0) + 1

    def give_back(self, caller: str) -> None:
        """Count one less."""
        if self.held[caller] == 1:
            del self.held[caller]
        else:
            self.held[caller] -= 1

    @contextmanager
    def holding(self, caller: str) -> Generator[None]:
        """Hold one."""
        self.take(caller)
        try:
            yield
        finally:
            self.give_back(caller)
