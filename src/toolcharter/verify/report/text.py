"""For people at a terminal: what is wrong with each tool, then how to mend it, said once a rule."""

import io
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from toolcharter.verify.outcome import Outcome
from toolcharter.verify.quality import MOST
from toolcharter.verify.report.groups import by_rule, by_tool, count_line, headline, many, told, visible
from toolcharter.verify.rule import Finding, Severity

PER_TOOL = 3
"""So many findings of one rule are shown for a tool."""
TOOLS = 20
"""So many tools are shown."""
COLOURS: dict[Severity, str] = {"error": "red", "warning": "yellow", "note": "cyan"}
WIDTH = 100


def render(outcome: Outcome) -> str:
    """The report without colours, for a file or a pipe."""
    out = io.StringIO()
    show(outcome, Console(file=out, width=WIDTH, color_system=None))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def show(outcome: Outcome, out: Console) -> None:
    """The report on a terminal. Of many tools, those with the lowest scores are shown."""
    shown = Shown()
    scores = {one.tool.name: one.score for one in outcome.scores.tools}
    groups = by_tool(outcome.findings)
    chosen = (
        list(groups) if len(groups) <= TOOLS else sorted(groups, key=lambda tool: scores.get(tool or "", -1))[:TOOLS]
    )
    for tool in chosen:
        heading = Text(visible(tool or "the server as a whole"), style="bold")
        if tool in scores:
            heading.append(f"  {scores[tool]}", style="dim")
        out.print(heading)
        out.print(Padding(_table(shown.lines(groups[tool])), (0, 0, 1, 2), expand=False))
    if len(groups) > TOOLS:
        out.print(f"and {many(len(groups) - TOOLS, 'more tool')} with findings; --format json and html show all\n")
    _fixes(outcome, shown, out)
    _summary(outcome, out)


class Shown:
    """How many findings of each rule have been shown."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()

    def lines(self, findings: Sequence[Finding]) -> Iterable[tuple[Finding, str]]:
        """What is shown for one tool."""
        for rule, group in by_rule(findings).items():
            self.count[rule] += min(len(group), PER_TOOL)
            yield from ((finding, told(finding)) for finding in group[:PER_TOOL])
            if len(group) > PER_TOOL:
                yield group[0], f"and {len(group) - PER_TOOL} more in this tool"


def _table(lines: Iterable[tuple[Finding, str]]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding, words in lines:
        table.add_row(Text(finding.severity, style=COLOURS[finding.severity]), Text(finding.rule), Text(words))
    return table


def _fixes(outcome: Outcome, shown: Shown, out: Console) -> None:
    groups = by_rule(outcome.findings)
    if not groups:
        return
    out.print(Text("How to mend them", style="bold"))
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for rule, findings in groups.items():
        words = Text(findings[0].name, style="bold")
        words.append(f" ({len(findings):,}). ", style="dim").append(findings[0].fix, style="default")
        if shown.count[rule] < len(findings):
            words.append(f" {shown.count[rule]} shown, and {len(findings) - shown.count[rule]:,} more.", style="dim")
        table.add_row(Text(rule, style=COLOURS[findings[0].severity]), words)
    out.print(Padding(table, (0, 0, 1, 2), expand=False))


def _summary(outcome: Outcome, out: Console) -> None:
    if outcome.unused:
        out.print(Text(f"Ignored without need, take it out: {', '.join(outcome.unused)}", style="yellow"))
    name = visible(outcome.server.name or "server")
    out.print(Text.assemble((name, "bold"), ": ", headline(outcome)))
    quality = ", ".join(f"{key} {value:g}/{MOST[key]:g}" for key, value in outcome.scores.quality.items())
    if quality:
        out.print(Text(f"Definitions: {quality}", style="dim"))
    worst = next((COLOURS[severity] for severity, count in outcome.counts.items() if count), "green")
    out.print(Text(count_line(outcome).capitalize(), style=worst))
