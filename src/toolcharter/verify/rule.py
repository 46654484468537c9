"""A rule: what it finds, why that matters, how to fix it, and an example of both."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import Server, Tool

Family = Literal[
    "schema", "portability", "naming", "description", "parameters", "annotations", "cost", "security", "charter", "live"
]
Severity = Literal["error", "warning", "note"]
"""An error breaks a client or deceives an agent, a warning makes agents fail, a note could be better."""

Definition = Mapping[str, Any]
"""A tool as a server lists it, or a part of one. The rest comes from a tool without findings."""


class Problem(NamedTuple):
    """One problem that a rule found."""

    message: str
    """The problem, with the value in quotes."""
    path: str = ""
    """The place in the definition of the tool, such as `inputSchema.properties.query.description`."""
    tool: str | None = None
    """The tool; filled in for rules that check one tool."""
    clients: Sequence[str] = ()
    """The clients that fail, if only some do."""


CheckTool = Callable[[Tool, Server], Iterable[Problem]]
CheckServer = Callable[[Server], Iterable[Problem]]
CheckLive = Callable[[Server, Observations], Iterable[Problem]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule. It has exactly one of `check`, `check_server` and `check_live`."""

    id: str
    """Three letters for the family and three digits, such as DSC001."""
    name: str
    """The name in words, such as missing-description. The module has the same name."""
    family: Family
    severity: Severity
    what: str
    why: str
    fix: str
    bad: Sequence[Definition] = ()
    """The tools of a server in which this rule finds a problem. A live rule has no such example."""
    good: Sequence[Definition] = ()
    """The same tools, fixed: this rule finds nothing."""
    check: CheckTool | None = None
    """Checks one tool at a time."""
    check_server: CheckServer | None = None
    """Checks all tools of a server together."""
    check_live: CheckLive | None = None
    """Checks what calls of the tools have shown. Runs only with --live."""
    checks_prompts: bool = False
    """Whether `check` is also for prompts, in the form of tools."""
    supersedes: Sequence[str] = ()
    """Rules whose findings have the same cause. They are left out where this rule has a finding on the same place."""
    optional: bool = False
    """Whether the rule runs only if it is selected by name: a matter of taste, or of one client."""


class Finding(NamedTuple):
    """A problem together with its rule, as reports show it."""

    rule: str
    name: str
    family: Family
    severity: Severity
    tool: str | None
    path: str
    message: str
    fix: str
    clients: tuple[str, ...] = ()
