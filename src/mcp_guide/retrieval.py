"""Find, read, list and search documents. Reads files: call it in a thread (`Guide.run`)."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from mcp_guide.content import formats
from mcp_guide.content.documents import Document
from mcp_guide.content.expressions import add_pattern
from mcp_guide.content.pages import Page, PageLimits, get_page
from mcp_guide.content.patterns import quote_text
from mcp_guide.content.tree import Entry
from mcp_guide.guide import GuideResult, JsonObject, ProjectView
from mcp_guide.model import NO_CATEGORY, Category, FlagValue, resolve_flags
from mcp_guide.references import CategorySelection, resolve_expression
from toolcharter import InvalidArguments, NotFound, instructions

if TYPE_CHECKING:
    from mcp_guide.content.search import Hit

_NO_LIMIT = 10**9
_MAX_NAMED = 20
"""The maximum number of documents that a message names."""


class FoundDocuments(NamedTuple):
    """The documents of an expression, and the parts of it that match none."""

    entries: list[Entry]
    empty: list[CategorySelection]


def find_documents(view: ProjectView, expression: str) -> FoundDocuments:
    """The documents of an expression, in order, each once. Raises NotFound if nothing matches."""
    selections = resolve_expression(view.project, expression)
    entries: dict[str, Entry] = {}
    empty: list[CategorySelection] = []
    for selection in selections:
        matched = _match(view, selection)
        entries |= {entry.path: entry for entry in matched}  # a repeated document keeps its first position
        empty += [] if matched else [selection]
    if not entries:
        raise _no_match(view, expression, selections)
    return FoundDocuments(list(entries.values()), empty)


def find_all_documents(view: ProjectView) -> list[Entry]:
    """The documents of all categories, each once."""
    selections = [CategorySelection(category, category.patterns) for category in view.project.categories.values()]
    return list({entry.path: entry for selection in selections for entry in _match(view, selection)}.values())


def _match(view: ProjectView, selection: CategorySelection) -> list[Entry]:
    try:
        return view.tree.match(selection.category.dir, selection.patterns)
    except NotFound:  # the folder of a new category may not exist yet
        return []


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


def _similar(view: ProjectView, category: Category, pattern: str) -> list[str]:
    try:
        return view.tree.similar(pattern, category.dir)
    except NotFound:
        return []


# --- reading ------------------------------------------------------------------------------------------


class ReadDocuments(NamedTuple):
    """Documents that were read, and those that cannot be shown."""

    documents: list[Document]
    withheld: list[tuple[str, str]]
    """Path and reason."""


def read_documents(view: ProjectView, entries: Iterable[Entry]) -> ReadDocuments:
    """Read documents. A document that is not text, or requires a flag that is not set, is withheld with the reason."""
    flags = resolve_flags(view.configuration, view.project)
    documents: list[Document] = []
    withheld: list[tuple[str, str]] = []
    for entry in entries:
        document = _read_existing(view, entry)
        if document is None:
            withheld.append((entry.path, "It was just removed."))
        elif missing := _missing_flags(document, flags):
            withheld.append((entry.path, f"It requires the flag {' and '.join(missing)}, which is not set."))
        elif document.text is None:
            withheld.append((entry.path, " ".join(document.warnings) or "It is not text."))
        else:
            documents.append(document)
    return ReadDocuments(documents, withheld)


def _read_existing(view: ProjectView, entry: Entry) -> Document | None:
    try:
        return view.tree.read(entry.path)
    except NotFound:
        return None


def _missing_flags(document: Document, flags: Mapping[str, FlagValue]) -> list[str]:
    return [name for name in document.front.requires if not flags.get(name)]


def get_content(
    view: ProjectView,
    expression: str,
    pattern: str | None = None,
    format: formats.Format = "plain",
    cursor: str | None = None,
) -> GuideResult:
    """The text of documents, one page at a time."""
    expression = add_pattern(expression, pattern)
    found = find_documents(view, expression)
    page = get_page(found.entries, cursor, query=f"{view.project.name}\n{expression}")
    read = read_documents(view, page.entries)
    if not read.documents and not page.remaining and cursor is None:
        reasons = " ".join(f"{path}: {reason}" for path, reason in read.withheld[:_MAX_NAMED])
        raise NotFound(f"No document of {expression[:200]!r} can be shown. {reasons}")
    value: JsonObject = {
        "content": formats.render(read.documents, format),
        "documents": [document.path for document in read.documents],
    }
    message = _describe(found, read, page)
    return GuideResult.ok(value | _omissions(read, page), message, _instructions(read.documents))


def _omissions(read: ReadDocuments, page: Page[Entry]) -> JsonObject:
    value: JsonObject = {}
    if read.withheld:
        value["left_out"] = [{"path": path, "reason": reason} for path, reason in read.withheld]
    if page.next_cursor:
        value |= {"next_cursor": page.next_cursor, "remaining": page.remaining}
    return value


def _describe(found: FoundDocuments, read: ReadDocuments, page: Page[Entry]) -> str:
    """For the person: what is in the result, and what is not."""
    number = len(read.documents)
    sentences = ["1 document." if number == 1 else f"{number:,} documents."]
    if page.notice:
        sentences.append(page.notice)
    if read.withheld:
        sentences.append(f"{len(read.withheld)} cannot be shown.")
    if found.empty:
        names = ", ".join(f"{one.category.name}/{'+'.join(one.patterns)}" for one in found.empty[:_MAX_NAMED])
        sentences.append(f"Nothing matches {names}.")
    sentences += [f"{document.path}: {warning}" for document in read.documents for warning in document.warnings]
    return " ".join(sentences)


def _instructions(documents: Sequence[Document]) -> str:
    """For the agent: the instructions of the documents, and what to do with each type."""
    types = (
        ("instruction", "Follow the instructions in {}."),
        ("user", "Show {} to the user."),
        ("agent", "{} is for you, not for the user."),
    )
    sentences = [document.front.instruction for document in documents if document.front.instruction]
    for type_, sentence in types:
        paths = [document.path for document in documents if document.front.type == type_]
        sentences += [sentence.format(", ".join(paths))] if paths else []
    return " ".join(dict.fromkeys(sentences))


# --- lists and search ---------------------------------------------------------------------------------


def list_documents(view: ProjectView, expression: str | None, limit: int, cursor: str | None) -> GuideResult:
    """The documents without their text, one page at a time."""
    entries = find_documents(view, expression).entries if expression else find_all_documents(view)
    limits = PageLimits(limit, _NO_LIMIT)
    page = get_page(entries, cursor, limits, query=f"{view.project.name}\nlist\n{expression or ''}")
    flags = resolve_flags(view.configuration, view.project)
    documents = [document for entry in page.entries if (document := _read_existing(view, entry)) is not None]
    value: JsonObject = {"documents": [_summary(document, flags) for document in documents], "total": len(entries)}
    if page.next_cursor:
        value["next_cursor"] = page.next_cursor
    return GuideResult.ok(value, page.notice if entries else _no_documents(view))


def _no_documents(view: ProjectView) -> str:
    if not view.project.categories:
        return NO_CATEGORY
    return "No document exists yet. Create one with create_document, or add files to the folder of a category."


def _summary(document: Document, flags: Mapping[str, FlagValue]) -> JsonObject:
    front = document.front
    summary: JsonObject = {
        "path": document.path,
        "title": front.title,
        "description": front.description,
        "tags": list(front.tags) or None,
        "type": front.type,
        "size": document.size,
        "modified": datetime.fromtimestamp(document.modified, UTC).isoformat(timespec="seconds"),
        "is_text": None if document.is_text else False,
        "requires": _missing_flags(document, flags) or None,
    }
    return {name: value for name, value in summary.items() if value is not None}


def search_documents(view: ProjectView, query: str, limit: int, cursor: str | None) -> GuideResult:
    """The documents that contain the words, the best first."""
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= len(str(_NO_LIMIT))):
        raise InvalidArguments(
            f"The cursor {quote_text(cursor)} is not valid. Use next_cursor of the previous page, or none.",
            fields=["cursor"],
        )
    offset = int(cursor or 0)
    folders = list(dict.fromkeys(category.dir for category in view.project.categories.values()))
    page = view.open_search().find(query, folders, limit, offset)
    flags = resolve_flags(view.configuration, view.project)
    value: JsonObject = {"hits": [_hit(view, hit, flags) for hit in page.hits], "total": page.total}
    reached = offset + len(page.hits)
    if page.hits and reached < page.total:
        value["next_cursor"] = str(reached)
    progress = ""
    if page.progress is not None:
        value["indexed"], value["documents"] = page.progress
        progress = (
            f" The index is being built: {value['indexed']:,} of {value['documents']:,} documents were searched. "
            "Search again later for the others."
        )
    if not page.total:
        where = "document that was searched" if progress else "document"
        return GuideResult.ok(
            value, f"No {where} contains {query[:100]!r}.{progress or ' Try other words, or list_documents.'}"
        )
    relaxed = " No document contains all the words; these contain some of them." if page.is_relaxed else ""
    return GuideResult.ok(value, f"{len(page.hits)} of {page.total} hits.{relaxed}{progress}")


def _hit(view: ProjectView, hit: "Hit", flags: Mapping[str, FlagValue]) -> JsonObject:
    fields: JsonObject = {"path": hit.path, "title": hit.title, "snippet": hit.snippet, "score": round(hit.score, 3)}
    with suppress(NotFound):  # removed since the search
        missing = _missing_flags(view.tree.read(hit.path), flags)
        fields |= {"requires": missing} if missing else {}
    return fields
