"""The sentences that every form of a report uses."""

from toolcharter.evaluate.figures import Change, Share
from toolcharter.evaluate.outcome import NONE, Result

WHAT = "Which tool would be selected for what a person says."
OFFLINE = (
    "Offline selectors compare wordings. They show which descriptions say what people say, and are no measure of a "
    "particular model."
)
_SIGNIFICANT = 0.05
_SMALLEST = 0.001


def percent(share: Share) -> str:
    """`81.5 %`, or a dash where there is nothing to count."""
    return f"{share.value:.1%}".replace("%", " %") if share.of else "-"


def interval(share: Share) -> str:
    """`70.2 to 91.3 %`, with 95 % confidence."""
    low, high = share.interval
    return f"{low * 100:.1f} to {high * 100:.1f} %"


def counted(share: Share) -> str:
    """`81.5 % (22 of 27)`."""
    return f"{percent(share)} ({share.right} of {share.of})" if share.of else "no case"


def threshold(result: Result) -> str:
    """How a selector that scores came to choose none."""
    if result.threshold is None:
        return "None was chosen where the model called no tool."
    if not result.threshold:
        return "None was chosen only where no tool scored above 0."
    return (
        f"None was chosen where the best score was below about {result.threshold:.3f}: the threshold with which most "
        "cases come out right, learned for each case from all the others."
    )


def confused(expected: str, chosen: str, count: int) -> str:
    """One line about a pair."""
    cases = f"{count} case{'s' if count > 1 else ''}"
    if chosen == NONE:
        return f"{expected}: not selected ({cases})"
    if expected == NONE:
        return f"{chosen}: selected where none serves ({cases})"
    return f"{expected}: taken for {chosen} ({cases})"


def verdict(change: Change) -> str:
    """What a change amounts to."""
    points = (change.after.value - change.before.value) * 100
    told = f"{percent(change.before)} before, {percent(change.after)} after ({points:+.1f} points)"
    pairs = f"{len(change.mended)} cases mended, {len(change.broken)} broken, of {change.after.of}"
    sure = "significant at 5 %" if change.p < _SIGNIFICANT else "not significant at 5 %"
    p = f"p = {change.p:.3f}" if change.p >= _SMALLEST else f"p < {_SMALLEST}"
    return f"{told}; {pairs}; exact McNemar test {p}, {sure}."
