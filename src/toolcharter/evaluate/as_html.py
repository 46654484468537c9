"""A report as one HTML page with charts."""

from collections.abc import Iterator

from toolcharter import html_report
from toolcharter.evaluate import words
from toolcharter.evaluate.figures import Change, Figures, Share, ToolFigures, matrix
from toolcharter.evaluate.outcome import Result
from toolcharter.evaluate.report import Report
from toolcharter.html_report import Bar

_MOST = 40  # rows and columns of a heat map that can be read
_OPEN = 1  # pairs whose utterances are shown at once


def render(report: Report) -> str:
    """The whole page."""
    found = report.figures()
    figures = [(name, words.percent(one.accuracy), _below(one.accuracy)) for name, one in found.items()]
    bars = [_bar(name, one.accuracy) for name, one in found.items()]
    bars += [_bar(f"{name}, served alone", one.served) for name, one in found.items()]
    sections = [
        (
            "Accuracy",
            [
                html_report.figures(figures),
                html_report.bar_chart(bars, "Accuracy of each selector with its 95 % interval", 1),
                html_report.text(words.OFFLINE, "note"),
                *report.notes,
            ],
        )
    ]
    if report.against is not None:
        changes = [part for name, change in report.changes().items() for part in _change(name, change)]
        sections.append((f"Against {report.against}", changes))
    sections += [(result.selector, list(_selector(result, found[result.selector]))) for result in report.results]
    return html_report.page(f"Tool selection: {report.target}", sections, words.WHAT)


def _selector(result: Result, found: Figures) -> Iterator[str]:
    yield words.threshold(result)
    if found.recall:
        yield html_report.heading("The right tool is among the first")
        bars = [_bar(f"{k}", share) for k, share in found.recall.items()]
        yield html_report.bar_chart(bars, "Recall at k with its 95 % interval", 1)
    if found.whole_arguments.of:
        yield html_report.heading("Arguments, where the tool was right")
        yield f"All as expected: {words.counted(found.whole_arguments)}. Each alone: {words.counted(found.arguments)}."
    yield from _each_tool(found)
    names, counts = matrix(result.outcomes, _MOST)
    cut = f" The {len(names)} most confused of {len(found.tools)}." if len(names) < len(found.tools) else ""
    yield html_report.heading("What was expected, and what was chosen")
    yield html_report.text(
        f"A row is the expected tool, a column the chosen one; right is on the diagonal.{cut}", "note"
    )
    yield html_report.heat_map(names, names, counts, "Confusion matrix: expected in rows, chosen in columns")
    yield from _confused(found)
    if result.unanswered:
        yield html_report.heading("No answer")
        yield html_report.table(("said", "why"), list(result.unanswered.items()))


def _each_tool(found: Figures) -> Iterator[str]:
    expected = [one for one in found.tools if one.recall.of]
    shown = expected if len(expected) <= _MOST else sorted(expected, key=lambda one: one.recall.value)[:_MOST]
    yield html_report.heading("Each tool")
    if len(shown) < len(expected):
        yield html_report.text(f"The {len(shown)} of {len(expected)} tools that are found least.", "note")
    yield html_report.bar_chart([_bar(one.tool, one.recall) for one in shown], "Recall of each tool", 1)
    table = html_report.table(("tool", "precision", "recall", "cases"), map(_row, found.tools))
    yield html_report.details("As a table", [table])


def _confused(found: Figures) -> Iterator[str]:
    if found.confusions:
        yield html_report.heading("Confused")
    for at, pair in enumerate(found.confusions):
        line = words.confused(pair.expected, pair.chosen, len(pair.utterances))
        yield html_report.details(line, [html_report.bullets(pair.utterances)], is_open=at < _OPEN)


def _change(name: str, change: Change) -> Iterator[str]:
    better = change.after.value >= change.before.value
    yield html_report.text(f"{name}: {words.verdict(change)}", "good" if better else "bad")
    yield html_report.bar_chart([_bar("before", change.before), _bar("after", change.after)], f"Change of {name}", 1)
    for title, said in (("Mended", change.mended), ("Broken", change.broken)):
        if said:
            yield html_report.details(f"{title} ({len(said)})", [html_report.bullets(said)])


def _row(one: ToolFigures) -> tuple[str, str, str, float]:
    return html_report.code(one.tool), words.percent(one.precision), words.percent(one.recall), one.recall.of


def _bar(label: str, share: Share) -> Bar:
    return Bar(label, share.value, words.counted(share), *share.interval)


def _below(share: Share) -> str:
    return f"95 % interval {words.interval(share)}, {share.of} cases"
