"""Completion: values that a client offers for an argument of a prompt or a resource template while it is typed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_core.declare.spec import Declaration, ToolSpec, spec_of
from mcp_core.errors import DeclarationError

MAX_VALUES = 100
"""Of one completion, as the protocol allows."""
MAX_FOUND = 10_000
"""Values of a function that are looked at."""
MAX_VALUE_LENGTH = 1000
CACHE_SECONDS = 5.0
"""How long the values that a function gave are used again: a client asks with every key."""

Complete = Sequence[str] | Callable[..., Any]
"""The values, or a function that gives them.

The function may take `value`, what the person has typed; `arguments`, the other arguments so far; a `ToolContext`, and
what the app provides. Values that it gives for a `value` are taken as they are; others are narrowed to what was typed.
"""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a prompt, in the annotation of the parameter: `Annotated[str, Argument(complete=names)]`."""

    description: str | None = None
    complete: Complete | None = None


@dataclass(frozen=True, slots=True)
class Completer:
    """The values of one argument: fixed, or those of a function as the pipeline's steps know it."""

    values: Sequence[str] = ()
    spec: ToolSpec | None = None

    @property
    def narrows(self) -> bool:
        """Whether the function itself narrows the values to what was typed."""
        return self.spec is not None and "value" in self.spec.input_schema["properties"]


def completer_of(place: str, complete: Complete, permissions: Sequence[str]) -> Completer:
    """The completer of an argument. `permissions` are those of what the argument belongs to."""
    if not callable(complete):
        return Completer(tuple(complete))
    declared = Declaration(
        name=f"completion of {place}",
        permissions=permissions,
        category="query",
        response_time="fast",
        cache_ttl=CACHE_SECONDS,
    )
    spec = spec_of(complete, declared)
    if others := spec.input_schema["properties"].keys() - {"value", "arguments"}:
        raise DeclarationError([f"{place}: complete: takes {', '.join(others)}; it may take value and arguments"])
    return Completer(spec=spec)


def narrowed(values: Iterable[str], typed: str) -> list[str]:
    """The values that begin with what was typed, then those that contain it."""
    word = typed.casefold()
    found = [value for value in values if word in value.casefold()]
    return sorted(found, key=lambda value: not value.casefold().startswith(word))


def wire_completion(values: Sequence[str]) -> Mapping[str, Any]:
    """The completion as the protocol writes it."""
    return {"values": list(values[:MAX_VALUES]), "total": len(values), "hasMore": len(values) > MAX_VALUES}
