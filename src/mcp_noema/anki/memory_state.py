"""FSRS memory states for cards that Anki scheduled without FSRS, as Anki computes them when FSRS is switched on.

If the log has the card from its first learning step on, its answers are replayed. If the log begins later, the
interval and ease of the first answer in it stand for the earlier ones. If there is no log, the interval and ease of
the card itself do. The formulas are those of fsrs-rs, which Anki uses too.
"""

from collections.abc import Sequence
from itertools import pairwise

from fsrs_rs_python import FSRS, FSRSItem, FSRSReview, MemoryState

from mcp_noema.anki.deck_options import DeckOptions, to_preset
from mcp_noema.anki.package import CollectionCalendar
from mcp_noema.anki.revlog import LEARNING, RevlogEntry

_MAX_DIFFICULTY_FACTOR = 1.1
"""A lower factor is not an ease but a difficulty, which FSRS writes in the same column."""
_DEFAULT_EASE = 2500
_MIN_STABILITY = 0.001


class MemoryEstimator:
    """Computes memory states with the FSRS parameters of some deck options."""

    def __init__(self, options: DeckOptions, calendar: CollectionCalendar) -> None:
        self._fsrs = FSRS(list(to_preset(options).parameters or ()))
        self._sm2_retention = options.sm2_retention if 0 < options.sm2_retention < 1 else 0.9
        self._calendar = calendar

    def estimate(self, interval_days: int, ease: int, log: Sequence[RevlogEntry]) -> tuple[float, float]:
        """The stability and difficulty of a card with this interval, ease and log."""
        answers, is_complete = _relevant_answers(log)
        state = self._replay(answers, is_complete=is_complete) or self._from_sm2(ease or _DEFAULT_EASE, interval_days)
        return max(state.stability, _MIN_STABILITY), min(max(state.difficulty, 1.0), 10.0)

    def _replay(self, answers: Sequence[RevlogEntry], *, is_complete: bool) -> MemoryState | None:
        elapsed = self._elapsed_days(answers)
        reviews = [FSRSReview(entry.rating, days) for entry, days in zip(answers, elapsed, strict=True)]
        if is_complete:
            return self._fsrs.memory_state(FSRSItem(reviews))
        if not answers:
            return None
        after_first = self._from_sm2(answers[0].ease or _DEFAULT_EASE, answers[0].interval)
        return self._fsrs.memory_state(FSRSItem(reviews[1:]), after_first) if reviews[1:] else after_first

    def _elapsed_days(self, answers: Sequence[RevlogEntry]) -> list[int]:
        days = [self._calendar.day_number(entry.at) for entry in answers]
        return [0, *(max(later - earlier, 0) for earlier, later in pairwise(days))][: len(days)]

    def _from_sm2(self, ease: int, interval_days: int) -> MemoryState:
        factor = ease / 1000
        state = self._fsrs.memory_state_from_sm2(max(factor, 1.3), float(max(interval_days, 1)), self._sm2_retention)
        if factor > _MAX_DIFFICULTY_FACTOR:
            return state
        return MemoryState(state.stability, min(max((factor - 0.1) * 9 + 1, 1.0), 10.0))


def _relevant_answers(log: Sequence[RevlogEntry]) -> tuple[list[RevlogEntry], bool]:
    """The answers that the memory state depends on, and whether they begin with the first learning step.

    Read backwards, to the start of the last time the card was learned, or to its last reset.
    """
    learning_start: int | None = None
    first_answer: int | None = None
    for index in reversed(range(len(log))):
        entry = log[index]
        if entry.is_answer:
            first_answer = index
        if entry.is_answer and entry.kind == LEARNING:
            learning_start = index
        elif (learning_start is not None and not entry.is_cramming) or entry.is_reset:
            break
    start = first_answer if learning_start is None else learning_start
    if start is None:
        return [], False
    return [entry for entry in log[start:] if entry.is_answer], learning_start is not None
