"""Due dates recomputed from the review log with the present presets."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.analysis import Basis, MovedCard, Rescheduling
from mcp_noema.model import Card, CardState, Day, Deck, DeckId, Dice, Preset, Schedule
from mcp_noema.scheduling.schedule import LoggedReview, reschedule, since_last_learned
from mcp_noema.store import decks, users
from mcp_noema.store.analysis.review_logs import group_by_card, select_logs
from mcp_noema.store.conditions import NOT_UNDONE
from mcp_noema.store.deck_selection import DeckSelection, select_decks
from mcp_noema.store.row_mapping import CARD_COLUMNS, schedule_values, to_card
from mcp_noema.store.tables import cards, reviews

MAX_MOVED_CARDS = 5
"""How many of the cards that move furthest are listed."""
_CARDS_PER_STATEMENT = 1000
PAGE = 2000
"""How many cards are rescheduled at once."""


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """The schedule of a card before and after."""

    card_id: int
    before: Schedule
    after: Schedule
    suspended: bool


@dataclass(frozen=True, slots=True)
class ReviewedPage:
    """Some cards of a deck that have been answered, and their logs."""

    cards: Sequence[Card]
    logs: Mapping[int, Sequence[LoggedReview]]


@dataclass(slots=True)
class DeckRescheduling:
    """A deck that is rescheduled page by page, so that its log need not fit into memory."""

    deck: Deck
    selection: DeckSelection
    presets: Mapping[int, Preset]
    day: Day
    total: int
    """How many of its cards have been answered."""
    cards: int = 0
    """How many of those are done."""
    last_id: int = 0
    changes: list[ScheduleChange] = field(default_factory=list[ScheduleChange])
    unknown: int = 0
    """Cards whose log is incomplete."""
    due_before: int = 0
    reviews: int = 0
    last_at: datetime | None = None

    def add(self, page: ReviewedPage, dice: Dice | None) -> None:
        """Reschedule the cards of a page, with the fuzz of each answer."""
        for card in page.cards:
            self.due_before += not card.suspended and self._is_due(card.schedule)
            log = since_last_learned(page.logs.get(card.id, ()))
            if not log or log[-1][1] != card.schedule.last_review:
                self.unknown += 1
                continue
            fuzz = partial(dice, card.id) if dice else None
            answers = [(rating, at) for rating, at, _ in log]
            preset, preferences = self.presets[card.deck_id], self.selection.user.preferences
            after = reschedule(card.schedule, answers, preset, preferences, fuzz=fuzz)
            if after != card.schedule:
                self.changes.append(ScheduleChange(card.id, card.schedule, after, card.suspended))
        times = [log[-1][1] for log in page.logs.values()]
        self.last_at = max((at for at in (*times, self.last_at) if at), default=None)
        self.reviews += sum(map(len, page.logs.values()))
        self.cards += len(page.cards)
        self.last_id = page.cards[-1].id

    def summarize(self, changes: Sequence[ScheduleChange]) -> Rescheduling:
        """The result, if these changes are made."""
        moved = [MovedCard(change.card_id, change.before.due, change.after.due) for change in changes]
        active = [change for change in changes if not change.suspended]
        more_due = sum(self._is_due(change.after) - self._is_due(change.before) for change in active)
        return Rescheduling(
            deck=self.deck,
            cards=self.cards,
            changed=len(changes),
            unknown=self.unknown,
            due_before=self.due_before,
            due_after=self.due_before + more_due,
            most_moved=tuple(heapq.nlargest(MAX_MOVED_CARDS, moved, key=_distance)),
            basis=Basis(self.reviews, self.last_at, session_minutes=self.selection.user.preferences.session_minutes),
        )

    def _is_due(self, schedule: Schedule) -> bool:
        return schedule.due is not None and schedule.due < self.day.ends


def _distance(moved: MovedCard) -> timedelta:
    return abs(moved.after - moved.before) if moved.after and moved.before else timedelta.max


def start(connection: Connection, owner: str, deck_id: DeckId, now: datetime) -> DeckRescheduling:
    """Begin with a deck and its subdecks."""
    selection = select_decks(connection, owner, deck_id)
    reviewed = sa.select(sa.func.count()).select_from(cards).where(selection.of_cards, cards.c.state != CardState.NEW)
    return DeckRescheduling(
        deck=decks.find(selection.all_decks, deck_id),
        selection=selection,
        presets=selection.presets,
        day=selection.user.preferences.day_of(now),
        total=connection.execute(reviewed).scalar_one(),
    )


def next_page(connection: Connection, deck: DeckRescheduling) -> ReviewedPage | None:
    """The next cards with their logs; None if all are done."""
    reviewed = sa.select(*CARD_COLUMNS).where(
        deck.selection.of_cards, cards.c.state != CardState.NEW, cards.c.id > deck.last_id
    )
    page = [to_card(row) for row in connection.execute(reviewed.order_by(cards.c.id).limit(PAGE)).all()]
    if not page:
        return None
    logs = select_logs(reviews.c.card_id.in_([card.id for card in page]), NOT_UNDONE)
    return ReviewedPage(page, dict(group_by_card(connection.execute(logs).all())))


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
