"""Documents as resources: guide://category lists its documents, guide://category/document is one of them."""

import asyncio
from urllib.parse import quote, unquote

from mcp_core import (
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
from mcp_guide.content.tree import Entry
from mcp_guide.guide import Guide, View
from mcp_guide.model import Category
from mcp_guide.retrieval import read

PREFIX = "guide://"
MARKDOWN, PLAIN, BINARY = "text/markdown", "text/plain", "application/octet-stream"


async def list_resources(guide: Need[Guide], context: ToolContext, cursor: str | None = None) -> ResourcePage:
    """The categories of the active project and their documents, a page at a time."""
    view = await guide.seen(None, context)
    return await asyncio.to_thread(_listed, view, cursor)


async def read_resource(uri: str, guide: Need[Guide], context: ToolContext) -> Content | None:
    """A document, or what a category holds. None where there is no such thing."""
    view = await guide.seen(None, context)
    return await asyncio.to_thread(_read, view, unquote(uri.removeprefix(PREFIX)))


DOCUMENTS = ResourceSource(
    PREFIX,
    read=read_resource,
    list=list_resources,
    templates=[
        ResourceTemplate("guide://{category}", "A category", "The addresses of its documents, one a line.", PLAIN),
        ResourceTemplate("guide://{category}/{+document}", "A document", "Its text, without front matter."),
    ],
    permissions=["documents:read"],
)


def _listed(view: View, cursor: str | None) -> ResourcePage:
    resources: list[Resource] = []
    for category in view.project.categories.values():
        about = category.description or f"The documents of the category {category.name}."
        resources.append(Resource(_address(category.name), category.name, about, PLAIN))
        resources += [
            Resource(_address(category.name, _inside(category, entry)), entry.path, None, _type(entry.path))
            for entry in _entries(view, category)
        ]
    return page_of(resources, cursor)


def _read(view: View, place: str) -> Content | None:
    name, slash, inside = place.partition("/")
    category = view.project.categories.get(name)
    if category is None:
        return None
    if not slash:
        addresses = [_address(name, _inside(category, entry)) for entry in _entries(view, category)]
        return Content("".join(f"{address}\n" for address in addresses), PLAIN)
    try:
        entry = view.tree.entry(f"{category.dir}/{inside}")
    except NotFound:
        return None
    got = read(view, [entry])
    if got.withheld:
        raise NotFound(f"{entry.path} cannot be shown. {got.withheld[0][1]}")
    return Content(got.documents[0].text or "", _type(entry.path))


def _entries(view: View, category: Category) -> list[Entry]:
    try:
        return view.tree.match(category.dir, ("**/*",))
    except NotFound:
        return []


def _inside(category: Category, entry: Entry) -> str:
    return entry.path.removeprefix(f"{category.dir}/")


def _address(*parts: str) -> str:
    return PREFIX + "/".join(quote(part) for part in parts)


def _type(path: str) -> str:
    return MARKDOWN if path.endswith((".md", ".markdown")) else PLAIN
