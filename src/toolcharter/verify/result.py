"""The result of verifying a server: everything that a report shows."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from toolcharter.verify.engine import OnStep, run_rules
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Finding, Rule, Severity
from toolcharter.verify.score import Scores, score_server
from toolcharter.verify.selection import IgnoredFinding, RuleSelection

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the most to the least severe."""


class LiveResult(NamedTuple):
    """The results of calls of the tools."""

    findings: Sequence[Finding]
    judged: Collection[str]
    """The tools that were called and can be judged."""
    notes: Sequence[str]
    """The tools that were called, and those that could not be judged, in sentences."""


@dataclass(frozen=True)
class VerifyResult:
    """A server, the findings, and the scores."""

    server: Server
    rules: Sequence[Rule]
    """The rules that ran."""
    findings: Sequence[Finding]
    ignored: Sequence[IgnoredFinding]
    unused_ignores: Sequence[str]
    """Ignore entries that match no finding."""
    scores: Scores
    fails_on: Severity = "warning"
    """The lowest severity that makes the command fail."""
    file: str | None = None
    """The file that the server was read from, if any."""
    notes: Sequence[str] = ()
    """Notes on the tools that were called or could not be judged, and on what they lack to be governed."""

    @property
    def counts(self) -> dict[Severity, int]:
        """The number of findings of each severity, the most severe first."""
        counted = Counter(finding.severity for finding in self.findings)
        return {severity: counted[severity] for severity in SEVERITIES}

    @property
    def failures(self) -> list[Finding]:
        """The findings that make the command fail."""
        lowest = SEVERITIES.index(self.fails_on)
        return [finding for finding in self.findings if SEVERITIES.index(finding.severity) <= lowest]


def verify_server(
    server: Server,
    known: Iterable[Rule],
    selection: RuleSelection | None = None,
    *,
    live: LiveResult | None = None,
    fails_on: Severity = "warning",
    file: str | None = None,
    on_step: OnStep = lambda _: None,
) -> VerifyResult:
    """Run the selected rules on a server. `live` has what calls have shown that were made before."""
    chosen = selection or RuleSelection()
    rules = chosen.rules(known)
    sorted_findings = chosen.sort([*run_rules(server, rules, on_step), *(live.findings if live else ())])
    # Where only live rules run, nothing is known of a tool that was not called.
    is_only_live = live is not None and all(rule.check_live is not None for rule in rules)
    scores = score_server(server, sorted_findings.findings, live.judged if live and is_only_live else None)
    return VerifyResult(server, rules, *sorted_findings, scores, fails_on, file, _notes(server, live))


def _notes(server: Server, live: LiveResult | None) -> Sequence[str]:
    """Sentences beside the findings: what was called, and the step of governance of our own tools."""
    notes, specs = live.notes if live else (), [tool.spec for tool in server.tools if tool.spec is not None]
    if not specs:
        return notes
    from mcp_core.declare.steps import steps_line  # noqa: PLC0415 - 90 ms, loaded with a server of ours

    steps = steps_line(specs)
    return (*notes, steps) if steps else notes
