"""Resolves the names in an expression to categories, directly or through collections. No I/O."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mcp_guide.content.expressions import Specification, parse_expression, render_expression
from mcp_guide.model import Category, Project, no_category, suggest_names
from toolcharter import Conflict, NotFound

MAX_NESTING = 50
"""The maximum depth of collections inside collections."""


class CategorySelection(NamedTuple):
    """The documents of one category that match any of the patterns."""

    category: Category
    patterns: tuple[str, ...]


def resolve_expression(project: Project, expression: str) -> list[CategorySelection]:
    """The categories and patterns of an expression, in order, each once.

    Patterns after the name of a collection replace those of its members.
    The project must include the categories of its folders (`model.with_folders`).
    """
    resolver = _Resolver(project)
    for specification in parse_expression(expression):
        resolver.resolve(specification, ())
    return list(dict.fromkeys(resolver.selections))


def find_references(project: Project, name: str) -> list[str]:
    """The collections that name a category or a collection."""
    return [
        collection.name
        for collection in project.collections.values()
        if any(part.name == name for text in collection.expressions for part in parse_expression(text))
    ]


def rename_reference(expression: str, old: str, new: str) -> str:
    """The expression with a name replaced by another."""
    parts = parse_expression(expression)
    return render_expression([replace(part, name=new) if part.name == old else part for part in parts])


@dataclass
class _Resolver:
    project: Project
    selections: list[CategorySelection] = field(default_factory=list[CategorySelection])
    resolved: set[Specification] = field(default_factory=set[Specification])
    """Resolved completely; a second time would give the same documents."""

    def resolve(self, specification: Specification, path: tuple[str, ...]) -> None:
        """Add the selections of one specification; `path` is the collections that led to it."""
        name, patterns = specification.name, specification.patterns
        if name in path:
            circle = " -> ".join([*path[path.index(name) :], name])
            raise Conflict(
                f"Collections of the project {self.project.name!r} refer to each other in a circle: {circle}. "
                "Remove one of these references."
            )
        if len(path) > MAX_NESTING:
            raise Conflict(f"Collections below {path[0]!r} are nested more than {MAX_NESTING} deep. Nest them less.")
        if specification in self.resolved:
            return
        if (category := self.project.categories.get(name)) is not None:
            self.selections.append(CategorySelection(category, patterns or category.patterns))
        elif (collection := self.project.collections.get(name)) is not None:
            for text in collection.expressions:
                for member in parse_expression(text):
                    self.resolve(Specification(member.name, patterns) if patterns else member, (*path, name))
        else:
            raise self._not_found(name, path)
        self.resolved.add(specification)

    def _not_found(self, name: str, path: tuple[str, ...]) -> NotFound:
        names = [*self.project.categories, *self.project.collections] if self.project.categories else []
        known = [name for name in names if name not in path]  # a collection cannot name itself
        suggestion = suggest_names(name, known, no_category(self.project))
        missing = f"The project {self.project.name!r} has no category or collection {name[:100]!r}"
        user = f", which the collection {path[-1]!r} names" if path else ""
        return NotFound(f"{missing}{user}. {suggestion}")
