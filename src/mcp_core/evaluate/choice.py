"""From scores to choices: the best tool, or none where even the best score is too low.

How low is too low is learned from the cases themselves: the threshold with which most of them come out right, and of
several the lowest. So that no case decides its own fate, it is held to a threshold learned from all the others.
A score of 0 is none in any case. Without a case that none serves, there is no other threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mcp_core.evaluate.cases import Case
from mcp_core.evaluate.outcome import Outcome, Result

_KEPT = 100  # places of a ranking


@dataclass(frozen=True, slots=True)
class _Best:
    """A case and its best tool, before a threshold."""

    case: Case
    ranked: tuple[str, ...]
    score: float

    def is_right(self, threshold: float) -> bool:
        return self.case.tool == self.tool(threshold)

    def tool(self, threshold: float) -> str | None:
        return self.ranked[0] if self.ranked and self.score >= threshold else None


def choose(selector: str, cases: Sequence[Case], names: Sequence[str], scores: Sequence[Sequence[float]]) -> Result:
    """The result of a selector that scores."""
    best = [_best(case, names, row) for case, row in zip(cases, scores, strict=True)]
    candidates = _candidates(best)
    right = [sum(one.is_right(threshold) for one in best) for threshold in candidates]
    outcomes: list[Outcome] = []
    for one in best:
        others = [count - one.is_right(threshold) for count, threshold in zip(right, candidates, strict=True)]
        threshold = candidates[others.index(max(others))]
        outcomes.append(Outcome(one.case, one.tool(threshold), one.ranked, one.score))
    return Result(selector, outcomes, candidates[right.index(max(right))])


def rank(names: Sequence[str], scores: Sequence[float]) -> tuple[str, ...]:
    """Tools by score, those without any left out; equal ones in the order of the list."""
    order = sorted(range(len(names)), key=lambda at: -scores[at])
    return tuple(dict.fromkeys(names[at] for at in order if scores[at] > 0))[:_KEPT]


def _best(case: Case, names: Sequence[str], scores: Sequence[float]) -> _Best:
    return _Best(case, rank(names, scores), max(scores, default=0.0))


def _candidates(best: Sequence[_Best]) -> list[float]:
    """Thresholds to try: nothing, and half way between neighbouring scores."""
    if all(one.case.tool is not None for one in best):
        return [0.0]
    scores = sorted({one.score for one in best if one.ranked})
    last = [scores[-1] + 1] if scores else []
    return [0.0, *((low + high) / 2 for low, high in pairwise(scores)), *last]
