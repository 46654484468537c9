"""The cards that wait to be shown: learning, review and new cards, within the daily limits."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_noema.model import Day, Preset
from mcp_noema.records import COUNT_LIMIT, DeckCounts, Owner
from mcp_noema.store.conditions import batches, not_buried, one_of
from mcp_noema.store.study.daily_limits import LIMITED_KINDS, DailyLimits, LimitedKind
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, cards, decks
from toolcharter.db import UtcTime

LEARN_AHEAD = timedelta(minutes=20)
"""A learning card that is due this soon is shown when nothing else waits."""
_COUNT_LIMIT_OF_ALL_DECKS, _MIN_COUNT_LIMIT = 4_000, 200
"""Counting stops at this number for all decks together, but in no deck before the second number."""
_SIBLING_FACTOR = 3
"""How many times more cards are read if too many of the first ones are siblings."""
_DECKS_PER_STATEMENT = 128
"""SQLite allows no more than 500 terms in a compound SELECT."""

Kind = Literal["learning"] | LimitedKind
KINDS: tuple[Kind, ...] = ("learning", *LIMITED_KINDS)


class WaitingCard(NamedTuple):
    """A card in the queue. Cards are shown in the order of their ranks; a learning card's rank is its due time."""

    rank: Any
    id: int
    note_id: int
    deck_id: int


def count_by_deck(
    connection: Connection, deck_ids: Collection[int], user: Owner, now: datetime
) -> Mapping[int, DeckCounts]:
    """How many cards wait in each deck today, regardless of the limits, and how many it has."""
    day = user.preferences.day_of(now)
    is_waiting = sa.and_(not_buried(now), sa.or_(cards.c.queue == NEW, cards.c.due < day.ends))
    by_queue = (
        sa.select(cards.c.deck_id, cards.c.queue, sa.func.count(), sa.func.count(sa.case((is_waiting, 1))))
        .where(one_of(cards.c.deck_id, deck_ids))
        .group_by(cards.c.deck_id, cards.c.queue)
    )
    counts = dict.fromkeys(deck_ids, DeckCounts())
    for deck_id, queue, total, waiting in connection.execute(by_queue):
        of_queue = {
            NEW: DeckCounts(new=waiting),
            LEARNING: DeckCounts(learning=waiting),
            REVIEW: DeckCounts(due=waiting),
        }
        counts[deck_id] += of_queue.get(queue, DeckCounts(suspended=total)) + DeckCounts(cards=total)
    return counts


_NOW, _DAY_END = sa.bindparam("now", type_=UtcTime), sa.bindparam("day_end", type_=UtcTime)
_CARDS_PER_DECK = sa.bindparam("cards_per_deck", type_=sa.Integer, literal_execute=True)
"""A literal in the statement: PostgreSQL plans it once if it sees how few cards are read, otherwise each time."""

_WAITING: Mapping[Kind, ColumnElement[bool]] = {
    "learning": sa.and_(cards.c.queue == LEARNING, cards.c.due <= _DAY_END, not_buried(_NOW)),
    "review": sa.and_(cards.c.queue == REVIEW, cards.c.due < _DAY_END, not_buried(_NOW)),
    "new": sa.and_(cards.c.queue == NEW, not_buried(_NOW)),
}
_RANK: Mapping[Kind, ColumnElement[Any]] = {
    "learning": cards.c.due,
    # Only compared: converting each to a datetime would take longer than finding it.
    "review": sa.type_coerce(cards.c.due, sa.types.NullType()),
    "new": cards.c.position,
}
"""The earliest first, the longest overdue first, and in the order in which they were added."""


@dataclass(frozen=True, slots=True)
class QueueRequest:
    """The decks to read, the time, and how many cards of each deck to read."""

    deck_ids: Sequence[int]
    now: datetime
    day: Day
    cards_per_deck: int

    @property
    def times(self) -> dict[str, Any]:
        """The time parameters of the statements."""
        return {"now": self.now, "day_end": self.day.ends}


@dataclass(frozen=True, slots=True)
class WaitingCounts:
    """How many cards of each kind wait in each deck today, regardless of the limits."""

    by_kind: Mapping[Kind, Mapping[int, int]]
    count_limits: Mapping[Kind, int]
    """Counting stops here in each deck."""
    next_learning: datetime | None
    """When the next learning card will be due today."""


def _count_of(kind: Kind) -> ColumnElement[int]:
    waiting = (
        sa.select(cards.c.id)
        .where(cards.c.deck_id == decks.c.id, _WAITING[kind])
        .limit(sa.bindparam(f"max_{kind}", type_=sa.Integer))
        .correlate(decks)
    )
    return sa.select(sa.func.count()).select_from(waiting.subquery()).scalar_subquery()


_NEXT_LEARNING = (
    sa.select(cards.c.due)
    .where(cards.c.deck_id == decks.c.id, _WAITING["learning"], cards.c.due > _NOW)
    .order_by(cards.c.due)
    .limit(1)
    .scalar_subquery()
)
_WAITING_COUNTS = sa.select(decks.c.id, _NEXT_LEARNING, *map(_count_of, KINDS)).where(
    decks.c.id.in_(sa.bindparam("deck_ids", expanding=True))
)


def count_waiting(connection: Connection, request: QueueRequest, limits: DailyLimits) -> WaitingCounts:
    """Count the waiting cards, not much further than the limits allow."""
    per_deck = min(COUNT_LIMIT, max(_MIN_COUNT_LIMIT, _COUNT_LIMIT_OF_ALL_DECKS // max(1, len(request.deck_ids))))
    count_limits: dict[Kind, int] = {"learning": per_deck}
    for kind in LIMITED_KINDS:
        highest = max((limits.remaining(deck_id, kind) for deck_id in request.deck_ids), default=0)
        # Some of the counted cards will be siblings of others.
        count_limits[kind] = min(per_deck, highest + request.cards_per_deck)
    max_counts = {f"max_{kind}": count for kind, count in count_limits.items()}
    rows: list[Any] = []
    for deck_ids in batches(request.deck_ids):
        rows += connection.execute(_WAITING_COUNTS, request.times | {"deck_ids": deck_ids} | max_counts)
    by_kind: dict[Kind, dict[int, int]] = {
        kind: {row[0]: row[column] for row in rows} for column, kind in enumerate(KINDS, 2)
    }
    return WaitingCounts(by_kind, count_limits, min((row[1] for row in rows if row[1]), default=None))


def first_cards(
    connection: Connection, kind: Kind, request: QueueRequest, deck_ids: Sequence[int]
) -> list[WaitingCard]:
    """The first waiting cards of each of these decks, in the order of the queue."""
    rows: list[Any] = []
    for start in range(0, len(deck_ids), _DECKS_PER_STATEMENT):
        chunk = deck_ids[start : start + _DECKS_PER_STATEMENT]
        # Rounded up, so that similar numbers of decks share one prepared statement. No deck has the id 0.
        step = 1 << max(0, len(chunk).bit_length() - 3)
        padded = [*chunk, *[0] * (-len(chunk) % step)]
        ids = {f"deck_{index}": deck_id for index, deck_id in enumerate(padded)}
        parameters = request.times | {"cards_per_deck": request.cards_per_deck} | ids
        rows += connection.execute(_first_cards_statement(kind, len(padded)), parameters)
    return sorted(map(WaitingCard._make, rows))


@lru_cache(maxsize=64)
def _first_cards_statement(kind: Kind, deck_count: int) -> sa.Executable:
    """Each deck is read from an index, and no further than needed."""
    rank = _RANK[kind]
    per_deck = [
        sa.select(rank.label("rank"), cards.c.id, cards.c.note_id, cards.c.deck_id)
        .where(cards.c.deck_id == sa.bindparam(f"deck_{index}", type_=sa.BigInteger), _WAITING[kind])
        .order_by(rank, cards.c.id)
        .limit(_CARDS_PER_DECK)
        .subquery()
        for index in range(deck_count)
    ]
    return sa.union_all(*(sa.select(subquery) for subquery in per_deck))


@dataclass(frozen=True, slots=True)
class AllowedCards:
    """The cards of a kind that may be shown today."""

    first: Sequence[WaitingCard]
    total: int
    siblings: int
    """How many were left out because a sibling is shown."""


def allowed_cards(
    connection: Connection,
    kind: LimitedKind,
    request: QueueRequest,
    limits: DailyLimits,
    counts: WaitingCounts,
    *,
    shown_notes: Collection[int],
) -> AllowedCards:
    """The cards that the limits allow, without siblings of cards whose notes are in `shown_notes`."""
    waiting = {
        deck_id: count for deck_id, count in counts.by_kind[kind].items() if count and limits.remaining(deck_id, kind)
    }
    candidates = first_cards(connection, kind, request, list(waiting))
    kept = _without_siblings(candidates, limits.presets, shown_notes)
    if len(kept) < min(request.cards_per_deck, len(candidates)):
        larger = replace(request, cards_per_deck=_SIBLING_FACTOR * request.cards_per_deck)
        candidates = first_cards(connection, kind, larger, list(waiting))
        kept = _without_siblings(candidates, limits.presets, shown_notes)
    read, left = Counter(card.deck_id for card in candidates), Counter(card.deck_id for card in kept)
    without_siblings = {
        deck_id: max(left[deck_id], count - read[deck_id] + left[deck_id]) for deck_id, count in waiting.items()
    }
    total = limits.count_allowed(without_siblings, kind)
    return AllowedCards([card for card in kept if limits.take(card.deck_id, kind)], total, len(candidates) - len(kept))


def _without_siblings(
    waiting: Iterable[WaitingCard], presets: Mapping[int, Preset], shown_notes: Collection[int]
) -> list[WaitingCard]:
    """One card of each note that is not shown yet; all cards where the deck does not bury siblings."""
    kept: list[WaitingCard] = []
    seen_notes = set(shown_notes)
    for card in waiting:
        if not presets[card.deck_id].bury_siblings:
            kept.append(card)
        elif card.note_id not in seen_notes:
            seen_notes.add(card.note_id)
            kept.append(card)
    return kept


def _count_in_decks_statement(kind: Kind) -> sa.Select[int]:
    waiting = (
        sa.select(cards.c.id)
        .where(cards.c.deck_id.in_(sa.bindparam("deck_ids", expanding=True)), _WAITING[kind])
        .limit(sa.bindparam("max_count", type_=sa.Integer))
    )
    return sa.select(sa.func.count()).select_from(waiting.subquery())


_COUNT_IN_DECKS = {kind: _count_in_decks_statement(kind) for kind in KINDS}


def count_in_decks(
    connection: Connection, kind: Kind, request: QueueRequest, deck_ids: Sequence[int], max_count: int
) -> int:
    """How many cards of a kind wait in these decks, regardless of the limits; at most `max_count`."""
    count = 0
    for batch in batches(deck_ids):
        parameters = request.times | {"deck_ids": batch, "max_count": max_count - count}
        count += connection.execute(_COUNT_IN_DECKS[kind], parameters).scalar_one()
    return count


def count_backlog(
    connection: Connection, request: QueueRequest, limits: DailyLimits, counts: WaitingCounts, due: AllowedCards
) -> int:
    """How many review cards are due beyond the limits; at most COUNT_LIMIT."""
    due_counts, count_limit = counts.by_kind["review"], counts.count_limits["review"]
    # Where counting stopped at the limit, there may be more.
    incomplete = [
        deck_id for deck_id, count in due_counts.items() if count == count_limit >= limits.remaining(deck_id, "review")
    ]
    counted = sum(count for deck_id, count in due_counts.items() if deck_id not in incomplete)
    max_count = len(incomplete) * count_limit + COUNT_LIMIT
    more = count_in_decks(connection, "review", request, incomplete, max_count) if incomplete else 0
    return min(COUNT_LIMIT, max(0, counted + more - due.siblings - due.total))
