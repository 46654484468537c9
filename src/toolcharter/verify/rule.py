"""A rule: what it looks for, why it matters, how to mend it, and an example of both."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from toolcharter.verify.observed import Observed
from toolcharter.verify.subject import Server, Tool

Family = Literal[
    "schema", "portability", "naming", "description", "parameters", "annotations", "cost", "security", "charter", "live"
]
Severity = Literal["error", "warning", "note"]
"""Breaks a client or deceives an agent; makes agents go wrong; could be better."""

Definition = Mapping[str, Any]
"""A tool as a server lists it, or a part of one; rules fill in the rest."""


class Found(NamedTuple):
    """One place that a rule does not like."""

    message: str
    """What is wrong here, quoting it."""
    path: str = ""
    """Where in the tool's definition, such as `inputSchema.properties.query.description`."""
    tool: str | None = None
    """Which tool; filled in for rules that look at one."""
    clients: Sequence[str] = ()
    """Which clients break, where it is a matter of clients."""


CheckTool = Callable[[Tool, Server], Iterable[Found]]
CheckServer = Callable[[Server], Iterable[Found]]
CheckLive = Callable[[Server, Observed], Iterable[Found]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule of the charter. Exactly one of `check`, `check_server` and `check_live` is given."""

    id: str
    """Three letters for the family and three digits, such as DSC001."""
    name: str
    """In words, such as missing-description."""
    family: Family
    severity: Severity
    what: str
    why: str
    fix: str
    bad: Sequence[Definition] = ()
    """A server's tools, of which this rule finds something to say. How a server behaves has no such example."""
    good: Sequence[Definition] = ()
    """The same, mended: this rule has nothing to say."""
    check: CheckTool | None = None
    check_server: CheckServer | None = None
    check_live: CheckLive | None = None
    """Looks at what calling a server's tools has shown; only where its user asks for that."""
    optional: bool = False
    """Whether it runs only when it is selected by name: a matter of taste, or of one client."""


class Finding(NamedTuple):
    """What a rule found, ready to be shown."""

    rule: str
    name: str
    family: Family
    severity: Severity
    tool: str | None
    path: str
    message: str
    fix: str
    clients: tuple[str, ...] = ()
