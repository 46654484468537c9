"""The daily limits: how many more new and review cards may be shown today, in a deck with its subdecks.

A card counts against its own deck and against each of that deck's parents.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.model import CardState, Day, Deck, Preset, preset_of
from mcp_noema.store.conditions import NOT_UNDONE
from mcp_noema.store.tables import cards, reviews
from toolcharter.db import UtcTime

LimitedKind = Literal["review", "new"]
"""The kinds of cards that have a daily limit."""
LIMITED_KINDS: tuple[LimitedKind, ...] = ("review", "new")


@dataclass(frozen=True, slots=True)
class StudiedCounts:
    """The cards of a deck that were answered on a day."""

    new: int = 0
    review: int = 0


class DailyLimits:
    """The limits of a day for some decks of a user."""

    def __init__(
        self, decks: Sequence[Deck], all_decks: Mapping[str, Deck], studied: Mapping[int, StudiedCounts]
    ) -> None:
        self.presets: Mapping[int, Preset] = {deck.id: preset_of(deck, all_decks) for deck in decks}
        ids = {deck.name.casefold(): deck.id for deck in decks}
        parents = {
            deck.id: [ids[name.casefold()] for name in deck.parent_names if name.casefold() in ids] for deck in decks
        }
        self._path = {deck.id: (deck.id, *reversed(parents[deck.id])) for deck in decks}
        """A deck and its parents, the nearest first."""
        self._remaining: dict[LimitedKind, dict[int, int]] = {
            "new": {deck_id: preset.new_per_day for deck_id, preset in self.presets.items()},
            "review": {deck_id: preset.reviews_per_day for deck_id, preset in self.presets.items()},
        }
        for deck_id in self.presets.keys() & studied.keys():
            for outer_id in self._path[deck_id]:
                self._remaining["new"][outer_id] -= studied[deck_id].new
                self._remaining["review"][outer_id] -= studied[deck_id].review

    def remaining(self, deck_id: int, kind: LimitedKind) -> int:
        """How many more cards of this deck may be shown, given its parents' limits too."""
        remaining = self._remaining[kind]
        return max(0, min(remaining[path_id] for path_id in self._path[deck_id]))

    def reached(self, deck_id: int, kind: LimitedKind) -> list[int]:
        """The deck and its parents whose limit is reached, the outermost first."""
        return [path_id for path_id in reversed(self._path[deck_id]) if self._remaining[kind][path_id] <= 0]

    def take(self, deck_id: int, kind: LimitedKind) -> bool:
        """Count one more card, if the limits allow it."""
        if self.remaining(deck_id, kind) == 0:
            return False
        for path_id in self._path[deck_id]:
            self._remaining[kind][path_id] -= 1
        return True

    def count_allowed(self, waiting: Mapping[int, int], kind: LimitedKind) -> int:
        """How many of the waiting cards, counted by deck, the limits allow. The order of the cards does not matter."""
        allowed = Counter(waiting)
        for deck_id in sorted(self._path, key=lambda deck_id: -len(self._path[deck_id])):
            allowed[deck_id] = min(allowed[deck_id], max(0, self._remaining[kind][deck_id]))
            for parent_id in self._path[deck_id][1:2]:
                allowed[parent_id] += allowed[deck_id]
        return sum(allowed[deck_id] for deck_id, path in self._path.items() if len(path) == 1)


_STUDIED_CARDS = (
    # The deck is looked up card by card: a join might read all cards of the database for the few of a day.
    sa.select(sa.select(cards.c.deck_id).where(cards.c.id == reviews.c.card_id).scalar_subquery(), reviews.c.state)
    .where(
        reviews.c.user_id == sa.bindparam("user_id", type_=sa.BigInteger),
        reviews.c.reviewed_at >= sa.bindparam("begins", type_=UtcTime),
        reviews.c.reviewed_at < sa.bindparam("ends", type_=UtcTime),
        reviews.c.state.in_([CardState.NEW, CardState.REVIEW]),
        NOT_UNDONE,
    )
    .subquery("studied")
)
_STUDIED_COUNTS = sa.select(*_STUDIED_CARDS.c, sa.func.count()).group_by(*_STUDIED_CARDS.c)


def studied_on(connection: Connection, user_id: int, day: Day) -> dict[int, StudiedCounts]:
    """The new cards begun and the reviews made on a day, by deck, without undone reviews."""
    studied: dict[int, StudiedCounts] = {}
    parameters = {"user_id": user_id, "begins": day.begins, "ends": day.ends}
    rows: Any = connection.execute(_STUDIED_COUNTS, parameters)
    for deck_id, state, count in rows:
        if deck_id is None:  # the card was deleted since
            continue
        counts = studied.get(deck_id, StudiedCounts())
        is_new = state == CardState.NEW
        studied[deck_id] = StudiedCounts(counts.new + count * is_new, counts.review + count * (not is_new))
    return studied
