"""How much is remembered. FSRS alone can say it, card by card, so that its inputs are read and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core import InvalidArguments
from mcp_noema.analysis import Basis, Recall, ReviewFilter
from mcp_noema.errors import cards_not_found
from mcp_noema.model import CardId, Preset, Schedule, State
from mcp_noema.repositories import Person
from mcp_noema.schedule import retrievability
from mcp_noema.store import studies
from mcp_noema.store.scope import part, scope
from mcp_noema.store.tables import SUSPENDED, cards

MOST = 10_000
"""How many cards are looked at. Of a random part as large as this, an average is right to two digits or three."""
_MEMORY = (cards.c.id, cards.c.deck_id, cards.c.stability, cards.c.last_review, cards.c.reps)


@dataclass(frozen=True, slots=True)
class Memories:
    """Cards that have been answered, with what their memory rests on."""

    person: Person
    total: int
    rows: Sequence[Any]
    """All of them, or an even part."""
    presets: Mapping[int, Preset]
    basis: Basis

    def at(self, moment: datetime) -> list[Recall]:
        """How likely each is remembered at a time."""
        found: list[Recall] = []
        for number, deck_id, stability, last_review, _ in self.rows:
            preset = self.presets[deck_id]
            memory = Schedule(State.REVIEW, stability=stability, last_review=last_review)
            recall = retrievability(memory, moment, preset)
            if recall is not None:
                found.append(Recall(number, recall, preset.desired_retention))
        return found

    def moment(self, on: date | None, now: datetime) -> datetime:
        """Now, or the same time on another day: FSRS counts whole days."""
        today = self.person.preferences.date_of(now)
        if on is not None and on < today:
            raise InvalidArguments(
                f"on: {on.isoformat()} is past; today is {today.isoformat()}. get-review-history shows what was "
                "remembered.",
                fields=("on",),
            )
        return now + timedelta(days=(on - today).days if on else 0)


def memories(connection: Connection, owner: str, review_filter: ReviewFilter, now: datetime) -> Memories:
    """Of one card, of a deck with those in it, or of everything. Suspended cards only where one is asked for."""
    chosen = scope(connection, owner, review_filter.deck_id)
    wanted = sa.and_(chosen.of_cards, cards.c.stability.is_not(None), cards.c.last_review.is_not(None))
    if review_filter.card_id is None:
        wanted &= cards.c.queue != SUSPENDED
    else:
        check_card(connection, chosen.person.id, review_filter.card_id)
        wanted &= cards.c.id == review_filter.card_id.number
    total = connection.execute(sa.select(sa.func.count()).select_from(cards).where(wanted)).scalar_one()
    _, chosen_part = part(cards.c.id, total, MOST)
    rows = connection.execute(sa.select(*_MEMORY).where(wanted, chosen_part)).all()
    recent = studies.recent(connection, chosen.person.id, now)
    basis = Basis(
        reviews=sum(row.reps for row in rows),
        last_at=max((row.last_review for row in rows), default=None),
        usual_ms=recent.usual_ms,
        session_minutes=chosen.person.preferences.session_minutes,
    )
    return Memories(chosen.person, total, rows, chosen.presets, basis)


def check_card(connection: Connection, user_id: int, card_id: CardId) -> None:
    """Refuse a card that is not there, or not theirs."""
    mine = sa.select(cards.c.id).where(cards.c.user_id == user_id, cards.c.id == card_id.number)
    if connection.execute(mine).one_or_none() is None:
        raise cards_not_found([card_id])
