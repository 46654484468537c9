"""Findings in the groups that people read them in."""

from collections import defaultdict
from collections.abc import Sequence

from toolcharter.verify.outcome import SEVERITIES, Outcome
from toolcharter.verify.rule import Finding


def by_tool(findings: Sequence[Finding]) -> dict[str | None, list[Finding]]:
    """In the order of the list; what is about the server as a whole comes under None."""
    groups: defaultdict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.tool].append(finding)
    return dict(groups)


def by_rule(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """The worst first, then those with most findings."""
    groups: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.rule].append(finding)
    return dict(sorted(groups.items(), key=lambda one: (SEVERITIES.index(one[1][0].severity), -len(one[1]), one[0])))


def headline(outcome: Outcome) -> str:
    """The score in one line, as text."""
    scores = outcome.scores
    size = f"{many(len(scores.tools), 'tool')}, about {scores.tokens:,} tokens"
    return f"score {scores.score} of 100 ({scores.grade}), {size}"


def count_line(outcome: Outcome) -> str:
    """`3 findings: 1 error, 2 warnings; 1 ignored`."""
    if not outcome.findings:
        words = f"no findings by {many(len(outcome.rules), 'rule')}"
    else:
        parts = [many(count, severity) for severity, count in outcome.counts.items() if count]
        words = f"{many(len(outcome.findings), 'finding')}: {', '.join(parts)}"
    return f"{words}; {len(outcome.ignored)} ignored" if outcome.ignored else words


def many(count: int, noun: str) -> str:
    """`1 tool`, `2,000 tools`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def told(finding: Finding) -> str:
    """The message, with the clients that break where some do."""
    words = visible(finding.message)
    return f"{words} (breaks {', '.join(finding.clients)})" if finding.clients else words


def visible(text: str) -> str:
    """Text of a server, with what cannot be seen spelt out: a report must not do to its reader what a tool would."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)
