"""Statistics in SQL: the database computes the sums."""

import asyncio
import heapq
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_noema.analysis import (
    INTERVALS,
    Basis,
    DeckStats,
    Distribution,
    Prediction,
    Progress,
    Recall,
    ReviewFilter,
    StudyTotals,
)
from mcp_noema.model import GRADES, CardFace, CardState, Day, DeckId, Preferences, preset_of
from mcp_noema.store import card_faces, decks
from mcp_noema.store.analysis.retention import MemoryStates, load_memory_states
from mcp_noema.store.cards import has_cards
from mcp_noema.store.conditions import DAY_SECONDS, one_of, seconds_between
from mcp_noema.store.deck_selection import DeckSelection, select_decks
from mcp_noema.store.study.recent_reviews import load_recent
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, SUSPENDED, cards, reviews
from toolcharter.db import Database

MATURE_STABILITY = 21.0
"""In days. A card with less is young; Anki uses the same number for the interval."""
DECK_STATS_PERIOD = timedelta(days=30)
MAX_DIFFICULTY = 10
_STREAK_DAYS_PER_QUERY = 60


async def predict(
    database: Database, owner: str, review_filter: ReviewFilter, now: datetime, *, on: date | None, most: int
) -> Prediction:
    """How much of a card, a deck or everything is remembered now or on a day, with the weakest cards."""
    memory_states = await database.read(load_memory_states, owner, review_filter, now)
    at = memory_states.time_on(on, now)
    recalls = await asyncio.to_thread(memory_states.recall_at, at)
    weakest = heapq.nsmallest(most, recalls, key=lambda recall: (recall.recall, recall.card_id))
    weakest_ids = [recall.card_id for recall in weakest]
    faces = await database.read(card_faces.load, memory_states.user.id, weakest_ids)
    return _prediction(at, memory_states, recalls, faces)


async def deck_stats(
    database: Database, owner: str, deck_id: DeckId, now: datetime, *, distribution: bool
) -> DeckStats:
    """The statistics of a deck with its subdecks."""
    memory_states = await database.read(load_memory_states, owner, ReviewFilter(deck_id=deck_id), now)
    recalls = await asyncio.to_thread(memory_states.recall_at, now)
    stats = await database.read(_deck_stats, owner, deck_id, _average(recalls), now)
    if not distribution:
        return stats
    return replace(stats, distribution=await database.read(_distribution, owner, deck_id))


def _average(recalls: Sequence[Recall]) -> float | None:
    return fmean(recall.recall for recall in recalls) if recalls else None


def _prediction(
    at: datetime, memory_states: MemoryStates, recalls: Sequence[Recall], weakest: Sequence[CardFace]
) -> Prediction:
    below = [recall for recall in recalls if recall.recall < recall.desired]
    by_card = {recall.card_id: recall for recall in recalls}
    return Prediction(
        at=at,
        cards=memory_states.total,
        sampled=len(recalls),
        average=_average(recalls),
        desired=fmean(recall.desired for recall in recalls) if recalls else None,
        below=round(len(below) / len(recalls) * memory_states.total) if recalls else 0,
        # A card that was just answered has a recall of 1.
        gain=sum(1.0 - recall.recall for recall in below) / len(recalls) if recalls else 0.0,
        weakest=tuple((face, by_card[face.card.id]) for face in weakest),
        basis=memory_states.basis,
    )


# --- progress ----------------------------------------------------------------------------------------------


def progress(
    connection: Connection, owner: str, deck_id: DeckId | None, now: datetime, *, days: int, forecast_days: int
) -> Progress:
    """The last days and the cards due in the coming days, both including today."""
    selection = select_decks(connection, owner, deck_id)
    preferences = selection.user.preferences
    today = preferences.date_of(now)
    past = [today - timedelta(days=back) for back in range(days - 1, -1, -1)]
    coming = [today + timedelta(days=ahead) for ahead in range(forecast_days)]
    recent = load_recent(connection, selection.user.id, now)
    totals = _totals_by_day(connection, selection.of_recent_reviews, [preferences.day_on(day) for day in past])
    retentions = {preset.desired_retention for preset in selection.presets.values()}
    new = sa.select(sa.func.count()).select_from(cards).where(selection.of_cards, cards.c.queue == NEW)
    return Progress(
        days=dict(zip(past, totals, strict=True)),
        streak=_streak(connection, selection.of_recent_reviews, preferences, today),
        forecast=dict(zip(coming, _due_counts(connection, selection, coming), strict=True)),
        new_waiting=connection.execute(new).scalar_one(),
        desired=retentions.pop() if len(retentions) == 1 else None,
        collection_is_empty=not has_cards(connection, selection.user.id),
        basis=Basis(
            reviews=sum(day.reviews for day in totals),
            last_at=recent.last_at,
            usual_ms=recent.usual_ms,
            session_minutes=preferences.session_minutes,
        ),
    )


def _day_index(column: ColumnElement[datetime], days: Sequence[Day]) -> ColumnElement[int]:
    """Which of consecutive days a time is on. The days' own ends are compared, because some have 23 or 25 hours."""
    return sa.case(*((column < day.ends, index) for index, day in enumerate(days)))


def _on_day(column: ColumnElement[datetime], day: Day) -> ColumnElement[bool]:
    return sa.and_(column >= day.begins, column < day.ends)


def _totals_by_day(connection: Connection, condition: ColumnElement[bool], days: Sequence[Day]) -> list[StudyTotals]:
    """Each day is read from the index separately, so that no review is compared with many days."""
    per_day = [
        _select_totals(condition & _on_day(reviews.c.reviewed_at, day), sa.literal(index))
        for index, day in enumerate(days)
    ]
    rows: Sequence[Any] = connection.execute(sa.union_all(*per_day)).all()
    totals = [StudyTotals()] * len(days)
    for index, *row in rows:
        totals[index] += _to_totals(*row)
    return totals


def _totals(connection: Connection, condition: ColumnElement[bool]) -> StudyTotals:
    rows: Sequence[Any] = connection.execute(_select_totals(condition)).all()
    return sum((_to_totals(*row) for row in rows), StudyTotals())


def _select_totals(condition: ColumnElement[bool], *first: ColumnElement[Any]) -> sa.Select[*tuple[Any, ...]]:
    """The number and duration of answers, by the state of the card and the rating."""
    kind = (reviews.c.state, reviews.c.rating)
    totals = sa.select(*first, *kind, sa.func.count(), sa.func.sum(reviews.c.duration_ms))
    return totals.where(condition).group_by(*kind)


def _to_totals(state: int, rating: int, count: int, duration_ms: Any) -> StudyTotals:
    is_learned = state == CardState.REVIEW
    return StudyTotals(
        reviews=count,
        new=count if state == CardState.NEW else 0,
        milliseconds=int(duration_ms),
        learned=count if is_learned else 0,
        remembered=count if is_learned and rating > 1 else 0,
        grades={GRADES[rating]: count},
    )


def _streak(connection: Connection, condition: ColumnElement[bool], preferences: Preferences, today: date) -> int:
    """Days in a row, back from today. Today is not over yet, so it does not break a streak."""
    streak, last = 0, today
    while True:
        dates = [last - timedelta(days=back) for back in range(_STREAK_DAYS_PER_QUERY)]
        # Each day is one index lookup, however many answers it has.
        lookups = [
            sa.exists().where(condition, _on_day(reviews.c.reviewed_at, preferences.day_on(day))) for day in dates
        ]
        studied = connection.execute(sa.select(*(lookup.label(f"day_{i}") for i, lookup in enumerate(lookups)))).one()
        for day, was_studied in zip(dates, studied, strict=True):
            if was_studied:
                streak += 1
            elif day != today:
                return streak
        last -= timedelta(days=_STREAK_DAYS_PER_QUERY)


def _due_counts(connection: Connection, selection: DeckSelection, dates: Sequence[date]) -> list[int]:
    """The number of cards due on each day. Overdue cards are due today."""
    days = [selection.user.preferences.day_on(day) for day in dates]
    is_due = sa.and_(selection.of_cards, cards.c.queue.in_([LEARNING, REVIEW]), cards.c.due < days[-1].ends)
    due = sa.select(_day_index(cards.c.due, days).label("day")).where(is_due).subquery()
    rows: Sequence[Any] = connection.execute(sa.select(due.c.day, sa.func.count()).group_by(due.c.day)).all()
    counts: dict[int, int] = dict(rows)
    return [counts.get(index, 0) for index in range(len(days))]


# --- deck statistics ---------------------------------------------------------------------------------------


def _deck_stats(
    connection: Connection, owner: str, deck_id: DeckId, average_recall: float | None, now: datetime
) -> DeckStats:
    selection = select_decks(connection, owner, deck_id)
    deck = decks.find(selection.all_decks, deck_id)
    day = selection.user.preferences.day_of(now)
    row: Any = connection.execute(_select_card_stats(selection, day)).one()
    recent = load_recent(connection, selection.user.id, now)
    return DeckStats(
        deck=deck,
        preset=preset_of(deck, selection.all_decks),
        new=row.new,
        learning=row.learning,
        relearning=row.relearning,
        young=row.learned - row.mature,
        mature=row.mature,
        suspended=row.suspended,
        due=row.due,
        leeches=row.leeches,
        average_stability=row.stability,
        average_difficulty=row.difficulty,
        average_recall=average_recall,
        last_30_days=_totals(
            connection, selection.of_recent_reviews & (reviews.c.reviewed_at >= now - DECK_STATS_PERIOD)
        ),
        basis=Basis(
            reviews=int(row.reps or 0),
            last_at=row.last_at,
            usual_ms=recent.usual_ms,
            session_minutes=selection.user.preferences.session_minutes,
        ),
    )


def _select_card_stats(selection: DeckSelection, day: Day) -> sa.Select[*tuple[Any, ...]]:
    """All counts and averages of the cards in one query. Suspended cards count as suspended only."""
    active = cards.c.queue != SUSPENDED
    is_review = sa.and_(active, cards.c.state == CardState.REVIEW)

    def count(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return sa.func.count(sa.case((condition, 1)))

    return sa.select(
        count(cards.c.queue == NEW).label("new"),
        count(sa.and_(active, cards.c.state == CardState.LEARNING)).label("learning"),
        count(sa.and_(active, cards.c.state == CardState.RELEARNING)).label("relearning"),
        count(is_review).label("learned"),
        count(sa.and_(is_review, cards.c.stability >= MATURE_STABILITY)).label("mature"),
        count(cards.c.queue == SUSPENDED).label("suspended"),
        count(sa.and_(cards.c.queue.in_([LEARNING, REVIEW]), cards.c.due < day.ends)).label("due"),
        count(_is_leech(selection)).label("leeches"),
        sa.func.avg(sa.case((active, cards.c.stability))).label("stability"),
        sa.func.avg(sa.case((active, cards.c.difficulty))).label("difficulty"),
        sa.func.sum(cards.c.reps).label("reps"),
        sa.func.max(cards.c.last_review).label("last_at"),
    ).where(selection.of_cards)


def _distribution(connection: Connection, owner: str, deck_id: DeckId) -> Distribution:
    selection = select_decks(connection, owner, deck_id)
    seconds = seconds_between(cards.c.last_review, cards.c.due)
    # An interval of 1.4 days counts as one of 1 day.
    intervals = [seconds < (days + 0.5) * DAY_SECONDS for days in INTERVALS]
    difficulties = [cards.c.difficulty < level + 1 for level in range(1, MAX_DIFFICULTY)]
    return Distribution(_count_by(connection, selection, intervals), _count_by(connection, selection, difficulties))


def _count_by(
    connection: Connection, selection: DeckSelection, conditions: Sequence[ColumnElement[bool]]
) -> tuple[int, ...]:
    """How many learned cards each condition is the first to hold for; last, those for which none holds."""
    kind = sa.case(*((condition, index) for index, condition in enumerate(conditions)), else_=len(conditions))
    learned = sa.and_(selection.of_cards, cards.c.queue == REVIEW)
    kinds = sa.select(kind.label("kind")).where(learned).subquery()
    rows: Sequence[Any] = connection.execute(sa.select(kinds.c.kind, sa.func.count()).group_by(kinds.c.kind)).all()
    counts: dict[int, int] = dict(rows)
    return tuple(counts.get(index, 0) for index in range(len(conditions) + 1))


def _is_leech(selection: DeckSelection) -> ColumnElement[bool]:
    """For cards: they lapsed at least as often as the leech threshold of their deck."""
    decks_by_threshold: dict[int, list[int]] = {}
    for deck_id, preset in selection.presets.items():
        decks_by_threshold.setdefault(preset.leech_threshold, []).append(deck_id)
    return sa.or_(
        *(
            sa.and_(one_of(cards.c.deck_id, deck_ids), cards.c.lapses >= threshold)
            for threshold, deck_ids in decks_by_threshold.items()
        )
    )
