"""The report as one HTML page that works offline, with charts of scores, token costs and similar tools."""

from collections.abc import Iterable, Sequence

from mcp_core.foreign.terminal import escape_invisible
from mcp_core.text.plurals import count
from toolcharter.output.html_report import (
    ChartBar,
    bar_chart,
    code,
    details,
    figures,
    heat_map,
    page,
    severity,
    table,
    text,
)
from toolcharter.output.markup import Html, join
from toolcharter.verify.report.groups import by_rule, count_line, message_of
from toolcharter.verify.result import VerifyResult
from toolcharter.verify.rule import Finding
from toolcharter.verify.score import ToolScore
from toolcharter.verify.similar import Pair, near_duplicates

MAX_BARS = 40
MAX_PER_RULE = 200
MAX_PAIRS = 100
MAX_UNFOLDED = 5
"""Up to this many findings of a rule are shown unfolded."""
MAX_HEAT_MAP = 16
"""Up to this many tools, a heat map can be read."""

Section = tuple[str, list[str]]


def render(result: VerifyResult) -> str:
    """The whole page."""
    return page(
        f"Verification of {result.server.name or 'a server'}", _sections(result), count_line(result).capitalize()
    )


def _sections(result: VerifyResult) -> Iterable[Section]:
    yield "", [_figures(result), *(text(escape_invisible(note)) for note in result.notes)]
    yield "Findings", _findings(result)
    yield "Scores", _scores(result.scores.tools)
    yield "Cost", _cost(result.scores.tools)
    yield "Similar tools", _pairs(near_duplicates(result.server))
    if result.ignored or result.unused_ignores:
        yield "Ignored", _ignored(result)


def _figures(result: VerifyResult) -> Html:
    scores = result.scores
    kinds = [count(number, severity) for severity, number in result.counts.items() if number]
    score = ("Score", f"{scores.score}", f"of 100, grade {scores.grade}") if scores.tools else ("Score", "none", "")
    worst = min(scores.tools, key=lambda one: one.score, default=None)
    return figures([
        score,
("Findings", f"{len(result.findings):,}", ", ".join(kinds)),
        ("Tools", f"{len(scores.tools):,}", f"lowest score {worst.score}" if worst else ""),
        ("Tokens", f"{scores.tokens:,}", "about, in every request"),
    ])  # fmt: skip


def _findings(result: VerifyResult) -> list[str]:
    groups = by_rule(result.findings)
    if not groups:
        return [text(f"{count(len(result.rules), 'rule')} ran without findings.", "good")]
    why = {rule.id: f"{rule.what} {rule.why}" for rule in result.rules}
    return [_rule(findings, why.get(rule, "")) for rule, findings in groups.items()]


def _rule(findings: Sequence[Finding], why: str) -> Html:
    first = findings[0]
    rows = [
        (
            code(escape_invisible(one.tool or "the server")),
            message_of(one),
            code(escape_invisible(one.path)) if one.path else "",
        )
        for one in findings[:MAX_PER_RULE]
    ]
    parts: list[str] = [why, f"Fix: {first.fix}", table(["tool", "problem", "place"], rows)]
    if len(findings) > MAX_PER_RULE:
        parts.append(f"and {len(findings) - MAX_PER_RULE:,} more")
    summary = join(severity(first.severity), f" {first.rule} {first.name} ({len(findings):,})")
    return details(summary, parts, is_open=len(findings) <= MAX_UNFOLDED)


def _scores(tools: Sequence[ToolScore]) -> list[str]:
    lowest = sorted(tools, key=lambda one: one.score)
    bars = [ChartBar(escape_invisible(one.tool.name), one.score) for one in lowest[:MAX_BARS]]
    rows = [(code(escape_invisible(one.tool.name)), one.score, one.tool.tokens) for one in tools]
    return [
        *([f"The {MAX_BARS} lowest of {len(tools):,}."] if len(tools) > MAX_BARS else []),
        bar_chart(bars, "Score of each tool, the lowest first", 100),
        details("All tools as a table", [table(["tool", "score", "tokens"], rows)]),
    ]


def _cost(tools: Sequence[ToolScore]) -> list[str]:
    most_expensive = sorted(tools, key=lambda one: -one.tool.tokens)[:MAX_BARS]
    bars = [
        ChartBar(escape_invisible(one.tool.name), one.tool.tokens, f"{one.tool.tokens:,}") for one in most_expensive
    ]
    cut = f" The {MAX_BARS} most expensive of {len(tools):,}." if len(tools) > MAX_BARS else ""
    return [
        f"About how many tokens each tool costs in every request.{cut}",
        bar_chart(bars, "Tokens of each tool, the most expensive first"),
    ]


def _pairs(pairs: Sequence[Pair]) -> list[str]:
    if not pairs:
        return [text("No two descriptions are similar.", "good")]
    listed = pairs[:MAX_PAIRS]
    rows = [
        (code(escape_invisible(pair.a)), code(escape_invisible(pair.b)), f"{pair.similarity:.0%}") for pair in listed
    ]
    parts: list[str] = ["How much two descriptions have in common. Agents confuse tools with similar descriptions."]
    names = list(dict.fromkeys(name for pair in listed for name in (pair.a, pair.b)))
    if len(names) <= MAX_HEAT_MAP:
        parts.append(_map(names, listed))
    parts.append(table(["tool", "and", "in common"], rows))
    return parts if len(pairs) <= MAX_PAIRS else [*parts, f"and {len(pairs) - MAX_PAIRS:,} more pairs"]


def _map(names: Sequence[str], pairs: Sequence[Pair]) -> Html:
    shares = {frozenset(pair[:2]): round(100 * pair.similarity) for pair in pairs}
    values = [[shares.get(frozenset((one, other)), 0) for other in names] for one in names]
    return heat_map(names, names, values, "In common, in per cent")


def _ignored(result: VerifyResult) -> list[str]:
    rows = [
        (
            one.finding.rule,
            code(escape_invisible(one.finding.tool or "the server")),
            message_of(one.finding),
            one.reason,
        )
        for one in result.ignored
    ]
    parts: list[str] = [table(["rule", "tool", "problem", "reason"], rows)] if rows else []
    return [*parts, *(text(f"Not needed, can be removed: ignore {one}", "note") for one in result.unused_ignores)]
