"""Metrics of the choices: accuracy with its interval, precision and recall of each tool, confusions, significance."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolcharter.evaluate.result import NONE, CaseResult, SelectorResult, matched_arguments

_Z = 1.959963984540054  # 95 %, two-sided


@dataclass(frozen=True, slots=True)
class Proportion:
    """`right` of `of` cases, with the 95 % Wilson interval."""

    right: int
    of: int

    @property
    def value(self) -> float:
        """The proportion; 0 if there are no cases."""
        return self.right / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The interval that has the true proportion with 95 % confidence, if the cases were drawn at random."""
        if not self.of:
            return 0.0, 1.0
        spread = _Z * math.sqrt(self.value * (1 - self.value) / self.of + _Z**2 / (4 * self.of**2))
        middle, scale = self.value + _Z**2 / (2 * self.of), 1 + _Z**2 / self.of
        return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


@dataclass(frozen=True, slots=True)
class ToolMetrics:
    """Precision: how many choices of this tool were right. Recall: how many of its cases chose it."""

    tool: str
    precision: Proportion
    recall: Proportion


@dataclass(frozen=True, slots=True)
class Confusion:
    """A tool that was chosen instead of the expected one, and the utterances."""

    expected: str
    chosen: str
    utterances: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SelectorMetrics:
    """All metrics of one selector. `served` covers the cases that expect a tool, and ignores the threshold."""

    accuracy: Proportion
    served: Proportion
    none: Proportion
    tools: tuple[ToolMetrics, ...]
    confusions: tuple[Confusion, ...]
    recall: Mapping[int, Proportion]
    all_arguments: Proportion
    arguments: Proportion


@dataclass(frozen=True, slots=True)
class AccuracyChange:
    """Accuracy before and after on the same cases. `p` is the exact two-sided McNemar test."""

    before: Proportion
    after: Proportion
    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    p: float


def measure(result: SelectorResult, ranks: Iterable[int] = ()) -> SelectorMetrics:
    """Compute all metrics of a selector."""
    cases = result.cases
    served = [one for one in cases if one.case.tool is not None]
    matched = [counts for one in cases if (counts := matched_arguments(one)) is not None]
    is_ranked = any(one.ranked for one in cases)
    return SelectorMetrics(
        accuracy=_accuracy(cases),
        served=Proportion(sum(_first_choice(one) == one.case.tool for one in served), len(served)),
        none=_accuracy([one for one in cases if one.case.tool is None]),
        tools=tuple(_tool_metrics(cases)),
        confusions=confusions(cases),
        recall={k: recall_at(k, served) for k in ranks} if is_ranked else {},
        all_arguments=Proportion(sum(right == of for right, of in matched), len(matched)),
        arguments=Proportion(sum(right for right, _ in matched), sum(of for _, of in matched)),
    )


def recall_at(k: int, cases: Sequence[CaseResult]) -> Proportion:
    """How often the expected tool is among the first k."""
    return Proportion(sum(one.case.tool in one.ranked[:k] for one in cases), len(cases))


def confusions(cases: Iterable[CaseResult]) -> tuple[Confusion, ...]:
    """The pairs of tools that were confused, most frequent first."""
    utterances: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one in cases:
        if not one.is_correct:
            utterances[one.case.tool or NONE, one.tool or NONE].append(one.case.utterance)
    pairs = sorted(utterances.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return tuple(Confusion(expected, chosen, tuple(texts)) for (expected, chosen), texts in pairs)


def confusion_matrix(cases: Iterable[CaseResult], limit: int) -> tuple[list[str], list[list[int]]]:
    """Names, and for each expected tool (row) how often each tool (column) was chosen.

    Above the limit, the tools with the fewest errors are left out.
    """
    counts = Counter((one.case.tool or NONE, one.tool or NONE) for one in cases)
    errors = Counter(
        name for pair, count in counts.items() if pair[0] != pair[1] for name in pair for _ in range(count)
    )
    names = sorted(_names(counts), key=lambda name: -errors[name])[:limit]
    names.sort(key=_none_last)
    return names, [[counts[row, column] for column in names] for row in names]


def compare(before: Iterable[CaseResult], after: Iterable[CaseResult]) -> AccuracyChange:
    """Compare two runs on the cases that both have."""
    earlier = {(one.case.utterance, one.case.tool): one.is_correct for one in before}
    pairs = [
        (one.case.utterance, earlier[key], one.is_correct)
        for one in after
        if (key := (one.case.utterance, one.case.tool)) in earlier
    ]
    fixed = tuple(utterance for utterance, was, is_now in pairs if is_now and not was)
    broken = tuple(utterance for utterance, was, is_now in pairs if was and not is_now)
    return AccuracyChange(
        Proportion(sum(was for _, was, _ in pairs), len(pairs)),
        Proportion(sum(is_now for _, _, is_now in pairs), len(pairs)),
        fixed,
        broken,
        mcnemar(len(fixed), len(broken)),
    )


def mcnemar(fixed: int, broken: int) -> float:
    """The probability of a change at least this uneven, if each changed case were a coin toss."""
    changed = fixed + broken
    tail = sum(math.comb(changed, count) for count in range(min(fixed, broken) + 1))
    return min(1.0, 2 * tail / 2**changed)


def _accuracy(cases: Sequence[CaseResult]) -> Proportion:
    return Proportion(sum(one.is_correct for one in cases), len(cases))


def _first_choice(one: CaseResult) -> str | None:
    """The choice without a threshold. A score of 0 is no choice: then the order of the list would decide."""
    return one.ranked[0] if one.ranked and (one.score is None or one.score > 0) else one.tool


def _tool_metrics(cases: Sequence[CaseResult]) -> Iterable[ToolMetrics]:
    for name in _names((one.case.tool or NONE, one.tool or NONE) for one in cases):
        tool = None if name == NONE else name
        chosen = [one for one in cases if one.tool == tool]
        expected = [one for one in cases if one.case.tool == tool]
        yield ToolMetrics(name, _accuracy(chosen), _accuracy(expected))


def _names(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return sorted({name for pair in pairs for name in pair}, key=_none_last)


def _none_last(name: str) -> tuple[bool, str]:
    return name == NONE, name
