"""From scores to choices: the best tool, or none if even the best score is too low.

The threshold is learned from the cases themselves: it is the one with the most correct cases, half way between two
scores, and the lowest of several. So that no case decides about itself, the threshold for each case is learned from all
the others. A score of 0 always means none. If every case expects a tool, there is no other threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.result import CaseResult, SelectorResult


@dataclass(frozen=True, slots=True)
class _BestMatch:
    """A case and its best tool, before the threshold."""

    case: Case
    ranked: tuple[str, ...]
    score: float

    def tool(self, threshold: float) -> str | None:
        return self.ranked[0] if self.score > 0 and self.score >= threshold else None

    @property
    def gain(self) -> int:
        """The number of correct cases that choosing none adds here: 1, -1, or 0 if the case is wrong either way."""
        return int(self.case.tool is None) - int(self.case.tool == self.ranked[0])


def choose(
    selector: str,
    cases: Sequence[Case],
    names: Sequence[str],
    scores: Sequence[Sequence[float]],
    parts: tuple[str, ...] = (),
) -> SelectorResult:
    """The choices of a selector that gives each tool a score."""
    best = [_BestMatch(case, rank(names, row), max(row, default=0.0)) for case, row in zip(cases, scores, strict=True)]
    ordered = sorted((match for match in best if match.score > 0), key=lambda match: match.score)
    results = [
        CaseResult(
            match.case,
            match.tool(_threshold([other for other in ordered if other is not match])),
            match.ranked,
            match.score,
        )
        for match in best
    ]
    return SelectorResult(selector, results, _threshold(ordered), parts=parts)


def rank(names: Sequence[str], scores: Sequence[float]) -> tuple[str, ...]:
    """All tools by score; equal scores in the order of the list."""
    order = sorted(range(len(names)), key=lambda at: -scores[at])
    return tuple(dict.fromkeys(names[at] for at in order))


def _threshold(ordered: Sequence[_BestMatch]) -> float:
    """Raise the threshold from 0 past one score after the other, and take the place with the highest gain."""
    threshold, highest, gain = 0.0, 0, 0
    for match, following in pairwise(ordered):
        gain += match.gain
        if gain > highest and following.score > match.score:
            threshold, highest = (match.score + following.score) / 2, gain
    if ordered and gain + ordered[-1].gain > highest:
        threshold = ordered[-1].score + 1
    return threshold
