"""`ToolRegistry`: the tools of one server, under the names that agents see."""

import difflib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from types import ModuleType
from typing import Any

from mcp_core.declare.checks import spec_problems, value_problems
from mcp_core.declare.naming import Naming, ToolMentions
from mcp_core.declare.spec import Category, ToolSpec, declaration_of, name_of, spec_of
from mcp_core.errors import DeclarationError, UnknownTool


class ToolRegistry:
    """The tools in the order of their registration. Each server has its own registry."""

    def __init__(self, naming: Naming | None = None, *, strict: bool = False) -> None:
        self.naming = naming or Naming()
        self.strict = strict
        """Whether a tool whose declaration is not full is refused."""
        self._by_name: dict[str, ToolSpec] = {}
        self._by_final: dict[str, ToolSpec] = {}
        self._mentions: ToolMentions | None = None
        self.mounted_names: dict[str, str] = {}
        """From the names that mounted tools have in their own app, in whose texts they stand, to those here."""

    def register(self, tool: ToolSpec | Callable[..., Any]) -> ToolSpec:
        """Add a tool. Raises DeclarationError for a declaration that is not valid, or a name that is taken."""
        spec = self._in_style(tool if isinstance(tool, ToolSpec) else spec_of(tool))
        if problems := self.validate(spec):
            raise DeclarationError(problems)
        final = self.final_name(spec)
        if taken := self._by_final.get(final) or self._by_name.get(spec.name):
            raise DeclarationError(
                [f"{final}: two tools have this name, at {taken.source} and {spec.source}; rename one"]
            )
        self._by_name[spec.name] = self._by_final[final] = spec
        self._mentions = None
        return spec

    def register_all(self, tools: Iterable[ToolSpec | Callable[..., Any] | ModuleType]) -> None:
        """Add several; a module stands for the tools declared in it, in their order.

        Raises DeclarationError with the problems of all of them.
        """
        problems: list[str] = []
        for item in tools:
            for tool in _tools_declared_in(item) if isinstance(item, ModuleType) else (item,):
                try:
                    self.register(tool)
                except DeclarationError as error:
                    problems += error.problems
        if problems:
            raise DeclarationError(problems)

    def replace_all(self, tools: Iterable[ToolSpec]) -> None:
        """Register these tools in place of all others. If one cannot be registered, nothing changes."""
        new = ToolRegistry(self.naming, strict=self.strict)
        new.register_all(tools)
        self._by_name, self._by_final, self._mentions = new._by_name, new._by_final, None

    def _in_style(self, spec: ToolSpec) -> ToolSpec:
        if spec.has_own_name or self.naming.to_style(spec.name) == spec.name:
            return spec
        return replace(spec, name=self.naming.to_style(spec.name))

    def get(self, name: str) -> ToolSpec | None:
        """The tool of that undecorated name."""
        return self._by_name.get(name)

    def get_all(self) -> list[ToolSpec]:
        """All tools, in a stable order."""
        return list(self._by_name.values())

    def get_by_category(self, category: Category) -> list[ToolSpec]:
        """The tools of one category."""
        return [spec for spec in self._by_name.values() if spec.category == category]

    def get_by_tag(self, tag: str) -> list[ToolSpec]:
        """The tools that carry a tag."""
        return [spec for spec in self._by_name.values() if tag in spec.tags]

    # The names of the interface document.
    getAll, getByCategory, getByTag = get_all, get_by_category, get_by_tag  # noqa: N815

    def remove_due(self, today: date) -> list[ToolSpec]:
        """Remove the tools whose announced removal is due, and return them."""
        due = [spec for spec in self._by_name.values() if (old := spec.declaration.deprecated) and old.is_due(today)]
        for spec in due:
            del self._by_name[spec.name], self._by_final[self.final_name(spec)]
        self._mentions = None if due else self._mentions
        return due

    def validate(self, tool: ToolSpec | Callable[..., Any]) -> list[str]:
        """The problems of a tool under this server's policy."""
        spec = self._in_style(tool if isinstance(tool, ToolSpec) else spec_of(tool))
        if spec.listed is not None:
            return []  # its author wrote no declaration
        problems = spec_problems(spec) if spec.governed or self.strict else value_problems(spec)
        if problem := self.naming.problem(spec.name, spec.declaration.prefix):
            problems.append(f"{spec.name}: name: {problem}")
        return problems

    def check_replacements(self) -> None:
        """Raise DeclarationError if a deprecated tool names a replacement that does not exist."""
        problems = [
            f"{spec.name}: deprecated: the replacement {old.replacement!r} is not a tool of this server"
            for spec in self._by_name.values()
            if (old := spec.declaration.deprecated) and old.replacement not in self._by_name
        ]
        if problems:
            raise DeclarationError(problems)

    def final_name(self, spec: ToolSpec) -> str:
        """The name the agent sees."""
        return self.naming.final(spec.name, spec.declaration.prefix)

    def final_names(self) -> dict[str, str]:
        """From undecorated to final names."""
        return {spec.name: final for final, spec in self._by_final.items()}

    @property
    def mentions(self) -> ToolMentions:
        """Puts the names that agents see into texts that mention tools."""
        if self._mentions is None:
            names = self.final_names()
            mounted = {own: names[here] for own, here in self.mounted_names.items() if here in names}
            self._mentions = ToolMentions(mounted | names)
        return self._mentions

    def find(self, final_name: str) -> ToolSpec | None:
        """The tool of that final name."""
        return self._by_final.get(final_name)

    def resolve(self, final_name: str) -> ToolSpec:
        """The tool of that final name. Raises UnknownTool, which names the nearest."""
        spec = self._by_final.get(final_name)
        if spec is None:
            raise UnknownTool(final_name, self.nearest(final_name))
        return spec

    def nearest(self, final_name: str) -> list[str]:
        """The names most like one that no tool has."""
        return difflib.get_close_matches(final_name[:128], self._by_final, n=2, cutoff=0.5)


def listed_tools(tools: Any) -> tuple[Any, ...]:
    """The entries of a list of tools. Raises DeclarationError for what is not a tool, with what to write."""
    if callable(tools) or isinstance(tools, ModuleType | ToolSpec):
        name = getattr(tools, "__name__", "...").rpartition(".")[2]
        raise DeclarationError([f"tools: {name} is not a list; write tools=[{name}]"])
    entries = tuple(tools)
    if problems := [problem for entry in entries if (problem := _entry_problem(entry))]:
        raise DeclarationError(problems)
    return entries


def _entry_problem(entry: Any) -> str | None:
    if isinstance(entry, ModuleType | ToolSpec):
        return None
    if inspect.iscoroutine(entry):
        entry.close()
        return f"tools: {entry.__name__}(...) is a call; write {entry.__name__}, without parentheses"
    if not callable(entry):
        return f"tools: {entry!r:.80} is not a tool; give functions with @tool, or modules that have them"
    if declaration_of(entry) is None:
        name = name_of(entry)
        return f"tools: {name} is not declared as a tool; write @tool above it, or app.tool({name})"
    return None


def _tools_declared_in(module: ModuleType) -> list[Callable[..., Any]]:
    # Once each, though a module may give a function two names.
    return list(
        dict.fromkeys(
            item
            for item in vars(module).values()
            if callable(item) and declaration_of(item) is not None and item.__module__ == module.__name__
        )
    )
