"""What comes of the answers: accuracy with its interval, figures of each tool, confusions, significance."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolcharter.evaluate.outcome import NONE, Outcome, Result, matched_arguments

_Z = 1.959963984540054  # 95 %, two sides


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with the 95 % interval after Wilson."""

    right: int
    of: int

    @property
    def value(self) -> float:
        """0 where there is nothing to count."""
        return self.right / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share lies with 95 % confidence, were the cases drawn at random."""
        if not self.of:
            return 0.0, 1.0
        spread = _Z * math.sqrt(self.value * (1 - self.value) / self.of + _Z**2 / (4 * self.of**2))
        middle, scale = self.value + _Z**2 / (2 * self.of), 1 + _Z**2 / self.of
        return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """Precision: how many of the choices of this tool were right. Recall: how many of its cases found it."""

    tool: str
    precision: Share
    recall: Share


@dataclass(frozen=True, slots=True)
class Confusion:
    """A tool that was chosen instead of the expected one, and what was said."""

    expected: str
    chosen: str
    utterances: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything about one result. `served` has the cases with a tool, and takes the best tool without a threshold."""

    accuracy: Share
    served: Share
    none: Share
    tools: tuple[ToolFigures, ...]
    confusions: tuple[Confusion, ...]
    recall: Mapping[int, Share]
    whole_arguments: Share
    arguments: Share


@dataclass(frozen=True, slots=True)
class Change:
    """Before and after on the same cases. `p` is the exact McNemar test, two-sided."""

    before: Share
    after: Share
    mended: tuple[str, ...]
    broken: tuple[str, ...]
    p: float


def figures(result: Result, ranks: Iterable[int] = ()) -> Figures:
    """Count what there is to count."""
    outcomes = result.outcomes
    served = [one for one in outcomes if one.case.tool is not None]
    matched = [found for one in outcomes if (found := matched_arguments(one)) is not None]
    ranked = any(one.ranked for one in outcomes)
    return Figures(
        accuracy=_share(outcomes),
        served=Share(sum(_first(one) == one.case.tool for one in served), len(served)),
        none=_share([one for one in outcomes if one.case.tool is None]),
        tools=tuple(_per_tool(outcomes)),
        confusions=confusions(outcomes),
        recall={k: recall_at(k, served) for k in ranks} if ranked else {},
        whole_arguments=Share(sum(right == of for right, of in matched), len(matched)),
        arguments=Share(sum(right for right, _ in matched), sum(of for _, of in matched)),
    )


def recall_at(k: int, outcomes: Sequence[Outcome]) -> Share:
    """How often the expected tool is among the first k."""
    return Share(sum(one.case.tool in one.ranked[:k] for one in outcomes), len(outcomes))


def confusions(outcomes: Iterable[Outcome]) -> tuple[Confusion, ...]:
    """The most frequent first."""
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one in outcomes:
        if not one.is_right:
            found[one.case.tool or NONE, one.tool or NONE].append(one.case.utterance)
    pairs = sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return tuple(Confusion(expected, chosen, tuple(said)) for (expected, chosen), said in pairs)


def matrix(outcomes: Iterable[Outcome], most: int) -> tuple[list[str], list[list[int]]]:
    """Names, and for each expected tool (row) how often each (column) was chosen. Few errors are left out first."""
    counts = Counter((one.case.tool or NONE, one.tool or NONE) for one in outcomes)
    wrong = Counter(name for pair, count in counts.items() if pair[0] != pair[1] for name in pair for _ in range(count))
    names = sorted(_names(counts), key=lambda name: -wrong[name])[:most]
    names.sort(key=_none_last)
    return names, [[counts[row, column] for column in names] for row in names]


def compare(before: Iterable[Outcome], after: Iterable[Outcome]) -> Change:
    """Only cases that both have are looked at."""
    earlier = {(one.case.utterance, one.case.tool): one.is_right for one in before}
    pairs = [
        (one.case.utterance, earlier[key], one.is_right)
        for one in after
        if (key := (one.case.utterance, one.case.tool)) in earlier
    ]
    mended = tuple(said for said, was, is_now in pairs if is_now and not was)
    broken = tuple(said for said, was, is_now in pairs if was and not is_now)
    return Change(
        Share(sum(was for _, was, _ in pairs), len(pairs)),
        Share(sum(is_now for _, _, is_now in pairs), len(pairs)),
        mended,
        broken,
        mcnemar(len(mended), len(broken)),
    )


def mcnemar(mended: int, broken: int) -> float:
    """The chance of so uneven a change, or a more uneven one, if each changed case were a toss of a coin."""
    changed = mended + broken
    tail = sum(math.comb(changed, count) for count in range(min(mended, broken) + 1))
    return min(1.0, 2 * tail / 2**changed)


def _share(outcomes: Sequence[Outcome]) -> Share:
    return Share(sum(one.is_right for one in outcomes), len(outcomes))


def _first(one: Outcome) -> str | None:
    return one.ranked[0] if one.ranked else one.tool


def _per_tool(outcomes: Sequence[Outcome]) -> Iterable[ToolFigures]:
    for name in _names((one.case.tool or NONE, one.tool or NONE) for one in outcomes):
        tool = None if name == NONE else name
        chosen = [one for one in outcomes if one.tool == tool]
        expected = [one for one in outcomes if one.case.tool == tool]
        yield ToolFigures(name, _share(chosen), _share(expected))


def _names(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return sorted({name for pair in pairs for name in pair}, key=_none_last)


def _none_last(name: str) -> tuple[bool, str]:
    return name == NONE, name
