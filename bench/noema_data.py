"""Collections to measure the learning server with, from ten thousand cards to a million.

The histories of one block of cards are made card by card with FSRS. A larger collection has that block many times.
"""

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import accumulate
from typing import Any

from mcp_noema.model import CardState, NoteKind, Preferences, Preset, Schedule
from mcp_noema.scheduling.schedule import answer
from mcp_noema.store.row_mapping import schedule_values

BLOCK = 10_000
"""The number of cards that are made one by one."""
DECKS = 20
DECKS_IN_TREE = 5
"""A deck with four inside it."""
TWO_YEARS = timedelta(days=730)
ANSWERED_TODAY, LEARNING, HALF_LEARNED = 83, 200, 1000
"""One card in 83 was answered today, one in 200 is being learned; in other blocks, 1 in 1,000 was left half learned."""
NEW_CARD = Schedule()
TYPES: tuple[NoteKind, ...] = ("basic", "basic-reversed")


@dataclass(frozen=True)
class Collection:
    """The size of a collection, and its users."""

    title: str
    copies: int = 1
    """Copies of the block of cards."""
    users: int = 1
    """Either one user with all copies, or one user for each copy."""
    decks: int = DECKS
    """The decks of each user; a multiple of those in a block."""
    block: int = BLOCK
    reviews: int | None = None
    """If set, only the first cards, up to this number of reviews."""

    @property
    def cards(self) -> int:
        return self.block * self.copies


def user_name(number: int) -> str:
    return f"user{number}"


# --- one block of cards ------------------------------------------------------------------------------------

Answer = tuple[Any, ...]
"""A review as a row: rating, time, duration, state, both intervals, stability, difficulty."""
_WORDS = [a + b + c for a in "bdfklmnprst" for b in ("a", "e", "ing", "or", "us") for c in ("", "r", "tion", "ly", "m")]


@dataclass(frozen=True)
class Block:
    """Rows for both databases: times are seconds since 1970, numbers begin at 0."""

    notes: list[tuple[Any, ...]]
    cards: list[tuple[Any, ...]]
    reviews: list[tuple[Any, ...]]


@dataclass(frozen=True)
class _Card:
    """A card, and its answers so far."""

    number: int
    references: tuple[int, int, int]
    """Note, deck and ordinal."""
    created_at: datetime
    suspended: bool
    schedule: Schedule = NEW_CARD
    answers: tuple[Answer, ...] = ()

    def answered(self, rating: int, at: datetime, dice: random.Random) -> "_Card":
        before, after = self.schedule, answer(self.schedule, rating, at, Preset(), Preferences(), fuzz=dice.random())
        intervals = [round(span.total_seconds()) if span else 0 for span in (after.interval, before.interval)]
        row = (rating, _seconds(at), round(dice.lognormvariate(8.9, 0.5)), int(before.state), *intervals)
        return replace(self, schedule=after, answers=(*self.answers, (*row, after.stability, after.difficulty)))

    def row(self) -> tuple[Any, ...]:
        schedule = self.schedule
        values = schedule_values(schedule, suspended=self.suspended and schedule.state is CardState.REVIEW)
        lapses = sum(row[0] == 1 and row[3] == CardState.REVIEW for row in self.answers)
        memory_state = (values[name] for name in ("queue", "state", "step", "stability", "difficulty"))
        times = (_seconds(schedule.due), _seconds(schedule.last_review))
        return (
            self.number,
            *self.references,
            *memory_state,
            *times,
            len(self.answers),
            lapses,
            _seconds(self.created_at),
        )


@cache
def blocks(now: datetime, size: int = BLOCK) -> tuple[Block, Block]:
    """A block of a user who studies today, and one of cards that wait: about 70 % review cards, one in twelve of
    them due, new and suspended ones, and some that are being learned.

    Only one block of a user is of the first kind: a user with more cards does not study more in a day.
    """
    dice = random.Random(20)
    notes: list[tuple[Any, ...]] = []
    cards: list[_Card] = []
    while len(cards) < size:
        number = len(notes)
        # Every tenth note has two cards.
        kind = 1 if number % 10 == 0 and len(cards) < size - 1 else 0
        deck, since = dice.randrange(DECKS), now - TWO_YEARS * dice.random() - timedelta(days=3)
        words = " ".join(dice.choices(_WORDS, k=6))
        values = [f"What is {words} #{number}?", f"It is {words[::-1]} #{number}."]
        tags = f" {dice.choice(_WORDS)} " if dice.random() < 0.3 else ""
        notes.append((number, kind, json.dumps(values), tags, " ".join(values), _seconds(since)))
        for ordinal in range(kind + 1):
            fraction = dice.random()
            new = _Card(len(cards), (number, deck, ordinal), since, fraction > 0.95)
            cards.append(_with_history(new, now, dice) if fraction > 0.24 else new)
    active = [_with_today(card, now, dice) for card in cards]
    resting = [_half_learned(card, now, dice) for card in cards]
    return _block(notes, active), _block(notes, resting)


def _with_history(card: _Card, now: datetime, dice: random.Random) -> _Card:
    """Answered whenever it was due, on the day or some days late, until yesterday."""
    at, until = card.created_at, Preferences().day_of(now).begins - timedelta(hours=12)
    while at < until:
        card = card.answered(dice.choices((1, 2, 3, 4), (13, 12, 65, 10))[0], at, dice)
        assert card.schedule.due is not None
        late = dice.random() * (25 if dice.random() < 0.2 else 1) if card.schedule.state is CardState.REVIEW else 0
        at = card.schedule.due + timedelta(days=late)
    return card


def _with_today(card: _Card, now: datetime, dice: random.Random) -> _Card:
    """With today's answers: some cards are answered, some are being learned."""
    begins = max(Preferences().day_of(now).begins, now - timedelta(hours=1))
    if card.number % ANSWERED_TODAY == 0:
        return card.answered(
            4 if card.schedule.state is CardState.NEW else 3, begins + (now - begins) * dice.random(), dice
        )
    if card.number % LEARNING == 1:
        return replace(card, schedule=NEW_CARD, answers=()).answered(3, begins + (now - begins) * dice.random(), dice)
    return card


def _half_learned(card: _Card, now: datetime, dice: random.Random) -> _Card:
    """A few cards were left half learned."""
    if card.number % HALF_LEARNED != 1:
        return card
    return replace(card, schedule=NEW_CARD, answers=()).answered(3, now - timedelta(days=1 + dice.randrange(20)), dice)


def _block(notes: list[tuple[Any, ...]], cards: Sequence[_Card]) -> Block:
    answers = sorted(((card.number, *row) for card in cards for row in card.answers), key=lambda row: row[2])
    return Block(notes, [card.row() for card in cards], [(number, *row) for number, row in enumerate(answers)])


def first_cards(block: Block, reviews: int | None) -> Block:
    """The first cards of a block, up to a number of reviews."""
    if reviews is None:
        return block
    review_counts = Counter(row[1] for row in block.reviews)
    totals = accumulate(review_counts[row[0]] for row in block.cards)
    last = next(number for number, total in enumerate(totals) if total >= reviews)
    cards = block.cards[: last + 1]
    return Block(block.notes[: cards[-1][1] + 1], cards, [row for row in block.reviews if row[1] <= last])


def _seconds(moment: datetime | None) -> int | None:
    return round(moment.timestamp()) if moment else None
