"""The report for a terminal: the findings of each tool, then the fix for each rule."""

import io
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mcp_core.foreign.terminal import escape_invisible
from mcp_core.text.plurals import count
from toolcharter.output.terminal import TerminalConsole
from toolcharter.verify.report.groups import by_rule, by_tool, count_line, headline, message_of
from toolcharter.verify.result import VerifyResult
from toolcharter.verify.rule import Finding, Severity

MAX_PER_TOOL = 3
"""How many findings of one rule are shown for a tool."""
MAX_TOOLS = 20
COLOURS: dict[Severity, str] = {"error": "red", "warning": "yellow", "note": "cyan"}
WIDTH = 100


def render(result: VerifyResult) -> str:
    """The report without colours, for a file or a pipe."""
    out = io.StringIO()
    print_report(result, TerminalConsole(file=out, width=WIDTH, color_system=None))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def print_report(result: VerifyResult, out: Console) -> None:
    """Print the report. Above the limit, only the tools with the lowest scores are shown."""
    shown = ShownFindings()
    scores = {one.tool.name: one.score for one in result.scores.tools}
    groups = by_tool(result.findings)
    tools = list(groups)
    if len(tools) > MAX_TOOLS:
        tools = sorted(tools, key=lambda tool: scores.get(tool or "", -1))[:MAX_TOOLS]
    for tool in tools:
        heading = Text(escape_invisible(tool or "the server as a whole"), style="bold")
        if tool in scores:
            heading.append(f"  {scores[tool]}", style="dim")
        out.print(heading)
        out.print(Padding(_table(shown.lines(groups[tool])), (0, 0, 1, 2), expand=False))
    if len(groups) > MAX_TOOLS:
        out.print(f"and {count(len(groups) - MAX_TOOLS, 'more tool')} with findings; --format json and html show all\n")
    _fixes(result, shown, out)
    _summary(result, out)


class ShownFindings:
    """Counts the findings of each rule that were shown."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()

    def lines(self, findings: Sequence[Finding]) -> Iterable[tuple[Finding, str]]:
        """The findings to show for one tool, each with its text."""
        for rule, group in by_rule(findings).items():
            self.count[rule] += min(len(group), MAX_PER_TOOL)
            yield from ((finding, message_of(finding)) for finding in group[:MAX_PER_TOOL])
            if len(group) > MAX_PER_TOOL:
                yield group[0], f"and {len(group) - MAX_PER_TOOL} more in this tool"


def _table(lines: Iterable[tuple[Finding, str]]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding, text in lines:
        table.add_row(Text(finding.severity, style=COLOURS[finding.severity]), Text(finding.rule), Text(text))
    return table


def _fixes(result: VerifyResult, shown: ShownFindings, out: Console) -> None:
    groups = by_rule(result.findings)
    if not groups:
        return
    out.print(Text("How to fix them", style="bold"))
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for rule, findings in groups.items():
        line = Text(findings[0].name, style="bold")
        line.append(f" ({len(findings):,}). ", style="dim").append(findings[0].fix, style="default")
        if shown.count[rule] < len(findings):
            line.append(
                f" {shown.count[rule]} shown, and {len(findings) - shown.count[rule]:,} more.",
                style="dim",
            )
        table.add_row(Text(rule, style=COLOURS[findings[0].severity]), line)
    out.print(Padding(table, (0, 0, 1, 2), expand=False))


def _summary(result: VerifyResult, out: Console) -> None:
    if result.unused_ignores:
        out.print(Text(f"Ignore entries that are not needed: {', '.join(result.unused_ignores)}", style="yellow"))
    name = escape_invisible(result.server.name or "server")
    out.print(Text.assemble((name, "bold"), ": ", headline(result)))
    for note in result.notes:
        out.print(Text(escape_invisible(note)))
    worst = next((COLOURS[severity] for severity, number in result.counts.items() if number), "green")
    out.print(Text(count_line(result).capitalize(), style=worst))
