"""Search documents by words. Reads files and the index: call it in a thread (`Guide.search`)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_guide.content.finding import category_of, shown_path
from mcp_guide.content.patterns import quote_text
from mcp_guide.content.reading import missing_flags
from mcp_guide.content.tokens import count_tokens
from mcp_guide.content.tree import DocumentTree
from mcp_guide.guide import GuideResult, JsonObject, ProjectView, ReportIndexing
from mcp_guide.model import FlagValue, no_category, resolve_flags
from toolcharter import InvalidArguments, ToolError

if TYPE_CHECKING:
    from mcp_guide.search.index import Hit, SearchPage

MAX_MERGED_HITS = 200
"""Of each layer, where there are several."""
MAX_FULL_TEXT = 400
"""The best section comes whole if it has at most so many tokens."""
_MAX_CURSOR_DIGITS = 9


def search_documents(
    view: ProjectView, report: ReportIndexing, query: str, limit: int, cursor: str | None
) -> GuideResult:
    """The documents that say most about the words, each with its best section."""
    offset = _parse_cursor(cursor)
    view.tree.require_root()
    folders = list(dict.fromkeys(category.dir for category in view.project.categories.values()))
    trees, indexes = view.tree.trees, view.open_searches()
    # The pages of several layers are merged by score; of one, the index makes the page itself.
    reach, start = (limit, offset) if len(trees) == 1 else (min(offset + limit, MAX_MERGED_HITS), 0)
    pages = [index.find(query, folders, reach, start, report) for index in indexes]
    page = _merge(pages)
    found = [(tree, hit) for tree, layer in zip(trees, pages, strict=True) for hit in layer.hits]
    found = sorted(found, key=lambda one: -one[1].score)[offset - start : offset - start + limit]
    flags = resolve_flags(view.configuration, view.project)
    hits = [_hit(view, tree, hit, flags, is_first=offset + place == 0) for place, (tree, hit) in enumerate(found)]
    value: JsonObject = {"hits": hits, "total": page.total}
    reached = offset + len(found)
    if found and reached < page.total:
        value["next_cursor"] = str(reached)
    progress = ""
    if page.progress is not None:
        value["indexed"], value["documents"] = page.progress
        progress = (
            f" The index is being built: {value['indexed']:,} of {value['documents']:,} documents were searched. "
            "Search again later for the others."
        )
    if not view.project.categories:
        return GuideResult.ok(value, no_category(view.project))
    if not page.total:
        where = "document that was searched" if progress else "document"
        near = list(dict.fromkeys(word for index in indexes for word in index.similar_words(query)))
        hint = f" Did you mean {' or '.join(map(repr, near[:3]))}?" if near else " Try other words, or list_documents."
        return GuideResult.ok(value, f"No {where} contains {query[:100]!r}.{progress or hint}")
    relaxed = " No document has all the words; these have some of them." if page.is_relaxed else ""
    counted = "hit" if page.total == 1 else "hits"
    return GuideResult.ok(value, f"{len(found)} of {page.total} {counted}.{relaxed}{progress}")


def _parse_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= _MAX_CURSOR_DIGITS):
        raise InvalidArguments(
            f"The cursor {quote_text(cursor)} is not valid. Use next_cursor of the previous page, or none.",
            fields=["cursor"],
        )
    return int(cursor)


def _merge(pages: Sequence["SearchPage"]) -> "SearchPage":
    """The totals and the progress of the pages of all layers, with the hits of the first."""
    if len(pages) == 1:
        return pages[0]
    progress = [page.progress for page in pages if page.progress is not None]
    return replace(
        pages[0],
        total=sum(page.total for page in pages),
        is_relaxed=all(page.is_relaxed or not page.total for page in pages),
        progress=(sum(done for done, _ in progress), sum(total for _, total in progress)) if progress else None,
    )


def _hit(
    view: ProjectView, tree: DocumentTree, hit: "Hit", flags: Mapping[str, FlagValue], *, is_first: bool
) -> JsonObject:
    """A hit. Its path, and those in `also`, can be read as they are; the best one has its whole text if it is short."""
    path = shown_path(category_of(view, hit.path), hit.path)
    fields: JsonObject = {
        "path": f"{path}#{hit.anchor}" if hit.anchor else path,
        "title": hit.title,
        "heading": hit.heading if hit.heading != hit.title else "",
        "snippet": hit.snippet,
        "also": [f"#{anchor}" for anchor in hit.also],
        "score": round(hit.score, 2),
    }
    missing: list[str] = []
    with suppress(ToolError):  # removed since the search, or not readable
        missing = missing_flags(tree.read(hit.path), flags)
    text = hit.text.strip()
    if is_first and not missing and hit.snippet.strip(".") not in (text, "") and count_tokens(text) <= MAX_FULL_TEXT:
        fields["snippet"] = text
    return {name: field for name, field in fields.items() if field} | ({"requires": missing} if missing else {})
