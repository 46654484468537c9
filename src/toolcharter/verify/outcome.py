"""What came of holding a server to the rules: all that a report shows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_core.app import App
from toolcharter.verify import config
from toolcharter.verify.engine import Step, server_of, verify
from toolcharter.verify.rule import Finding, Rule, Severity
from toolcharter.verify.rules import all_rules
from toolcharter.verify.score import Scores, scores_of
from toolcharter.verify.selection import Ignored, Selection, read_selection
from toolcharter.verify.subject import Server

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the worst to the least."""


@dataclass(frozen=True)
class Outcome:
    """A server, what was found, and what it scores."""

    server: Server
    rules: Sequence[Rule]
    """Those that ran."""
    findings: Sequence[Finding]
    ignored: Sequence[Ignored]
    unused: Sequence[str]
    """What was to be ignored but was not found."""
    scores: Scores
    fails_on: Severity = "warning"
    """The least severity that makes the command fail."""
    file: str | None = None
    """The file that the server was read from, where it was one."""

    @property
    def counts(self) -> dict[Severity, int]:
        """Findings by severity, the worst first."""
        counted = Counter(finding.severity for finding in self.findings)
        return {severity: counted[severity] for severity in SEVERITIES}

    def counts_as_failure(self, finding: Finding) -> bool:
        """Whether this finding makes the command fail."""
        return SEVERITIES.index(finding.severity) <= SEVERITIES.index(self.fails_on)

    @property
    def failures(self) -> list[Finding]:
        """The findings that make the command fail."""
        return [finding for finding in self.findings if self.counts_as_failure(finding)]


def examine(
    server: Server,
    known: Iterable[Rule],
    selection: Selection | None = None,
    *,
    seen: Iterable[Finding] = (),
    fails_on: Severity = "warning",
    file: str | None = None,
    step: Step = lambda _: None,
) -> Outcome:
    """Hold a server to the rules. `seen` is what was found already, by calling it."""
    chosen = selection or Selection()
    rules = chosen.rules(known)
    parted = chosen.sort([*verify(server, rules, step), *seen])
    scores = scores_of(server, parted.findings)
    return Outcome(server, rules, *parted, scores, fails_on, file)


def held_to_the_project(app: App, folder: Path, target: str) -> Outcome:
    """A server of ours, held to what the pyproject.toml of a folder says. Raises BadConfig."""
    known = all_rules()
    file = folder / config.DEFAULT
    written = config.read(file, {app.name, target}, known) if file.is_file() else config.Config()
    selection = read_selection(written.select, written.ignore, known)
    return examine(server_of(app.list_tools(), app=app), known, selection)
