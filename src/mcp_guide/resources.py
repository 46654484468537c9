"""Documents as resources: guide://CATEGORY lists the documents of a category, guide://CATEGORY/DOCUMENT is one.

What is longer than the budget of an answer comes in parts: each ends with the URI of the rest, with `?from=N`.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import overload
from urllib.parse import quote, unquote

from mcp_guide.content.finding import FoundDocument
from mcp_guide.content.reading import read_documents
from mcp_guide.content.tokens import fitting_end
from mcp_guide.content.tree import Entry
from mcp_guide.guide import Guide, ProjectView
from mcp_guide.model import ALL_DOCUMENTS, Category
from toolcharter import NotFound, ToolContext, ToolError
from toolcharter.resources import Content, Resource, ResourcePage, ResourceSource, ResourceTemplate, page_of

PREFIX = "guide://"
MARKDOWN, PLAIN = "text/markdown", "text/plain"
MAX_TOKENS = 20_000
"""Of one part, without the line about the rest."""
_MAX_LIST_BYTES = 79_000
_MAX_DIGITS = 9


async def list_resources(guide: Guide, context: ToolContext, cursor: str | None = None) -> ResourcePage:
    """The documents of the active project, then its categories, one page at a time."""
    view = await guide.load_view(None, context)
    return await asyncio.to_thread(_list, view, cursor)


async def read_resource(uri: str, guide: Guide, context: ToolContext) -> Content | None:
    """A document, or the list of a category. None if it does not exist."""
    path, has_query, query = uri.removeprefix(PREFIX).partition("?")
    start = _parse_start(query) if has_query else 0
    if start is None:
        return None
    view = await guide.load_view(None, context)
    return await asyncio.to_thread(_read, view, unquote(path), start)


async def category_names(guide: Guide, context: ToolContext) -> list[str]:
    """The categories of the active project."""
    return list((await guide.load_view(None, context)).project.categories)


async def document_names(arguments: dict[str, str], guide: Guide, context: ToolContext) -> list[str]:
    """The documents of the category that was chosen, as they stand in a URI."""
    prefix = f"{PREFIX}{quote(arguments.get('category', ''))}/"
    page = await list_resources(guide, context)
    return [one.uri.removeprefix(prefix) for one in page.resources if one.uri.startswith(prefix)]


_COMPLETE = {"category": category_names, "document": document_names}
_CATEGORY = "The URIs of its documents, one per line. A long list ends with the URI of the rest."
_DOCUMENT = "Its text, without front matter. A long one ends with the URI of the rest."

DOCUMENTS = ResourceSource(
    PREFIX,
    read=read_resource,
    list=list_resources,
    templates=[
        ResourceTemplate("guide://{category}", "A category", _CATEGORY, PLAIN, {"category": category_names}),
        ResourceTemplate("guide://{category}/{+document}", "A document", _DOCUMENT, None, _COMPLETE),
    ],
    permissions=["documents:read"],
)


def _list(view: ProjectView, cursor: str | None) -> ResourcePage:
    view.tree.require_root()
    categories = view.project.categories.values()
    documents: dict[Entry, tuple[Category, Entry | None]] = {}
    for category in categories:
        for entry in _entries(view, category):
            documents.setdefault(entry, (category, entry))
    return page_of(_Resources([*documents.values(), *((category, None) for category in categories)]), cursor)


class _Resources(Sequence[Resource]):
    """The resources of categories and documents, made when they are shown: a page has a hundred of maybe 100,000."""

    def __init__(self, listed: list[tuple[Category, Entry | None]]) -> None:
        """Without a document, it is the category itself."""
        self._listed = listed

    def __len__(self) -> int:
        return len(self._listed)

    @overload
    def __getitem__(self, index: int) -> Resource: ...
    @overload
    def __getitem__(self, index: slice) -> list[Resource]: ...
    def __getitem__(self, index: int | slice) -> Resource | list[Resource]:
        if isinstance(index, slice):
            return [_resource(*one) for one in self._listed[index]]
        return _resource(*self._listed[index])


def _resource(category: Category, entry: Entry | None) -> Resource:
    if entry is not None:
        uri, title, description = _document_uri(category, entry), None, None
        with suppress(ToolError):  # it was just removed, or cannot be read
            document = entry.read()
            title, description = document.title, document.front.description
        return Resource(uri, entry.path, description, _media_type(entry.path), title)
    description = category.description or f"The documents of the category {category.name}."
    return Resource(_uri(category.name), category.name, description, PLAIN)


def _read(view: ProjectView, path: str, start: int) -> Content | None:
    view.tree.require_root()
    name, slash, document = path.partition("/")
    category = view.project.categories.get(name)
    if category is None:
        return None
    if not slash:
        return _list_category(view, category, start)
    try:
        entry = view.tree.entry(category.path_of(document))
    except NotFound:
        return None
    read = read_documents(view, [FoundDocument(entry.path, entry)])
    if read.withheld:
        raise NotFound(f"{entry.path} cannot be shown. {read.withheld[0][1]}")
    text = read.documents[0].text or ""
    if start and start >= len(text):
        return None
    end = fitting_end(text, start, MAX_TOKENS)
    rest = _rest(_document_uri(category, entry), end) if end < len(text) else ""
    return Content(text[start:end] + rest, _media_type(entry.path))


def _list_category(view: ProjectView, category: Category, start: int) -> Content | None:
    entries = _entries(view, category)
    if start and start >= len(entries):
        return None
    lines, size = list[str](), 0
    for number, entry in enumerate(entries[start:], start):
        line = f"{_document_uri(category, entry)}\n"
        size += len(line)
        if size > _MAX_LIST_BYTES:
            lines.append(_rest(_uri(category.name), number))
            break
        lines.append(line)
    return Content("".join(lines), PLAIN)


def _rest(uri: str, start: int) -> str:
    return f"\n\nThe rest: {uri}?from={start + 1}\n"


def _parse_start(query: str) -> int | None:
    """The number of characters or documents before a part; None if the query is not valid."""
    number = query.removeprefix("from=")
    is_valid = query.startswith("from=") and number.isascii() and number.isdecimal() and len(number) <= _MAX_DIGITS
    return int(number) - 1 if is_valid and int(number) > 0 else None


def _entries(view: ProjectView, category: Category) -> list[Entry]:
    try:
        return view.tree.match(category.dir, category.patterns if category.from_folder else ALL_DOCUMENTS)
    except NotFound:
        return []


def _document_uri(category: Category, entry: Entry) -> str:
    return _uri(category.name, category.relative(entry.path))


def _uri(*parts: str) -> str:
    return PREFIX + "/".join(quote(part) for part in parts)


def _media_type(path: str) -> str:
    return MARKDOWN if path.endswith((".md", ".markdown")) else PLAIN
