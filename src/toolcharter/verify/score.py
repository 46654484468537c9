"""Scores from 0 to 100 for each tool and for the server, from the findings.

| finding on a tool | what remains of the score |
|---|---|
| an error | 60 % |
| a warning | 90 % |
| a note | 98 % |

The second finding of one rule on the same tool counts half, the third a third, and so on.
The score of the server is the mean of its tools, reduced by findings about the server as a whole.
A server with an error has at most 89, one with a security error at most 49, however many other tools it has.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Finding, Severity

REMAINING_SHARES: Mapping[Severity, float] = {"error": 0.60, "warning": 0.90, "note": 0.98}
MAX_WITH_ERROR = 89
MAX_WITH_SECURITY_ERROR = 49
GRADES = ((90, "A"), (80, "B"), (70, "C"), (60, "D"), (0, "F"))


@dataclass(frozen=True)
class ToolScore:
    tool: Tool
    score: int


@dataclass(frozen=True)
class Scores:
    """The scores of a server."""

    score: int | None
    """None if nothing was judged."""
    tools: Sequence[ToolScore]

    @property
    def grade(self) -> str | None:
        return None if self.score is None else grade_of(self.score)

    @property
    def tokens(self) -> int:
        """About how many tokens all tools together cost in every request."""
        return sum(one.tool.tokens for one in self.tools)


def grade_of(score: float) -> str:
    return next(letter for least, letter in GRADES if score >= least)


def score_server(server: Server, findings: Iterable[Finding], judged: Collection[str] | None = None) -> Scores:
    """Score a server with these findings. `judged` are the tools that have a score; default: all."""
    by_tool: defaultdict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_tool[finding.tool if finding.tool in server.by_name else None].append(finding)
    tools = [
        ToolScore(tool, round(100 * remaining_share(by_tool[tool.name])))
        for tool in server.tools
        if judged is None or tool.name in judged
    ]
    if server.tools and not tools:
        return Scores(None, [])
    mean = sum(one.score for one in tools) / len(tools) if tools else 100
    return Scores(min(round(mean * remaining_share(by_tool[None])), _maximum(by_tool.values())), tools)


def remaining_share(findings: Iterable[Finding]) -> float:
    """The share of the score that remains after these findings on one tool."""
    share = 1.0
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.rule] += 1
        share *= REMAINING_SHARES[finding.severity] ** (1 / counts[finding.rule])
    return share


def _maximum(groups: Iterable[Iterable[Finding]]) -> int:
    errors = [finding.family for group in groups for finding in group if finding.severity == "error"]
    if "security" in errors:
        return MAX_WITH_SECURITY_ERROR
    return MAX_WITH_ERROR if errors else 100
