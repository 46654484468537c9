"""Due dates recomputed from the review log with the present presets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.analysis import Basis, MovedCard, Rescheduling
from mcp_noema.model import Card, Day, Deck, DeckId, Dice, Preferences, Preset, Schedule, State
from mcp_noema.schedule import LoggedReview, reschedule, since_last_learned
from mcp_noema.store import decks, users
from mcp_noema.store.deck_selection import select_decks
from mcp_noema.store.review_logs import group_by_card, select_logs
from mcp_noema.store.row_mapping import CARD_COLUMNS, schedule_values, to_card
from mcp_noema.store.tables import cards

MAX_MOVED_CARDS = 5
"""How many of the cards that move furthest are listed."""
_CARDS_PER_STATEMENT = 1000


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """The schedule of a card before and after."""

    card_id: int
    before: Schedule
    after: Schedule


@dataclass(frozen=True, slots=True)
class ScheduleChanges:
    """The cards whose schedule changes, and the number of cards whose log is incomplete."""

    changes: Sequence[ScheduleChange]
    unknown: int


@dataclass(frozen=True, slots=True)
class ReviewedDeck:
    """A deck with its cards that have been answered, and their logs."""

    deck: Deck
    cards: Sequence[Card]
    logs: Mapping[int, Sequence[LoggedReview]]
    presets: Mapping[int, Preset]
    preferences: Preferences
    day: Day
    basis: Basis

    def compute_changes(self, dice: Dice | None) -> ScheduleChanges:
        """Reschedule all cards, with the fuzz of each answer."""
        changes: list[ScheduleChange] = []
        unknown = 0
        for card in self.cards:
            log = since_last_learned(self.logs.get(card.id, ()))
            if not log or log[-1][1] != card.schedule.last_review:
                unknown += 1
                continue
            fuzz = partial(dice, card.id) if dice else None
            answers = [(rating, at) for rating, at, _ in log]
            after = reschedule(card.schedule, answers, self.presets[card.deck_id], self.preferences, fuzz=fuzz)
            if after != card.schedule:
                changes.append(ScheduleChange(card.id, card.schedule, after))
        return ScheduleChanges(changes, unknown)

    def summarize(self, changes: Sequence[ScheduleChange], unknown: int) -> Rescheduling:
        after = {change.card_id: change.after for change in changes}
        active = [card for card in self.cards if not card.suspended]
        moved = [MovedCard(change.card_id, change.before.due, change.after.due) for change in changes]
        moved.sort(key=_distance)
        return Rescheduling(
            deck=self.deck,
            cards=len(self.cards),
            changed=len(changes),
            unknown=unknown,
            due_before=sum(self._is_due(card.schedule) for card in active),
            due_after=sum(self._is_due(after.get(card.id, card.schedule)) for card in active),
            most_moved=tuple(reversed(moved[-MAX_MOVED_CARDS:])),
            basis=self.basis,
        )

    def _is_due(self, schedule: Schedule) -> bool:
        return schedule.due is not None and schedule.due < self.day.ends


def _distance(moved: MovedCard) -> timedelta:
    return abs(moved.after - moved.before) if moved.after and moved.before else timedelta.max


def load_reviewed_deck(connection: Connection, owner: str, deck_id: DeckId, now: datetime) -> ReviewedDeck:
    """A deck with its subdecks."""
    selection = select_decks(connection, owner, deck_id)
    reviewed = sa.select(*CARD_COLUMNS).where(selection.of_cards, cards.c.state != State.NEW).order_by(cards.c.id)
    reviewed_cards = [to_card(row) for row in connection.execute(reviewed)]
    rows = connection.execute(select_logs(selection.of_reviews)).all()
    preferences = selection.user.preferences
    last_at = max((row.reviewed_at for row in rows), default=None)
    return ReviewedDeck(
        deck=decks.find(selection.all_decks, deck_id),
        cards=reviewed_cards,
        logs=dict(group_by_card(rows)),
        presets=selection.presets,
        preferences=preferences,
        day=preferences.day_of(now),
        basis=Basis(len(rows), last_at, session_minutes=preferences.session_minutes),
    )


def apply(connection: Connection, owner: str, changes: Sequence[ScheduleChange], now: datetime) -> list[ScheduleChange]:
    """Apply the changes, and return those that were applied: cards that changed in the meantime are skipped."""
    user_id = users.lock(connection, owner, now).id
    update = sa.update(cards).where(cards.c.id == sa.bindparam("updated_id"))
    applied: list[ScheduleChange] = []
    for start in range(0, len(changes), _CARDS_PER_STATEMENT):
        chunk = {change.card_id: change for change in changes[start : start + _CARDS_PER_STATEMENT]}
        query = sa.select(*CARD_COLUMNS).where(cards.c.user_id == user_id, cards.c.id.in_(chunk))
        same = [card for card in map(to_card, connection.execute(query)) if card.schedule == chunk[card.id].before]
        values = [
            schedule_values(chunk[card.id].after, suspended=card.suspended) | {"updated_id": card.id} for card in same
        ]
        if values:
            connection.execute(update, values)
        applied += [chunk[card.id] for card in same]
    return applied
