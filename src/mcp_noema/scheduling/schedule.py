"""Scheduling as in Anki: memory states by fsrs-rs, the library that Anki uses; steps, limits and fuzz by Anki's rules.

Time and fuzz are arguments. Without fuzz, intervals are exact; with fuzz they vary a little, so that cards that were
learned together do not always come back together.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import repeat
from operator import itemgetter
from struct import Struct

from fsrs_rs_python import DEFAULT_PARAMETERS, FSRS, ItemState, MemoryState, NextStates

from mcp_noema.model import GRADES, RATINGS, CardState, Grade, Preferences, Preset, Schedule

GradedAnswer = tuple[int, datetime]
"""A rating from 1 (again) to 4 (easy), and when it was given."""
FuzzOfAnswer = Callable[[int], float]
"""Returns the fuzz of the answer with this index, from 0 to 1."""
LoggedReview = tuple[int, datetime, int]
"""An answer with the state of the card before it."""

_AGAIN, _HARD, _GOOD, _EASY = range(1, 5)
_NEW, _LEARNING, _REVIEW, _RELEARNING = CardState
_KNOWN = frozenset({_REVIEW, _RELEARNING})
"""The states of a card that was learned before."""
_DAY_SECONDS = 86_400
_MONTH = timedelta(days=30)
_SHORT_TERM_DAYS = 0.5
"""Without steps, a card whose interval is shorter than this stays in learning."""
_SHORT_TERM_PARAMETERS = slice(17, 19)
"""FSRS was fitted without answers on the same day if one of these is 0."""
_DECAY_PARAMETER = 20
_FUZZ_RANGES = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, math.inf, 0.05))
"""Start and end in days, and the share of the days between them by which an interval may differ."""
_MIN_FUZZ, _MAX_FUZZ = 0.0, 1.0 - 2**-53
_STABILITY_UNITS, _DIFFICULTY_UNITS = 10_000, 1_000
"""Anki stores four and three decimals. With the same, the same answers lead to the same dates."""
_SINGLE = Struct("f")
_MAX_STEP_FUZZ = timedelta(minutes=5)
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
    return _follow(schedule, ((rating, at),), preset, preferences, (fuzz,))


def next_schedules(
    schedule: Schedule, at: datetime, preset: Preset, preferences: Preferences, *, fuzz: float | None = None
) -> Mapping[Grade, Schedule]:
    """The schedule after each of the four possible answers."""
    return {grade: answer(schedule, rating, at, preset, preferences, fuzz=fuzz) for grade, rating in RATINGS.items()}


def retrievability(schedule: Schedule, at: datetime, preset: Preset, preferences: Preferences) -> float | None:
    """The probability of recall at a time, from 0 to 1; None for a new card. FSRS counts whole learning days."""
    if schedule.stability is None or schedule.last_review is None:
        return None
    return recall_after(preferences.days_between(schedule.last_review, at), schedule.stability, preset)


def recall_after(days: float, stability: float, preset: Preset) -> float:
    """The probability of recall this many learning days after the last answer."""
    decay, factor = _forgetting_curve(preset)
    return (1 + factor * days / stability) ** decay


def gain_of_answer(
    schedule: Schedule, after: Mapping[Grade, Schedule], at: datetime, preset: Preset, preferences: Preferences
) -> float:
    """How much likelier a card is remembered in a month if it is answered now and whenever it is due, by FSRS.

    Without an answer it is forgotten as its memory state has it; with answers it does not fall below the desired
    retention. `after` has its schedule after each grade.
    """
    later = at + _MONTH
    known = retrievability(schedule, at, preset, preferences)
    good, again = (retrievability(after[grade], later, preset, preferences) or 0.0 for grade in ("good", "again"))
    # The user learns a new card, so it counts as remembered.
    with_answer = good if known is None else known * good + (1.0 - known) * again
    without = retrievability(schedule, later, preset, preferences) or 0.0
    return max(0.0, max(with_answer, preset.desired_retention) - without)


def replay(
    answers: Iterable[GradedAnswer], preset: Preset, preferences: Preferences, *, fuzz: FuzzOfAnswer | None = None
) -> Schedule:
    """The schedule of a card after these answers, as if it had always had this preset."""
    ordered = sorted(answers, key=itemgetter(1))
    fuzz_of_each = map(fuzz, range(len(ordered))) if fuzz else repeat(None)
    return _follow(Schedule(), ordered, preset, preferences, fuzz_of_each)


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
        answer(before, rating, at, preset, preferences, fuzz=extreme).due for extreme in (_MIN_FUZZ, _MAX_FUZZ)
    )
    if after.state is not CardState.REVIEW and earliest and latest:
        # Anki stores whole seconds.
        earliest, latest = earliest - timedelta(seconds=1), _latest_end_of_step(at, latest, preferences)
    is_fuzz = schedule.due and earliest and latest and earliest <= schedule.due <= latest
    return schedule if is_fuzz else after


def _latest_end_of_step(at: datetime, due: datetime, preferences: Preferences) -> datetime:
    """When a step may end in Anki, which lengthens it by a quarter; a step that ends on another day, on that day."""
    day = preferences.day_of(due)
    return day.ends if at < day.begins else due + min((due - at) / 4, _MAX_STEP_FUZZ)


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
        if state in (CardState.NEW, CardState.LEARNING):
            first = index
        elif first is not None:
            break
        if state == CardState.NEW:
            break
    return [] if first is None else ordered[first:]


def clamp_parameters(parameters: Iterable[float]) -> tuple[float, ...]:
    """The parameters within the bounds of FSRS-6."""
    pairs = zip(parameters, _PARAMETER_BOUNDS, strict=True)
    return tuple(min(max(value, low), high) for value, (low, high) in pairs)


# --- FSRS --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _forgetting_curve(preset: Preset) -> tuple[float, float]:
    """The exponent and the factor of the formula for recall."""
    decay = -(preset.parameters or DEFAULT_PARAMETERS)[_DECAY_PARAMETER]
    return decay, 0.9 ** (1 / decay) - 1


def _follow(
    schedule: Schedule,
    answers: Iterable[GradedAnswer],
    preset: Preset,
    preferences: Preferences,
    fuzz: Iterable[float | None],
) -> Schedule:
    """The schedule of a card after answers in the order of time.

    One loop with local variables: millions of answers are replayed when decks are rescheduled.
    """
    rules, day_number = _rules(preset), preferences.day_counter()
    state, step, due, last = schedule.state, schedule.step, schedule.due, schedule.last_review
    stability, difficulty = schedule.stability, schedule.difficulty
    memory = None if stability is None or difficulty is None else MemoryState(stability, difficulty)
    if memory is None:
        # A card that was given a due date but never answered is learned as a new one.
        state, step, due = _NEW, None, None
    last_day = day_number(last) if last else 0
    for (rating, answered_at), fuzz_of_answer in zip(answers, fuzz, strict=False):
        at = answered_at.astimezone(UTC)
        day = day_number(at)
        elapsed = max(0, day - last_day) if memory and last else 0
        states = rules.fsrs.next_states(memory, preset.desired_retention, elapsed)
        if state is _REVIEW and rating != _AGAIN:
            scheduled = max(0, day_number(due) - last_day) if due and last else 0
            step, due = None, at + timedelta(days=rules.longer_interval(states, rating, scheduled, fuzz_of_answer))
        elif (following := rules.next_step(states, state, step, rating)) is not None:
            state = _RELEARNING if state in _KNOWN else _LEARNING
            step, seconds = following
            due = at + timedelta(seconds=seconds)
            if (due_day := day_number(due)) != day:
                # From the beginning of that day on, as the cards that are due after days.
                due = preferences.day_on(date.fromordinal(due_day)).begins
        else:
            days = rules.interval_after_steps(states, state, rating, fuzz_of_answer)
            state, step, due = _REVIEW, None, at + timedelta(days=days)
        memory = _item(states, rating).memory
        stability = _round_single(memory.stability * _STABILITY_UNITS) / _STABILITY_UNITS
        difficulty = _round_single(memory.difficulty * _DIFFICULTY_UNITS) / _DIFFICULTY_UNITS
        memory, last, last_day = MemoryState(stability, difficulty), at, day
    return Schedule(state, step, stability, difficulty, due, last)


@lru_cache(maxsize=256)
def _rules(preset: Preset) -> "_Rules":
    return _Rules(preset)


def _item(states: NextStates, rating: int) -> ItemState:
    """The memory state and the interval in days after a rating, by FSRS."""
    return getattr(states, GRADES[rating])


class _Rules:
    """The rules of Anki's scheduler with FSRS, for the cards of a preset."""

    def __init__(self, preset: Preset) -> None:
        self.fsrs = FSRS(list(preset.parameters or ()))
        self._preset = preset
        self._has_short_term = all((preset.parameters or DEFAULT_PARAMETERS)[_SHORT_TERM_PARAMETERS])

    def next_step(self, states: NextStates, state: CardState, step: int | None, rating: int) -> tuple[int, int] | None:
        """The index and the seconds of the step that follows an answer; None if no step does."""
        steps = self._preset.relearning_steps if state in _KNOWN else self._preset.learning_steps
        if rating == _EASY:
            return None
        if not steps:
            interval = _item(states, rating).interval
            is_short = interval < _SHORT_TERM_DAYS and self._has_short_term
            return (0, int(_to_single(interval * _DAY_SECONDS))) if is_short else None
        if rating == _AGAIN:
            return 0, steps[0]
        index = min(step or 0, len(steps) - 1)
        if rating == _HARD:
            return index, steps[index] if index else _hard_first_step(steps)
        return (index + 1, steps[index + 1]) if index + 1 < len(steps) else None

    def interval_after_steps(self, states: NextStates, state: CardState, rating: int, fuzz: float | None) -> int:
        """The interval in days of a card that has no further step, or is forgotten without one."""
        interval, longest = max(_round(_item(states, rating).interval), 1), self._preset.maximum_interval
        if state is _REVIEW:
            return min(interval, longest)
        if rating != _EASY:
            return fuzz_interval(interval, 1, longest, fuzz)
        good = fuzz_interval(states.good.interval, 1, longest, fuzz)
        return fuzz_interval(interval, good + 1, longest, fuzz)

    def longer_interval(self, states: NextStates, rating: int, scheduled: int, fuzz: float | None) -> int:
        """The interval of a review card in days. It is longer than those of the lower ratings."""
        days, longest = 0, self._preset.maximum_interval
        for lower_or_same in range(_HARD, rating + 1):
            interval, shortest = _item(states, lower_or_same).interval, days + 1
            if shortest <= scheduled:
                if math.floor(interval + 0.5) > scheduled:
                    shortest = scheduled + 1
                elif math.floor(interval + _fuzz_delta(interval) + 0.5) >= scheduled:
                    # Fuzz made the last interval longer: the next one is not shorter only because of that.
                    shortest = scheduled
            days = fuzz_interval(interval, shortest, longest, fuzz)
        return days


def _hard_first_step(steps: Sequence[int]) -> int:
    """Between the first and the second step, or half as long again, but no more than a day longer."""
    first = steps[0]
    seconds = (first + steps[1]) // 2 if len(steps) > 1 else min(first * 3 // 2, first + _DAY_SECONDS)
    return _round(seconds / _DAY_SECONDS) * _DAY_SECONDS if seconds > _DAY_SECONDS else seconds


def fuzz_interval(interval: float, shortest: int, longest: int, fuzz: float | None) -> int:
    """An interval in whole days near this one: the shortest of its range with a fuzz of 0, the longest near 1."""
    shortest = min(max(shortest, 1), longest)
    interval = shortest if interval < shortest else min(interval, longest)
    if fuzz is None:
        return _round(interval)
    delta = _fuzz_delta(interval)
    low, high = _round(interval - delta), _round(interval + delta)
    low = max(low, shortest)
    high = min(high, longest)
    # A range of one day would have no fuzz; up to two days, none is wanted.
    if low == high and 2 < high < longest:  # noqa: PLR2004 - see above
        high += 1
    return math.floor(low + fuzz * (1 + high - low))


def _fuzz_delta(interval: float) -> float:
    if interval < _FUZZ_RANGES[0][0]:
        return 0.0
    delta = 1.0
    for start, end, share in _FUZZ_RANGES:
        if interval <= end:
            return delta + share * (interval - start)
        delta += share * (end - start)
    return delta


def _round(value: float) -> int:
    """Rounded as in Rust: a half is rounded up."""
    return math.floor(value + 0.5)


def _to_single(value: float) -> float:
    """The nearest number of single precision, in which Anki computes."""
    return _SINGLE.unpack(_SINGLE.pack(value))[0]


def _round_single(value: float) -> int:
    return math.floor(_to_single(value) + 0.5)
