"""When a card is asked again: what the library `fsrs` says, to the last digit.

Time and dice are arguments. Without dice an interval is what FSRS reckons; with them it is fuzzed, by the library's
own rule, so that cards that were learned together do not come back together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from types import FunctionType

import fsrs

from mcp_noema.model import RATINGS, Dice, Grade, Preset, Schedule, State

Answered = tuple[int, datetime]
"""A rating from 1 (again) to 4 (easy), and when it was given."""
Logged = tuple[int, datetime, int]
"""The same with the state that the card had before, as the log has it."""

_NO_ID = 0
"""The library makes an id of the clock, and sleeps, where a card has none."""
_FUZZ: FunctionType = vars(fsrs.Scheduler)["_get_fuzzed_interval"]


def answer(schedule: Schedule, rating: int, at: datetime, preset: Preset, dice: Dice | None = None) -> Schedule:
    """The schedule of a card after an answer."""
    return _schedule(_reviewed(_card(schedule, at), rating, at, _scheduler(preset), dice))


def outlook(schedule: Schedule, at: datetime, preset: Preset) -> Mapping[Grade, Schedule]:
    """What each of the four answers would bring, without fuzz."""
    return {grade: answer(schedule, rating, at, preset) for grade, rating in RATINGS.items()}


def retrievability(schedule: Schedule, at: datetime, preset: Preset) -> float | None:
    """How likely the card is remembered then, from 0 to 1. FSRS counts whole days. A new card has none."""
    if schedule.stability is None or schedule.last_review is None:
        return None
    card = fsrs.Card(_NO_ID, stability=schedule.stability, due=at, last_review=schedule.last_review)
    return _scheduler(preset).get_card_retrievability(card, at)


def replay(reviews: Iterable[Answered], preset: Preset, dice: Dice | None = None) -> Schedule:
    """The schedule of a card with these reviews, as if it had always had this preset."""
    scheduler, card = _scheduler(preset), None
    for rating, at in sorted(reviews, key=itemgetter(1)):
        card = _reviewed(card or _card(Schedule(), at), rating, at, scheduler, dice)
    return _schedule(card) if card else Schedule()


def rescheduled(schedule: Schedule, reviews: Sequence[Answered], preset: Preset, dice: Dice | None = None) -> Schedule:
    """The schedule of a card as its reviews and this preset have it, in the order of time.

    Where nothing but fuzz can have made the difference, it stays as it is.
    """
    *earlier, (rating, at) = reviews
    before = replay(earlier, preset)
    after = answer(before, rating, at, preset, dice)
    if replace(after, due=None) != replace(schedule, due=None):
        return after
    earliest, latest = (answer(before, rating, at, preset, thrown).due for thrown in (_lowest, _highest))
    by_fuzz = schedule.due and earliest and latest and earliest <= schedule.due <= latest
    return schedule if by_fuzz else after


def _lowest() -> float:
    return 0.0


def _highest() -> float:
    return 1.0 - 2**-53


def since_learned(log: Sequence[Logged]) -> Sequence[Logged]:
    """What of a card's log its memory rests on: from where it was last learned as a new card, in the order of time.

    Nothing where the log does not say how it was learned. A log from Anki may call the first answer a learning one.
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


@lru_cache(maxsize=256)
def _scheduler(preset: Preset) -> fsrs.Scheduler:
    given = {} if preset.parameters is None else {"parameters": preset.parameters}
    return fsrs.Scheduler(
        **given,
        desired_retention=preset.desired_retention,
        learning_steps=tuple(timedelta(seconds=step) for step in preset.learning_steps),
        relearning_steps=tuple(timedelta(seconds=step) for step in preset.relearning_steps),
        maximum_interval=preset.maximum_interval,
        enable_fuzzing=False,
    )


def _reviewed(card: fsrs.Card, rating: int, at: datetime, scheduler: fsrs.Scheduler, dice: Dice | None) -> fsrs.Card:
    moment = at.astimezone(UTC)
    after, _ = scheduler.review_card(card, fsrs.Rating(rating), moment)
    if dice is not None and after.state is fsrs.State.Review:
        after.due = moment + _fuzzed(after.due - moment, scheduler, dice)
    return after


def _fuzzed(interval: timedelta, scheduler: fsrs.Scheduler, dice: Dice) -> timedelta:
    """The library's own fuzz, throwing our dice: its code, over names among which `random` is ours."""
    fuzz = FunctionType(_FUZZ.__code__, {**_FUZZ.__globals__, "random": dice}, closure=_FUZZ.__closure__)
    fuzz.__kwdefaults__ = _FUZZ.__kwdefaults__
    return fuzz(scheduler, interval=interval)


def _card(schedule: Schedule, at: datetime) -> fsrs.Card:
    """The card as the library knows it. Whatever has no memory yet is learned from the first step."""
    if schedule.stability is None or schedule.difficulty is None:
        return fsrs.Card(_NO_ID, due=at, last_review=schedule.last_review)
    return fsrs.Card(
        _NO_ID,
        # A new card has no memory, so that only the library's own three states are left.
        state=fsrs.State(schedule.state),
        step=None if schedule.state is State.REVIEW else schedule.step or 0,
        stability=schedule.stability,
        difficulty=schedule.difficulty,
        due=schedule.due or at,
        last_review=schedule.last_review,
    )


def _schedule(card: fsrs.Card) -> Schedule:
    return Schedule(
        state=State(card.state),
        step=card.step,
        stability=card.stability,
        difficulty=card.difficulty,
        due=card.due,
        last_review=card.last_review,
    )
