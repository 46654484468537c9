"""Which rules run, and which of their findings count: selected and ignored by family, id, part of an id, or name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple, get_args

from toolcharter.verify.rule import Family, Finding, Rule

FAMILIES: tuple[str, ...] = get_args(Family)


class UnknownRule(ValueError):
    """No rule is called that; the message has the nearest that are."""


@dataclass(frozen=True)
class Selector:
    """`description`, `DSC`, `DSC001`, `missing-description`, or one of them for some tools: `DSC001:get_*`."""

    text: str
    rules: frozenset[str]
    """The ids it means."""
    by_name: bool
    """Whether it names one rule: that brings in a rule that is optional."""
    tool: str | None = None

    def takes(self, finding: Finding) -> bool:
        """Whether the finding is one of those meant."""
        here = self.tool is None or fnmatchcase(finding.tool or "", self.tool)
        return here and finding.rule in self.rules


class Ignored(NamedTuple):
    """A finding that was there, and why it does not count."""

    finding: Finding
    reason: str


class Sorted(NamedTuple):
    """Findings, sorted into those that count and those that do not."""

    findings: list[Finding]
    ignored: list[Ignored]
    unused: list[str]
    """What was to be ignored but never came."""


@dataclass(frozen=True)
class Selection:
    """What was selected, all where nothing was, and what is ignored, with the reason for each."""

    select: Sequence[Selector] = ()
    ignore: Sequence[tuple[Selector, str]] = ()

    def rules(self, known: Iterable[Rule]) -> list[Rule]:
        """The rules to run. Those that are ignored run too, so that what is ignored can be counted."""
        return [rule for rule in known if self._selects(rule)]

    def _selects(self, rule: Rule) -> bool:
        if not self.select:
            return not rule.optional
        return any(rule.id in one.rules and (one.by_name or not rule.optional) for one in self.select)

    def sort(self, found: Iterable[Finding]) -> Sorted:
        """Put findings where they belong."""
        findings: list[Finding] = []
        ignored: list[Ignored] = []
        used: set[str] = set()
        for finding in found:
            if self.select and not any(one.takes(finding) for one in self.select):
                continue
            by = next(((one, reason) for one, reason in self.ignore if one.takes(finding)), None)
            if by is None:
                findings.append(finding)
            else:
                used.add(by[0].text)
                ignored.append(Ignored(finding, by[1]))
        return Sorted(findings, ignored, [one.text for one, _ in self.ignore if one.text not in used])


def read_selection(select: Iterable[str], ignore: Mapping[str, str], known: Sequence[Rule]) -> Selection:
    """Read what was written down. Raises UnknownRule."""
    return Selection(
        tuple(read_selector(text, known) for text in select),
        tuple((read_selector(text, known), reason) for text, reason in ignore.items()),
    )


def read_selector(text: str, known: Sequence[Rule]) -> Selector:
    """Read one selector. Raises UnknownRule."""
    word, colon, tool = text.partition(":")
    by_name = frozenset(rule.id for rule in known if word in (rule.id, rule.name))
    by_group = frozenset(rule.id for rule in known if rule.family == word or (word and rule.id.startswith(word)))
    if not by_name and not by_group and word not in FAMILIES:
        raise UnknownRule(f"No rule {word!r}. {_nearest(word, known)}`toolcharter verify --list` lists all rules.")
    return Selector(text, by_name or by_group, bool(by_name), tool if colon else None)


def _nearest(word: str, known: Sequence[Rule]) -> str:
    names = {rule.name: rule.name for rule in known} | {rule.id.lower(): rule.id for rule in known}
    names |= {family: family for family in FAMILIES}
    near = [names[match] for match in get_close_matches(word.lower(), names, n=3, cutoff=0.6)]
    return f"The nearest: {', '.join(near)}. " if near else ""
