"""What a selector chose for a case, and whether that was right."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcharter.evaluate.cases import Case

NONE = "(none)"
"""How no tool is written where a name is expected. No tool can be called that."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case and its answer. `ranked` has the tools in order, best first, where the selector ranks."""

    case: Case
    tool: str | None
    ranked: tuple[str, ...] = ()
    score: float | None = None
    arguments: Mapping[str, Any] | None = None

    @property
    def is_right(self) -> bool:
        """The expected tool, or none where none serves."""
        return self.tool == self.case.tool


@dataclass(frozen=True, slots=True)
class Result:
    """The answers of one selector. `unanswered` are cases that it could not be asked about, with the reason."""

    selector: str
    outcomes: Sequence[Outcome]
    threshold: float | None = None
    unanswered: Mapping[str, str] = field(default_factory=dict[str, str])


def matched_arguments(outcome: Outcome) -> tuple[int, int] | None:
    """How many of the expected arguments were given, and how many there are. None where there is nothing to compare."""
    expected = outcome.case.arguments
    if not expected or not outcome.is_right or outcome.arguments is None:
        return None
    given = outcome.arguments
    right = sum(name in given and _plain(given[name]) == _plain(value) for name, value in expected.items())
    return right, len(expected)


def _plain(value: Any) -> Any:
    """Text without regard to case, spacing and a full stop at the end."""
    return re.sub(r"\s+", " ", value).strip(" .").casefold() if isinstance(value, str) else value
