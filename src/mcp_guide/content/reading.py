"""Read documents and sections, as much at a time as fits into a budget. Reads files: call it in a thread."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from mcp_guide.content import formats
from mcp_guide.content.documents import Document
from mcp_guide.content.expressions import add_pattern
from mcp_guide.content.finding import FoundDocument, FoundDocuments, find_documents
from mcp_guide.content.pages import get_start, make_cursor
from mcp_guide.content.sections import cut_sections, find_sections, outline
from mcp_guide.content.tokens import count_tokens, fitting_end
from mcp_guide.guide import GuideResult, JsonObject, ProjectView
from mcp_guide.model import FlagValue, resolve_flags
from toolcharter import NotFound, ToolError

DEFAULT_BUDGET = 4_000
"""The tokens of an answer with documents."""
MIN_BUDGET = 500
MAX_BUDGET = 1_000_000
MAX_NAMED = 20
"""The maximum number of documents that a message names."""
_RESERVED = 250
"""Tokens for the message, the instruction of a mode and the cursor."""
_MIME_HEAD = 100
_MAX_ON_PAGE = 100
_SAMPLE = 10_000
_SMALLEST_PART = 100
"""A document that does not fit begins on a page only if so many tokens of it fit."""
_MAX_BEST_PARTS = 800
"""Tokens of the sections about a question."""
_MAX_FIRST_PART = 300
"""Tokens of the beginning of a long document, beside its outline."""


class ReadDocuments(NamedTuple):
    """Documents that were read, and those that cannot be shown."""

    documents: list[Document]
    withheld: list[tuple[str, str]]
    """Path and reason."""


class ContentPage(NamedTuple):
    """The documents that fit into a budget."""

    documents: list[Document]
    withheld: list[tuple[str, str]]
    next_cursor: str | None
    remaining: int
    """The number of documents that are not shown to their end."""
    notices: list[str]


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
    """A document, or its sections, or the reason why it cannot be shown."""
    document = read_file(found)
    if isinstance(document, str):
        return document
    if missing := missing_flags(document, flags):
        return f"It requires the flag {' and '.join(missing)}, which is not set."
    if document.text is None:
        return " ".join(document.warnings) or "It is not text."
    return cut_sections(document, found.sections) if found.sections else document


def read_file(found: FoundDocument) -> Document | str:
    """A document as it is, or the reason why it cannot be read."""
    try:
        return replace(found.entry.read(), path=found.path)
    except NotFound:
        return "It was just removed."
    except ToolError as error:
        return str(error)


def missing_flags(document: Document, flags: Mapping[str, FlagValue]) -> list[str]:
    """The flags that a document requires and that are not set."""
    return [name for name in document.front.requires if not flags.get(name)]


def get_content(
    view: ProjectView,
    expression: str,
    pattern: str | None = None,
    format: formats.Format = "plain",
    *,
    sections: Sequence[str] = (),
    query: str | None = None,
    cursor: str | None = None,
    budget: int = DEFAULT_BUDGET,
) -> GuideResult:
    """The text of documents or sections, as much at a time as fits into a budget of tokens."""
    expression = add_pattern(expression, pattern)
    found = find_documents(view, expression)
    if sections:
        found = found._replace(entries=[one._replace(sections=tuple(sections)) for one in found.entries])
    identity = "\n".join((view.project.name, expression, *sections))
    if cursor is None and not sections and (shown := _read_long(view, found, identity, query, budget)):
        return _result(found, shown, format)
    page = _read_page(view, found, cursor, identity, budget - (_MIME_HEAD if format == "mime" else 0))
    if not page.documents and not page.remaining and cursor is None:
        reasons = " ".join(f"{path}: {reason}" for path, reason in page.withheld[:MAX_NAMED])
        raise NotFound(f"No document of {expression[:200]!r} can be shown. {reasons}")
    return _result(found, page, format)


def _result(found: FoundDocuments, page: ContentPage, format: formats.Format) -> GuideResult:
    value: JsonObject = {"documents": [document.path for document in page.documents]}
    if page.withheld:
        value["left_out"] = [{"path": path, "reason": reason} for path, reason in page.withheld]
    if page.next_cursor:
        value |= {"next_cursor": page.next_cursor, "remaining": page.remaining}
    message, instruction = _describe(found, page), _instructions(page.documents)
    if format == "markdown":
        return GuideResult.ok(value, message, instruction, content=[formats.render(page.documents, "plain")])
    value = {"content": formats.render(page.documents, format), **value}
    return GuideResult.ok(value, message, instruction)


# --- long documents -----------------------------------------------------------------------------------


def _read_long(
    view: ProjectView, found: FoundDocuments, identity: str, query: str | None, budget: int
) -> ContentPage | None:
    """The outline of a long document and its best parts; None for several documents, a part, or a short one."""
    if len(found.entries) != 1 or found.entries[0].sections:
        return None
    document = _read(found.entries[0], resolve_flags(view.configuration, view.project))
    if isinstance(document, str):
        return None
    is_short = count_tokens(document.text or "") <= budget - _RESERVED
    parts = _best_parts(document, query, budget) if query else []
    if parts:
        best = cut_sections(document, parts)
        notice = f"The parts of {document.path} about {query!r}; get_outline lists all."
        if count_tokens(best.text or "") <= budget:
            return ContentPage([best], [], None, 0, [notice])
    if is_short:
        return None
    lines = outline(document)
    if not lines:
        return None
    shown, room = list[str](), budget - _RESERVED - _MAX_FIRST_PART
    for line in lines:
        room -= count_tokens(line) + 1
        if room < 0:
            shown.append(f"... and {len(lines) - len(shown)} more sections")
            break
        shown.append(line)
    text = document.text or ""
    beginning = text[: min(find_sections(text)[0].own_end, fitting_end(text, 0, _MAX_FIRST_PART))].rstrip()
    notice = (
        f"{document.path} is long: this is its beginning and its outline, with the tokens of each section. "
        f"Read {document.path}#SECTION, or use the cursor to read all of it."
    )
    answer = replace(document, text=f"{beginning}\n\n[outline]\n" + "\n".join(shown) + "\n")
    return ContentPage([answer], [], make_cursor(found.entries, identity, 0), 1, [notice])


def _best_parts(document: Document, query: str, budget: int) -> list[str]:
    """The ids of the sections that say most about a question and fit together, in the order of the document."""
    from mcp_guide.search.ranking import rank_sections  # noqa: PLC0415 - 8 ms, with SQLite

    text = document.text or ""
    sections = find_sections(text)
    taken, room = set[int](), min(budget - _RESERVED, _MAX_BEST_PARTS)
    for place in rank_sections(document, query):
        section = sections[place]
        if not section.level or any(sections[one].start <= section.start < sections[one].end for one in taken):
            continue
        size = count_tokens(text[section.start : section.end])
        if size <= room:
            taken.add(place)
            room -= size
    return [sections[place].id for place in sorted(taken)]


# --- pages --------------------------------------------------------------------------------------------


def _read_page(view: ProjectView, found: FoundDocuments, cursor: str | None, query: str, budget: int) -> ContentPage:
    """Read documents until the page is full. Those that cannot be shown take no place, apart from being named."""
    flags = resolve_flags(view.configuration, view.project)
    start, offset, is_changed = get_start(found.entries, cursor, query)
    page = ContentPage([], [] if cursor else found.unreadable[:_MAX_ON_PAGE], None, 0, [])
    room = budget - _RESERVED - sum(_size_of(*item) for item in page.withheld)
    position = start
    while position < len(found.entries) and max(len(page.documents), len(page.withheld)) < _MAX_ON_PAGE:
        one = found.entries[position]
        document = _read(one, flags)
        if isinstance(document, str):
            room -= _size_of(one.path, document)
            page.withheld.append((one.path, document))
        else:
            text = document.text or ""
            escaping = _escaping(text[offset : offset + _SAMPLE])
            space = int((room - _size_without_text(document)) / escaping)
            end = _part_end(text, offset, space)
            if end < len(text) and page.documents and (space < _SMALLEST_PART or end == offset):
                break  # it begins the next page
            end = max(end, offset + 1) if end < len(text) else end
            page.documents.append(replace(document, text=text[offset:end]))
            room = int((space - count_tokens(text[offset:end])) * escaping)
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


@lru_cache(maxsize=16)
def _escaping(text: str) -> float:
    """How much longer a text is in JSON, in tokens, measured at its beginning."""
    return count_tokens(json.dumps(text, ensure_ascii=False)) / max(1, count_tokens(text))


def _part_end(text: str, start: int, tokens: int) -> int:
    """The end at which a part of a text fits: at a heading if one is in its second half, else at the end of a line."""
    if tokens <= 0:
        return min(len(text), start)
    end = fitting_end(text, start, tokens)
    if end >= len(text):
        return len(text)
    headings = [section.start for section in find_sections(text) if start + (end - start) // 2 < section.start <= end]
    return headings[-1] if headings else end


def _size_of(path: str, reason: str) -> int:
    return count_tokens(path) + count_tokens(reason) + 10


def _size_without_text(document: Document) -> int:
    """The tokens of a document in an answer, apart from its text: its path several times, and its front matter."""
    front = document.front
    words = [front.title, front.description, front.instruction, *front.tags, *document.warnings]
    extra = sum(count_tokens(str(value)) for value in front.extra.values())
    return 3 * count_tokens(document.path) + sum(count_tokens(word) for word in words if word) + extra + 12


def _describe(found: FoundDocuments, page: ContentPage) -> str:
    """For the person: what is in the result, and what is not."""
    number = len(page.documents)
    sentences = ["1 document." if number == 1 else f"{number:,} documents.", *page.notices]
    if page.withheld:
        sentences.append(f"{len(page.withheld)} cannot be shown.")
    if found.empty:
        sentences.append(f"Nothing matches {', '.join(found.empty[:MAX_NAMED])[:500]}.")
    sentences += [f"{document.path}: {warning}" for document in page.documents for warning in document.warnings]
    return " ".join(sentences)


def _instructions(documents: Sequence[Document]) -> str | None:
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
    return " ".join(dict.fromkeys(sentences)) or None


# --- outlines -----------------------------------------------------------------------------------------


def get_outline(view: ProjectView, expression: str) -> GuideResult:
    """The sections of documents, with what their front matter says."""
    found = find_documents(view, expression)
    flags = resolve_flags(view.configuration, view.project)
    outlines: list[JsonObject] = []
    withheld: list[JsonObject] = []
    for one in found.entries[:MAX_NAMED]:
        document = _read(one._replace(sections=()), flags)
        if isinstance(document, str):
            withheld.append({"path": one.path, "reason": document})
        else:
            outlines.append(_outline(document))
    value: JsonObject = {"documents": outlines} | ({"left_out": withheld} if withheld else {})
    rest = len(found.entries) - MAX_NAMED
    message = f"The first {MAX_NAMED} of {len(found.entries):,}; name fewer to see the others." if rest > 0 else None
    return GuideResult.ok(value, message)


def _outline(document: Document) -> JsonObject:
    front = {**formats.front_matter(document.front), "title": document.title}
    return {
        "path": document.path,
        **front,
        "version": document.version,
        "tokens": count_tokens(document.text or ""),
        "sections": outline(document),
    }
