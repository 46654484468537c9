"""Scheduling as in Anki: memory states by fsrs-rs, the library that Anki uses; steps, limits and fuzz by Anki's rules.

Time and fuzz are arguments. Without fuzz, intervals are exact; with fuzz they vary a little, so that cards that were
learned together do not always come back together.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import itemgetter

from fsrs_rs_python import DEFAULT_PARAMETERS, FSRS, ItemState, MemoryState

from mcp_noema.model import RATINGS, Grade, Preferences, Preset, Schedule, State

GradedAnswer = tuple[int, datetime]
"""A rating from 1 (again) to 4 (easy), and when it was given."""
FuzzOfAnswer = Callable[[int], float]
"""Returns the fuzz of the answer with this index, from 0 to 1."""
LoggedReview = tuple[int, datetime, int]
"""An answer with the state of the card before it."""

_AGAIN, _HARD, _GOOD, _EASY = range(1, 5)
_DAY_SECONDS = 86_400
_SHORT_TERM_DAYS = 0.5
"""Without steps, a card whose interval is shorter than this stays in learning."""
_SHORT_TERM_PARAMETERS = slice(17, 19)
"""Where one of these is 0, FSRS was fitted without answers on the same day."""
_DECAY_PARAMETER = 20
_MIN_FUZZED_DAYS = 2.5
_FUZZ_RANGES = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, math.inf, 0.05))
"""Start and end in days, and the share of the days between them by which an interval may differ."""
_LOWEST_FUZZ, _HIGHEST_FUZZ = 0.0, 1.0 - 2**-53
_STABILITY_DIGITS, _DIFFICULTY_DIGITS = 4, 3
"""Anki stores this many decimals. With the same, the same answers lead to the same dates."""
_LONGEST_STEP_FUZZ = timedelta(minutes=5)
_SAME_MEMORY = 0.005
"""Memory states are the same if they differ by a smaller share than this: older versions of Anki round differently."""

_PARAMETER_BOUNDS = (
    *((0.001, 100.0),) * 4,
    *((1.0, 10.0), (0.001, 4.0), (0.001, 4.0), (0.001, 0.75), (0.0, 4.5), (0.0, 0.8), (0.001, 3.5), (0.001, 5.0)),
    *((0.001, 0.25), (0.001, 0.9), (0.0, 4.0), (0.0, 1.0), (1.0, 6.0), (0.0, 2.0), (0.0, 2.0), (0.0, 0.8), (0.1, 0.8)),
)
"""The lowest and highest value of each parameter of FSRS-6."""


def answer(
    schedule: Schedule,
    rating: int,
    at: datetime,
    preset: Preset,
    preferences: Preferences,
    *,
    fuzz: float | None = None,
) -> Schedule:
    """The schedule of a card after an answer. `fuzz`, from 0 to 1, chooses the interval within its range."""
    return _review(schedule, at, preset, preferences, fuzz).after(rating)


def next_schedules(
    schedule: Schedule, at: datetime, preset: Preset, preferences: Preferences, *, fuzz: float | None = None
) -> Mapping[Grade, Schedule]:
    """The schedule after each of the four possible answers."""
    review = _review(schedule, at, preset, preferences, fuzz)
    return {grade: review.after(rating) for grade, rating in RATINGS.items()}


def retrievability(schedule: Schedule, at: datetime, preset: Preset, preferences: Preferences) -> float | None:
    """The probability of recall at a time, from 0 to 1; None for a new card. FSRS counts whole learning days."""
    if schedule.stability is None or schedule.last_review is None:
        return None
    decay, factor = _forgetting_curve(preset)
    elapsed = preferences.days_between(schedule.last_review, at)
    return (1 + factor * elapsed / schedule.stability) ** decay


def replay(
    answers: Iterable[GradedAnswer], preset: Preset, preferences: Preferences, *, fuzz: FuzzOfAnswer | None = None
) -> Schedule:
    """The schedule of a card after these answers, as if it had always had this preset."""
    schedule = Schedule()
    for index, (rating, at) in enumerate(sorted(answers, key=itemgetter(1))):
        schedule = answer(schedule, rating, at, preset, preferences, fuzz=fuzz(index) if fuzz else None)
    return schedule


def reschedule(
    schedule: Schedule,
    answers: Sequence[GradedAnswer],
    preset: Preset,
    preferences: Preferences,
    *,
    fuzz: FuzzOfAnswer | None = None,
) -> Schedule:
    """The schedule of a card, recomputed from its answers in the order of time.

    If only fuzz or rounding can have made the difference, the schedule stays as it is.
    """
    *earlier, (rating, at) = answers
    before = replay(earlier, preset, preferences, fuzz=fuzz)
    after = answer(before, rating, at, preset, preferences, fuzz=fuzz(len(earlier)) if fuzz else None)
    if not _has_same_memory(schedule, after):
        return after
    earliest, latest = (
        answer(before, rating, at, preset, preferences, fuzz=extreme).due for extreme in (_LOWEST_FUZZ, _HIGHEST_FUZZ)
    )
    if after.state is not State.REVIEW and earliest and latest:
        # Anki stores whole seconds.
        earliest, latest = earliest - timedelta(seconds=1), _latest_end_of_step(at, latest, preferences)
    is_fuzz = schedule.due and earliest and latest and earliest <= schedule.due <= latest
    return schedule if is_fuzz else after


def _latest_end_of_step(at: datetime, due: datetime, preferences: Preferences) -> datetime:
    """When a step may end in Anki, which lengthens it by a quarter; a step that ends on another day, on that day."""
    day = preferences.day_of(due)
    return day.ends if at < day.begins else due + min((due - at) / 4, _LONGEST_STEP_FUZZ)


def _has_same_memory(one: Schedule, other: Schedule) -> bool:
    pairs = ((one.stability, other.stability), (one.difficulty, other.difficulty))
    return (one.state, one.step) == (other.state, other.step) and all(
        math.isclose(value or 0, same or 0, rel_tol=_SAME_MEMORY) for value, same in pairs
    )


def since_last_learned(log: Sequence[LoggedReview]) -> Sequence[LoggedReview]:
    """The reviews that the memory state depends on: since the card was last learned as a new card, oldest first.

    Empty if the log does not show that. A log from Anki may have LEARNING as the state before the first answer.
    """
    ordered, first = sorted(log, key=itemgetter(1)), None
    for index in range(len(ordered) - 1, -1, -1):
        state = ordered[index][2]
        if state in (State.NEW, State.LEARNING):
            first = index
        elif first is not None:
            break
        if state == State.NEW:
            break
    return [] if first is None else ordered[first:]


def clamp_parameters(parameters: Iterable[float]) -> tuple[float, ...]:
    """The parameters within the bounds of FSRS-6."""
    pairs = zip(parameters, _PARAMETER_BOUNDS, strict=True)
    return tuple(min(max(value, low), high) for value, (low, high) in pairs)


# --- FSRS --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _fsrs(preset: Preset) -> FSRS:
    return FSRS(list(preset.parameters or ()))


@lru_cache(maxsize=256)
def _forgetting_curve(preset: Preset) -> tuple[float, float]:
    """The exponent and the factor of the formula for recall."""
    decay = -(preset.parameters or DEFAULT_PARAMETERS)[_DECAY_PARAMETER]
    return decay, 0.9 ** (1 / decay) - 1


def _review(
    schedule: Schedule, at: datetime, preset: Preset, preferences: Preferences, fuzz: float | None
) -> "_Review":
    at = at.astimezone(UTC)
    if schedule.stability is None or schedule.difficulty is None:
        # A card that was given a due date but never answered is learned as a new one.
        schedule, memory = Schedule(last_review=schedule.last_review), None
    else:
        memory = MemoryState(schedule.stability, schedule.difficulty)
    elapsed = preferences.days_between(schedule.last_review, at) if schedule.last_review and memory else 0
    states = _fsrs(preset).next_states(memory, preset.desired_retention, elapsed)
    return _Review(schedule, at, preset, preferences, fuzz, (states.again, states.hard, states.good, states.easy))


@dataclass(frozen=True, slots=True)
class _Review:
    """A card that is reviewed at a time. The rules are those of Anki's scheduler with FSRS."""

    schedule: Schedule
    at: datetime
    preset: Preset
    preferences: Preferences
    fuzz: float | None
    states: Sequence[ItemState]
    """Memory state and interval in days for each rating, by FSRS."""

    def after(self, rating: int) -> Schedule:
        if self.schedule.state is State.REVIEW and rating != _AGAIN:
            return self._after_days(rating, self._longer_interval(rating))
        step = self._next_step(rating)
        if step is not None:
            return self._after_step(rating, *step)
        interval = self._interval(rating)
        if rating != _EASY and not self._steps and interval < _SHORT_TERM_DAYS and _has_short_term(self.preset):
            return self._after_step(rating, 0, int(interval * _DAY_SECONDS))
        if self.schedule.state is State.REVIEW:
            return self._after_days(rating, min(max(_round(interval), 1), self.preset.maximum_interval))
        if rating != _EASY:
            return self._after_days(rating, self._fuzzed(max(_round(interval), 1), 1))
        good = self._fuzzed(self._interval(_GOOD), 1)
        return self._after_days(rating, self._fuzzed(max(_round(interval), 1), good + 1))

    def _interval(self, rating: int) -> float:
        return self.states[rating - 1].interval

    # --- steps ---

    @property
    def _is_relearned(self) -> bool:
        return self.schedule.state in (State.REVIEW, State.RELEARNING)

    @property
    def _steps(self) -> Sequence[int]:
        return self.preset.relearning_steps if self._is_relearned else self.preset.learning_steps

    def _next_step(self, rating: int) -> tuple[int, int] | None:
        """The index and the seconds of the step that follows an answer; None if no step does."""
        steps = self._steps
        index = min(self.schedule.step or 0, max(len(steps) - 1, 0))
        if not steps or rating == _EASY:
            return None
        if rating == _AGAIN:
            return 0, steps[0]
        if rating == _HARD:
            return index, steps[index] if index else _hard_first_step(steps)
        return (index + 1, steps[index + 1]) if index + 1 < len(steps) else None

    def _after_step(self, rating: int, index: int, seconds: int) -> Schedule:
        due = self.at + timedelta(seconds=seconds)
        if (day := self.preferences.date_of(due)) != self.preferences.date_of(self.at):
            # From the beginning of that day on, as the cards that are due after days.
            due = self.preferences.day_on(day).begins
        return self._after(rating, State.RELEARNING if self._is_relearned else State.LEARNING, index, due)

    # --- days ---

    def _longer_interval(self, rating: int) -> int:
        """The interval of a review card in days. It is longer than those of the lower ratings."""
        due, last_review = self.schedule.due, self.schedule.last_review
        scheduled = self.preferences.days_between(last_review, due) if due and last_review else 0
        days = 0
        for lower_or_same in range(_HARD, rating + 1):
            interval, shortest = self._interval(lower_or_same), days + 1
            if _round(interval) > scheduled:
                shortest = max(shortest, scheduled + 1)
            elif _round(interval + _fuzz_delta(interval)) >= scheduled:
                # Fuzz made the last interval longer: the next one is not shorter only because of that.
                shortest = max(shortest, scheduled)
            days = self._fuzzed(interval, shortest)
        return days

    def _fuzzed(self, interval: float, shortest: int) -> int:
        return fuzz_interval(interval, shortest, self.preset.maximum_interval, self.fuzz)

    def _after_days(self, rating: int, days: int) -> Schedule:
        return self._after(rating, State.REVIEW, None, self.at + timedelta(days=days))

    def _after(self, rating: int, state: State, step: int | None, due: datetime) -> Schedule:
        memory = self.states[rating - 1].memory
        stability, difficulty = round(memory.stability, _STABILITY_DIGITS), round(memory.difficulty, _DIFFICULTY_DIGITS)
        return Schedule(state, step, stability, difficulty, due, self.at)


def _has_short_term(preset: Preset) -> bool:
    return all((preset.parameters or DEFAULT_PARAMETERS)[_SHORT_TERM_PARAMETERS])


def _hard_first_step(steps: Sequence[int]) -> int:
    """Between the first and the second step, or half as long again, but no more than a day longer."""
    first = steps[0]
    seconds = (first + steps[1]) // 2 if len(steps) > 1 else min(first * 3 // 2, first + _DAY_SECONDS)
    return _round(seconds / _DAY_SECONDS) * _DAY_SECONDS if seconds > _DAY_SECONDS else seconds


def fuzz_interval(interval: float, shortest: int, longest: int, fuzz: float | None) -> int:
    """An interval in whole days near this one: the shortest of its range with a fuzz of 0, the longest near 1."""
    shortest = min(max(shortest, 1), longest)
    if fuzz is None:
        return min(max(_round(interval), shortest), longest)
    low, high = _fuzz_range(interval, shortest, longest)
    return math.floor(low + fuzz * (1 + high - low))


def _fuzz_range(interval: float, shortest: int, longest: int) -> tuple[int, int]:
    interval = min(max(interval, shortest), longest)
    delta = _fuzz_delta(interval)
    low = min(max(_round(interval - delta), shortest), longest)
    high = min(max(_round(interval + delta), shortest), longest)
    # A range of one day would have no fuzz; up to two days, none is wanted.
    return (low, low + 1) if low == high and 2 < high < longest else (low, high)  # noqa: PLR2004


def _fuzz_delta(interval: float) -> float:
    if interval < _MIN_FUZZED_DAYS:
        return 0.0
    delta = 1.0
    for start, end, share in _FUZZ_RANGES:
        if interval <= start:
            break
        delta += share * (min(interval, end) - start)
    return delta


def _round(value: float) -> int:
    """Rounded as in Rust: a half is rounded up."""
    return math.floor(value + 0.5)
