"""A report: the results of all selectors on one server. Each format is a module with `render(report) -> str`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolcharter.evaluate.metrics import AccuracyChange, SelectorMetrics, compare, measure
from toolcharter.evaluate.result import SelectorResult


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """`against` is the name of what it is compared with, `earlier` has the results of that."""

    server: str
    digest: str
    """Identifies the cases."""
    results: Sequence[SelectorResult]
    ranks: Sequence[int] = ()
    against: str | None = None
    earlier: Sequence[SelectorResult] = ()
    notes: Sequence[str] = field(default_factory=tuple)

    def metrics(self) -> dict[str, SelectorMetrics]:
        """The metrics of each selector."""
        return {result.selector: measure(result, self.ranks) for result in self.results}

    def changes(self) -> dict[str, AccuracyChange]:
        """The change of each selector that both sides have."""
        before = {result.selector: result.cases for result in self.earlier}
        return {
            result.selector: compare(before[result.selector], result.cases)
            for result in self.results
            if result.selector in before
        }
