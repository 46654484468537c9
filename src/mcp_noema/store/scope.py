"""Whose cards and reviews a figure is about: a deck with all that are in it, or everything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_noema.model import Deck, DeckId, Preset, names_above, preset_of
from mcp_noema.repositories import Person
from mcp_noema.store import decks, people
from mcp_noema.store.tables import cards, reviews, undone


@dataclass(frozen=True, slots=True)
class Scope:
    """A user, and those of their decks that are meant."""

    person: Person
    known: Mapping[str, Deck]
    """All decks of the user, by folded name."""
    chosen: Sequence[Deck]
    is_all: bool

    @property
    def presets(self) -> dict[int, Preset]:
        """What holds for each deck, by its id."""
        return {deck.id: preset_of(deck, self.known) for deck in self.chosen}

    @property
    def outermost(self) -> list[Deck]:
        """Those that are in none of the others."""
        names = {deck.name.casefold() for deck in self.chosen}
        return [deck for deck in self.chosen if not any(name.casefold() in names for name in names_above(deck.name))]

    @property
    def of_cards(self) -> ColumnElement[bool]:
        """The condition on cards."""
        if self.is_all:
            return cards.c.user_id == self.person.id
        return cards.c.deck_id.in_([deck.id for deck in self.chosen])

    @property
    def of_reviews(self) -> ColumnElement[bool]:
        """The condition on reviews. Of everything, those of deleted cards too; never those taken back."""
        mine = standing(self.person.id)
        return mine if self.is_all else mine & reviews.c.card_id.in_(sa.select(cards.c.id).where(self.of_cards))


def part(column: ColumnElement[int], total: int, most: int) -> tuple[int, ColumnElement[bool]]:
    """One row in how many stands for all, where there are too many, and the condition that chooses them by their id."""
    one_in = max(1, -(-total // most))
    return one_in, sa.true() if one_in == 1 else column % one_in == 0


def standing(user_id: int) -> ColumnElement[bool]:
    """Reviews of a user that were not taken back."""
    return sa.and_(reviews.c.user_id == user_id, ~sa.exists().where(undone.c.review_id == reviews.c.id))


def scope(connection: Connection, owner: str, deck_id: DeckId | None) -> Scope:
    """A deck with all that are in it; without an id, all decks."""
    person = people.find(connection, owner)
    known = decks.by_name(connection, person.id)
    chosen = list(known.values()) if deck_id is None else decks.below(known, decks.find(known, deck_id))
    return Scope(person, known, chosen, is_all=deck_id is None)
