"""What waits to be asked: learning, review and new cards, within the limits of the day.

A limit holds for a deck with all that are in it: a card counts against its own deck and against each deck above.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_noema.keeping import DeckCounts, Person
from mcp_noema.model import Day, Deck, Preset, State, preset_of
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, cards, reviews, undone

AHEAD = timedelta(minutes=20)
"""A learning card that is due this soon is shown when nothing else waits."""
_TOGETHER = 200
"""How many decks one statement asks about: SQLite joins no more than 500 parts."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A card that waits, and in which queue."""

    id: int
    note_id: int
    deck_id: int
    queue: int
    due: datetime | None


def available(now: datetime) -> ColumnElement[bool]:
    """Not buried, or no longer."""
    return sa.or_(cards.c.buried_until.is_(None), cards.c.buried_until <= now)


def count(connection: Connection, deck_ids: Collection[int], person: Person, now: datetime) -> Mapping[int, DeckCounts]:
    """How many cards wait in each deck today, whatever the limits, and how many there are."""
    day = person.preferences.day_of(now)
    waiting = sa.and_(available(now), sa.or_(cards.c.queue == NEW, cards.c.due < day.ends))
    by_queue = (
        sa.select(cards.c.deck_id, cards.c.queue, sa.func.count(), sa.func.count(sa.case((waiting, 1))))
        .where(cards.c.deck_id.in_(deck_ids))
        .group_by(cards.c.deck_id, cards.c.queue)
    )
    counted = dict.fromkeys(deck_ids, DeckCounts())
    for deck_id, queue, total, ready in connection.execute(by_queue):
        found = {NEW: DeckCounts(new=ready), LEARNING: DeckCounts(learning=ready), REVIEW: DeckCounts(due=ready)}
        counted[deck_id] += found.get(queue, DeckCounts(suspended=total)) + DeckCounts(cards=total)
    return counted


@dataclass
class Allowance:
    """How many more cards of a deck, and of those in it, may be shown today."""

    new: int
    review: int


class Limits:
    """The limits of the day for some decks of a user."""

    def __init__(self, chosen: Sequence[Deck], decks: Mapping[str, Deck], done: Mapping[int, "Done"]) -> None:
        self.presets: Mapping[int, Preset] = {deck.id: preset_of(deck, decks) for deck in chosen}
        self._left = {
            deck.id: Allowance(self.presets[deck.id].new_per_day, self.presets[deck.id].reviews_per_day)
            for deck in chosen
        }
        ids = {deck.name.casefold(): deck.id for deck in chosen}
        above = {deck.id: [ids[name.casefold()] for name in deck.above if name.casefold() in ids] for deck in chosen}
        self._path = {deck.id: (deck.id, *above[deck.id]) for deck in chosen}
        for deck in chosen:
            for number in self._path[deck.id]:
                self._left[number].new -= done[deck.id].new if deck.id in done else 0
                self._left[number].review -= done[deck.id].review if deck.id in done else 0

    def left(self, deck_id: int, kind: Literal["new", "review"]) -> int:
        """How many more cards of this deck, considering those above."""
        return max(0, min(getattr(self._left[number], kind) for number in self._path[deck_id]))

    def take(self, deck_id: int, kind: Literal["new", "review"]) -> bool:
        """Let one more card through, if there is room."""
        if self.left(deck_id, kind) == 0:
            return False
        for number in self._path[deck_id]:
            allowance = self._left[number]
            setattr(allowance, kind, getattr(allowance, kind) - 1)
        return True


@dataclass(frozen=True, slots=True)
class Done:
    """What was answered today."""

    new: int = 0
    review: int = 0


def done_on(connection: Connection, user_id: int, day: Day) -> dict[int, Done]:
    """By deck: new cards begun and reviews made on a day, without those taken back."""
    today = (
        sa.select(cards.c.deck_id, reviews.c.state, sa.func.count())
        .select_from(reviews.join(cards, cards.c.id == reviews.c.card_id))
        .where(
            reviews.c.user_id == user_id,
            reviews.c.reviewed_at >= day.begins,
            reviews.c.reviewed_at < day.ends,
            reviews.c.state.in_([State.NEW, State.REVIEW]),
            ~sa.exists().where(undone.c.review_id == reviews.c.id),
        )
        .group_by(cards.c.deck_id, reviews.c.state)
    )
    found: dict[int, Done] = {}
    for deck_id, state, number in connection.execute(today):
        before = found.get(deck_id, Done())
        now = Done(new=number) if state == State.NEW else Done(review=number)
        found[deck_id] = Done(before.new + now.new, before.review + now.review)
    return found


_WAITING = (cards.c.id, cards.c.note_id, cards.c.deck_id, cards.c.queue, cards.c.due)


def gather_learning(
    connection: Connection, deck_ids: Sequence[int], now: datetime, day: Day, most: int
) -> list[Waiting]:
    """Learning cards that are due today, the earliest first."""
    condition = sa.and_(cards.c.queue == LEARNING, cards.c.due <= day.ends, available(now))
    return _gather(connection, dict.fromkeys(deck_ids, most), condition, cards.c.due)


def gather_reviews(connection: Connection, most: Mapping[int, int], now: datetime, day: Day) -> list[Waiting]:
    """Review cards that are due today, the longest overdue first. `most` by deck."""
    condition = sa.and_(cards.c.queue == REVIEW, cards.c.due < day.ends, available(now))
    return _gather(connection, most, condition, cards.c.due)


def gather_new(connection: Connection, most: Mapping[int, int], now: datetime) -> list[Waiting]:
    """New cards in the order they were added. `most` by deck."""
    return _gather(connection, most, sa.and_(cards.c.queue == NEW, available(now)), cards.c.position)


def _gather(
    connection: Connection, most: Mapping[int, int], condition: ColumnElement[bool], order: ColumnElement[Any]
) -> list[Waiting]:
    """The first cards of each deck, in one order. Each deck is read from an index, and no further than needed."""
    wanted = [(deck_id, number) for deck_id, number in most.items() if number > 0]
    found: list[Any] = []
    for start in range(0, len(wanted), _TOGETHER):
        parts = [
            sa.select(
                sa.select(*_WAITING, order.label("rank"))
                .where(cards.c.deck_id == deck_id, condition)
                .order_by(order, cards.c.id)
                .limit(number)
                .subquery()
            )
            for deck_id, number in wanted[start : start + _TOGETHER]
        ]
        found += connection.execute(sa.union_all(*parts) if len(parts) > 1 else parts[0])
    found.sort(key=lambda row: (row.rank, row.id))
    return [Waiting(*row[:5]) for row in found]


def count_due(connection: Connection, deck_ids: Sequence[int], now: datetime, day: Day, most: int) -> int:
    """How many review cards are due today, whatever the limits; counted no further than `most` in each deck."""
    total = 0
    for start in range(0, len(deck_ids), _TOGETHER):
        parts = [
            sa.select(cards.c.id)
            .where(cards.c.deck_id == deck_id, cards.c.queue == REVIEW, cards.c.due < day.ends, available(now))
            .limit(most)
            .subquery()
            for deck_id in deck_ids[start : start + _TOGETHER]
        ]
        counted = [sa.select(sa.func.count()).select_from(part) for part in parts]
        total += sum(connection.execute(sa.union_all(*counted) if len(counted) > 1 else counted[0]).scalars())
    return total


def one_of_each_note(waiting: Iterable[Waiting], presets: Mapping[int, Preset], shown: set[int]) -> list[Waiting]:
    """Without further cards of a note that is shown already, where the deck wants siblings kept apart."""
    kept: list[Waiting] = []
    for card in waiting:
        if not presets[card.deck_id].bury_siblings:
            kept.append(card)
        elif card.note_id not in shown:
            shown.add(card.note_id)
            kept.append(card)
    return kept
