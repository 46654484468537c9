"""The steps of governance: which one a tool is on, and what is missing for the next.

plain       a function: its arguments are validated; errors, deadline, logs and metrics are those of every tool
described   also a description of 50 characters, a type and a description of each argument, and a return type
declared    also its effect: `category`, `read_only` or `cache_ttl`; clients know what it changes
governed    also permissions, response time, idempotence, examples and tags: all that `App(strict=True)` asks for

Each field works by itself, whatever the step. A tool is on the last step that it has completely, with all before it.
"""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from mcp_core.declare.checks import MIN_DESCRIPTION_LENGTH, REQUIRED, spec_problems
from mcp_core.declare.schema import undescribed
from mcp_core.declare.spec import UNSET, ToolSpec
from mcp_core.text.plurals import count, verb

Step = Literal["plain", "described", "declared", "governed"]
STEPS: Sequence[Step] = get_args(Step)

MAX_NAMED = 3
"""How many tools, and how many missing parts of each, one line names."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The step that a tool is on, and what is missing for the next."""

    tool: str
    step: Step
    missing: Sequence[str] = ()

    def __str__(self) -> str:
        if not self.missing:
            return f"{self.tool} is {self.step}"
        following = STEPS[STEPS.index(self.step) + 1]
        return f"{self.tool} is {self.step}; to be {following} it lacks {_some(self.missing)}"


def standing_of(spec: ToolSpec) -> Standing:
    """Find the step of a tool of ours."""
    required = [name for name in REQUIRED if getattr(spec.declaration, name) is UNSET] or spec_problems(spec)
    if not required:
        return Standing(spec.name, "governed")  # as a strict server asks; a return type is for the others
    return _standing(
        spec.name,
        [*_undescribed(spec.description, spec.input_schema), *_untyped(spec)],
        [] if spec.has_known_effect else ["category or read_only"],
        required,
    )


def steps_line(specs: Iterable[ToolSpec]) -> str | None:
    """The missing parts of the tools of a server in one line; None if all of them are governed."""
    every = [standing_of(spec) for spec in specs if spec.listed is None]
    open_ones = [one for one in every if one.step != "governed"]
    if not open_ones:
        return None
    shown = ". ".join(f"{one}" for one in open_ones[:MAX_NAMED])
    more = f". And {len(open_ones) - MAX_NAMED} more" if len(open_ones) > MAX_NAMED else ""
    are = verb(len(open_ones), "is", "are")
    return f"{len(open_ones)} of {count(len(every), 'tool')} {are} not governed: {shown}{more}."


def _standing(tool: str, *missing: Sequence[str]) -> Standing:
    """The first step for which something is missing is the next one."""
    for step, parts in zip(STEPS, missing, strict=False):
        if parts:
            return Standing(tool, step, parts)
    return Standing(tool, "governed")


def _undescribed(description: str, schema: Mapping[str, Any]) -> list[str]:
    names = list(undescribed(dict(schema)))
    missing = [f"a description of {MIN_DESCRIPTION_LENGTH} characters"]
    missing = [] if len(description.strip()) >= MIN_DESCRIPTION_LENGTH else missing
    return [*missing, f"a description of {_some(names)}"] if names else missing


def _untyped(spec: ToolSpec) -> list[str]:
    """Parameters without a type, and the type of what is returned."""
    signature = inspect.signature(spec.handler)
    names = [name for name, one in signature.parameters.items() if one.annotation is one.empty]
    missing = [f"a type of {_some(names)}"] if names else []
    return missing if signature.return_annotation is not signature.empty else [*missing, "a return type"]


def _some(parts: Sequence[str]) -> str:
    more = len(parts) - MAX_NAMED
    return ", ".join(parts[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
