"""One page that works offline, with charts: scores, the cost of each tool, and tools that are nearly the same."""

from collections.abc import Iterable, Sequence

from toolcharter.html_report import Bar, Markup, bar_chart, code, details, figures, heat_map, page, table, text
from toolcharter.verify.outcome import Outcome
from toolcharter.verify.quality import DIMENSIONS, MOST
from toolcharter.verify.report.groups import by_rule, count_line, many, told, visible
from toolcharter.verify.rule import Finding
from toolcharter.verify.score import ToolScore
from toolcharter.verify.similar import Pair, near_duplicates

BARS = 40
PER_RULE = 200
PAIRS = 100
FEW = 5
"""So many findings are shown without being asked for."""
MAP = 16
"""So many tools fit into a heat map that can be read."""

Section = tuple[str, list[str]]


def render(outcome: Outcome) -> str:
    """The whole page."""
    return page(
        f"Verification of {outcome.server.name or 'a server'}", _sections(outcome), count_line(outcome).capitalize()
    )


def _sections(outcome: Outcome) -> Iterable[Section]:
    yield "", [_figures(outcome)]
    yield "Findings", _findings(outcome)
    yield "Scores", _scores(outcome.scores.tools)
    yield "Quality of the definitions", _quality(outcome)
    yield "Cost", _cost(outcome.scores.tools)
    yield "Nearly the same", _pairs(near_duplicates(outcome.server))
    if outcome.ignored or outcome.unused:
        yield "Ignored", _ignored(outcome)


def _figures(outcome: Outcome) -> Markup:
    scores = outcome.scores
    kinds = [many(count, severity) for severity, count in outcome.counts.items() if count]
    worst = min(scores.tools, key=lambda one: one.score, default=None)
    return figures([
        ("Score", f"{scores.score}", f"of 100, grade {scores.grade}"),
("Findings", f"{len(outcome.findings):,}", ", ".join(kinds)),
        ("Tools", f"{len(scores.tools):,}", f"the lowest scores {worst.score}" if worst else ""),
        ("Tokens", f"{scores.tokens:,}", "about, in every request of an agent"),
    ])  # fmt: skip


def _findings(outcome: Outcome) -> list[str]:
    groups = by_rule(outcome.findings)
    if not groups:
        return [text(f"{many(len(outcome.rules), 'rule')} ran, and none has anything to say.", "good")]
    why = {rule.id: f"{rule.what} {rule.why}" for rule in outcome.rules}
    return [_rule(findings, why.get(rule, "")) for rule, findings in groups.items()]


def _rule(findings: Sequence[Finding], why: str) -> Markup:
    first = findings[0]
    rows = [
        (code(visible(one.tool or "the server")), told(one), code(one.path) if one.path else "")
        for one in findings[:PER_RULE]
    ]
    parts: list[str] = [why, f"To mend it: {first.fix}", table(["tool", "what", "where"], rows)]
    if len(findings) > PER_RULE:
        parts.append(f"and {len(findings) - PER_RULE:,} more")
    return details(
        f"{first.severity}: {first.rule} {first.name} ({len(findings):,})", parts, is_open=len(findings) <= FEW
    )


def _scores(tools: Sequence[ToolScore]) -> list[str]:
    lowest = sorted(tools, key=lambda one: one.score)
    bars = [Bar(visible(one.tool.name), one.score) for one in lowest[:BARS]]
    rows = [
        (code(visible(one.tool.name)), one.score, *(one.quality[name] for name in MOST), one.tool.tokens)
        for one in tools
    ]
    return [
        *([f"The {BARS} lowest of {len(tools):,}."] if len(tools) > BARS else []),
        bar_chart(bars, "Score of each tool, the lowest first", 100),
        details("All tools in figures", [table(["tool", "score", *MOST, "tokens"], rows)]),
    ]


def _quality(outcome: Outcome) -> list[str]:
    means = outcome.scores.quality
    bars = [Bar(name, 100 * mean / MOST[name], f"{mean:g} of {MOST[name]:g}") for name, mean in means.items()]
    rows = [(name, check.points, check.what) for name, checks in DIMENSIONS.items() for check in checks]
    return [
        "The mean of all tools, from facts of their definitions: what is there, not how well it is said.",
        bar_chart(bars, "Points in each dimension, as a share of the most", 100),
        details("What gives points", [table(["dimension", "points", "for"], rows)]),
    ]


def _cost(tools: Sequence[ToolScore]) -> list[str]:
    dearest = sorted(tools, key=lambda one: -one.tool.tokens)[:BARS]
    bars = [Bar(visible(one.tool.name), one.tool.tokens, f"{one.tool.tokens:,}") for one in dearest]
    few = f"; the {BARS} dearest of {len(tools):,}" if len(tools) > BARS else ""
    return [
        f"Tokens that a tool costs an agent in every request, about{few}.",
        bar_chart(bars, "Tokens of each tool, the dearest first"),
    ]


def _pairs(pairs: Sequence[Pair]) -> list[str]:
    if not pairs:
        return [text("No two descriptions are nearly the same.", "good")]
    shown = pairs[:PAIRS]
    rows = [(code(visible(pair.a)), code(visible(pair.b)), f"{pair.similarity:.0%}") for pair in shown]
    parts: list[str] = ["How much two descriptions have in common. An agent confuses tools that read alike."]
    names = list(dict.fromkeys(name for pair in shown for name in (pair.a, pair.b)))
    if len(names) <= MAP:
        parts.append(_map(names, shown))
    parts.append(table(["tool", "and", "in common"], rows))
    return parts if len(pairs) <= PAIRS else [*parts, f"and {len(pairs) - PAIRS:,} more pairs"]


def _map(names: Sequence[str], pairs: Sequence[Pair]) -> Markup:
    shares = {frozenset(pair[:2]): round(100 * pair.similarity) for pair in pairs}
    values = [[shares.get(frozenset((one, other)), 0) for other in names] for one in names]
    return heat_map(names, names, values, "In common, in per cent")


def _ignored(outcome: Outcome) -> list[str]:
    rows = [
        (one.finding.rule, code(visible(one.finding.tool or "the server")), told(one.finding), one.reason)
        for one in outcome.ignored
    ]
    parts: list[str] = [table(["rule", "tool", "what", "reason"], rows)] if rows else []
    return [*parts, *(text(f"Ignored without need: {one}", "note") for one in outcome.unused)]
