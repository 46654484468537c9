"""Find documents by what an agent writes: an expression, a path, a title, an address. Call it in a thread."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import unquote

from mcp_guide.configuration.references import CategorySelection, resolve_expression
from mcp_guide.content.expressions import Specification, parse_expression, render_expression
from mcp_guide.content.patterns import stem
from mcp_guide.content.sections import get_section
from mcp_guide.content.tree import Entry
from mcp_guide.guide import ProjectView
from mcp_guide.model import ROOT, Category
from toolcharter import InvalidArguments, NotFound, PermissionDenied, ToolError, Unavailable, instructions

_SPECIAL = frozenset("+,*?[]{}#")
"""Characters with a meaning in expressions."""
_MAX_COMPARED_TITLES = 2_000
_ADDRESS = "guide://"


class FoundDocument(NamedTuple):
    """A document, with the path by which get_content reads it: the name of its category, then the path in it."""

    path: str
    entry: Entry
    sections: tuple[str, ...] = ()
    """The sections that are wanted; none for the whole document."""

    @property
    def size(self) -> int:
        """In bytes; 0 if the file cannot be looked at. Raises NotFound if it no longer exists."""
        try:
            return self.entry.size
        except NotFound:
            raise
        except ToolError:
            return 0


class FoundDocuments(NamedTuple):
    """The documents of an expression, and what could not be found or looked at."""

    entries: list[FoundDocument]
    empty: list[str]
    """The parts of the expression that match nothing."""
    unreadable: list[tuple[str, str]]
    """Folders that cannot be listed, with the reason."""


def find_documents(view: ProjectView, expression: str) -> FoundDocuments:
    """The documents of an expression, in order, each once. Raises NotFound if nothing matches."""
    view.tree.require_root()
    expression = _clean(view, expression)
    if (exact := _find_exact(view, expression)) is not None:
        return FoundDocuments([exact], [], [])
    finder = _Finder(view)
    for part in parse_expression(expression):
        finder.add(part)
    if not finder.found and finder.missing is not None:
        raise finder.missing
    if not finder.found and not finder.unreadable and (same := _in_another_case(view, finder.selections)):
        return FoundDocuments([same], [], [])
    if not finder.found and not finder.unreadable:
        raise _no_match(view, expression, finder.selections)
    return FoundDocuments(list(finder.found.values()), finder.empty, list(finder.unreadable.items()))


def find_document(view: ProjectView, expression: str) -> FoundDocument:
    """The only document of an expression. Raises InvalidArguments if there are several."""
    found = find_documents(view, expression).entries
    if len(found) == 1:
        return found[0]
    paths = ", ".join(document.path for document in found[:5])
    raise InvalidArguments(f"{expression[:200]!r} names {len(found)} documents: {paths}. Name one.")


def find_all_documents(view: ProjectView) -> FoundDocuments:
    """The documents of all categories, each once."""
    view.tree.require_root()
    found: dict[Entry, FoundDocument] = {}
    unreadable: dict[str, str] = {}
    for category in view.project.categories.values():
        for document in match_documents(view, CategorySelection(category, category.patterns), unreadable):
            found.setdefault(document.entry, document)
    return FoundDocuments(list(found.values()), [], list(unreadable.items()))


class _Finder:
    """Collects the documents of the parts of an expression."""

    def __init__(self, view: ProjectView) -> None:
        self.view = view
        self.found: dict[tuple[Entry, tuple[str, ...]], FoundDocument] = {}
        self.selections: list[CategorySelection] = []
        self.empty: list[str] = []
        self.unreadable: dict[str, str] = {}
        self.missing: NotFound | None = None

    def add(self, part: Specification) -> None:
        """Add the documents of one part. Each pattern may name sections: `lang/python#naming`."""
        with_sections = [pattern for pattern in part.patterns if "#" in pattern]
        if with_sections and not self._matches(part):
            for pattern in part.patterns:
                document, *sections = pattern.split("#")
                self._add(Specification(part.name, (document,)), tuple(filter(None, sections)))
        elif "#" in part.name and not part.patterns:
            name, *sections = part.name.split("#")
            self._add(Specification(name), tuple(filter(None, sections)))
        else:
            self._add(part, ())

    def _matches(self, part: Specification) -> bool:
        """Return whether it names documents as it is: their names may contain the sign of a section."""
        category = self.view.project.categories.get(part.name)
        return category is not None and bool(match_documents(self.view, CategorySelection(category, part.patterns), {}))

    def _add(self, part: Specification, sections: tuple[str, ...]) -> None:
        try:
            resolved = resolve_expression(self.view.project, render_expression([part]))
        except NotFound as error:
            self._add_guessed(part, sections, error)
            return
        self.selections += resolved
        for selection in resolved:
            matched = match_documents(self.view, selection, self.unreadable)
            self.empty += _unmatched(self.view, selection, has_any=bool(matched))
            self._take(matched, sections)

    def _take(self, documents: Sequence[FoundDocument], sections: tuple[str, ...]) -> None:
        for document in documents:
            self.found.setdefault((document.entry, sections), document._replace(sections=sections))

    def _add_guessed(self, part: Specification, sections: tuple[str, ...], error: NotFound) -> None:
        """Add the only document of that name or title; else remember the error, with those that it could be."""
        similar = list(_documents_named(self.view, part))
        if len(similar) == 1:
            self._take(similar, sections)
            return
        if similar:
            names = " or ".join(repr(document.path) for document in similar[:5])
            name = render_expression([part])[:100]
            error = NotFound(f"Several documents are named {name!r}. Did you mean {names}?")
        self.missing = self.missing or error
        self.empty.append(render_expression([part]))


def _documents_named(view: ProjectView, part: Specification) -> Iterator[FoundDocument]:
    """The documents of all categories with this name, or else this title."""
    if part.name in view.project.collections:
        return
    wanted = render_expression([part])
    seen: set[Entry] = set()
    for category in view.project.categories.values():
        with suppress(ToolError):  # a title is not always a pattern
            for document in match_documents(view, CategorySelection(category, (f"**/{wanted}",)), {}):
                if document.entry not in seen:
                    seen.add(document.entry)
                    yield document
    if not seen and not part.patterns:
        for document in find_all_documents(view).entries[:_MAX_COMPARED_TITLES]:
            with suppress(ToolError):  # it was just removed, or cannot be read
                if document.entry.read().title.casefold() == part.name.casefold():
                    yield document


def _clean(view: ProjectView, expression: str) -> str:
    """The expression without what others put before it: its own address, or the document root."""
    text = expression.strip()
    if text.startswith(_ADDRESS):
        text = unquote(text.removeprefix(_ADDRESS).partition("?")[0])
    for tree in view.tree.trees:
        text = text.removeprefix(f"{tree.root}/")
    return text


def _find_exact(view: ProjectView, expression: str) -> FoundDocument | None:
    """The document or the section whose path is the expression: both may have characters that are special in it."""
    name, _, rest = expression.partition("/")
    category = view.project.categories.get(name)
    if category is None or _SPECIAL.isdisjoint(rest):
        return None
    with suppress(ToolError):
        entry = view.tree.entry(category.path_of(rest))
        if entry.path == category.path_of(rest):
            return FoundDocument(expression, entry)
    document, _, section = rest.partition("#")
    if "," in section:  # of a heading, or between two expressions
        with suppress(ToolError):
            entry = view.tree.entry(category.path_of(document))
            get_section(entry.read(), section)
            return FoundDocument(shown_path(category, entry.path), entry, (section,))
    return None


def match_documents(view: ProjectView, selection: CategorySelection, unreadable: dict[str, str]) -> list[FoundDocument]:
    """The documents of a selection. Folders that cannot be listed are added to `unreadable`."""
    category = selection.category
    try:
        entries = view.tree.match(category.dir, selection.patterns)
    except NotFound:  # the folder of a new category may not exist yet
        return []
    except (PermissionDenied, Unavailable) as error:
        unreadable[f"{category.name}/"] = str(error)
        return []
    for folder, reason in view.tree.unreadable().items():
        if category.contains(folder):
            unreadable[f"{shown_path(category, folder)}/"] = f"The folder cannot be listed: {reason}."
    return [FoundDocument(shown_path(category, entry.path), entry) for entry in entries]


def shown_path(category: Category, path: str) -> str:
    """The path by which get_content reads a document of a category."""
    return f"{category.name}/{category.relative(path)}"


def category_of(view: ProjectView, path: str) -> Category:
    """The category of a document, if possible one that is named as its folder; else the nearest."""
    containing = [one for one in view.project.categories.values() if one.contains(path)]
    return max(containing, key=lambda one: (one.dir != ROOT, one.name == one.dir, len(one.dir)))


def _in_another_case(view: ProjectView, selections: Sequence[CategorySelection]) -> FoundDocument | None:
    """The document whose path differs in capital letters alone."""
    for category, patterns in selections:
        for pattern in patterns:
            for path in _similar(view, category, pattern):
                if pattern.casefold() in (path.casefold(), stem(path).casefold()):
                    entry = view.tree.entry(category.path_of(path))
                    return FoundDocument(shown_path(category, entry.path), entry)
    return None


def _no_match(view: ProjectView, expression: str, selections: Sequence[CategorySelection]) -> NotFound:
    similar = dict.fromkeys(
        f"{category.name}/{path}"
        for category, patterns in selections
        for pattern in patterns
        for path in _similar(view, category, pattern)
    )
    hint = f"Did you mean {' or '.join(map(repr, similar))}?" if similar else "list_documents shows all documents."
    return NotFound(
        f"No document matches {expression[:200]!r} in the project {view.project.name!r}. {hint}",
        instruction=instructions.consider("one of the suggested names, or what list_documents shows"),
    )


def _unmatched(view: ProjectView, selection: CategorySelection, *, has_any: bool) -> list[str]:
    """The parts of a selection without documents, each with the nearest names."""
    category, patterns = selection
    if has_any and (len(patterns) == 1 or patterns == category.patterns):
        return []
    empty = [
        pattern
        for pattern in patterns
        if not has_any or not match_documents(view, CategorySelection(category, (pattern,)), {})
    ]
    return [f"{category.name}/{pattern}{_guess(view, category, pattern)}" for pattern in empty]


def _guess(view: ProjectView, category: Category, pattern: str) -> str:
    similar = [f"{category.name}/{path}" for path in _similar(view, category, pattern)[:3]]
    return f" (did you mean {' or '.join(map(repr, similar))}?)" if similar else ""


def _similar(view: ProjectView, category: Category, pattern: str) -> list[str]:
    try:
        return view.tree.similar(pattern, category.dir)
    except (NotFound, PermissionDenied, Unavailable):  # no suggestion is better than no answer
        return []
