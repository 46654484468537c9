"""`tool`: how a declaration is written beside a function, and the presets that save repeating it."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, Unpack, overload

from mcp_core.declare.checks import spec_problems, value_problems
from mcp_core.declare.collection import DECLARED_TOOLS
from mcp_core.declare.spec import (
    COMPLETE,
    DECLARED,
    DEFAULTS,
    Declaration,
    ToolOptions,
    declaration_of,
    name_of,
    spec_of,
)
from mcp_core.errors import DeclarationError

F = TypeVar("F", bound=Callable[..., Any])


class ToolDecorator:
    """Declares tools: as `@tool(...)`, as one of the four kinds, or as a preset that a server has made.

        @tool(category="query", response_time="fast", idempotent=True, permissions=[...], ...)
        @tool.query(permissions=["notes:read"], tags=["notes"], examples=[...])

        reads = tool.query.preset(permissions=["notes:read"], tags=["notes"])

        @reads(examples=[...])

    A keyword at the declaration wins over that of a preset. A wrong one fails here, at import. Missing ones are named
    when the server starts; a strict server does not start without them.
    The function is returned as it is, and can still be called directly. Declared at the top of a module, it is also in
    the collection that `ToolArguments.get_declared_tools` gives.
    """

    def __init__(self, options: ToolOptions | None = None) -> None:
        self._options: ToolOptions = options or {}

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
    def __call__(self, function: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Declare a tool. `@tool` alone serves the function, but does not vouch for it."""
        chosen = self._options | options

        def declare(target: F) -> F:
            return _declare(target, chosen)

        if function is None:
            return declare
        target = check_function(function)
        return declare(target) if chosen else _mark(target, declaration_of(target) or Declaration())

    def preset(self, **options: Unpack[ToolOptions]) -> "ToolDecorator":
        """A decorator that has these values, and those of this one, for every tool that it declares."""
        return ToolDecorator(self._options | options)

    @property
    def query(self) -> "ToolDecorator":
        """Reads: idempotent, fast, and not cached unless `cache_ttl` is given."""
        return self.preset(category="query", idempotent=True, response_time="fast")

    @property
    def mutation(self) -> "ToolDecorator":
        """Changes something: not idempotent, fast, never cached."""
        return self.preset(category="mutation", idempotent=False, response_time="fast")

    @property
    def analysis(self) -> "ToolDecorator":
        """Works something out: idempotent, of medium speed, and not cached unless `cache_ttl` is given."""
        return self.preset(category="analysis", idempotent=True, response_time="medium")

    @property
    def generation(self) -> "ToolDecorator":
        """Makes something new each time: not idempotent, slow, never cached."""
        return self.preset(category="generation", idempotent=False, response_time="slow")


tool = ToolDecorator()


def _declare(function: F, options: ToolOptions) -> F:
    declared = add_options(function, declaration_of(function), options)
    spec = spec_of(function, declared)
    if problems := spec_problems(spec) if spec.governed else value_problems(spec):
        raise DeclarationError(problems)
    setattr(function, COMPLETE, spec)
    return _mark(function, declared)


def _mark(function: F, declaration: Declaration) -> F:
    setattr(function, DECLARED, declaration)
    # A tool that is made inside a function belongs to its maker; the collection would keep it forever.
    if "<locals>" not in getattr(function, "__qualname__", "<locals>"):
        DECLARED_TOOLS.add(function)
    return function


def check_function(function: Any) -> Any:
    """The function that is decorated. Anything else is refused, such as a name by position."""
    if callable(function):
        return function  # pyright: ignore[reportUnknownVariableType]
    raise DeclarationError([f"{function!r} is not a function; give options by keyword, such as name={function!r}"])


def add_options(
    function: Callable[..., Any],
    declared: Declaration | None,
    options: Mapping[str, Any],
    fields: Iterable[str] = DEFAULTS,
) -> Declaration:
    """A declaration with further options.

    An option that does not exist is refused with the nearest that does, and so is one that was declared otherwise.
    """
    name = name_of(function)
    if problems := [f"{name}: {option}: {_unknown(option, fields)}" for option in options if option not in fields]:
        raise DeclarationError(problems)
    if declared is None:
        return Declaration(**options)
    before = declared.options()
    if problems := [
        f"{name}: {option}: is {value!r} here, but the function declares {before[option]!r}; remove one of them"
        for option, value in options.items()
        if option in before and before[option] != value
    ]:
        raise DeclarationError(problems)
    return replace(declared, **options) if options else declared


def _unknown(option: str, fields: Iterable[str]) -> str:
    nearest = [field for field in fields if option in field] or difflib.get_close_matches(option, fields, cutoff=0.5)
    fix = f"did you mean {nearest[0]}?" if nearest else f"use one of {', '.join(fields)}"
    return f"is not a field of a declaration; {fix}"
