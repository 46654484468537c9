"""Which rules run, and which findings count: selected and ignored by family, id, beginning of an id, or name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple, get_args

from toolcharter.verify.rule import Family, Finding, Rule

FAMILIES: tuple[str, ...] = get_args(Family)


class UnknownRule(ValueError):
    """No rule has this name. The message has the nearest ones."""


@dataclass(frozen=True)
class RuleSelector:
    """`description`, `DSC`, `DSC001`, `missing-description`, or one of them for some tools: `DSC001:get_*`."""

    text: str
    rules: frozenset[str]
    """The ids of the selected rules."""
    by_name: bool
    """Whether it is the id or the name of one rule. This selects optional rules too."""
    tool: str | None = None

    def matches(self, finding: Finding) -> bool:
        """Whether the finding is selected."""
        tool_matches = self.tool is None or fnmatchcase(finding.tool or "", self.tool)
        return tool_matches and finding.rule in self.rules


class IgnoredFinding(NamedTuple):
    """A finding that does not count, and the reason."""

    finding: Finding
    reason: str


class SortedFindings(NamedTuple):
    """Findings, divided into those that count and those that are ignored."""

    findings: list[Finding]
    ignored: list[IgnoredFinding]
    unused_ignores: list[str]
    """Ignore entries that match no finding."""


@dataclass(frozen=True)
class RuleSelection:
    """The selected rules, or all if none is selected, and the ignored ones with their reasons."""

    select: Sequence[RuleSelector] = ()
    ignore: Sequence[tuple[RuleSelector, str]] = ()

    def rules(self, known: Iterable[Rule]) -> list[Rule]:
        """The rules to run. Ignored rules run too, so that ignored findings can be counted."""
        return [rule for rule in known if self._selects(rule)]

    def _selects(self, rule: Rule) -> bool:
        if not self.select:
            return not rule.optional
        return any(rule.id in one.rules and (one.by_name or not rule.optional) for one in self.select)

    def sort(self, found: Iterable[Finding]) -> SortedFindings:
        """Divide findings into those that count and those that are ignored."""
        findings: list[Finding] = []
        ignored: list[IgnoredFinding] = []
        used: set[str] = set()
        for finding in found:
            if self.select and not any(one.matches(finding) for one in self.select):
                continue
            by = next(((one, reason) for one, reason in self.ignore if one.matches(finding)), None)
            if by is None:
                findings.append(finding)
            else:
                used.add(by[0].text)
                ignored.append(IgnoredFinding(finding, by[1]))
        return SortedFindings(findings, ignored, [one.text for one, _ in self.ignore if one.text not in used])


def parse_selection(select: Iterable[str], ignore: Mapping[str, str], known: Sequence[Rule]) -> RuleSelection:
    """Parse what the command line or the configuration says. Raises UnknownRule."""
    return RuleSelection(
        tuple(parse_selector(text, known) for text in select),
        tuple((parse_selector(text, known), reason) for text, reason in ignore.items()),
    )


def parse_selector(text: str, known: Sequence[Rule]) -> RuleSelector:
    """Parse one selector. Raises UnknownRule."""
    word, colon, tool = text.partition(":")
    by_name = frozenset(rule.id for rule in known if word in (rule.id, rule.name))
    by_group = frozenset(rule.id for rule in known if rule.family == word or (word and rule.id.startswith(word)))
    if not by_name and not by_group and word not in FAMILIES:
        raise UnknownRule(f"Unknown rule {word!r}. {_nearest(word, known)}`toolcharter verify --list` lists all rules.")
    return RuleSelector(text, by_name or by_group, bool(by_name), tool if colon else None)


def _nearest(word: str, known: Sequence[Rule]) -> str:
    names = {rule.name: rule.name for rule in known} | {rule.id.lower(): rule.id for rule in known}
    names |= {family: family for family in FAMILIES}
    near = [names[match] for match in get_close_matches(word.lower(), names, n=3, cutoff=0.6)]
    return f"Did you mean {' or '.join(near)}? " if near else ""
