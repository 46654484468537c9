"""Review logs of a simulated learner, whose memory follows FSRS with other parameters."""

import random
from datetime import UTC, datetime, timedelta

from mcp_noema.model import CardState, Preferences, Preset, Schedule
from mcp_noema.scheduling.schedule import answer, retrievability

START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
MEMORY = (0.1, 0.5, 1.0, 4.0, 7.0, 0.6, 2.5, 0.1, 1.4, 0.3, 0.6, 1.7, 0.1, 0.4, 1.8, 0.5, 1.5, 0.5, 0.1, 0.1, 0.2)
"""The parameters of a memory that is worse than most."""


def simulate_logs(cards: int, reviews_each: int, seed: int = 1) -> list[list[tuple[int, datetime, int]]]:
    """The logs of some cards, scheduled with the default parameters and remembered with MEMORY."""
    dice = random.Random(seed)
    return [_simulate_log(reviews_each, dice, START + timedelta(days=card % 60)) for card in range(cards)]


def _simulate_log(reviews: int, dice: random.Random, at: datetime) -> list[tuple[int, datetime, int]]:
    scheduled, memory, log = Schedule(), Schedule(), []
    for _ in range(reviews):
        recall = retrievability(memory, at, Preset(parameters=MEMORY), Preferences())
        remembers = dice.random() < (0.6 if recall is None else recall)
        rating = dice.choice((2, 3, 3, 3, 4)) if remembers else 1
        log.append((rating, at, int(scheduled.state)))
        scheduled, memory = (
            answer(scheduled, rating, at, Preset(), Preferences()),
            answer(memory, rating, at, Preset(parameters=MEMORY), Preferences()),
        )
        assert scheduled.due is not None
        at = scheduled.due + timedelta(minutes=dice.randrange(120) if scheduled.state is CardState.REVIEW else 1)
    return log
