"""The report as one HTML page with charts."""

from collections.abc import Iterator

from toolcharter.evaluate.metrics import AccuracyChange, Proportion, SelectorMetrics, ToolMetrics, confusion_matrix
from toolcharter.evaluate.report import EvaluationReport, phrases
from toolcharter.evaluate.result import SelectorResult
from toolcharter.output import html_report
from toolcharter.output.html_report import ChartBar

_MAX_TOOLS = 40  # rows and columns of a heat map that can be read
_OPEN_PAIRS = 1  # pairs whose utterances are shown unfolded


def render(report: EvaluationReport) -> str:
    """The whole page."""
    metrics = report.metrics()
    figures = [(name, phrases.percent(one.accuracy), _interval(one.accuracy)) for name, one in metrics.items()]
    bars = [_bar(name, one.accuracy) for name, one in metrics.items()]
    bars += [_bar(f"{name}, served cases", one.served) for name, one in metrics.items()]
    sections = [
        (
            "Accuracy",
            [
                html_report.figures(figures),
                html_report.bar_chart(bars, "Accuracy of each selector with its 95 % interval", 1),
                html_report.text(phrases.OFFLINE, "note"),
                *report.notes,
            ],
        )
    ]
    if report.against is not None:
        changes = [part for name, change in report.changes().items() for part in _change(name, change)]
        sections.append((f"Against {report.against}", changes))
    sections += [(result.selector, list(_selector(result, metrics[result.selector]))) for result in report.results]
    return html_report.page(f"Tool selection: {report.server}", sections, phrases.SUMMARY)


def _selector(result: SelectorResult, metrics: SelectorMetrics) -> Iterator[str]:
    yield phrases.threshold(result)
    if metrics.recall:
        yield html_report.heading("Recall: the right tool is among the first k")
        bars = [_bar(f"{k}", share) for k, share in metrics.recall.items()]
        yield html_report.bar_chart(bars, "Recall at k with its 95 % interval", 1)
    if metrics.all_arguments.of:
        yield html_report.heading("Arguments, where the tool was right")
        yield phrases.arguments(metrics)
    yield from _tools(metrics)
    names, counts = confusion_matrix(result.cases, _MAX_TOOLS)
    cut = f" The {len(names)} most confused of {len(metrics.tools)}." if len(names) < len(metrics.tools) else ""
    yield html_report.heading("Expected and chosen tools")
    yield html_report.text(
        f"Rows are expected tools, columns are chosen tools; correct choices are on the diagonal.{cut}", "note"
    )
    yield html_report.heat_map(names, names, counts, "Confusion matrix: expected in rows, chosen in columns")
    yield from _confusions(metrics)
    if result.unanswered:
        yield html_report.heading("No answer")
        yield html_report.table(("utterance", "reason"), list(result.unanswered.items()))


def _tools(metrics: SelectorMetrics) -> Iterator[str]:
    expected = [one for one in metrics.tools if one.recall.of]
    worst = expected if len(expected) <= _MAX_TOOLS else sorted(expected, key=_recall)[:_MAX_TOOLS]
    yield html_report.heading("Each tool")
    if len(worst) < len(expected):
        yield html_report.text(f"The {len(worst)} of {len(expected)} tools with the lowest recall.", "note")
    yield html_report.bar_chart([_bar(one.tool, one.recall) for one in worst], "Recall of each tool", 1)
    table = html_report.table(("tool", "precision", "recall", "cases"), map(_row, metrics.tools))
    yield html_report.details("As a table", [table])


def _recall(one: ToolMetrics) -> float:
    return one.recall.value


def _confusions(metrics: SelectorMetrics) -> Iterator[str]:
    if metrics.confusions:
        yield html_report.heading("Confused tools")
    for at, pair in enumerate(metrics.confusions):
        utterances = html_report.bullets(pair.utterances)
        yield html_report.details(phrases.confusion(pair), [utterances], is_open=at < _OPEN_PAIRS)


def _change(name: str, change: AccuracyChange) -> Iterator[str]:
    is_better = change.after.value >= change.before.value
    yield html_report.text(f"{name}: {phrases.verdict(change)}", "good" if is_better else "bad")
    yield html_report.bar_chart([_bar("before", change.before), _bar("after", change.after)], f"Change of {name}", 1)
    for title, utterances in (("Fixed", change.fixed), ("Broken", change.broken)):
        if utterances:
            yield html_report.details(f"{title} ({len(utterances)})", [html_report.bullets(utterances)])


def _row(one: ToolMetrics) -> tuple[str, str, str, float]:
    return html_report.code(one.tool), phrases.percent(one.precision), phrases.percent(one.recall), one.recall.of


def _bar(label: str, share: Proportion) -> ChartBar:
    return ChartBar(label, share.value, phrases.percent_of(share), *share.interval)


def _interval(share: Proportion) -> str:
    return f"95 % interval {phrases.interval(share)}, {share.of} cases"
