"""Find, read, list and search documents. Reads files: call it in a thread (`Guide.run`)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from mcp_guide.configuration.references import CategorySelection, resolve_expression
from mcp_guide.content import formats
from mcp_guide.content.documents import Document
from mcp_guide.content.expressions import Specification, add_pattern, parse_expression, render_expression
from mcp_guide.content.pages import PageLimits, get_page, get_start, make_cursor
from mcp_guide.content.patterns import quote_text
from mcp_guide.content.tree import DocumentTree, Entry
from mcp_guide.guide import GuideResult, JsonObject, ProjectView, ReportIndexing
from mcp_guide.model import ROOT, Category, FlagValue, no_category, no_document, resolve_flags
from toolcharter import InvalidArguments, NotFound, PermissionDenied, ToolError, Unavailable, instructions

if TYPE_CHECKING:
    from mcp_guide.search.index import Hit, SearchPage

DEFAULT_BUDGET = 20_000
"""The tokens of an answer with documents."""
BYTES_PER_TOKEN = 4
_RESERVED_BYTES = 2_000
"""For the instruction of the mode, the message and the cursor."""
_MAX_ON_PAGE = 100
_NO_LIMIT = 10**9
MAX_MERGED_HITS = 200
"""Of each layer, where there are several."""
_SPECIAL = frozenset("+,*?[]{}")
"""Characters with a meaning in expressions."""
_MAX_NAMED = 20
"""The maximum number of documents that a message names."""


class FoundDocument(NamedTuple):
    """A document, with the path by which get_content reads it: the name of its category, then the path in it."""

    path: str
    entry: Entry

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
    if (exact := _find_exact(view, expression)) is not None:
        return FoundDocuments([exact], [], [])
    found: dict[Entry, FoundDocument] = {}
    selections: list[CategorySelection] = []
    empty: list[str] = []
    unreadable: dict[str, str] = {}
    missing: NotFound | None = None
    for part in parse_expression(expression):
        try:
            resolved = resolve_expression(view.project, render_expression([part]))
        except NotFound as error:
            missing = missing or _suggest_document(view, part, error)
            empty.append(render_expression([part]))
            continue
        selections += resolved
        for selection in resolved:
            matched = _match(view, selection, unreadable)
            empty += _unmatched(view, selection, has_any=bool(matched))
            for document in matched:
                found.setdefault(document.entry, document)
    if not found and missing is not None:
        raise missing
    if not found and not unreadable:
        raise _no_match(view, expression, selections)
    return FoundDocuments(list(found.values()), empty, list(unreadable.items()))


def find_all_documents(view: ProjectView) -> FoundDocuments:
    """The documents of all categories, each once."""
    view.tree.require_root()
    found: dict[Entry, FoundDocument] = {}
    unreadable: dict[str, str] = {}
    for category in view.project.categories.values():
        for document in _match(view, CategorySelection(category, category.patterns), unreadable):
            found.setdefault(document.entry, document)
    return FoundDocuments(list(found.values()), [], list(unreadable.items()))


def _find_exact(view: ProjectView, expression: str) -> FoundDocument | None:
    """The document whose path is the expression. Its name may have characters that are special in expressions."""
    name, _, rest = expression.partition("/")
    category = view.project.categories.get(name)
    if category is None or _SPECIAL.isdisjoint(rest):
        return None
    try:
        entry = view.tree.entry(path := category.path_of(rest))
    except ToolError:
        return None
    return FoundDocument(expression, entry) if entry.path == path else None


def _match(view: ProjectView, selection: CategorySelection, unreadable: dict[str, str]) -> list[FoundDocument]:
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


def _category_of(view: ProjectView, path: str) -> Category:
    """The category of a document, if possible one that is named as its folder; else the nearest."""
    containing = [one for one in view.project.categories.values() if one.contains(path)]
    return max(containing, key=lambda one: (one.dir != ROOT, one.name == one.dir, len(one.dir)))


def _suggest_document(view: ProjectView, part: Specification, error: NotFound) -> NotFound:
    """The error for an unknown name, with the documents of that name."""
    if part.patterns or part.name in view.project.collections:
        return error
    similar = [
        f"{category.name}/{part.name}"
        for category in view.project.categories.values()
        if _match(view, CategorySelection(category, (part.name,)), {})
    ]
    if not similar:
        return error
    names = " or ".join(map(repr, similar[:5]))
    return NotFound(
        f"The project {view.project.name!r} has no category or collection {part.name[:100]!r}. Did you mean {names}?"
    )


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
        pattern for pattern in patterns if not has_any or not _match(view, CategorySelection(category, (pattern,)), {})
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


# --- reading ------------------------------------------------------------------------------------------


class ReadDocuments(NamedTuple):
    """Documents that were read, and those that cannot be shown."""

    documents: list[Document]
    withheld: list[tuple[str, str]]
    """Path and reason."""


def read_documents(view: ProjectView, found: Iterable[FoundDocument]) -> ReadDocuments:
    """Read documents. A document that is not text, or requires a flag that is not set, is withheld with the reason."""
    flags = resolve_flags(view.configuration, view.project)
    read = ReadDocuments([], [])
    for one in found:
        document = _read(one, flags)
        if isinstance(document, str):
            read.withheld.append((one.path, document))
        else:
            read.documents.append(document)
    return read


def _read(found: FoundDocument, flags: Mapping[str, FlagValue]) -> Document | str:
    """A document, or the reason why it cannot be shown."""
    document = _read_file(found)
    if isinstance(document, str):
        return document
    if missing := _missing_flags(document, flags):
        return f"It requires the flag {' and '.join(missing)}, which is not set."
    if document.text is None:
        return " ".join(document.warnings) or "It is not text."
    return document


def _read_file(found: FoundDocument) -> Document | str:
    try:
        return replace(found.entry.read(), path=found.path)
    except NotFound:
        return "It was just removed."
    except ToolError as error:
        return str(error)


def _missing_flags(document: Document, flags: Mapping[str, FlagValue]) -> list[str]:
    return [name for name in document.front.requires if not flags.get(name)]


class ContentPage(NamedTuple):
    """The documents that fit into a budget."""

    documents: list[Document]
    withheld: list[tuple[str, str]]
    next_cursor: str | None
    remaining: int
    """The number of documents that are not shown to their end."""
    notices: list[str]


def get_content(
    view: ProjectView,
    expression: str,
    pattern: str | None = None,
    format: formats.Format = "plain",
    *,
    cursor: str | None = None,
    budget: int = DEFAULT_BUDGET,
) -> GuideResult:
    """The text of documents, as much at a time as fits into a budget of tokens."""
    expression = add_pattern(expression, pattern)
    found = find_documents(view, expression)
    page = _read_page(view, found, cursor, f"{view.project.name}\n{expression}", budget * BYTES_PER_TOKEN)
    if not page.documents and not page.remaining and cursor is None:
        reasons = " ".join(f"{path}: {reason}" for path, reason in page.withheld[:_MAX_NAMED])
        raise NotFound(f"No document of {expression[:200]!r} can be shown. {reasons}")
    value: JsonObject = {
        "content": formats.render(page.documents, format),
        "documents": [document.path for document in page.documents],
    }
    if page.withheld:
        value["left_out"] = [{"path": path, "reason": reason} for path, reason in page.withheld]
    if page.next_cursor:
        value |= {"next_cursor": page.next_cursor, "remaining": page.remaining}
    return GuideResult.ok(value, _describe(found, page), _instructions(page.documents))


def _read_page(view: ProjectView, found: FoundDocuments, cursor: str | None, query: str, size: int) -> ContentPage:
    """Read documents until the page is full. Those that cannot be shown take no place, apart from being named."""
    flags = resolve_flags(view.configuration, view.project)
    start, offset, is_changed = get_start(found.entries, cursor, query)
    page = ContentPage([], [] if cursor else found.unreadable[:_MAX_ON_PAGE], None, 0, [])
    room = size - _RESERVED_BYTES - sum(_json_size(item) for item in page.withheld)
    position = start
    while position < len(found.entries) and max(len(page.documents), len(page.withheld)) < _MAX_ON_PAGE:
        one = found.entries[position]
        document = _read(one, flags)
        if isinstance(document, str):
            room -= _json_size((one.path, document))
            page.withheld.append((one.path, document))
        else:
            text = document.text or ""
            space = room - _size_without_text(document)
            end = fitting_end(text, offset, space)
            if end < len(text) and page.documents:
                break  # it begins the next page
            page.documents.append(replace(document, text=text[offset:end]))
            room = space - _json_size(text[offset:end])
            if offset or end < len(text):
                page.notices.append(f"{one.path}: characters {offset + 1:,} to {end:,} of {len(text):,}.")
            if end < len(text):
                offset = end
                break
        position, offset = position + 1, 0
        if room <= 0:
            break
    total, remaining = len(found.entries), len(found.entries) - position
    if position - start < total and (start or remaining) and total > 1:
        page.notices.insert(0, f"Documents {start + 1:,} to {max(position, start + 1):,} of {total:,}.")
    if remaining:
        page.notices.append(f"{remaining:,} remain: call again with the cursor.")
    if is_changed:
        page.notices.append("Earlier documents were added or removed: start without a cursor to see them.")
    next_cursor = make_cursor(found.entries, query, position, offset) if remaining else None
    return page._replace(next_cursor=next_cursor, remaining=remaining)


def fitting_end(text: str, start: int, size: int) -> int:
    """The end at which a text fits, if possible at the end of a line; always after the start."""
    end = min(len(text), start + max(1, size))
    while end - start > 1 and (needed := _json_size(text[start:end])) > size:
        end = start + max(1, min(end - start - 1, (end - start) * max(0, size) // needed))
    if end < len(text):
        line_end = text.rfind("\n", start + (end - start) // 2, end)
        end = line_end + 1 if line_end > 0 else end
    return end


def _size_without_text(document: Document) -> int:
    """The bytes of a document in an answer, apart from its text: its path several times, and its front matter."""
    record = formats.render([replace(document, text="")], "json")
    extra = [document.front.instruction, *document.warnings, *[document.path] * 4]
    return _json_size(record) + _json_size(extra) + 150


def _json_size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str).encode(errors="surrogatepass"))


def _describe(found: FoundDocuments, page: ContentPage) -> str:
    """For the person: what is in the result, and what is not."""
    number = len(page.documents)
    sentences = ["1 document." if number == 1 else f"{number:,} documents.", *page.notices]
    if page.withheld:
        sentences.append(f"{len(page.withheld)} cannot be shown.")
    if found.empty:
        sentences.append(f"Nothing matches {', '.join(found.empty[:_MAX_NAMED])[:500]}.")
    sentences += [f"{document.path}: {warning}" for document in page.documents for warning in document.warnings]
    return " ".join(sentences)


def _instructions(documents: Sequence[Document]) -> str:
    """For the agent: the instructions of the documents, and what to do with each type."""
    types = (
        ("instruction", "Follow the instructions in {}."),
        ("user", "Show {} to the user."),
        ("agent", "{} {} for you, not for the user."),
    )
    sentences = [document.front.instruction for document in documents if document.front.instruction]
    for type_, sentence in types:
        paths = [document.path for document in documents if document.front.type == type_]
        verb = "is" if len(paths) == 1 else "are"
        sentences += [sentence.format(", ".join(paths), verb)] if paths else []
    return " ".join(dict.fromkeys(sentences))


# --- lists and search ---------------------------------------------------------------------------------


def list_documents(view: ProjectView, expression: str | None, limit: int, cursor: str | None) -> GuideResult:
    """The documents without their text, one page at a time."""
    found = find_documents(view, expression) if expression else find_all_documents(view)
    limits = PageLimits(limit, _NO_LIMIT)
    page = get_page(found.entries, cursor, limits, query=f"{view.project.name}\nlist\n{expression or ''}")
    flags = resolve_flags(view.configuration, view.project)
    read = [(one, _read_file(one)) for one in page.entries]
    summaries = [_summary(document, flags) for _, document in read if isinstance(document, Document)]
    withheld = [(one.path, document) for one, document in read if isinstance(document, str)]
    withheld += found.unreadable if cursor is None else []
    value: JsonObject = {"documents": summaries, "total": len(found.entries)}
    if withheld:
        value["left_out"] = [{"path": path, "reason": reason} for path, reason in withheld]
    if page.next_cursor:
        value["next_cursor"] = page.next_cursor
    if not found.entries and not withheld:
        return GuideResult.ok(value, _no_documents(view))
    empty = f"Nothing matches {', '.join(found.empty[:_MAX_NAMED])}." if found.empty else None
    return GuideResult.ok(value, " ".join(filter(None, (page.notice, empty))) or None)


def _no_documents(view: ProjectView) -> str:
    return no_document(view.project) if view.project.categories else no_category(view.project)


def _summary(document: Document, flags: Mapping[str, FlagValue]) -> JsonObject:
    front = document.front
    summary: JsonObject = {
        "path": document.path,
        "title": document.title,
        "description": front.description,
        "tags": list(front.tags) or None,
        "type": front.type,
        "size": document.size,
        "modified": datetime.fromtimestamp(document.modified, UTC).isoformat(timespec="seconds"),
        "is_text": None if document.is_text else False,
        "requires": _missing_flags(document, flags) or None,
    }
    return {name: value for name, value in summary.items() if value is not None}


def search_documents(
    view: ProjectView, report: ReportIndexing, query: str, limit: int, cursor: str | None
) -> GuideResult:
    """The documents that contain the words, the best first."""
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= len(str(_NO_LIMIT))):
        raise InvalidArguments(
            f"The cursor {quote_text(cursor)} is not valid. Use next_cursor of the previous page, or none.",
            fields=["cursor"],
        )
    offset = int(cursor or 0)
    view.tree.require_root()
    folders = list(dict.fromkeys(category.dir for category in view.project.categories.values()))
    trees = view.tree.trees
    # The pages of several layers are merged by score; of one, the index makes the page itself.
    reach, start = (limit, offset) if len(trees) == 1 else (min(offset + limit, MAX_MERGED_HITS), 0)
    pages = [index.find(query, folders, reach, start, report) for index in view.open_searches()]
    page = _merge(pages)
    found = [(tree, hit) for tree, layer in zip(trees, pages, strict=True) for hit in layer.hits]
    found = sorted(found, key=lambda one: -one[1].score)[offset - start : offset - start + limit]
    flags = resolve_flags(view.configuration, view.project)
    value: JsonObject = {"hits": [_hit(view, tree, hit, flags) for tree, hit in found], "total": page.total}
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
        return GuideResult.ok(
            value, f"No {where} contains {query[:100]!r}.{progress or ' Try other words, or list_documents.'}"
        )
    relaxed = " No document contains all the words; these contain some of them." if page.is_relaxed else ""
    hits = "hit" if page.total == 1 else "hits"
    return GuideResult.ok(value, f"{len(found)} of {page.total} {hits}.{relaxed}{progress}")


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


def _hit(view: ProjectView, tree: DocumentTree, hit: "Hit", flags: Mapping[str, FlagValue]) -> JsonObject:
    path = shown_path(_category_of(view, hit.path), hit.path)
    fields: JsonObject = {"path": path, "title": hit.title, "snippet": hit.snippet, "score": round(hit.score, 3)}
    with suppress(ToolError):  # removed since the search, or not readable
        missing = _missing_flags(tree.read(hit.path), flags)
        fields |= {"requires": missing} if missing else {}
    return fields
