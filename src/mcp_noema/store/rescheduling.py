"""Due dates reckoned anew from the log, as the presets say now."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.analysis import Basis, MovedCard, Rescheduling
from mcp_noema.model import Card, Day, Deck, DeckId, Preset, Schedule, State
from mcp_noema.schedule import Logged, rescheduled, since_learned
from mcp_noema.store import decks, people
from mcp_noema.store.rows import CARD, card_of, schedule_values
from mcp_noema.store.scope import scope
from mcp_noema.store.tables import cards, reviews

SHOWN = 5
"""How many of the cards that move most are named."""
_TOGETHER = 1000
"""How many cards one statement asks about."""


@dataclass(frozen=True, slots=True)
class Change:
    """A card, before and after."""

    card_id: int
    before: Schedule
    after: Schedule


@dataclass(frozen=True, slots=True)
class Held:
    """A deck with the cards in it that have been answered, and their logs."""

    deck: Deck
    cards: Sequence[Card]
    logs: Mapping[int, Sequence[Logged]]
    presets: Mapping[int, Preset]
    day: Day
    basis: Basis

    def changes(self, *, fuzz: bool) -> list[Change]:
        """The cards that would be due at another time. The same dice fall each time a card is reckoned anew."""
        found: list[Change] = []
        for card in self.cards:
            if (log := self._log(card)) is None:
                continue
            dice = random.Random(card.id).random if fuzz else None  # noqa: S311 - no secret depends on it
            before, preset = card.schedule, self.presets[card.deck_id]
            after = rescheduled(before, [(rating, at) for rating, at, _ in log], preset, dice)
            if after != before:
                found.append(Change(card.id, before, after))
        return found

    def _log(self, card: Card) -> Sequence[Logged] | None:
        """What the card's memory rests on; None where the log does not tell all of it."""
        log = since_learned(self.logs.get(card.id, ()))
        return log if log and log[-1][1] == card.schedule.last_review else None

    def outcome(self, changes: Sequence[Change]) -> Rescheduling:
        """What the changes come to."""
        after = {change.card_id: change.after for change in changes}
        active = [card for card in self.cards if not card.suspended]
        moved = [MovedCard(change.card_id, change.before.due, change.after.due) for change in changes]
        moved.sort(key=_distance)
        return Rescheduling(
            deck=self.deck,
            cards=len(self.cards),
            changed=len(changes),
            unknown=sum(self._log(card) is None for card in self.cards),
            due_before=sum(self._is_due(card.schedule) for card in active),
            due_after=sum(self._is_due(after.get(card.id, card.schedule)) for card in active),
            most_moved=tuple(reversed(moved[-SHOWN:])),
            basis=self.basis,
        )

    def _is_due(self, schedule: Schedule) -> bool:
        return schedule.due is not None and schedule.due < self.day.ends


def _distance(moved: MovedCard) -> timedelta:
    return abs(moved.after - moved.before) if moved.after and moved.before else timedelta.max


def gather(connection: Connection, owner: str, deck_id: DeckId, now: datetime) -> Held:
    """The cards of a deck, and of those in it, that have been answered; with their logs."""
    chosen = scope(connection, owner, deck_id)
    answered = sa.select(*CARD).where(chosen.of_cards, cards.c.state != State.NEW).order_by(cards.c.id)
    held = [card_of(row) for row in connection.execute(answered)]
    columns = (reviews.c.card_id, reviews.c.rating, reviews.c.reviewed_at, reviews.c.state)
    logged = sa.select(*columns).where(chosen.of_reviews).order_by(reviews.c.card_id, reviews.c.reviewed_at)
    rows = connection.execute(logged).all()
    logs: dict[int, Sequence[Logged]] = {
        number: [(rating, at, state) for _, rating, at, state in log] for number, log in groupby(rows, itemgetter(0))
    }
    preferences = chosen.person.preferences
    last_at = max((row.reviewed_at for row in rows), default=None)
    basis = Basis(len(rows), last_at, session_minutes=preferences.session_minutes)
    deck = decks.find(chosen.known, deck_id)
    return Held(deck, held, logs, chosen.presets, preferences.day_of(now), basis)


def apply(connection: Connection, owner: str, changes: Sequence[Change], now: datetime) -> list[Change]:
    """Give the cards their new schedules; those that were answered or changed meanwhile keep theirs."""
    user_id = people.writing(connection, owner, now).id
    update = sa.update(cards).where(cards.c.id == sa.bindparam("number"))
    made: list[Change] = []
    for start in range(0, len(changes), _TOGETHER):
        part = {change.card_id: change for change in changes[start : start + _TOGETHER]}
        mine = sa.select(*CARD).where(cards.c.user_id == user_id, cards.c.id.in_(part))
        same = [card for card in map(card_of, connection.execute(mine)) if card.schedule == part[card.id].before]
        values = [schedule_values(part[card.id].after, suspended=card.suspended) | {"number": card.id} for card in same]
        if values:
            connection.execute(update, values)
        made += [part[card.id] for card in same]
    return made
