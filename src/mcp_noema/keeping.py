"""What tools ask of the place where things are kept. store/ answers, in SQL.

`owner` is the name of the user whose things are meant. What is not there, or belongs to someone else, is NotFound.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from mcp_noema.model import Deck, DeckId, Preset


@dataclass(frozen=True, slots=True)
class DeckCounts:
    """What waits in a deck today, whatever its limits, and how much there is."""

    new: int = 0
    learning: int = 0
    due: int = 0
    suspended: int = 0
    cards: int = 0

    def __add__(self, other: "DeckCounts") -> "DeckCounts":
        return DeckCounts(
            self.new + other.new,
            self.learning + other.learning,
            self.due + other.due,
            self.suspended + other.suspended,
            self.cards + other.cards,
        )


@dataclass(frozen=True, slots=True)
class DeckView:
    """A deck, the preset that holds for it, and what is in it and below."""

    deck: Deck
    preset: Preset
    counts: DeckCounts


@dataclass(frozen=True, slots=True)
class Removed:
    """What went with a deck."""

    name: str
    decks: int
    notes: int
    cards: int


class Decks(Protocol):
    """The decks."""

    async def add(self, owner: str, name: str, description: str, now: datetime) -> DeckView:
        """Make a deck, and those it is in where they are missing."""
        ...

    async def get(self, owner: str, deck_id: DeckId, now: datetime) -> DeckView: ...

    async def all(self, owner: str, now: datetime) -> list[DeckView]:
        """In the order of their names."""
        ...

    async def change(
        self,
        owner: str,
        deck_id: DeckId,
        *,
        name: str | None,
        description: str | None,
        preset: Mapping[str, Any],
        now: datetime,
    ) -> DeckView:
        """Change what is given. The decks below follow a new name."""
        ...

    async def remove(self, owner: str, deck_id: DeckId, now: datetime) -> Removed:
        """Delete it with everything in it; the log of reviews stays."""
        ...
