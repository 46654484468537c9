"""Studying in SQL: what is to be asked now. What is answered goes to the log."""

import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core.db import Database, UtcTime
from mcp_noema.model import CardFace, DeckId, Dice, Grade, Preset, ReviewId
from mcp_noema.repositories import (
    NewReview,
    Person,
    Queue,
    RecentReviews,
    RecordedReview,
    RemainingCounts,
    UndoneReview,
)
from mcp_noema.schedule import outlook, retrievability
from mcp_noema.store import faces, log, queues
from mcp_noema.store.limits import Limits, done_on
from mcp_noema.store.queues import Allowed, Waiting
from mcp_noema.store.scope import scope
from mcp_noema.store.tables import reviews, undone

PAUSE = timedelta(minutes=30)
"""A session ends when nothing is answered for this long."""
LOOK_BACK = 100
"""How many answers say how a user is doing."""
LOOK_AHEAD = 20
"""How many cards of each deck are looked at, at least: those of one note are kept apart."""


class SqlStudies:
    """The queues and the log of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def queue(self, owner: str, deck_id: DeckId | None, most: int, now: datetime) -> Queue:
        return await self._database.read(_queue, owner, deck_id, most, now)

    async def record(self, owner: str, new_review: NewReview, now: datetime, dice: Dice | None) -> RecordedReview:
        return await self._database.write(log.record, owner, new_review, now, dice)

    async def undo(self, owner: str, review_id: ReviewId | None, now: datetime) -> UndoneReview:
        return await self._database.write(log.undo, owner, review_id, now)


def _queue(connection: Connection, owner: str, deck_id: DeckId | None, most: int, now: datetime) -> Queue:
    meant = scope(connection, owner, deck_id)
    person, day = meant.person, meant.person.preferences.day_of(now)
    limits = Limits(meant.chosen, meant.known, done_on(connection, person.id, day))
    look = queues.Look([deck.id for deck in meant.chosen], now, day, max(most, LOOK_AHEAD))
    counted = queues.count_waiting(connection, look, limits)
    in_learning = counted.numbers["learning"]
    learning = queues.gather(connection, "learning", look, [number for number, found in in_learning.items() if found])
    ready = [card for card in learning if card.rank <= now]
    shown = {card.note_id for card in learning}
    due = queues.within_limits(connection, "review", look, limits, counted, shown=shown)
    shown |= {card.note_id for card in due.first if limits.presets[card.deck_id].bury_siblings}
    new = queues.within_limits(connection, "new", look, limits, counted, shown=shown)
    order = _ordered(person, ready, due, new) or _soon(learning, now)
    loaded = faces.load(connection, person.id, [card.id for card in order[:most]])
    # A card may have been moved elsewhere meanwhile.
    shown_cards = [face for face in loaded if face.card.deck_id in limits.presets]
    recall, intervals = _outlook(shown_cards, limits.presets, now)
    return Queue(
        faces=tuple(shown_cards),
        remaining=RemainingCounts(new.total, sum(in_learning.values()), due.total),
        backlog=queues.beyond_limits(connection, look, limits, counted, due),
        next_learning=counted.next_learning,
        presets=limits.presets,
        recent=recent(connection, person.id, now),
        preferences=person.preferences,
        next_recall=recall,
        next_intervals=intervals,
    )


def _outlook(
    shown: Sequence[CardFace], presets: Mapping[int, Preset], now: datetime
) -> tuple[float | None, dict[Grade, float]]:
    """How likely the first card is remembered, and what each grade would do to it."""
    if not shown:
        return None, {}
    schedule, preset = shown[0].card.schedule, presets[shown[0].card.deck_id]
    intervals: dict[Grade, float] = {}
    for grade, after in outlook(schedule, now, preset).items():
        if after.due is not None:
            intervals[grade] = (after.due - now).total_seconds()
    return retrievability(schedule, now, preset), intervals


def _ordered(person: Person, learning: Sequence[Waiting], due: Allowed, new: Allowed) -> list[Waiting]:
    """Learning cards cannot wait; where new cards go, the user says."""
    match person.preferences.new_cards:
        case "before-reviews":
            rest = [*new.first, *due.first]
        case "mixed":
            rest = _mixed(due, new)
        case "after-reviews":
            rest = [*due.first, *new.first]
    return [*learning, *rest]


def _mixed(due: Allowed, new: Allowed) -> list[Waiting]:
    """Each kind spread evenly over the whole."""
    places = [((index + 0.5) / kind.total, card) for kind in (due, new) for index, card in enumerate(kind.first)]
    return [card for _, card in sorted(places, key=lambda place: place[0])]


def _soon(learning: Sequence[Waiting], now: datetime) -> list[Waiting]:
    """When nothing else waits, a learning card need not."""
    return [card for card in learning if card.rank <= now + queues.AHEAD]


_LAST = (
    sa.select(reviews.c.reviewed_at, reviews.c.duration_ms)
    .where(
        reviews.c.user_id == sa.bindparam("user_id", type_=sa.BigInteger),
        reviews.c.reviewed_at <= sa.bindparam("until", type_=UtcTime),
        ~sa.exists().where(undone.c.review_id == reviews.c.id),
    )
    .order_by(reviews.c.reviewed_at.desc(), reviews.c.id.desc())
    .limit(LOOK_BACK)
)


def recent(connection: Connection, user_id: int, now: datetime) -> RecentReviews:
    """How the user has been doing."""
    rows: Any = connection.execute(_LAST, {"user_id": user_id, "until": now + log.SKEW}).all()
    times = [row.duration_ms for row in rows if row.duration_ms]
    begun, session = now, 0
    for row in rows:
        if begun - row.reviewed_at > PAUSE:
            break
        begun, session = row.reviewed_at, session + 1
    return RecentReviews(
        reviews=len(rows),
        usual_ms=round(statistics.median(times)) if times else 0,
        session_reviews=session,
        session_minutes=(now - begun).total_seconds() / 60 if session else 0.0,
        last_at=rows[0].reviewed_at if rows else None,
    )
