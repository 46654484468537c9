"""A report as Markdown, for a pull request or, laid out, for the terminal."""

import re
from collections.abc import Iterable, Iterator, Sequence

from toolcharter.evaluate import words
from toolcharter.evaluate.figures import Change, Figures, matrix
from toolcharter.evaluate.outcome import Result
from toolcharter.evaluate.report import Report

_MOST = 20  # columns of a matrix that can be read
_SAID = 5  # utterances of a pair


def render(report: Report) -> str:
    """The whole report."""
    found = report.figures()
    lines = [f"# Tool selection: {escape(report.target)}", "", f"{words.WHAT} {words.OFFLINE}", ""]
    lines += _table(
        ("selector", "accuracy", "95 % interval", "served cases alone", "none recognised"),
        (
            (name, words.counted(one.accuracy), words.interval(one.accuracy), words.counted(one.served),
             words.counted(one.none))
            for name, one in found.items()
        ),
    )  # fmt: skip
    lines += [f"- {escape(note)}" for note in report.notes]
    for result in report.results:
        lines += ["", f"## {escape(result.selector)}", "", words.threshold(result)]
        lines += _selector(result, found[result.selector])
    if report.against is not None:
        lines += ["", f"## Against {escape(report.against)}", ""]
        for name, change in report.changes().items():
            lines += _change(name, change)
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text that Markdown takes as it is."""
    return re.sub(r"([\\`*\[\]<>|#]|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(text.split()))


def _selector(result: Result, found: Figures) -> Iterator[str]:
    if found.recall:
        yield from _section("Recall: the right tool is among the first")
        yield from _table([str(k) for k in found.recall], [[words.percent(one) for one in found.recall.values()]])
    if found.whole_arguments.of:
        yield from _section("Arguments, where the tool was right")
        yield f"All as expected: {words.counted(found.whole_arguments)}. Each alone: {words.counted(found.arguments)}."
    yield from _section("Each tool")
    rows = [(one.tool, words.percent(one.precision), words.counted(one.recall)) for one in found.tools]
    yield from _table(("tool", "precision", "recall"), rows)
    names, counts = matrix(result.outcomes, _MOST)
    yield from _section(f"Expected (rows) and chosen (columns){_cut(found, len(names))}")
    # Columns have the numbers of the rows: names would not fit beside each other.
    lines = [
        (f"{at} {name}", *(str(count or "") for count in row))
        for at, (name, row) in enumerate(zip(names, counts, strict=True), 1)
    ]
    yield from _table(("", *(str(at) for at, _ in enumerate(names, 1))), lines)
    if found.confusions:
        yield from _section("Confused")
        for pair in found.confusions:
            yield f"- {escape(words.confused(pair.expected, pair.chosen, len(pair.utterances)))}"
            yield from _said(pair.utterances)
    if result.unanswered:
        yield from _section("No answer")
        yield from (f"- {escape(said)}: {escape(why)}" for said, why in result.unanswered.items())


def _cut(found: Figures, shown: int) -> str:
    return f", the {shown} most confused of {len(found.tools)}" if shown < len(found.tools) else ""


def _change(name: str, change: Change) -> Iterator[str]:
    yield f"**{escape(name)}**: {words.verdict(change)}"
    for title, said in (("Mended", change.mended), ("Broken", change.broken)):
        if said:
            yield from _section(title)
            yield from (f"- {escape(utterance)}" for utterance in said)
    yield ""


def _said(utterances: Sequence[str]) -> Iterator[str]:
    yield from (f"  - {escape(said)}" for said in utterances[:_SAID])
    if len(utterances) > _SAID:
        yield f"  - and {len(utterances) - _SAID} more"


def _section(title: str) -> Iterator[str]:
    yield from ("", f"### {title}", "")


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(escape, headings))} |"
    yield "|---" * len(headings) + "|"
    yield from (f"| {' | '.join(map(escape, row))} |" for row in rows)
    yield ""
