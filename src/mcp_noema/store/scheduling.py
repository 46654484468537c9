"""How cards are scheduled: parameters fitted to the log, and the days to come.

The optimizer and the forecast keep a thread busy for a while, so they run beside the event loop.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import reduce
from itertools import groupby
from operator import add, itemgetter
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core.db import Database
from mcp_noema.analysis import Basis, Fit, Optimization, Plans, Rescheduling, Workload
from mcp_noema.errors import conflict
from mcp_noema.fitting import fit
from mcp_noema.model import Deck, DeckId, Preferences, Preset, preset_of
from mcp_noema.store import decks, people, rescheduling, studies
from mcp_noema.store.scope import Scope, part, scope, standing
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, cards, reviews
from mcp_noema.store.tables import decks as decks_table
from mcp_noema.workload import Answers, Habit, Known, neighbours, plan

MOST_REVIEWS = 50_000
"""More teach the optimizer next to nothing, and it lets nobody else in the process work while it runs."""
MOST_CARDS = 50_000
"""How many cards are played forward; of more, an even part stands for the rest."""
HABITS = timedelta(days=180)
"""How far back someone's answers say how they answer."""


class SqlScheduling:
    """The scheduling of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def plan(self, owner: str, deck_id: DeckId | None, days: int, other: float | None, now: datetime) -> Plans:
        held = await self._database.read(_held, owner, deck_id, now)
        plans = await asyncio.to_thread(held.plans, days, other)
        return Plans(held.today, plans, held.basis)

    async def optimize(self, owner: str, deck_id: DeckId | None, now: datetime, *, apply: bool) -> Optimization:
        chosen, rows = await self._database.read(_log, owner, deck_id)
        preset, preferences = _present(chosen), chosen.person.preferences
        found = await asyncio.to_thread(_fit, rows, preset, preferences)
        applied = apply and found.is_better
        if applied:
            await self._database.write(_set_parameters, owner, chosen.outermost, found, now)
        last_at = max(row.reviewed_at for row in rows)
        basis = Basis(found.reviews, last_at, session_minutes=preferences.session_minutes)
        return Optimization(found, tuple(chosen.outermost), preset.parameters, applied=applied, basis=basis)

    async def reschedule(self, owner: str, deck_id: DeckId, now: datetime, *, fuzz: bool, apply: bool) -> Rescheduling:
        held = await self._database.read(rescheduling.gather, owner, deck_id, now)
        changes = await asyncio.to_thread(held.changes, fuzz=fuzz)
        if apply and changes:
            changes = await self._database.write(rescheduling.apply, owner, changes, now)
        return held.outcome(changes)


# --- parameters --------------------------------------------------------------------------------------------


def _log(connection: Connection, owner: str, deck_id: DeckId | None) -> tuple[Scope, Sequence[Any]]:
    """The reviews that the optimizer learns from, and of them no more than it needs: whole cards, each with its log."""
    chosen = scope(connection, owner, deck_id)
    total = connection.execute(sa.select(sa.func.count()).select_from(reviews).where(chosen.of_reviews)).scalar_one()
    _, chosen_part = part(reviews.c.card_id, total, MOST_REVIEWS)
    columns = (reviews.c.card_id, reviews.c.rating, reviews.c.reviewed_at, reviews.c.state)
    log = sa.select(*columns).where(chosen.of_reviews, chosen_part)
    return chosen, connection.execute(log.order_by(reviews.c.card_id, reviews.c.reviewed_at)).all()


def _present(chosen: Scope) -> Preset:
    """What the decks have now; the library's own parameters where they do not agree."""
    presets = [preset_of(deck, chosen.known) for deck in chosen.outermost]
    if not presets:
        return Preset()
    agree = len({preset.parameters for preset in presets}) == 1
    return presets[0] if agree else replace(presets[0], parameters=None)


def _fit(rows: Sequence[Any], preset: Preset, preferences: Preferences) -> Fit:
    by_card = groupby(rows, key=itemgetter(0))
    return fit(([tuple(row[1:]) for row in log] for _, log in by_card), preset, preferences)


def _set_parameters(connection: Connection, owner: str, chosen: Sequence[Deck], found: Fit, now: datetime) -> None:
    known = decks.by_name(connection, people.writing(connection, owner, now).id)
    still_there = {deck.id: deck for deck in known.values()}
    for deck in chosen:
        if deck.id not in still_there:
            raise conflict(f"The deck {deck.name!r} was deleted meanwhile. Nothing was changed; try again.")
        preset = {**still_there[deck.id].preset, "parameters": list(found.parameters)}
        connection.execute(sa.update(decks_table).where(decks_table.c.id == deck.id).values(preset=preset))


# --- the days to come --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Held:
    """What a forecast begins with: by outermost deck its preset, the cards being learned and the number of new ones."""

    decks: Sequence[tuple[Preset, Sequence[Any], int]]
    one_in: int
    """How many cards each of these stands for."""
    answers: Answers
    preferences: Preferences
    today: date
    basis: Basis

    def plans(self, days: int, wanted: float | None) -> tuple[Workload, ...]:
        """The present one first, then those beside it and the one wanted."""
        known = [[self._known(row) for row in rows] for _, rows, _ in self.decks]
        present = fmean(preset.desired_retention for preset, _, _ in self.decks) if self.decks else 0.0
        others = sorted({*neighbours(present), *([wanted] if wanted else [])} - {present})
        return tuple(self._plan(known, days, retention) for retention in (None, *others))

    def _plan(self, known: Sequence[Sequence[Known]], days: int, retention: float | None) -> Workload:
        """All decks at one desired retention; None for what each has."""
        seed = self.today.toordinal()
        played: list[Workload] = []
        for (preset, _, new), learned in zip(self.decks, known, strict=True):
            at = self._scaled(preset if retention is None else replace(preset, desired_retention=retention))
            played.append(plan(learned, new, self.answers, at, days=days, seed=seed))
        whole = reduce(add, played) if played else plan([], 0, {}, Preset(), days=days, seed=seed)
        mean = fmean(one.desired_retention for one in played) if played else whole.desired_retention
        return replace(whole, desired_retention=round(mean, 4)) * self.one_in

    def _scaled(self, preset: Preset) -> Preset:
        """Where a card stands for several, a day takes as many fewer."""
        new, due = (-(-limit // self.one_in) for limit in (preset.new_per_day, preset.reviews_per_day))
        return replace(preset, new_per_day=new, reviews_per_day=due)

    def _known(self, row: Any) -> Known:
        last, due = (self.preferences.date_of(moment) - self.today for moment in (row.last_review, row.due))
        return Known(row.stability, row.difficulty, min(0, last.days), max(0, due.days))


def _held(connection: Connection, owner: str, deck_id: DeckId | None, now: datetime) -> _Held:
    chosen = scope(connection, owner, deck_id)
    one_in, learned, new = _cards_by_deck(connection, chosen)
    groups: list[tuple[Preset, Sequence[Any], int]] = []
    for outer in chosen.outermost:
        inside = [deck.id for deck in decks.below(chosen.known, outer)]
        rows = [row for number in inside for row in learned[number]]
        waiting = sum(new[number] for number in inside)
        if rows or waiting:
            groups.append((preset_of(outer, chosen.known), rows, waiting // one_in))
    answers = _answers(connection, chosen.person.id, now)
    recent = studies.recent(connection, chosen.person.id, now)
    preferences = chosen.person.preferences
    basis = Basis(
        reviews=sum(habit.count for habit in answers.values()),
        last_at=recent.last_at,
        usual_ms=recent.usual_ms,
        session_minutes=preferences.session_minutes,
    )
    return _Held(groups, one_in, answers, preferences, preferences.date_of(now), basis)


def _cards_by_deck(connection: Connection, chosen: Scope) -> tuple[int, Mapping[int, list[Any]], Mapping[int, int]]:
    """One card in how many is taken; these, of the cards that are being learned; and how many wait to be."""
    columns = (cards.c.deck_id, cards.c.stability, cards.c.difficulty, cards.c.last_review, cards.c.due)
    has_memory = [column.is_not(None) for column in columns[1:]]
    being_learned = sa.and_(chosen.of_cards, cards.c.queue.in_([LEARNING, REVIEW]), *has_memory)
    total = connection.execute(sa.select(sa.func.count()).select_from(cards).where(being_learned)).scalar_one()
    one_in, chosen_part = part(cards.c.id, total, MOST_CARDS)
    learned: dict[int, list[Any]] = defaultdict(list)
    # The longest overdue first: so they are asked.
    for row in connection.execute(
        sa.select(*columns).where(being_learned, chosen_part).order_by(cards.c.due, cards.c.id)
    ):
        learned[row.deck_id].append(row)
    waiting = sa.and_(chosen.of_cards, cards.c.queue == NEW)
    counts = sa.select(cards.c.deck_id, sa.func.count()).where(waiting).group_by(cards.c.deck_id)
    rows: Sequence[Any] = connection.execute(counts).all()
    return one_in, learned, defaultdict(int, dict(rows))


def _answers(connection: Connection, user_id: int, now: datetime) -> Answers:
    """How someone has answered lately, by the state before and the rating."""
    kind = (reviews.c.state, reviews.c.rating)
    timed = sa.func.nullif(reviews.c.duration_ms, 0)
    lately = sa.and_(standing(user_id), reviews.c.reviewed_at >= now - HABITS)
    kinds = sa.select(*kind, sa.func.count(), sa.func.count(timed), sa.func.avg(timed)).where(lately).group_by(*kind)
    rows: Sequence[Any] = connection.execute(kinds).all()
    return {
        (state, rating): Habit(count, with_time, float(spent or 0) / 1000)
        for state, rating, count, with_time, spent in rows
    }
