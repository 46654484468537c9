"""Markdown, for a comment on a change or the summary of a CI job. Kept short: a comment has a limit."""

from collections.abc import Iterable

from toolcharter.verify.outcome import Outcome
from toolcharter.verify.quality import MOST
from toolcharter.verify.report.groups import by_rule, count_line, headline, told, visible
from toolcharter.verify.rule import Finding

PER_RULE = 10
WORST_TOOLS = 20


def render(outcome: Outcome) -> str:
    """A heading, a table of rules, what each found, and the tools with the lowest scores."""
    name = outcome.server.name or "server"
    lines = [f"## {_plain(name)}: {headline(outcome)}", "", f"{count_line(outcome).capitalize()}.", ""]
    groups = by_rule(outcome.findings)
    if groups:
        lines += ["| | rule | findings | how to mend it |", "|---|---|---:|---|"]
        lines += [
            f"| {f[0].severity} | {rule} {f[0].name} | {len(f)} | {_plain(f[0].fix)} |" for rule, f in groups.items()
        ]
        lines.append("")
    for rule, findings in groups.items():
        lines += _details(f"{rule} {findings[0].name}: {len(findings)}", _lines(findings))
    lines += _details("Scores", _scores(outcome))
    if outcome.ignored:
        reasons = dict.fromkeys(f"- {one.finding.rule}: {_plain(one.reason)}" for one in outcome.ignored)
        lines += _details(f"Ignored: {len(outcome.ignored)}", reasons)
    if outcome.unused:
        lines += [f"Ignored without need: {', '.join(f'`{text}`' for text in outcome.unused)}.", ""]
    return "\n".join(lines)


def _lines(findings: list[Finding]) -> Iterable[str]:
    for finding in findings[:PER_RULE]:
        yield f"- **{_plain(finding.tool or 'the server')}**: {_plain(told(finding))}"
    if len(findings) > PER_RULE:
        yield f"- and {len(findings) - PER_RULE} more"


def _scores(outcome: Outcome) -> Iterable[str]:
    yield "| " + " | ".join(f"{name} (of {most:g})" for name, most in MOST.items()) + " |"
    yield "|" + "---:|" * len(MOST)
    yield "| " + " | ".join(f"{outcome.scores.quality.get(name, 0):g}" for name in MOST) + " |"
    yield ""
    yield "| tool | score | tokens |"
    yield "|---|---:|---:|"
    tools = sorted(outcome.scores.tools, key=lambda one: one.score)
    for one in tools[:WORST_TOOLS]:
        yield f"| {_plain(one.tool.name)} | {one.score} | {one.tool.tokens:,} |"
    if len(tools) > WORST_TOOLS:
        yield f"| and {len(tools) - WORST_TOOLS:,} more | | |"


def _details(summary: str, lines: Iterable[str]) -> list[str]:
    return [f"<details><summary>{_plain(summary)}</summary>", "", *lines, "", "</details>", ""]


def _plain(text: str) -> str:
    """Text of a server, made harmless: one line, no markup, no mention of anybody."""
    text = visible(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;").replace("@", "@\u200b")
    for mark in "\\`*_[]|":
        text = text.replace(mark, f"\\{mark}")
    return text
