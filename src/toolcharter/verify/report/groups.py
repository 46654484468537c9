"""Findings by tool and by rule, and the sentences that several formats share."""

from collections import defaultdict
from collections.abc import Sequence

from mcp_core.foreign.terminal import escape_invisible
from mcp_core.text.plurals import count
from toolcharter.verify.result import SEVERITIES, VerifyResult
from toolcharter.verify.rule import Finding


def by_tool(findings: Sequence[Finding]) -> dict[str | None, list[Finding]]:
    """Findings by tool, in the order of the list. Findings about the server as a whole are under None."""
    groups: defaultdict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.tool].append(finding)
    return dict(groups)


def by_rule(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Findings by rule, the most severe first, then those with the most findings."""
    groups: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.rule].append(finding)
    return dict(sorted(groups.items(), key=lambda one: (SEVERITIES.index(one[1][0].severity), -len(one[1]), one[0])))


def headline(result: VerifyResult) -> str:
    """`score 87 of 100 (B), 12 tools, about 3,400 tokens`."""
    scores = result.scores
    tokens = sum(tool.tokens for tool in result.server.tools)
    size = f"{count(len(result.server.tools), 'tool')}, about {tokens:,} tokens"
    score = "no score" if scores.score is None else f"score {scores.score} of 100 ({scores.grade})"
    return f"{score}, {size}"


def count_line(result: VerifyResult) -> str:
    """`3 findings: 1 error, 2 warnings; 1 ignored`."""
    if not result.findings:
        line = f"no findings by {count(len(result.rules), 'rule')}"
    else:
        parts = [count(number, severity) for severity, number in result.counts.items() if number]
        line = f"{count(len(result.findings), 'finding')}: {', '.join(parts)}"
    return f"{line}; {len(result.ignored)} ignored" if result.ignored else line


def message_of(finding: Finding) -> str:
    """The message, with the clients that fail if only some do."""
    text = escape_invisible(finding.message)
    return f"{text} (breaks {', '.join(finding.clients)})" if finding.clients else text


def line_of(finding: Finding) -> str:
    """The tool and the message on one line."""
    return f"{finding.tool or 'the server'}: {message_of(finding)}"
