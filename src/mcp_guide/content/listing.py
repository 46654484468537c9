"""List documents without their text. Reads files: call it in a thread."""

from collections.abc import Mapping
from datetime import UTC, datetime

from mcp_guide.content.documents import Document
from mcp_guide.content.finding import find_all_documents, find_documents
from mcp_guide.content.pages import PageLimits, get_page
from mcp_guide.content.reading import MAX_NAMED, missing_flags, read_file
from mcp_guide.content.tokens import count_tokens
from mcp_guide.guide import GuideResult, JsonObject, ProjectView
from mcp_guide.model import FlagValue, no_category, no_document, resolve_flags

_NO_LIMIT = 10**9


def list_documents(view: ProjectView, expression: str | None, limit: int, cursor: str | None) -> GuideResult:
    """The documents without their text, one page at a time."""
    found = find_documents(view, expression) if expression else find_all_documents(view)
    limits = PageLimits(limit, _NO_LIMIT)
    page = get_page(found.entries, cursor, limits, query=f"{view.project.name}\nlist\n{expression or ''}")
    flags = resolve_flags(view.configuration, view.project)
    read = [(one, read_file(one)) for one in page.entries]
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
    empty = f"Nothing matches {', '.join(found.empty[:MAX_NAMED])}." if found.empty else None
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
        "tokens": count_tokens(document.text or ""),
        "modified": datetime.fromtimestamp(document.modified, UTC).isoformat(timespec="seconds"),
        "is_text": None if document.is_text else False,
        "requires": missing_flags(document, flags) or None,
    }
    return {name: value for name, value in summary.items() if value is not None}
