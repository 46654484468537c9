"""What the coming days will ask of a person, and what they will know at the end of them.

The days are played forward, with dice: a card that is due is remembered as often as FSRS says, and scheduled again as
FSRS says. New cards are played by the simulator of fsrs_rs_python. It cannot be given cards that are already being
learned, so those are played here, with the same library's memory model.

What the numbers are and are not:

- They hold as long as the memory follows FSRS with these parameters, and the person studies every day, up to the
  limits of the preset, and answers as they did before.
- How they answered before is taken from their log, mixed with the library's averages until there is enough of it.
- Intervals are not fuzzed, and siblings are not buried. Steps are taken on the day they begin.
- Today is the first day, as if nothing had been done yet. Reviews of new cards come before those of older ones where
  both would exceed the day's limit.
"""

import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fsrs.scheduler import DEFAULT_PARAMETERS
from fsrs_rs_python import FSRS, Card, ItemState, MemoryState, SimulatorConfig, default_simulator_config, simulate

from mcp_noema.analysis import Workload
from mcp_noema.model import Preset, State

HALF_OWN = 50
"""With so many answers of a kind, the person's own average weighs as much as the library's."""
_RUNS = 20
_CARDS_IN_ALL_RUNS = 20_000
"""Few cards are played several times over, so that chance evens out; many need it less and take longer."""
STEP, LOWEST, HIGHEST = 0.05, 0.7, 0.97
"""How far apart the retentions are that are compared, and between which they are."""
_NO_LIMIT = 1e9
_MOST_STEPS = 5
"""The library asks no more often than this on the day of a lapse."""
_AGAIN, _GOOD, _EASY = 0, 2, 3
_REVIEW, _RELEARNING = 1, 2
_ROWS = ((State.NEW, State.LEARNING), (State.REVIEW,), (State.RELEARNING,))
"""The library's rows of seconds an answer, by the state before it; the columns are the ratings."""


@dataclass(frozen=True, slots=True)
class Habit:
    """One kind of answer: how often it was given, how often with its time, and how many seconds that was on average."""

    count: int = 0
    timed: int = 0
    seconds: float = 0.0


Answers = Mapping[tuple[int, int], Habit]
"""How a person answers, by the state before and the rating."""
NEVER = Habit()


@dataclass(frozen=True, slots=True)
class Known:
    """A card that is being learned. Days are counted from today, which is 0."""

    stability: float
    difficulty: float
    last: int
    due: int


def neighbours(retention: float) -> tuple[float, ...]:
    """A lower and a higher desired retention to compare with."""
    return tuple(sorted({round(min(max(retention + step, LOWEST), HIGHEST), 2) for step in (-STEP, STEP)}))


def plan(cards: Sequence[Known], new_cards: int, answers: Answers, preset: Preset, *, days: int, seed: int) -> Workload:
    """Play the coming days with the desired retention of the preset. The same seed gives the same numbers."""
    config = _config(new_cards, answers, preset, days)
    runs = max(1, min(_RUNS, _CARDS_IN_ALL_RUNS // max(1, len(cards) + new_cards)))
    played = [_play(cards, config, preset, seed + run) for run in range(runs)]
    return Workload(
        desired_retention=preset.desired_retention,
        reviews=_averages([one.reviews for one in played]),
        new=_averages([one.new for one in played]),
        minutes=_averages([one.minutes for one in played]),
        remembered=sum(one.remembered for one in played) / runs,
        known=sum(one.known for one in played) / runs,
        overdue=sum(one.overdue for one in played) / runs,
    )


def _averages(series: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(day) / len(series) for day in zip(*series, strict=True))


def _play(cards: Sequence[Known], config: SimulatorConfig, preset: Preset, seed: int) -> Workload:
    new = _play_new(config, preset, seed)
    room = [max(0, config.review_limit - int(count)) for count in new.reviews]
    old = _play_known(cards, room, config, preset, random.Random(seed))  # noqa: S311 - dice for a forecast
    return new + old


def _play_new(config: SimulatorConfig, preset: Preset, seed: int) -> Workload:
    """New cards, by the library."""
    if not config.deck_size or not config.learn_limit:
        nothing = (0.0,) * config.learn_span
        return Workload(preset.desired_retention, nothing, nothing, nothing, 0.0, 0.0)
    seen = simulate(_parameters(preset), preset.desired_retention, config, seed)
    return Workload(
        desired_retention=preset.desired_retention,
        reviews=tuple(seen.review_cnt_per_day),
        new=tuple(seen.learn_cnt_per_day),
        minutes=tuple(seconds / 60 for seconds in seen.cost_per_day),
        remembered=seen.memorized_cnt_per_day[-1],
        known=sum(seen.learn_cnt_per_day),
    )


def _play_known(
    cards: Sequence[Known], room: Sequence[int], config: SimulatorConfig, preset: Preset, dice: random.Random
) -> Workload:
    """Cards that are being learned: who is due and finds no room today is the first tomorrow."""
    days = config.learn_span
    learner = _Learner(config, preset, dice)
    held = [learner.card(card) for card in cards]
    due: list[list[Card]] = [[] for _ in range(days)]
    for card in held:
        if card.due < days:
            due[max(0, int(card.due))].append(card)
    waiting: deque[Card] = deque()
    reviews, minutes = [0.0] * days, [0.0] * days
    for day in range(days):
        waiting.extend(due[day])
        for _ in range(min(room[day], len(waiting))):
            card = waiting.popleft()
            minutes[day] += learner.ask(card, day) / 60
            reviews[day] += 1
            if card.due < days:
                due[int(card.due)].append(card)
    remembered = sum(card.retention_on(days - 1) for card in held)
    return Workload(
        desired_retention=preset.desired_retention,
        reviews=tuple(reviews),
        new=(0.0,) * days,
        minutes=tuple(minutes),
        remembered=remembered,
        known=len(held),
        overdue=len(waiting),
    )


class _Learner:
    """Someone who remembers as FSRS says, and answers by habit."""

    def __init__(self, config: SimulatorConfig, preset: Preset, dice: random.Random) -> None:
        self._parameters = _parameters(preset)
        self._model = FSRS(self._parameters)
        self._preset = preset
        self._dice = dice
        # Each look at a part of the config makes a new list.
        self._costs = config.state_rating_costs
        self._shares = config.review_rating_prob
        self._steps = config.relearning_step_count
        self._transitions = config.relearning_step_transitions

    def card(self, known: Known) -> Card:
        """A card as the library has it."""
        card = Card()
        card.stability, card.difficulty = known.stability, known.difficulty
        card.last_date, card.due = float(known.last), float(known.due)
        card.parameters = self._parameters
        return card

    def ask(self, card: Card, day: int) -> float:
        """Ask for a card and schedule it again; the seconds it took."""
        remembered = self._dice.random() < card.retention_on(day)
        rating = self._dice.choices((1, 2, 3), self._shares)[0] if remembered else _AGAIN
        after = self._next(card.stability, card.difficulty, day - int(card.last_date), rating)
        seconds = self._costs[_REVIEW][rating]
        if not remembered:
            after, more = self._relearn(after)
            seconds += more
        card.stability, card.difficulty = after.memory.stability, after.memory.difficulty
        card.last_date = float(day)
        card.due = day + float(min(max(1, round(after.interval)), self._preset.maximum_interval))
        return seconds

    def _relearn(self, after: ItemState) -> tuple[ItemState, float]:
        """Through the relearning steps of the same day, one answer following from the other as in the library."""
        rating, passed, seconds = _AGAIN, 0, 0.0
        for _ in range(_MOST_STEPS):
            if passed >= self._steps or rating == _EASY:
                break
            rating = self._dice.choices(range(4), self._transitions[rating])[0]
            after = self._next(after.memory.stability, after.memory.difficulty, 0, rating)
            seconds += self._costs[_RELEARNING][rating]
            passed = 0 if rating == _AGAIN else passed + (rating >= _GOOD)
        return after, seconds

    def _next(self, stability: float, difficulty: float, elapsed: int, rating: int) -> ItemState:
        memory = MemoryState(stability, difficulty)
        states = self._model.next_states(memory, self._preset.desired_retention, max(0, elapsed))
        return (states.again, states.hard, states.good, states.easy)[rating]


def _parameters(preset: Preset) -> list[float]:
    return list(preset.parameters or DEFAULT_PARAMETERS)


# --- habits ------------------------------------------------------------------------------------------------


def _config(new_cards: int, answers: Answers, preset: Preset, days: int) -> SimulatorConfig:
    """The limits of the preset, and the person's habits as far as the log shows them."""
    config = default_simulator_config()
    config.deck_size, config.learn_span = new_cards, days
    config.max_cost_perday, config.max_ivl = _NO_LIMIT, float(preset.maximum_interval)
    config.learn_limit, config.review_limit = preset.new_per_day, preset.reviews_per_day
    config.learning_step_count, config.relearning_step_count = len(preset.learning_steps), len(preset.relearning_steps)
    config.first_rating_prob = _shares(answers, State.NEW, config.first_rating_prob)
    config.review_rating_prob = _shares(answers, State.REVIEW, config.review_rating_prob)
    config.state_rating_costs = [
        [_seconds(answers, states, rating, usual) for rating, usual in enumerate(row, start=1)]
        for states, row in zip(_ROWS, config.state_rating_costs, strict=True)
    ]
    return config


def _shares(answers: Answers, state: State, usual: Sequence[float]) -> list[float]:
    """How often each rating is given; of review cards only those that say it was remembered, hence the last ones."""
    ratings = range(5 - len(usual), 5)
    counts = [answers.get((state, rating), NEVER).count for rating in ratings]
    whole = sum(counts) + HALF_OWN
    return [(count + HALF_OWN * share) / whole for count, share in zip(counts, usual, strict=True)]


def _seconds(answers: Answers, states: Sequence[State], rating: int, usual: float) -> float:
    """How long an answer takes."""
    seen = [answers.get((state, rating), NEVER) for state in states]
    total = sum(habit.timed * habit.seconds for habit in seen)
    return (total + HALF_OWN * usual) / (sum(habit.timed for habit in seen) + HALF_OWN)
