"""From scores to choices: the best tool, or none where even the best score is too low.

How low is too low is learned from the cases themselves: the threshold with which most of them come out right, half way
between two scores, and of several the lowest. So that no case decides its own fate, each is held to a threshold learned
from all the others. A score of 0 is none in any case. Without a case that none serves, there is no other threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.outcome import Outcome, Result

_KEPT = 100  # places of a ranking


@dataclass(frozen=True, slots=True)
class _Best:
    """A case and its best tool, before a threshold."""

    case: Case
    ranked: tuple[str, ...]
    score: float

    def tool(self, threshold: float) -> str | None:
        return self.ranked[0] if self.ranked and self.score >= threshold else None

    @property
    def gain(self) -> int:
        """What it brings to choose none here: a case comes out right, is lost, or is wrong either way."""
        return int(self.case.tool is None) - int(self.case.tool == self.ranked[0])


def choose(selector: str, cases: Sequence[Case], names: Sequence[str], scores: Sequence[Sequence[float]]) -> Result:
    """The result of a selector that scores."""
    best = [_Best(case, rank(names, row), max(row, default=0.0)) for case, row in zip(cases, scores, strict=True)]
    ordered = sorted((one for one in best if one.ranked), key=lambda one: one.score)
    outcomes = [
        Outcome(one.case, one.tool(_threshold([other for other in ordered if other is not one])), one.ranked, one.score)
        for one in best
    ]
    return Result(selector, outcomes, _threshold(ordered))


def rank(names: Sequence[str], scores: Sequence[float]) -> tuple[str, ...]:
    """Tools by score, those without any left out; equal ones in the order of the list."""
    order = sorted(range(len(names)), key=lambda at: -scores[at])
    return tuple(dict.fromkeys(names[at] for at in order if scores[at] > 0))[:_KEPT]


def _threshold(ordered: Sequence[_Best]) -> float:
    """Raise it from 0 past one score after the other, and keep the place where most was gained."""
    found, most, gained = 0.0, 0, 0
    for one, following in pairwise(ordered):
        gained += one.gain
        if gained > most and following.score > one.score:
            found, most = (one.score + following.score) / 2, gained
    if ordered and gained + ordered[-1].gain > most:
        found = ordered[-1].score + 1
    return found
