"""The report as Markdown, for a comment on a pull request or the summary of a CI job. Comments have a length limit."""

from collections.abc import Iterable

from mcp_core.foreign.terminal import escape_invisible
from toolcharter.verify.report.groups import by_rule, count_line, headline, message_of
from toolcharter.verify.result import VerifyResult
from toolcharter.verify.rule import Finding

MAX_PER_RULE = 10
MAX_TOOLS = 20


def render(result: VerifyResult) -> str:
    """A heading, a table of rules, their findings, and the tools with the lowest scores."""
    name = result.server.name or "server"
    lines = [f"## {_plain(name)}: {headline(result)}", "", f"{count_line(result).capitalize()}.", ""]
    lines += [line for note in result.notes for line in (_plain(note), "")]
    groups = by_rule(result.findings)
    if groups:
        lines += ["| | rule | findings | fix |", "|---|---|---:|---|"]
        lines += [
            f"| {f[0].severity} | {rule} {f[0].name} | {len(f)} | {_plain(f[0].fix)} |" for rule, f in groups.items()
        ]
        lines.append("")
    for rule, findings in groups.items():
        lines += _details(f"{rule} {findings[0].name}: {len(findings)}", _lines(findings))
    lines += _details("Scores", _scores(result))
    if result.ignored:
        reasons = dict.fromkeys(f"- {one.finding.rule}: {_plain(one.reason)}" for one in result.ignored)
        lines += _details(f"Ignored: {len(result.ignored)}", reasons)
    if result.unused_ignores:
        lines += [
            f"Ignore entries that are not needed: {', '.join(f'`{text}`' for text in result.unused_ignores)}.",
            "",
        ]
    return "\n".join(lines)


def _lines(findings: list[Finding]) -> Iterable[str]:
    for finding in findings[:MAX_PER_RULE]:
        yield f"- **{_plain(finding.tool or 'the server')}**: {_plain(message_of(finding))}"
    if len(findings) > MAX_PER_RULE:
        yield f"- and {len(findings) - MAX_PER_RULE} more"


def _scores(result: VerifyResult) -> Iterable[str]:
    yield "| tool | score | tokens |"
    yield "|---|---:|---:|"
    tools = sorted(result.scores.tools, key=lambda one: one.score)
    for one in tools[:MAX_TOOLS]:
        yield f"| {_plain(one.tool.name)} | {one.score} | {one.tool.tokens:,} |"
    if len(tools) > MAX_TOOLS:
        yield f"| and {len(tools) - MAX_TOOLS:,} more | | |"


def _details(summary: str, lines: Iterable[str]) -> list[str]:
    return [f"<details><summary>{_plain(summary)}</summary>", "", *lines, "", "</details>", ""]


def _plain(text: str) -> str:
    """Text from a server on one line, without markup and without mentions of users."""
    text = escape_invisible(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;").replace("@", "@\u200b")
    for mark in "\\`*_[]|":
        text = text.replace(mark, f"\\{mark}")
    return text
