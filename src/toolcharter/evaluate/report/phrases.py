"""The sentences that several formats of a report share."""

from mcp_core.text.plurals import count
from toolcharter.evaluate.metrics import AccuracyChange, Confusion, Proportion, SelectorMetrics
from toolcharter.evaluate.result import NONE, SelectorResult

SUMMARY = "How often the right tool is selected for what people say."
OFFLINE = (
    "Offline selectors compare wordings. They show which descriptions say what people say, but do not measure a "
    "particular model."
)
_SIGNIFICANT = 0.05
_SMALLEST_P = 0.001


def percent(share: Proportion) -> str:
    """`81.5 %`, or a dash if there are no cases."""
    return f"{share.value:.1%}".replace("%", " %") if share.of else "-"


def interval(share: Proportion) -> str:
    """`70.2 to 91.3 %`, with 95 % confidence."""
    low, high = share.interval
    return f"{low * 100:.1f} to {high * 100:.1f} %"


def percent_of(share: Proportion) -> str:
    """`81.5 % (22 of 27)`."""
    return f"{percent(share)} ({share.right} of {share.of})" if share.of else "no cases"


def arguments(metrics: SelectorMetrics) -> str:
    """How many arguments were right."""
    return f"All correct: {percent_of(metrics.all_arguments)}. Each argument: {percent_of(metrics.arguments)}."


def threshold(result: SelectorResult) -> str:
    """When the selector chose no tool."""
    if result.threshold is None:
        return "No tool is chosen if the model calls none."
    if not result.threshold:
        return "No tool is chosen only if no tool has a score above 0."
    return (
        f"No tool is chosen if the best score is below about {result.threshold:.3f}. The threshold is the one with the "
        "most correct cases, learned for each case from all the others."
    )


def confusion(pair: Confusion) -> str:
    """One line about a pair."""
    cases = count(len(pair.utterances), "case")
    if pair.chosen == NONE:
        return f"{pair.expected}: not selected ({cases})"
    if pair.expected == NONE:
        return f"{pair.chosen}: selected where no tool is expected ({cases})"
    return f"{pair.expected}: confused with {pair.chosen} ({cases})"


def verdict(change: AccuracyChange) -> str:
    """A change in one sentence."""
    points = (change.after.value - change.before.value) * 100
    shares = f"{percent(change.before)} before, {percent(change.after)} after ({points:+.1f} points)"
    pairs = f"{len(change.fixed)} fixed and {len(change.broken)} broken of {count(change.after.of, 'case')}"
    significance = "significant at 5 %" if change.p < _SIGNIFICANT else "not significant at 5 %"
    p = f"p = {change.p:.3f}" if change.p >= _SMALLEST_P else f"p < {_SMALLEST_P}"
    return f"{shares}; {pairs}; exact McNemar test {p}, {significance}."
