"""The probability of recall of many cards. Only FSRS can compute it, so its inputs are read, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.analysis import Basis, Recall, ReviewFilter
from mcp_noema.model import CardState, Preset, Schedule
from mcp_noema.records import Owner
from mcp_noema.scheduling.schedule import retrievability
from mcp_noema.store.cards import get_card
from mcp_noema.store.conditions import sample
from mcp_noema.store.deck_selection import select_decks
from mcp_noema.store.study.recent_reviews import load_recent
from mcp_noema.store.tables import SUSPENDED, cards
from toolcharter import InvalidArguments

MAX_CARDS = 10_000
"""How many cards are read. The average of a sample of this size is right to two or three digits."""
_MEMORY_COLUMNS = (cards.c.id, cards.c.deck_id, cards.c.stability, cards.c.last_review, cards.c.reps)


@dataclass(frozen=True, slots=True)
class MemoryStates:
    """The memory states of cards that have been learned."""

    user: Owner
    total: int
    rows: Sequence[Any]
    """All of them, or an even sample."""
    presets: Mapping[int, Preset]
    basis: Basis

    def recall_at(self, at: datetime) -> list[Recall]:
        """The probability of recall of each card at a time."""
        recalls: list[Recall] = []
        for card_id, deck_id, stability, last_review, _ in self.rows:
            preset = self.presets[deck_id]
            schedule = Schedule(CardState.REVIEW, stability=stability, last_review=last_review)
            recall = retrievability(schedule, at, preset, self.user.preferences)
            if recall is not None:
                recalls.append(Recall(card_id, recall, preset.desired_retention))
        return recalls

    def time_on(self, on: date | None, now: datetime) -> datetime:
        """Now, or the same time of day on a later date: FSRS counts whole days."""
        today = self.user.preferences.date_of(now)
        if on is not None and on < today:
            raise InvalidArguments(
                f"on: {on.isoformat()} is in the past; today is {today.isoformat()}. Give today or a later date; "
                "get-review-history shows past answers.",
                fields=("on",),
            )
        return now + timedelta(days=(on - today).days if on else 0)


def load_memory_states(connection: Connection, owner: str, review_filter: ReviewFilter, now: datetime) -> MemoryStates:
    """The learned cards of a deck with its subdecks, or of all decks, without suspended ones; or one card."""
    selection = select_decks(connection, owner, review_filter.deck_id)
    condition = sa.and_(selection.of_cards, cards.c.stability.is_not(None), cards.c.last_review.is_not(None))
    if review_filter.card_id is None:
        condition &= cards.c.queue != SUSPENDED
    else:
        get_card(connection, selection.user.id, review_filter.card_id)
        condition &= cards.c.id == review_filter.card_id.number
    total = connection.execute(sa.select(sa.func.count()).select_from(cards).where(condition)).scalar_one()
    _, in_sample = sample(cards.c.id, total, MAX_CARDS)
    rows = connection.execute(sa.select(*_MEMORY_COLUMNS).where(condition, in_sample)).all()
    recent = load_recent(connection, selection.user.id, now)
    basis = Basis(
        reviews=sum(row.reps for row in rows),
        last_at=max((row.last_review for row in rows), default=None),
        usual_ms=recent.usual_ms,
        session_minutes=selection.user.preferences.session_minutes,
    )
    return MemoryStates(selection.user, total, rows, selection.presets, basis)
