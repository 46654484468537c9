"""FSRS memory for cards that Anki scheduled without FSRS, found the way Anki finds it when FSRS is switched on.

Where the log has the card from its first learning step on, its answers are replayed. Where the log begins later, the
first answer left in it stands for what came before, by its interval and ease. Where there is no log, the interval and
ease of the card itself do. The formulas are those of fsrs-rs, which Anki runs on too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from fsrs_rs_python import FSRS, FSRSItem, FSRSReview, MemoryState

from mcp_noema.anki.deck_options import Options, as_preset
from mcp_noema.anki.package import DayCount

LEARNING, REVIEW, RELEARNING, FILTERED, MANUAL, RESCHEDULED = range(6)
"""The kinds of entries in Anki's log."""
_EASIEST_BY_FSRS = 1.1
"""What looks like a lower ease is a difficulty: FSRS writes it in the same place."""
_USUAL_EASE = 2500
_SHORTEST = 0.001
"""The lowest stability that FSRS knows."""


class Entry(NamedTuple):
    """An entry of Anki's log. The interval is days, or seconds below 0."""

    at: datetime
    rating: int
    interval: int
    last_interval: int
    ease: int
    duration_ms: int
    kind: int

    @property
    def is_answer(self) -> bool:
        """Whether it says something about memory: not a change by hand, and no cramming."""
        return self.rating > 0 and self.kind not in (MANUAL, RESCHEDULED) and not self.is_cramming

    @property
    def is_cramming(self) -> bool:
        """Whether it was an extra look that changed nothing."""
        return self.kind == FILTERED and self.ease == 0

    @property
    def is_reset(self) -> bool:
        """Whether it made the card new again."""
        return self.kind == MANUAL and self.ease == 0


@dataclass(frozen=True, slots=True)
class Aged:
    """What a card says about its memory without FSRS. The interval is days."""

    interval: int
    ease: int


class Memories:
    """FSRS with the weights of some deck options."""

    def __init__(self, options: Options, days: DayCount) -> None:
        self._fsrs = FSRS(list(as_preset(options).parameters or ()))
        self._retention = options.sm2_retention if 0 < options.sm2_retention < 1 else 0.9
        self._days = days

    def of(self, card: Aged, log: Sequence[Entry]) -> tuple[float, float]:
        """Stability and difficulty."""
        answers, is_whole = _history(log)
        state = self._replayed(answers, is_whole=is_whole) or self._from_ease(card.ease or _USUAL_EASE, card.interval)
        return max(state.stability, _SHORTEST), min(max(state.difficulty, 1.0), 10.0)

    def _replayed(self, answers: Sequence[Entry], *, is_whole: bool) -> MemoryState | None:
        gaps = self._gaps(answers)
        reviews = [FSRSReview(entry.rating, gap) for entry, gap in zip(answers, gaps, strict=True)]
        if is_whole:
            return self._fsrs.memory_state(FSRSItem(reviews))
        if not answers:
            return None
        after_first = self._from_ease(answers[0].ease or _USUAL_EASE, answers[0].interval)
        return self._fsrs.memory_state(FSRSItem(reviews[1:]), after_first) if reviews[1:] else after_first

    def _gaps(self, answers: Sequence[Entry]) -> list[int]:
        numbers = [self._days.number(entry.at) for entry in answers]
        return [0, *(max(later - earlier, 0) for earlier, later in pairwise(numbers))][: len(numbers)]

    def _from_ease(self, ease: int, interval: int) -> MemoryState:
        factor = ease / 1000
        state = self._fsrs.memory_state_from_sm2(max(factor, 1.3), float(max(interval, 1)), self._retention)
        if factor > _EASIEST_BY_FSRS:
            return state
        return MemoryState(state.stability, min(max((factor - 0.1) * 9 + 1, 1.0), 10.0))


def _history(log: Sequence[Entry]) -> tuple[list[Entry], bool]:
    """The answers that memory rests on, and whether they begin with the first step of learning.

    Read backwards: to the beginning of the last time it was learned, or to where it was made new, if it was.
    """
    learned: int | None = None
    answered: int | None = None
    for place in reversed(range(len(log))):
        entry = log[place]
        if entry.is_answer:
            answered = place
        if entry.is_answer and entry.kind == LEARNING:
            learned = place
        elif (learned is not None and not entry.is_cramming) or entry.is_reset:
            break
    begin = answered if learned is None else learned
    if begin is None:
        return [], False
    return [entry for entry in log[begin:] if entry.is_answer], learned is not None
