"""Reciprocal rank fusion: a tool is good if several selectors rank it high, whatever their scores mean."""

from collections.abc import Sequence
from itertools import groupby

from mcp_core.declare.listed import ListedTool
from toolcharter.evaluate.selector import Selector

_K = 10  # how little a first place counts more than a second


class HybridSelector:
    """The scores of a request are in proportion to the fused ranks. The best is the mean of the selectors' best scores.

    So the order of the tools comes from ranks, and the best score says how similar the best tool is: it can be compared
    with the scores of other requests.
    """

    name = "hybrid"

    def __init__(self, selectors: Sequence[Selector]) -> None:
        self._selectors = selectors

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the selectors."""
        return tuple(selector.name for selector in self._selectors)

    def score(self, tools: Sequence[ListedTool], utterances: Sequence[str]) -> list[list[float]]:
        """One row for each utterance, with one score for each tool."""
        scores = [selector.score(tools, utterances) for selector in self._selectors]
        return [_fuse(rows) for rows in zip(*scores, strict=True)]


def _fuse(rows: Sequence[Sequence[float]]) -> list[float]:
    fused = [sum(1 / (_K + rank) for rank in ranks) for ranks in zip(*map(_ranks, rows), strict=True)]
    similarity = sum(max(0.0, *row) for row in rows if row) / len(rows)
    highest = max(fused, default=1.0)
    return [similarity * value / highest for value in fused]


def _ranks(scores: Sequence[float]) -> list[float]:
    """Ranks from 1. Equal scores share the mean of their ranks, so that the order of the list does not count."""
    ranks = [0.0] * len(scores)
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    before = 0
    for _, group in groupby(order, key=lambda at: scores[at]):
        equal = list(group)
        for at in equal:
            ranks[at] = before + (len(equal) + 1) / 2
        before += len(equal)
    return ranks
