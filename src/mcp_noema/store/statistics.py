"""Statistics in SQL: the database adds up, and hands over sums."""

import asyncio
import heapq
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_core.db import Database
from mcp_noema.analysis import Basis, DeckStats, Prediction, Progress, Recall, ReviewFilter, ReviewPage, StudyTotals
from mcp_noema.model import GRADES, CardFace, Day, DeckId, Preferences, ReviewId, State, preset_of
from mcp_noema.store import decks, faces, studies
from mcp_noema.store.history import history
from mcp_noema.store.recall import Memories, memories
from mcp_noema.store.scope import Scope, scope
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, SUSPENDED, cards, reviews

MATURE = 21.0
"""Days of stability from which on a card is no longer young; Anki draws the line at the same interval."""
LATELY = timedelta(days=30)
AHEAD = 7
"""How many days, today among them, are looked ahead."""
_AT_ONCE = 60
"""How many days of a streak are looked at together."""


class SqlStatistics:
    """The figures of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def predict(
        self, owner: str, review_filter: ReviewFilter, on: date | None, most: int, now: datetime
    ) -> Prediction:
        found = await self._database.read(memories, owner, review_filter, now)
        at = found.moment(on, now)
        recalls = await asyncio.to_thread(found.at, at)
        weakest = heapq.nsmallest(most, recalls, key=lambda each: (each.recall, each.card_id))
        shown = await self._database.read(faces.load, found.person.id, [each.card_id for each in weakest])
        return _prediction(at, found, recalls, shown)

    async def progress(self, owner: str, deck_id: DeckId | None, days: int, now: datetime) -> Progress:
        return await self._database.read(_progress, owner, deck_id, days, now)

    async def deck_stats(self, owner: str, deck_id: DeckId, now: datetime) -> DeckStats:
        found = await self._database.read(memories, owner, ReviewFilter(deck_id=deck_id), now)
        recalls = await asyncio.to_thread(found.at, now)
        return await self._database.read(_deck_stats, owner, deck_id, _average(recalls), now)

    async def history(self, owner: str, review_filter: ReviewFilter, most: int, after: ReviewId | None) -> ReviewPage:
        return await self._database.read(history, owner, review_filter, most, after)


def _average(recalls: Sequence[Recall]) -> float | None:
    return fmean(each.recall for each in recalls) if recalls else None


def _prediction(at: datetime, found: Memories, recalls: Sequence[Recall], weakest: Sequence[CardFace]) -> Prediction:
    below = [each for each in recalls if each.recall < each.desired]
    by_card = {each.card_id: each for each in recalls}
    return Prediction(
        at=at,
        cards=found.total,
        sampled=len(recalls),
        average=_average(recalls),
        desired=fmean(each.desired for each in recalls) if recalls else None,
        below=round(len(below) / len(recalls) * found.total) if recalls else 0,
        # What was just answered is remembered.
        gain=sum(1.0 - each.recall for each in below) / len(recalls) if recalls else 0.0,
        weakest=tuple((face, by_card[face.card.id]) for face in weakest),
        basis=found.basis,
    )


# --- what was done -----------------------------------------------------------------------------------------


def _progress(connection: Connection, owner: str, deck_id: DeckId | None, days: int, now: datetime) -> Progress:
    chosen = scope(connection, owner, deck_id)
    preferences = chosen.person.preferences
    today = preferences.date_of(now)
    past = [today - timedelta(days=back) for back in range(days - 1, -1, -1)]
    coming = [today + timedelta(days=later) for later in range(AHEAD)]
    recent = studies.recent(connection, chosen.person.id, now)
    done = _by_day(connection, chosen.of_reviews, [preferences.day_on(day) for day in past])
    wanted = {preset.desired_retention for preset in chosen.presets.values()}
    new = sa.select(sa.func.count()).select_from(cards).where(chosen.of_cards, cards.c.queue == NEW)
    return Progress(
        days=dict(zip(past, done, strict=True)),
        streak=_streak(connection, chosen.of_reviews, preferences, today),
        forecast=dict(zip(coming, _falling_due(connection, chosen, coming), strict=True)),
        new_waiting=connection.execute(new).scalar_one(),
        desired=wanted.pop() if len(wanted) == 1 else None,
        basis=Basis(
            reviews=sum(day.reviews for day in done),
            last_at=recent.last_at,
            usual_ms=recent.usual_ms,
            session_minutes=preferences.session_minutes,
        ),
    )


def _on_day(column: ColumnElement[datetime], days: Sequence[Day]) -> ColumnElement[int]:
    """Which of consecutive days a moment belongs to. Days are told by their ends: some have 23 or 25 hours."""
    return sa.case(*((column < day.ends, index) for index, day in enumerate(days)))


def _within(column: ColumnElement[datetime], days: Sequence[Day]) -> ColumnElement[bool]:
    return sa.and_(column >= days[0].begins, column < days[-1].ends)


def _by_day(connection: Connection, wanted: ColumnElement[bool], days: Sequence[Day]) -> list[StudyTotals]:
    """Each day is read from the index by itself, so that no review is held against many days."""
    parts = [_kinds(wanted & _within(reviews.c.reviewed_at, [day]), sa.literal(i)) for i, day in enumerate(days)]
    rows: Sequence[Any] = connection.execute(sa.union_all(*parts)).all()
    done = [StudyTotals()] * len(days)
    for day, *kind in rows:
        done[day] += _studied(*kind)
    return done


def _in_all(connection: Connection, wanted: ColumnElement[bool]) -> StudyTotals:
    rows: Sequence[Any] = connection.execute(_kinds(wanted)).all()
    return sum((_studied(*row) for row in rows), StudyTotals())


def _kinds(wanted: ColumnElement[bool], *before: ColumnElement[Any]) -> sa.Select[*tuple[Any, ...]]:
    """Answers by the state of the card and the rating: how many, and how long they took."""
    kind = (reviews.c.state, reviews.c.rating)
    return sa.select(*before, *kind, sa.func.count(), sa.func.sum(reviews.c.duration_ms)).where(wanted).group_by(*kind)


def _studied(state: int, rating: int, count: int, spent: Any) -> StudyTotals:
    learned = state == State.REVIEW
    return StudyTotals(
        reviews=count,
        new=count if state == State.NEW else 0,
        milliseconds=int(spent),
        learned=count if learned else 0,
        remembered=count if learned and rating > 1 else 0,
        grades={GRADES[rating]: count},
    )


def _streak(connection: Connection, wanted: ColumnElement[bool], preferences: Preferences, today: date) -> int:
    """Days in a row, back from today. Today is not over yet: without an answer it breaks nothing."""
    streak, last = 0, today
    while True:
        dates = [last - timedelta(days=back) for back in range(_AT_ONCE)]
        # Each day is one look into an index, however much was answered on it.
        looks = [sa.exists().where(wanted, _within(reviews.c.reviewed_at, [preferences.day_on(day)])) for day in dates]
        studied = connection.execute(sa.select(*(look.label(f"day_{i}") for i, look in enumerate(looks)))).one()
        for day, was_studied in zip(dates, studied, strict=True):
            if was_studied:
                streak += 1
            elif day != today:
                return streak
        last -= timedelta(days=_AT_ONCE)


def _falling_due(connection: Connection, chosen: Scope, dates: Sequence[date]) -> list[int]:
    """Cards by the day they are due. Whatever is overdue is due today."""
    days = [chosen.person.preferences.day_on(each) for each in dates]
    waiting = sa.and_(chosen.of_cards, cards.c.queue.in_([LEARNING, REVIEW]), cards.c.due < days[-1].ends)
    each = sa.select(_on_day(cards.c.due, days).label("day")).where(waiting).subquery()
    rows: Sequence[Any] = connection.execute(sa.select(each.c.day, sa.func.count()).group_by(each.c.day)).all()
    counted: dict[int, int] = dict(rows)
    return [counted.get(index, 0) for index in range(len(days))]


# --- a deck in figures -------------------------------------------------------------------------------------


def _deck_stats(
    connection: Connection, owner: str, deck_id: DeckId, average_recall: float | None, now: datetime
) -> DeckStats:
    chosen = scope(connection, owner, deck_id)
    deck = decks.find(chosen.known, deck_id)
    day = chosen.person.preferences.day_of(now)
    row: Any = connection.execute(_figures(chosen, day)).one()
    recent = studies.recent(connection, chosen.person.id, now)
    return DeckStats(
        deck=deck,
        preset=preset_of(deck, chosen.known),
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
        last_30_days=_in_all(connection, chosen.of_reviews & (reviews.c.reviewed_at >= now - LATELY)),
        basis=Basis(
            reviews=int(row.reps or 0),
            last_at=row.last_at,
            usual_ms=recent.usual_ms,
            session_minutes=chosen.person.preferences.session_minutes,
        ),
    )


def _figures(chosen: Scope, day: Day) -> sa.Select[*tuple[Any, ...]]:
    """All counts and averages of the cards in one look. What is suspended counts as that and nothing else."""
    active = cards.c.queue != SUSPENDED
    is_review = sa.and_(active, cards.c.state == State.REVIEW)

    def number(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return sa.func.count(sa.case((condition, 1)))

    return sa.select(
        number(cards.c.queue == NEW).label("new"),
        number(sa.and_(active, cards.c.state == State.LEARNING)).label("learning"),
        number(sa.and_(active, cards.c.state == State.RELEARNING)).label("relearning"),
        number(is_review).label("learned"),
        number(sa.and_(is_review, cards.c.stability >= MATURE)).label("mature"),
        number(cards.c.queue == SUSPENDED).label("suspended"),
        number(sa.and_(cards.c.queue.in_([LEARNING, REVIEW]), cards.c.due < day.ends)).label("due"),
        number(_is_leech(chosen)).label("leeches"),
        sa.func.avg(sa.case((active, cards.c.stability))).label("stability"),
        sa.func.avg(sa.case((active, cards.c.difficulty))).label("difficulty"),
        sa.func.sum(cards.c.reps).label("reps"),
        sa.func.max(cards.c.last_review).label("last_at"),
    ).where(chosen.of_cards)


def _is_leech(chosen: Scope) -> ColumnElement[bool]:
    """Forgotten as often as the card's own deck puts up with."""
    thresholds = {preset.leech_threshold for preset in chosen.presets.values()}
    of = {
        threshold: [number for number, preset in chosen.presets.items() if preset.leech_threshold == threshold]
        for threshold in thresholds
    }
    return sa.or_(*(sa.and_(cards.c.deck_id.in_(ids), cards.c.lapses >= least) for least, ids in of.items()))
