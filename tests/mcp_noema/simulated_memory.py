"""Someone who remembers as FSRS says, with parameters of their own."""

import random
from datetime import UTC, datetime, timedelta

from mcp_noema.model import Preset, Schedule, State
from mcp_noema.schedule import answer, retrievability

START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
MEMORY = (0.1, 0.5, 1.0, 4.0, 7.0, 0.6, 2.5, 0.1, 1.4, 0.3, 0.6, 1.7, 0.1, 0.4, 1.8, 0.5, 1.5, 0.5, 0.1, 0.1, 0.2)
"""Worse than most people's."""


def learned(cards: int, reviews_each: int, seed: int = 1) -> list[list[tuple[int, datetime, int]]]:
    """The log of so many cards, scheduled with the library's parameters and remembered with MEMORY."""
    dice = random.Random(seed)
    return [_history(reviews_each, dice, START + timedelta(days=card % 60)) for card in range(cards)]


def _history(reviews: int, dice: random.Random, at: datetime) -> list[tuple[int, datetime, int]]:
    shown, inside, log = Schedule(), Schedule(), []
    for _ in range(reviews):
        remembered = retrievability(inside, at, Preset(parameters=MEMORY))
        knows = dice.random() < (0.6 if remembered is None else remembered)
        rating = dice.choice((2, 3, 3, 3, 4)) if knows else 1
        log.append((rating, at, int(shown.state)))
        shown, inside = (
            answer(shown, rating, at, Preset()),
            answer(inside, rating, at, Preset(parameters=MEMORY)),
        )
        assert shown.due is not None
        at = shown.due + timedelta(minutes=dice.randrange(120) if shown.state is State.REVIEW else 1)
    return log
