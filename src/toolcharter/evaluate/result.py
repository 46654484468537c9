"""The tool that a selector chose for a case, and whether it is the expected one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcharter.evaluate.cases import Case

NONE = "(none)"
"""Stands for no tool where a name is expected. It is not a valid name of a tool."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The choice for one case. `ranked` has the tools in order, best first, if the selector ranks them."""

    case: Case
    tool: str | None
    ranked: tuple[str, ...] = ()
    score: float | None = None
    arguments: Mapping[str, Any] | None = None

    @property
    def is_correct(self) -> bool:
        """Whether the choice is the expected tool, or none where none is expected."""
        return self.tool == self.case.tool


@dataclass(frozen=True, slots=True)
class SelectorResult:
    """The choices of one selector. `unanswered` has the cases without an answer, with the reason.

    `parts` has the names of the selectors that it combines.
    """

    selector: str
    cases: Sequence[CaseResult]
    threshold: float | None = None
    unanswered: Mapping[str, str] = field(default_factory=dict[str, str])
    parts: tuple[str, ...] = ()


def matched_arguments(result: CaseResult) -> tuple[int, int] | None:
    """How many of the expected arguments are right, and how many are expected. None if there are none to compare."""
    expected = result.case.arguments
    if not expected or not result.is_correct or result.arguments is None:
        return None
    given = result.arguments
    right = sum(name in given and _normalize(given[name]) == _normalize(value) for name, value in expected.items())
    return right, len(expected)


def _normalize(value: Any) -> Any:
    """Text without case, repeated whitespace and a final full stop."""
    return re.sub(r"\s+", " ", value).strip(" .").casefold() if isinstance(value, str) else value
