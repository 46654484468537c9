"""Scheduling in SQL: parameters fitted to the review log, and simulations of the coming days.

The optimizer and the simulation take long, so they run in a thread beside the event loop.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import reduce
from operator import add
from statistics import fmean
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.analysis import Basis, Fit, Optimization, Plans, Rescheduling, Workload
from mcp_noema.errors import conflict
from mcp_noema.model import Deck, DeckId, Dice, Preferences, Preset, preset_of
from mcp_noema.records import ReportProgress
from mcp_noema.scheduling.fitting import can_fit, fit
from mcp_noema.scheduling.schedule import recall_after
from mcp_noema.scheduling.workload import AnswerHabits, AnswerStats, LearnedCard, neighbouring_retentions, simulate_days
from mcp_noema.store import decks, users
from mcp_noema.store.analysis import rescheduling
from mcp_noema.store.analysis.rescheduling import ScheduleChange
from mcp_noema.store.analysis.review_logs import group_by_card, select_logs
from mcp_noema.store.conditions import NOT_UNDONE, counted_reviews, sample
from mcp_noema.store.deck_selection import DeckSelection, select_decks
from mcp_noema.store.study.recent_reviews import load_recent
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, cards, reviews
from mcp_noema.store.tables import decks as deck_table
from toolcharter import InvalidArguments
from toolcharter.db import Database
from toolcharter.plurals import count

MAX_DAYS = 365
"""How far a simulation goes."""
MAX_REVIEWS = 50_000
"""More reviews hardly improve the fit, and the optimizer blocks all other threads while it runs."""
ENOUGH_CARDS = 1_000
"""Whether a fit is possible is tried with this many cards."""
MAX_CARDS = 50_000
"""Of more cards, an even sample is simulated."""
HABIT_PERIOD = timedelta(days=180)
"""Answers in this period show how a user answers."""


async def plan(
    database: Database,
    owner: str,
    deck_id: DeckId | None,
    now: datetime,
    *,
    days: int,
    until: date | None,
    other: float | None,
    report_progress: ReportProgress,
) -> Plans:
    """Simulate the coming days at the present desired retention, at values near it, and at another one.

    `until`, the day of an exam, is the last day instead of `days`.
    """
    start = await database.read(_load_start, owner, deck_id, now)
    if until is not None:
        days = (until - start.today).days
        if not 1 <= days <= MAX_DAYS:
            raise InvalidArguments(
                f"until: {until} is not within the coming {MAX_DAYS} days; today is {start.today}.", fields=("until",)
            )
    retentions = start.retentions(other)
    learned = await asyncio.to_thread(start.learned_cards)
    plans: list[Workload] = []
    for retention in retentions:
        await report_progress(len(plans), len(retentions), f"Simulating {count(days, 'day')}, {len(plans) + 1}.")
        plans.append(await asyncio.to_thread(start.simulate, retention, learned, days))
    return Plans(start.today, tuple(plans), start.remembered_without(learned, days), start.basis)


async def can_optimize(database: Database, owner: str, deck_id: DeckId | None) -> bool:
    """Whether there are enough reviews to fit FSRS to."""
    selection, rows = await database.read(_load_some_logs, owner, deck_id)
    logs = (log for _, log in group_by_card(rows))
    return await asyncio.to_thread(can_fit, logs, selection.user.preferences)


async def optimize(
    database: Database,
    owner: str,
    deck_id: DeckId | None,
    now: datetime,
    *,
    apply: bool,
    report_progress: ReportProgress,
) -> Optimization:
    """Fit FSRS to the reviews of a deck, or of all decks; nothing changes unless `apply`."""
    await report_progress(0, 2, "Reading the reviews.")
    selection, rows = await database.read(_load_logs, owner, deck_id)
    await report_progress(1, 2, f"Fitting FSRS to {count(len(rows), 'review')}.")
    preset, preferences = _common_preset(selection), selection.user.preferences
    fitted = await asyncio.to_thread(_fit, rows, preset, preferences)
    applied = apply and fitted.is_better
    if applied:
        await database.write(_set_parameters, owner, selection.top_decks, fitted, now)
    last_at = max(row.reviewed_at for row in rows)
    basis = Basis(fitted.reviews, last_at, session_minutes=preferences.session_minutes)
    return Optimization(fitted, tuple(selection.top_decks), preset.parameters, applied=applied, basis=basis)


async def reschedule(
    database: Database,
    owner: str,
    deck_id: DeckId,
    now: datetime,
    *,
    dice: Dice | None,
    apply: bool,
    report_progress: ReportProgress,
) -> Rescheduling:
    """Recompute the due dates of a deck from the log, with its present preset."""
    deck = await database.read(rescheduling.start, owner, deck_id, now)
    while page := await database.read(rescheduling.next_page, deck):
        await asyncio.to_thread(deck.add, page, dice)
        await report_progress(deck.cards, deck.total, f"{deck.cards:,} of {count(deck.total, 'card')} computed.")
    changes: Sequence[ScheduleChange] = deck.changes
    if apply and changes:
        changes = await database.write(rescheduling.apply, owner, changes, now)
    return deck.summarize(changes)


# --- parameters --------------------------------------------------------------------------------------------


def _load_some_logs(connection: Connection, owner: str, deck_id: DeckId | None) -> tuple[DeckSelection, Sequence[Any]]:
    """The logs of the first cards that were answered more than once."""
    selection = select_decks(connection, owner, deck_id)
    some_cards = sa.select(cards.c.id).where(selection.of_cards, cards.c.reps > 1).limit(ENOUGH_CARDS)
    return selection, connection.execute(select_logs(reviews.c.card_id.in_(some_cards), NOT_UNDONE)).all()


def _load_logs(connection: Connection, owner: str, deck_id: DeckId | None) -> tuple[DeckSelection, Sequence[Any]]:
    """The reviews that the optimizer learns from: the whole logs of all cards, or of a sample of them."""
    selection = select_decks(connection, owner, deck_id)
    condition = selection.of_reviews
    total = connection.execute(sa.select(sa.func.count()).select_from(reviews).where(condition)).scalar_one()
    _, in_sample = sample(reviews.c.card_id, total, MAX_REVIEWS)
    return selection, connection.execute(select_logs(condition, in_sample)).all()


def _common_preset(selection: DeckSelection) -> Preset:
    """The preset of the top decks, with the library's default parameters if theirs differ."""
    presets = [preset_of(deck, selection.all_decks) for deck in selection.top_decks]
    if not presets:
        return Preset()
    same_parameters = len({preset.parameters for preset in presets}) == 1
    return presets[0] if same_parameters else replace(presets[0], parameters=None)


def _fit(rows: Sequence[Any], preset: Preset, preferences: Preferences) -> Fit:
    return fit((log for _, log in group_by_card(rows)), preset, preferences)


def _set_parameters(connection: Connection, owner: str, top_decks: Sequence[Deck], fitted: Fit, now: datetime) -> None:
    all_decks = decks.by_name(connection, users.lock(connection, owner, now).id)
    by_id = {deck.id: deck for deck in all_decks.values()}
    for deck in top_decks:
        if deck.id not in by_id:
            raise conflict(f"The deck {deck.name!r} was deleted in the meantime. Nothing was changed; try again.")
        preset = {**by_id[deck.id].preset, "parameters": list(fitted.parameters)}
        connection.execute(sa.update(deck_table).where(deck_table.c.id == deck.id).values(preset=preset))


# --- simulations -------------------------------------------------------------------------------------------


class _DeckStart(NamedTuple):
    """A top deck with its subdecks, as a simulation begins with it."""

    preset: Preset
    learned: Sequence[Any]
    """The rows of the cards that are being learned."""
    new_count: int


@dataclass(frozen=True, slots=True)
class _SimulationStart:
    """The start of a simulation."""

    decks: Sequence[_DeckStart]
    one_in: int
    """How many cards each of the learned ones stands for."""
    habits: AnswerHabits
    preferences: Preferences
    today: date
    basis: Basis

    def retentions(self, other: float | None) -> tuple[float | None, ...]:
        """None for the present retention of each deck, then retentions near it, and another one."""
        present = fmean(deck.preset.desired_retention for deck in self.decks) if self.decks else 0.0
        return (None, *sorted({*neighbouring_retentions(present), *([other] if other else [])} - {present}))

    def learned_cards(self) -> list[list[LearnedCard]]:
        """The cards that are being learned, by deck."""
        return [[self._learned_card(row) for row in deck.learned] for deck in self.decks]

    def remembered_without(self, learned: Sequence[Sequence[LearnedCard]], days: int) -> float:
        """How many cards are remembered after these days without an answer; new cards are not."""
        recalls = (
            recall_after(days - card.last_review, card.stability, deck.preset)
            for deck, cards_of_deck in zip(self.decks, learned, strict=True)
            for card in cards_of_deck
        )
        return self.one_in * sum(recalls)

    def simulate(self, retention: float | None, learned: Sequence[Sequence[LearnedCard]], days: int) -> Workload:
        """All decks at one desired retention; None for the present one of each."""
        seed = self.today.toordinal()
        workloads: list[Workload] = []
        for deck, learned_cards in zip(self.decks, learned, strict=True):
            preset = deck.preset if retention is None else replace(deck.preset, desired_retention=retention)
            scaled = self._scale_limits(preset)
            workloads.append(simulate_days(learned_cards, deck.new_count, self.habits, scaled, days=days, seed=seed))
        whole = reduce(add, workloads) if workloads else simulate_days([], 0, {}, Preset(), days=days, seed=seed)
        mean = fmean(one.desired_retention for one in workloads) if workloads else whole.desired_retention
        return replace(whole, desired_retention=round(mean, 4)) * self.one_in

    def _scale_limits(self, preset: Preset) -> Preset:
        """Daily limits divided by the number of cards that each card stands for."""
        new, due = (-(-limit // self.one_in) for limit in (preset.new_per_day, preset.reviews_per_day))
        return replace(preset, new_per_day=new, reviews_per_day=due)

    def _learned_card(self, row: Any) -> LearnedCard:
        last, due = (self.preferences.date_of(at) - self.today for at in (row.last_review, row.due))
        return LearnedCard(row.stability, row.difficulty, min(0, last.days), max(0, due.days))


def _load_start(connection: Connection, owner: str, deck_id: DeckId | None, now: datetime) -> _SimulationStart:
    selection = select_decks(connection, owner, deck_id)
    one_in, learned, new_counts = _cards_by_deck(connection, selection)
    starts: list[_DeckStart] = []
    for top_deck in selection.top_decks:
        ids = [deck.id for deck in decks.with_subdecks(selection.all_decks, top_deck)]
        rows = [row for deck_id in ids for row in learned[deck_id]]
        new_count = sum(new_counts[deck_id] for deck_id in ids)
        if rows or new_count:
            starts.append(_DeckStart(preset_of(top_deck, selection.all_decks), rows, new_count // one_in))
    habits = _load_habits(connection, selection.user.id, now)
    recent = load_recent(connection, selection.user.id, now)
    preferences = selection.user.preferences
    basis = Basis(
        reviews=sum(stats.count for stats in habits.values()),
        last_at=recent.last_at,
        usual_ms=recent.usual_ms,
        session_minutes=preferences.session_minutes,
    )
    return _SimulationStart(starts, one_in, habits, preferences, preferences.date_of(now), basis)


def _cards_by_deck(
    connection: Connection, selection: DeckSelection
) -> tuple[int, Mapping[int, list[Any]], Mapping[int, int]]:
    """A sample of the cards that are being learned (one in how many, and the rows by deck), and the new card counts."""
    columns = (cards.c.deck_id, cards.c.stability, cards.c.difficulty, cards.c.last_review, cards.c.due)
    has_memory_state = [column.is_not(None) for column in columns[1:]]
    is_learned = sa.and_(selection.of_cards, cards.c.queue.in_([LEARNING, REVIEW]), *has_memory_state)
    total = connection.execute(sa.select(sa.func.count()).select_from(cards).where(is_learned)).scalar_one()
    one_in, in_sample = sample(cards.c.id, total, MAX_CARDS)
    learned: dict[int, list[Any]] = defaultdict(list)
    # The longest overdue first, as in the study queue.
    for row in connection.execute(sa.select(*columns).where(is_learned, in_sample).order_by(cards.c.due, cards.c.id)):
        learned[row.deck_id].append(row)
    is_new = sa.and_(selection.of_cards, cards.c.queue == NEW)
    counts = sa.select(cards.c.deck_id, sa.func.count()).where(is_new).group_by(cards.c.deck_id)
    rows: Sequence[Any] = connection.execute(counts).all()
    return one_in, learned, defaultdict(int, dict(rows))


def _load_habits(connection: Connection, user_id: int, now: datetime) -> AnswerHabits:
    kind = (reviews.c.state, reviews.c.rating)
    duration = sa.func.nullif(reviews.c.duration_ms, 0)
    in_period = sa.and_(counted_reviews(user_id), reviews.c.reviewed_at >= now - HABIT_PERIOD)
    stats = sa.select(*kind, sa.func.count(), sa.func.count(duration), sa.func.avg(duration))
    rows: Sequence[Any] = connection.execute(stats.where(in_period).group_by(*kind)).all()
    return {
        (state, rating): AnswerStats(count, timed, float(average_ms or 0) / 1000)
        for state, rating, count, timed, average_ms in rows
    }
