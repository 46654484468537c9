"""The limits of a day: how many new and review cards may still be asked, in a deck with all that are in it.

A card counts against its own deck and against each deck above.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core.db import UtcTime
from mcp_noema.model import Day, Deck, Preset, State, preset_of
from mcp_noema.store.tables import cards, reviews, undone

Limited = Literal["review", "new"]
"""Kinds of cards that a day has a limit for."""
LIMITED: tuple[Limited, ...] = ("review", "new")


class Limits:
    """The limits of the day for some decks of a user."""

    def __init__(self, chosen: Sequence[Deck], decks: Mapping[str, Deck], done: Mapping[int, "Done"]) -> None:
        self.presets: Mapping[int, Preset] = {deck.id: preset_of(deck, decks) for deck in chosen}
        ids = {deck.name.casefold(): deck.id for deck in chosen}
        above = {deck.id: [ids[name.casefold()] for name in deck.above if name.casefold() in ids] for deck in chosen}
        self._path = {deck.id: (deck.id, *reversed(above[deck.id])) for deck in chosen}
        """A deck and those above it, outwards."""
        self._left: dict[Limited, dict[int, int]] = {
            "new": {number: preset.new_per_day for number, preset in self.presets.items()},
            "review": {number: preset.reviews_per_day for number, preset in self.presets.items()},
        }
        for number in self.presets.keys() & done.keys():
            for outer in self._path[number]:
                self._left["new"][outer] -= done[number].new
                self._left["review"][outer] -= done[number].review

    def left(self, deck_id: int, kind: Limited) -> int:
        """How many more cards of this deck, considering those above."""
        left = self._left[kind]
        return max(0, min(left[number] for number in self._path[deck_id]))

    def take(self, deck_id: int, kind: Limited) -> bool:
        """Let one more card through, if there is room."""
        if self.left(deck_id, kind) == 0:
            return False
        for number in self._path[deck_id]:
            self._left[kind][number] -= 1
        return True

    def let_through(self, waiting: Mapping[int, int], kind: Limited) -> int:
        """How many of so many cards in each deck there is room for. In which order they come makes no difference."""
        passed = Counter(waiting)
        for number in sorted(self._path, key=lambda number: -len(self._path[number])):
            passed[number] = min(passed[number], max(0, self._left[kind][number]))
            for outer in self._path[number][1:2]:
                passed[outer] += passed[number]
        return sum(passed[number] for number, path in self._path.items() if len(path) == 1)


@dataclass(frozen=True, slots=True)
class Done:
    """What was answered today."""

    new: int = 0
    review: int = 0


_TODAY = (
    # Looked up card by card: a join might read all cards of the database for the few of a day.
    sa.select(sa.select(cards.c.deck_id).where(cards.c.id == reviews.c.card_id).scalar_subquery(), reviews.c.state)
    .where(
        reviews.c.user_id == sa.bindparam("user_id", type_=sa.BigInteger),
        reviews.c.reviewed_at >= sa.bindparam("begins", type_=UtcTime),
        reviews.c.reviewed_at < sa.bindparam("ends", type_=UtcTime),
        reviews.c.state.in_([State.NEW, State.REVIEW]),
        ~sa.exists().where(undone.c.review_id == reviews.c.id),
    )
    .subquery("today")
)
_DONE = sa.select(*_TODAY.c, sa.func.count()).group_by(*_TODAY.c)


def done_on(connection: Connection, user_id: int, day: Day) -> dict[int, Done]:
    """By deck: new cards begun and reviews made on a day, without those taken back."""
    found: dict[int, Done] = {}
    asked = {"user_id": user_id, "begins": day.begins, "ends": day.ends}
    rows: Any = connection.execute(_DONE, asked)
    for deck_id, state, number in rows:
        if deck_id is None:  # the card was deleted since
            continue
        before = found.get(deck_id, Done())
        now = Done(new=number) if state == State.NEW else Done(review=number)
        found[deck_id] = Done(before.new + now.new, before.review + now.review)
    return found
