"""Scheduling with the library `fsrs`: the same numbers, to the last digit.

Time and dice are arguments. Without dice, intervals are exact; with dice they are fuzzed as in the library, so that
cards that were learned together do not always come back together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import itemgetter

import fsrs
from fsrs.scheduler import LOWER_BOUNDS_PARAMETERS, UPPER_BOUNDS_PARAMETERS

from mcp_noema.model import RATINGS, Dice, Grade, Preset, Schedule, State

GradedAnswer = tuple[int, datetime]
"""A rating from 1 (again) to 4 (easy), and when it was given."""
LoggedReview = tuple[int, datetime, int]
"""An answer with the state of the card before it."""

_NO_ID = 0
"""Without an id, the library makes one from the clock, and sleeps."""
_MIN_FUZZED_DAYS = 2.5
_FUZZ_RANGES = ((2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, float("inf"), 0.05))
"""Start and end in days, and the share of the days between them by which an interval may differ."""


def answer(schedule: Schedule, rating: int, at: datetime, preset: Preset, dice: Dice | None = None) -> Schedule:
    """The schedule of a card after an answer."""
    return _from_library(_review(_to_library(schedule, at), rating, at, _scheduler(preset), dice))


def next_schedules(schedule: Schedule, at: datetime, preset: Preset) -> Mapping[Grade, Schedule]:
    """The schedule after each of the four possible answers, without fuzz."""
    return {grade: answer(schedule, rating, at, preset) for grade, rating in RATINGS.items()}


def retrievability(schedule: Schedule, at: datetime, preset: Preset) -> float | None:
    """The probability of recall at a time, from 0 to 1; None for a new card. FSRS counts whole days."""
    if schedule.stability is None or schedule.last_review is None:
        return None
    card = fsrs.Card(_NO_ID, stability=schedule.stability, due=at, last_review=schedule.last_review)
    return _scheduler(preset).get_card_retrievability(card, at)


def replay(answers: Iterable[GradedAnswer], preset: Preset, dice: Dice | None = None) -> Schedule:
    """The schedule of a card after these answers, as if it had always had this preset."""
    scheduler, card = _scheduler(preset), None
    for rating, at in sorted(answers, key=itemgetter(1)):
        card = _review(card or _to_library(Schedule(), at), rating, at, scheduler, dice)
    return _from_library(card) if card else Schedule()


def reschedule(
    schedule: Schedule, answers: Sequence[GradedAnswer], preset: Preset, dice: Dice | None = None
) -> Schedule:
    """The schedule of a card, recomputed from its answers in the order of time.

    If only the fuzz can have made the difference, the schedule stays as it is.
    """
    *earlier, (rating, at) = answers
    before = replay(earlier, preset)
    after = answer(before, rating, at, preset, dice)
    if replace(after, due=None) != replace(schedule, due=None):
        return after
    earliest, latest = (answer(before, rating, at, preset, extreme).due for extreme in (_lowest, _highest))
    is_fuzz = schedule.due and earliest and latest and earliest <= schedule.due <= latest
    return schedule if is_fuzz else after


def _lowest() -> float:
    return 0.0


def _highest() -> float:
    return 1.0 - 2**-53


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
    """The parameters within the bounds that the library accepts."""
    bounds = zip(parameters, LOWER_BOUNDS_PARAMETERS, UPPER_BOUNDS_PARAMETERS, strict=True)
    return tuple(min(max(value, low), high) for value, low, high in bounds)


@lru_cache(maxsize=256)
def _scheduler(preset: Preset) -> fsrs.Scheduler:
    parameters = {} if preset.parameters is None else {"parameters": preset.parameters}
    return fsrs.Scheduler(
        **parameters,
        desired_retention=preset.desired_retention,
        learning_steps=tuple(timedelta(seconds=step) for step in preset.learning_steps),
        relearning_steps=tuple(timedelta(seconds=step) for step in preset.relearning_steps),
        maximum_interval=preset.maximum_interval,
        enable_fuzzing=False,
    )


def _review(card: fsrs.Card, rating: int, at: datetime, scheduler: fsrs.Scheduler, dice: Dice | None) -> fsrs.Card:
    at = at.astimezone(UTC)
    after, _ = scheduler.review_card(card, fsrs.Rating(rating), at)
    if dice is not None and after.state is fsrs.State.Review:
        after.due = at + fuzz(after.due - at, scheduler.maximum_interval, dice)
    return after


def fuzz(interval: timedelta, maximum_days: int, dice: Dice) -> timedelta:
    """A random interval near this one, in whole days. Intervals below two and a half days stay exact."""
    days = interval.days
    if days < _MIN_FUZZED_DAYS:
        return interval
    delta = 1.0
    for start, end, share in _FUZZ_RANGES:
        delta += share * max(min(days, end) - start, 0.0)
    highest = min(round(days + delta), maximum_days)
    lowest = min(max(2, round(days - delta)), highest)
    # Rounded as in the library, so that the day after `highest` is possible too.
    fuzzed = round(dice() * (highest - lowest + 1) + lowest)
    return timedelta(days=min(fuzzed, maximum_days))


def _to_library(schedule: Schedule, at: datetime) -> fsrs.Card:
    """The library's card. A card without a memory state is learned from the first step."""
    if schedule.stability is None or schedule.difficulty is None:
        return fsrs.Card(_NO_ID, due=at, last_review=schedule.last_review)
    return fsrs.Card(
        _NO_ID,
        # Not State.NEW, which the library does not have: a new card has no memory state.
        state=fsrs.State(schedule.state),
        step=None if schedule.state is State.REVIEW else schedule.step or 0,
        stability=schedule.stability,
        difficulty=schedule.difficulty,
        due=schedule.due or at,
        last_review=schedule.last_review,
    )


def _from_library(card: fsrs.Card) -> Schedule:
    return Schedule(
        state=State(card.state),
        step=card.step,
        stability=card.stability,
        difficulty=card.difficulty,
        due=card.due,
        last_review=card.last_review,
    )
