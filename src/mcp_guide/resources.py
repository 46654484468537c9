"""Documents as resources: guide://CATEGORY lists the documents of a category, guide://CATEGORY/DOCUMENT is one."""

import asyncio
from urllib.parse import quote, unquote

from mcp_guide.content.tree import Entry
from mcp_guide.guide import Guide, ProjectView
from mcp_guide.model import ALL_DOCUMENTS, Category
from mcp_guide.retrieval import FoundDocument, read_documents
from toolcharter import (
    Content,
    Need,
    NotFound,
    Resource,
    ResourcePage,
    ResourceSource,
    ResourceTemplate,
    ToolContext,
    page_of,
)

PREFIX = "guide://"
MARKDOWN, PLAIN = "text/markdown", "text/plain"


async def list_resources(guide: Need[Guide], context: ToolContext, cursor: str | None = None) -> ResourcePage:
    """The categories of the active project and their documents, one page at a time."""
    view = await guide.load_view(None, context)
    return await asyncio.to_thread(_list, view, cursor)


async def read_resource(uri: str, guide: Need[Guide], context: ToolContext) -> Content | None:
    """A document, or the list of a category. None if it does not exist."""
    view = await guide.load_view(None, context)
    return await asyncio.to_thread(_read, view, unquote(uri.removeprefix(PREFIX)))


DOCUMENTS = ResourceSource(
    PREFIX,
    read=read_resource,
    list=list_resources,
    templates=[
        ResourceTemplate("guide://{category}", "A category", "The URIs of its documents, one per line.", PLAIN),
        ResourceTemplate("guide://{category}/{+document}", "A document", "Its text, without front matter."),
    ],
    permissions=["documents:read"],
)


def _list(view: ProjectView, cursor: str | None) -> ResourcePage:
    resources: list[Resource] = []
    for category in view.project.categories.values():
        description = category.description or f"The documents of the category {category.name}."
        resources.append(Resource(_uri(category.name), category.name, description, PLAIN))
        resources += [
            Resource(_document_uri(category, entry), entry.path, None, _media_type(entry.path))
            for entry in _entries(view, category)
        ]
    return page_of(resources, cursor)


def _read(view: ProjectView, path: str) -> Content | None:
    view.tree.require_root()
    name, slash, document = path.partition("/")
    category = view.project.categories.get(name)
    if category is None:
        return None
    if not slash:
        uris = [_document_uri(category, entry) for entry in _entries(view, category)]
        return Content("".join(f"{uri}\n" for uri in uris), PLAIN)
    try:
        entry = view.tree.entry(f"{category.dir}/{document}")
    except NotFound:
        return None
    read = read_documents(view, [FoundDocument(entry.path, entry)])
    if read.withheld:
        raise NotFound(f"{entry.path} cannot be shown. {read.withheld[0][1]}")
    return Content(read.documents[0].text or "", _media_type(entry.path))


def _entries(view: ProjectView, category: Category) -> list[Entry]:
    try:
        return view.tree.match(category.dir, ALL_DOCUMENTS)
    except NotFound:
        return []


def _document_uri(category: Category, entry: Entry) -> str:
    return _uri(category.name, entry.path.removeprefix(f"{category.dir}/"))


def _uri(*parts: str) -> str:
    return PREFIX + "/".join(quote(part) for part in parts)


def _media_type(path: str) -> str:
    return MARKDOWN if path.endswith((".md", ".markdown")) else PLAIN
