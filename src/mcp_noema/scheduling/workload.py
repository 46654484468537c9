"""A simulation of the coming days: how much work they bring, and what is remembered at the end.

Each day is simulated with dice: a card that is due is remembered with the probability that FSRS gives, and scheduled
again by FSRS. New cards are simulated by fsrs_rs_python. Its simulator cannot start with cards that are being learned,
so those are simulated here, with the memory model of the same library.

What the numbers assume:

- The memory follows FSRS with these parameters. The user studies every day, up to the limits of the preset, and
  answers as before.
- How they answered before is taken from their review log, mixed with the library's averages until there are enough
  reviews.
- Intervals are not fuzzed, and siblings are not buried. Learning steps are completed on the day they begin.
- Today is the first day, as if nothing had been studied yet. If new and older cards together exceed the daily limit,
  the reviews of new cards come first.
"""

import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fsrs_rs_python import (
    DEFAULT_PARAMETERS,
    FSRS,
    Card,
    ItemState,
    MemoryState,
    SimulatorConfig,
    default_simulator_config,
    simulate,
)

from mcp_noema.analysis import Workload
from mcp_noema.model import CardState, Preset

PRIOR_WEIGHT = 50
"""The library's averages weigh as much as this many of the user's own answers."""
_RUNS = 20
_CARDS_IN_ALL_RUNS = 20_000
"""A simulation of few cards is repeated, to average out chance; many cards need that less, and take longer."""
RETENTION_STEP, MIN_RETENTION, MAX_RETENTION = 0.05, 0.7, 0.97
"""The distance between the compared retentions, and their bounds."""
_NO_LIMIT = 1e9
_MAX_RELEARNING_ANSWERS = 5
"""The library's limit for the answers on the day of a lapse."""
_AGAIN, _GOOD, _EASY = 0, 2, 3
_REVIEW, _RELEARNING = 1, 2
_COST_STATES = ((CardState.NEW, CardState.LEARNING), (CardState.REVIEW,), (CardState.RELEARNING,))
"""The rows of the library's table of seconds per answer: states before the answer. Its columns are the ratings."""


@dataclass(frozen=True, slots=True)
class AnswerStats:
    """One kind of answer: how often it was given, how often with a duration, and the average duration."""

    count: int = 0
    timed: int = 0
    seconds: float = 0.0


AnswerHabits = Mapping[tuple[int, int], AnswerStats]
"""How a user answers, by the state before the answer and the rating."""
_NO_ANSWERS = AnswerStats()


@dataclass(frozen=True, slots=True)
class LearnedCard:
    """A card that is being learned. Days are relative to today, which is 0."""

    stability: float
    difficulty: float
    last_review: int
    due: int


def neighbouring_retentions(retention: float) -> tuple[float, ...]:
    """A lower and a higher desired retention to compare with."""
    neighbours = (retention - RETENTION_STEP, retention + RETENTION_STEP)
    return tuple(sorted({round(min(max(each, MIN_RETENTION), MAX_RETENTION), 2) for each in neighbours}))


def simulate_days(
    cards: Sequence[LearnedCard], new_cards: int, habits: AnswerHabits, preset: Preset, *, days: int, seed: int
) -> Workload:
    """Simulate the coming days at the desired retention of the preset. The same seed gives the same numbers."""
    config = _config(new_cards, habits, preset, days)
    run_count = max(1, min(_RUNS, _CARDS_IN_ALL_RUNS // max(1, len(cards) + new_cards)))
    runs = [_simulate(cards, config, preset, seed + run) for run in range(run_count)]
    return Workload(
        desired_retention=preset.desired_retention,
        reviews=_averages([run.reviews for run in runs]),
        new=_averages([run.new for run in runs]),
        minutes=_averages([run.minutes for run in runs]),
        remembered=sum(run.remembered for run in runs) / run_count,
        known=sum(run.known for run in runs) / run_count,
        overdue=sum(run.overdue for run in runs) / run_count,
    )


def _averages(series: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(day) / len(series) for day in zip(*series, strict=True))


def _simulate(cards: Sequence[LearnedCard], config: SimulatorConfig, preset: Preset, seed: int) -> Workload:
    new = _simulate_new(config, preset, seed)
    review_limits = [max(0, config.review_limit - int(count)) for count in new.reviews]
    learned = _simulate_learned(cards, review_limits, config, preset, random.Random(seed))  # noqa: S311 - a simulation
    return new + learned


def _simulate_new(config: SimulatorConfig, preset: Preset, seed: int) -> Workload:
    """New cards, simulated by the library."""
    if not config.deck_size or not config.learn_limit:
        nothing = (0.0,) * config.learn_span
        return Workload(preset.desired_retention, nothing, nothing, nothing, 0.0, 0.0)
    result = simulate(_parameters(preset), preset.desired_retention, config, seed)
    return Workload(
        desired_retention=preset.desired_retention,
        reviews=tuple(result.review_cnt_per_day),
        new=tuple(result.learn_cnt_per_day),
        minutes=tuple(seconds / 60 for seconds in result.cost_per_day),
        remembered=result.memorized_cnt_per_day[-1],
        known=sum(result.learn_cnt_per_day),
    )


def _simulate_learned(
    cards: Sequence[LearnedCard],
    review_limits: Sequence[int],
    config: SimulatorConfig,
    preset: Preset,
    dice: random.Random,
) -> Workload:
    """Cards that are being learned. A card that exceeds the limit of a day comes first on the next."""
    days = config.learn_span
    learner = _SimulatedLearner(config, preset, dice)
    simulated = [learner.card(card) for card in cards]
    due: list[list[Card]] = [[] for _ in range(days)]
    for card in simulated:
        if card.due < days:
            due[max(0, int(card.due))].append(card)
    waiting: deque[Card] = deque()
    reviews, minutes = [0.0] * days, [0.0] * days
    for day in range(days):
        waiting.extend(due[day])
        for _ in range(min(review_limits[day], len(waiting))):
            card = waiting.popleft()
            minutes[day] += learner.review(card, day) / 60
            reviews[day] += 1
            if card.due < days:
                due[int(card.due)].append(card)
    remembered = sum(card.retention_on(days - 1) for card in simulated)
    return Workload(
        desired_retention=preset.desired_retention,
        reviews=tuple(reviews),
        new=(0.0,) * days,
        minutes=tuple(minutes),
        remembered=remembered,
        known=len(simulated),
        overdue=len(waiting),
    )


class _SimulatedLearner:
    """Remembers with the probability that FSRS gives, and answers by habit."""

    def __init__(self, config: SimulatorConfig, preset: Preset, dice: random.Random) -> None:
        self._parameters = _parameters(preset)
        self._model = FSRS(self._parameters)
        self._preset = preset
        self._dice = dice
        # Read once: each access to an attribute of the config makes a new list.
        self._seconds = config.state_rating_costs
        self._rating_shares = config.review_rating_prob
        self._step_count = config.relearning_step_count
        self._transitions = config.relearning_step_transitions

    def card(self, learned: LearnedCard) -> Card:
        """The library's card."""
        card = Card()
        card.stability, card.difficulty = learned.stability, learned.difficulty
        card.last_date, card.due = float(learned.last_review), float(learned.due)
        card.parameters = self._parameters
        return card

    def review(self, card: Card, day: int) -> float:
        """Review a card and schedule it again. Returns the seconds it took."""
        remembered = self._dice.random() < card.retention_on(day)
        rating = self._dice.choices((1, 2, 3), self._rating_shares)[0] if remembered else _AGAIN
        after = self._next_state(card.stability, card.difficulty, day - int(card.last_date), rating)
        seconds = self._seconds[_REVIEW][rating]
        if not remembered:
            after, relearning_seconds = self._relearn(after)
            seconds += relearning_seconds
        card.stability, card.difficulty = after.memory.stability, after.memory.difficulty
        card.last_date = float(day)
        card.due = day + float(min(max(1, round(after.interval)), self._preset.maximum_interval))
        return seconds

    def _relearn(self, after: ItemState) -> tuple[ItemState, float]:
        """Complete the relearning steps on the same day. As in the library, an answer depends on the previous one."""
        rating, steps_done, seconds = _AGAIN, 0, 0.0
        for _ in range(_MAX_RELEARNING_ANSWERS):
            if steps_done >= self._step_count or rating == _EASY:
                break
            rating = self._dice.choices(range(4), self._transitions[rating])[0]
            after = self._next_state(after.memory.stability, after.memory.difficulty, 0, rating)
            seconds += self._seconds[_RELEARNING][rating]
            steps_done = 0 if rating == _AGAIN else steps_done + (rating >= _GOOD)
        return after, seconds

    def _next_state(self, stability: float, difficulty: float, elapsed: int, rating: int) -> ItemState:
        memory = MemoryState(stability, difficulty)
        states = self._model.next_states(memory, self._preset.desired_retention, max(0, elapsed))
        return (states.again, states.hard, states.good, states.easy)[rating]


def _parameters(preset: Preset) -> list[float]:
    return list(preset.parameters or DEFAULT_PARAMETERS)


# --- habits ------------------------------------------------------------------------------------------------


def _config(new_cards: int, habits: AnswerHabits, preset: Preset, days: int) -> SimulatorConfig:
    """The limits of the preset, and the habits of the user as far as they are known."""
    config = default_simulator_config()
    config.deck_size, config.learn_span = new_cards, days
    config.max_cost_perday, config.max_ivl = _NO_LIMIT, float(preset.maximum_interval)
    config.learn_limit, config.review_limit = preset.new_per_day, preset.reviews_per_day
    config.learning_step_count, config.relearning_step_count = len(preset.learning_steps), len(preset.relearning_steps)
    config.first_rating_prob = _rating_shares(habits, CardState.NEW, config.first_rating_prob)
    config.review_rating_prob = _rating_shares(habits, CardState.REVIEW, config.review_rating_prob)
    config.state_rating_costs = [
        [_seconds(habits, states, rating, default) for rating, default in enumerate(row, start=1)]
        for states, row in zip(_COST_STATES, config.state_rating_costs, strict=True)
    ]
    return config


def _rating_shares(habits: AnswerHabits, state: CardState, defaults: Sequence[float]) -> list[float]:
    """How often each rating is given. For review cards there are three: those of a card that was remembered."""
    ratings = range(5 - len(defaults), 5)
    counts = [habits.get((state, rating), _NO_ANSWERS).count for rating in ratings]
    total = sum(counts) + PRIOR_WEIGHT
    return [(count + PRIOR_WEIGHT * default) / total for count, default in zip(counts, defaults, strict=True)]


def _seconds(habits: AnswerHabits, states: Sequence[CardState], rating: int, default: float) -> float:
    """The average duration of an answer."""
    stats = [habits.get((state, rating), _NO_ANSWERS) for state in states]
    total = sum(each.timed * each.seconds for each in stats)
    return (total + PRIOR_WEIGHT * default) / (sum(each.timed for each in stats) + PRIOR_WEIGHT)
