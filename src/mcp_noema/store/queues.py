"""What waits to be asked: learning, review and new cards, within the limits of the day."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_core.db import UtcTime
from mcp_noema.model import Day, Preset
from mcp_noema.repositories import COUNT_LIMIT, DeckCounts, Person
from mcp_noema.store.limits import LIMITED, Limited, Limits
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, cards, decks

AHEAD = timedelta(minutes=20)
"""A learning card that is due this soon is shown when nothing else waits."""
_MANY, _FEW = 4_000, 200
"""How far they are counted in all decks together, but in each deck at least so far."""
_SPARE = 3
"""How many times more cards are looked at where too many are siblings: those of one note are kept apart."""
_TOGETHER = 128
"""How many decks one statement asks about: SQLite joins no more than 500 parts."""

Kind = Literal["learning"] | Limited
KINDS: tuple[Kind, ...] = ("learning", *LIMITED)


class Waiting(NamedTuple):
    """A card that waits. They are asked in the order of their ranks: a learning card's is when it is due."""

    rank: Any
    id: int
    note_id: int
    deck_id: int


def available(now: datetime | sa.BindParameter[datetime]) -> ColumnElement[bool]:
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


_NOW, _ENDS = sa.bindparam("now", type_=UtcTime), sa.bindparam("ends", type_=UtcTime)
_MOST = sa.bindparam("most", type_=sa.Integer)
_FIRST = sa.bindparam("first", type_=sa.Integer, literal_execute=True)
"""Written into the statement: PostgreSQL plans once where it can see how few cards are wanted, else each time."""

_WAITS: Mapping[Kind, ColumnElement[bool]] = {
    "learning": sa.and_(cards.c.queue == LEARNING, cards.c.due <= _ENDS, available(_NOW)),
    "review": sa.and_(cards.c.queue == REVIEW, cards.c.due < _ENDS, available(_NOW)),
    "new": sa.and_(cards.c.queue == NEW, available(_NOW)),
}
_RANK: Mapping[Kind, ColumnElement[Any]] = {
    "learning": cards.c.due,
    # To be compared only: to make a time of each would take longer than to find it.
    "review": sa.type_coerce(cards.c.due, sa.types.NullType()),
    "new": cards.c.position,
}
"""The earliest first, the longest overdue first, and in the order they were added."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look at some decks: when, and at how many cards of each."""

    deck_ids: Sequence[int]
    now: datetime
    day: Day
    most: int

    @property
    def moment(self) -> dict[str, Any]:
        """The time, as statements ask for it."""
        return {"now": self.now, "ends": self.day.ends}


@dataclass(frozen=True, slots=True)
class Counted:
    """How many cards wait in each deck today, whatever the limits. No deck is counted further than `most` of a kind."""

    numbers: Mapping[Kind, Mapping[int, int]]
    most: Mapping[Kind, int]
    next_learning: datetime | None
    """When the next learning card will be due today."""


def _number(kind: Kind) -> ColumnElement[int]:
    some = (
        sa.select(cards.c.id)
        .where(cards.c.deck_id == decks.c.id, _WAITS[kind])
        .limit(sa.bindparam(f"most_{kind}", type_=sa.Integer))
        .correlate(decks)
    )
    return sa.select(sa.func.count()).select_from(some.subquery()).scalar_subquery()


_NEXT_LEARNING = (
    sa.select(cards.c.due)
    .where(cards.c.deck_id == decks.c.id, _WAITS["learning"], cards.c.due > _NOW)
    .order_by(cards.c.due)
    .limit(1)
    .scalar_subquery()
)
_COUNTED = sa.select(decks.c.id, _NEXT_LEARNING, *map(_number, KINDS)).where(
    decks.c.id.in_(sa.bindparam("deck_ids", expanding=True))
)


def count_waiting(connection: Connection, look: Look, limits: Limits) -> Counted:
    """Count what waits, little further than the limits let through."""
    in_each = min(COUNT_LIMIT, max(_FEW, _MANY // max(1, len(look.deck_ids))))
    most: dict[Kind, int] = {"learning": in_each}
    for kind in LIMITED:
        widest = max((limits.left(number, kind) for number in look.deck_ids), default=0)
        # Some of those that are counted will be siblings of others.
        most[kind] = min(in_each, widest + look.most)
    asked = look.moment | {"deck_ids": look.deck_ids} | {f"most_{kind}": number for kind, number in most.items()}
    rows: Any = connection.execute(_COUNTED, asked).all()
    numbers: dict[Kind, dict[int, int]] = {
        kind: {row[0]: row[place] for row in rows} for place, kind in enumerate(KINDS, 2)
    }
    return Counted(numbers, most, min((row[1] for row in rows if row[1]), default=None))


def gather(connection: Connection, kind: Kind, look: Look, deck_ids: Sequence[int]) -> list[Waiting]:
    """The first cards of each of these decks, in one order."""
    found: list[Any] = []
    for start in range(0, len(deck_ids), _TOGETHER):
        part = deck_ids[start : start + _TOGETHER]
        # The same statement for about so many decks: the database has read it before. There is no deck 0.
        step = 1 << max(0, len(part).bit_length() - 3)
        numbers = [*part, *[0] * (-len(part) % step)]
        asked = look.moment | {"first": look.most} | {f"deck_{place}": number for place, number in enumerate(numbers)}
        found += connection.execute(_first_of_each(kind, len(numbers)), asked)
    return sorted(map(Waiting._make, found))


@lru_cache(maxsize=64)
def _first_of_each(kind: Kind, places: int) -> sa.Executable:
    """Each deck is read from an index, and no further than needed."""
    rank = _RANK[kind]
    parts = [
        sa.select(rank.label("rank"), cards.c.id, cards.c.note_id, cards.c.deck_id)
        .where(cards.c.deck_id == sa.bindparam(f"deck_{place}", type_=sa.BigInteger), _WAITS[kind])
        .order_by(rank, cards.c.id)
        .limit(_FIRST)
        .subquery()
        for place in range(places)
    ]
    return sa.union_all(*(sa.select(part) for part in parts))


@dataclass(frozen=True, slots=True)
class Allowed:
    """The first cards that may be asked today, how many may, and how many were left out for a sibling."""

    first: Sequence[Waiting]
    total: int
    apart: int


def within_limits(
    connection: Connection, kind: Limited, look: Look, limits: Limits, counted: Counted, *, shown: Collection[int]
) -> Allowed:
    """What the limits let through, without further cards of the notes that are `shown`."""
    numbers = {number: found for number, found in counted.numbers[kind].items() if found and limits.left(number, kind)}
    found = gather(connection, kind, look, list(numbers))
    kept = one_of_each_note(found, limits.presets, shown)
    if len(kept) < min(look.most, len(found)):
        found = gather(connection, kind, replace(look, most=_SPARE * look.most), list(numbers))
        kept = one_of_each_note(found, limits.presets, shown)
    seen, left = Counter(card.deck_id for card in found), Counter(card.deck_id for card in kept)
    waiting = {deck: max(left[deck], number - seen[deck] + left[deck]) for deck, number in numbers.items()}
    total = limits.let_through(waiting, kind)
    return Allowed([card for card in kept if limits.take(card.deck_id, kind)], total, len(found) - len(kept))


def one_of_each_note(
    waiting: Iterable[Waiting], presets: Mapping[int, Preset], shown: Collection[int]
) -> list[Waiting]:
    """Without further cards of a note that is shown already, where the deck wants siblings kept apart."""
    kept: list[Waiting] = []
    seen = set(shown)
    for card in waiting:
        if not presets[card.deck_id].bury_siblings:
            kept.append(card)
        elif card.note_id not in seen:
            seen.add(card.note_id)
            kept.append(card)
    return kept


_DUE = sa.select(sa.func.count()).select_from(
    sa.select(cards.c.id)
    .where(cards.c.deck_id.in_(sa.bindparam("deck_ids", expanding=True)), _WAITS["review"])
    .limit(_MOST)
    .subquery()
)


def beyond_limits(connection: Connection, look: Look, limits: Limits, counted: Counted, due: Allowed) -> int:
    """How many more review cards are due; counted up to MOST_COUNTED."""
    numbers, most = counted.numbers["review"], counted.most["review"]
    # Where counting stopped at the limit, there may be more.
    further = [number for number, found in numbers.items() if found == most >= limits.left(number, "review")]
    known = sum(found for number, found in numbers.items() if number not in further)
    asked = look.moment | {"deck_ids": further, "most": len(further) * most + COUNT_LIMIT}
    more = connection.execute(_DUE, asked).scalar_one() if further else 0
    return min(COUNT_LIMIT, max(0, known + more - due.apart - due.total))
