"""Figures from 0 to 100 for each tool and for the server, from what the rules found.

| what was found on a tool | what it leaves of the score |
|---|---|
| an error | 60 % |
| a warning | 90 % |
| a note | 98 % |

The second finding of one rule on the same tool counts half, the third a third, and so on.
The server has the mean of its tools, times what findings about the server as a whole leave.
A server with an error is held to 89, one with a security error to 49, however many other tools it has.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolcharter.verify.quality import Quality, quality_of
from toolcharter.verify.rule import Finding, Severity
from toolcharter.verify.subject import Server, Tool

LEAVES: Mapping[Severity, float] = {"error": 0.60, "warning": 0.90, "note": 0.98}
BEST_WITH_AN_ERROR = 89
BEST_WITH_A_SECURITY_ERROR = 49
GRADES = ((90, "A"), (80, "B"), (70, "C"), (60, "D"), (0, "F"))


@dataclass(frozen=True)
class ToolScore:
    """One tool in figures."""

    tool: Tool
    score: int
    quality: Quality


@dataclass(frozen=True)
class Scores:
    """A server in figures."""

    score: int
    tools: Sequence[ToolScore]

    @property
    def grade(self) -> str:
        return grade_of(self.score)

    @property
    def tokens(self) -> int:
        """What all tools together cost an agent in every request, about."""
        return sum(one.tool.tokens for one in self.tools)

    @property
    def quality(self) -> Mapping[str, float]:
        """The mean of each dimension."""
        names = self.tools[0].quality if self.tools else ()
        return {name: round(sum(one.quality[name] for one in self.tools) / len(self.tools), 1) for name in names}


def grade_of(score: float) -> str:
    return next(letter for least, letter in GRADES if score >= least)


def scores_of(server: Server, findings: Iterable[Finding]) -> Scores:
    """The figures of a server with these findings."""
    by_tool: defaultdict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_tool[finding.tool if finding.tool in server.by_name else None].append(finding)
    tools = [ToolScore(tool, round(100 * left_by(by_tool[tool.name])), quality_of(tool)) for tool in server.tools]
    mean = sum(one.score for one in tools) / len(tools) if tools else 100
    return Scores(min(round(mean * left_by(by_tool[None])), _best(by_tool.values())), tools)


def left_by(findings: Iterable[Finding]) -> float:
    """The share of the score that these findings on one tool leave."""
    left = 1.0
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.rule] += 1
        left *= LEAVES[finding.severity] ** (1 / seen[finding.rule])
    return left


def _best(groups: Iterable[Iterable[Finding]]) -> int:
    errors = [finding.family for group in groups for finding in group if finding.severity == "error"]
    if "security" in errors:
        return BEST_WITH_A_SECURITY_ERROR
    return BEST_WITH_AN_ERROR if errors else 100
