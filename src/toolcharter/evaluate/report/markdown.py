"""The report as Markdown, for a pull request or, formatted, for a terminal."""

import re
from collections.abc import Iterable, Iterator, Sequence

from mcp_core.foreign.terminal import escape_invisible
from toolcharter.evaluate.metrics import AccuracyChange, SelectorMetrics, confusion_matrix
from toolcharter.evaluate.report import EvaluationReport, phrases
from toolcharter.evaluate.result import SelectorResult

_MAX_TOOLS = 20  # columns of a matrix that can be read
_MAX_UTTERANCES = 5


def render(report: EvaluationReport) -> str:
    """The whole report."""
    metrics = report.metrics()
    lines = [f"# Tool selection: {escape(report.server)}", "", f"{phrases.SUMMARY} {phrases.OFFLINE}", ""]
    lines += _table(
        ("selector", "accuracy", "95 % interval", "served cases", "cases without a tool"),
        (
            (
                name,
                phrases.percent_of(one.accuracy),
                phrases.interval(one.accuracy),
                phrases.percent_of(one.served),
                phrases.percent_of(one.none),
            )
            for name, one in metrics.items()
        ),
    )
    lines += [f"- {_escape_around_code(note)}" for note in report.notes]
    for result in report.results:
        lines += ["", f"## {escape(result.selector)}", "", phrases.threshold(result)]
        lines += _selector(result, metrics[result.selector])
    if report.against is not None:
        lines += ["", f"## Against {escape(report.against)}", ""]
        for name, change in report.changes().items():
            lines += _change(name, change)
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text without meaning as Markdown."""
    return re.sub(r"([\\`*\[\]<>|#]|(?<!\w)_|_(?!\w))", r"\\\1", escape_invisible(" ".join(text.split())))


def _escape_around_code(text: str) -> str:
    """A command in backticks stays as it is, so that it can be copied."""
    before, tick, rest = text.partition("`")
    code, end, after = rest.partition("`")
    return f"{escape(before)} `{code}`{escape(after)}" if tick and end else escape(text)


def _selector(result: SelectorResult, metrics: SelectorMetrics) -> Iterator[str]:
    if metrics.recall:
        yield from _section("Recall: the right tool is among the first k")
        shares = [phrases.percent(share) for share in metrics.recall.values()]
        yield from _table([str(k) for k in metrics.recall], [shares])
    if metrics.all_arguments.of:
        yield from _section("Arguments, where the tool was right")
        yield phrases.arguments(metrics)
    yield from _section("Each tool")
    rows = [(one.tool, phrases.percent(one.precision), phrases.percent_of(one.recall)) for one in metrics.tools]
    yield from _table(("tool", "precision", "recall"), rows)
    names, counts = confusion_matrix(result.cases, _MAX_TOOLS)
    cut = f", the {len(names)} most confused of {len(metrics.tools)}" if len(names) < len(metrics.tools) else ""
    yield from _section(f"Expected (rows) and chosen (columns){cut}")
    # Columns have the numbers of the rows: names do not fit beside each other.
    lines = [
        (f"{at} {name}", *(str(number or "") for number in row))
        for at, (name, row) in enumerate(zip(names, counts, strict=True), 1)
    ]
    yield from _table(("", *(str(at) for at, _ in enumerate(names, 1))), lines)
    if metrics.confusions:
        yield from _section("Confused tools")
        for pair in metrics.confusions:
            yield f"- {escape(phrases.confusion(pair))}"
            yield from _utterances(pair.utterances)
    if result.unanswered:
        yield from _section("No answer")
        yield from (f"- {escape(utterance)}: {escape(why)}" for utterance, why in result.unanswered.items())


def _change(name: str, change: AccuracyChange) -> Iterator[str]:
    yield f"**{escape(name)}**: {phrases.verdict(change)}"
    for title, utterances in (("Fixed", change.fixed), ("Broken", change.broken)):
        if utterances:
            yield from _section(title)
            yield from (f"- {escape(utterance)}" for utterance in utterances)
    yield ""


def _utterances(utterances: Sequence[str]) -> Iterator[str]:
    yield from (f"  - {escape(utterance)}" for utterance in utterances[:_MAX_UTTERANCES])
    if len(utterances) > _MAX_UTTERANCES:
        yield f"  - and {len(utterances) - _MAX_UTTERANCES} more"


def _section(title: str) -> Iterator[str]:
    yield from ("", f"### {title}", "")


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(escape, headings))} |"
    yield "|---" * len(headings) + "|"
    yield from (f"| {' | '.join(map(escape, row))} |" for row in rows)
    yield ""
