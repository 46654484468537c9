"""What the names in an expression stand for: categories, directly or through collections. No I/O."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mcp_core import Conflict, NotFound
from mcp_guide.content.expressions import Specification, parse, render
from mcp_guide.model import Category, Project, nearest_names

DEEPEST = 50
"""Of collections inside each other; nobody reads what is deeper."""


class Selection(NamedTuple):
    """Documents of one category: those that any of the patterns matches."""

    category: Category
    patterns: tuple[str, ...]


def resolve(project: Project, expression: str) -> list[Selection]:
    """The selections that an expression stands for, in order, each once.

    Patterns after the name of a collection take the place of its members' own.
    A project is given with its folders (`model.with_folders`), or they are not known.
    """
    search = _Search(project)
    for one in parse(expression):
        search.follow(one, ())
    return list(dict.fromkeys(search.found))


def named_by(project: Project, name: str) -> list[str]:
    """The collections that name a category or a collection."""
    return [
        collection.name
        for collection in project.collections.values()
        if any(one.name == name for text in collection.expressions for one in parse(text))
    ]


def renamed(expression: str, old: str, new: str) -> str:
    """The same expression with another name for one of its names."""
    return render([replace(one, name=new) if one.name == old else one for one in parse(expression)])


@dataclass
class _Search:
    project: Project
    found: list[Selection] = field(default_factory=list[Selection])
    done: set[Specification] = field(default_factory=set[Specification])
    """What was followed to its end; a second time would find the same documents."""

    def follow(self, one: Specification, path: tuple[str, ...]) -> None:
        """Add what one specification stands for; `path` is the collections that led to it."""
        if one.name in path:
            circle = " -> ".join([*path[path.index(one.name) :], one.name])
            raise Conflict(f"Collections of project {self.project.name!r} name each other in a circle: {circle}.")
        if len(path) > DEEPEST:
            raise Conflict(
                f"Collections nest more than {DEEPEST} deep below {path[0]!r}; name fewer inside each other."
            )
        if one in self.done:
            return
        if (category := self.project.categories.get(one.name)) is not None:
            self.found.append(Selection(category, one.patterns or category.patterns))
        elif (collection := self.project.collections.get(one.name)) is not None:
            for text in collection.expressions:
                for member in parse(text):
                    given = Specification(member.name, one.patterns) if one.patterns else member
                    self.follow(given, (*path, one.name))
        else:
            raise self._missing(one.name, path)
        self.done.add(one)

    def _missing(self, name: str, path: tuple[str, ...]) -> NotFound:
        where = f"The collection {path[-1]!r} names" if path else "There is no category or collection"
        rest = ", but there is no such category or collection" if path else ""
        near = nearest_names(name, [*self.project.categories, *self.project.collections])
        return NotFound(f"{where} {name[:100]!r} in project {self.project.name!r}{rest}. {near}")
