"""What agents read: documents by expression, by words and by name, with what the documents tell them to do.

All of it looks at files, and is called in a thread (`Guide.look`).
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from mcp_core import InvalidArguments, NotFound
from mcp_core.instructions import consider
from mcp_guide.content import formats
from mcp_guide.content.documents import Document, Limits, Page, page
from mcp_guide.content.expressions import join
from mcp_guide.content.tree import Entry
from mcp_guide.guide import Answer, Value, View
from mcp_guide.model import Category, FlagValue, resolve_flags
from mcp_guide.references import Selection, resolve

if TYPE_CHECKING:
    from mcp_guide.content.search import Hit

Format = Literal["plain", "mime", "json"]

_NO_LIMIT = 10**9
_MOST_NAMED = 20
"""So many documents are named in a message; of the rest it says how many."""


class Found(NamedTuple):
    """The documents of an expression, and the parts of it that gave none."""

    entries: list[Entry]
    empty: list[Selection]


def find(view: View, expression: str) -> Found:
    """The documents that an expression stands for, in order, each once. No match at all is an error."""
    selections = resolve(view.project, expression)
    found: dict[str, Entry] = {}
    empty: list[Selection] = []
    for selection in selections:
        matched = _match(view, selection)
        found |= {entry.path: entry for entry in matched}  # the first place counts
        empty += [] if matched else [selection]
    if not found:
        raise _nothing(view, expression, selections)
    return Found(list(found.values()), empty)


def find_all(view: View) -> list[Entry]:
    """The documents of all categories, each once."""
    selections = [Selection(category, category.patterns) for category in view.project.categories.values()]
    return list({entry.path: entry for selection in selections for entry in _match(view, selection)}.values())


def _match(view: View, selection: Selection) -> list[Entry]:
    try:
        return view.tree.match(selection.category.dir, selection.patterns)
    except NotFound:  # a category may have a name before it has a folder
        return []


def _nothing(view: View, expression: str, selections: Sequence[Selection]) -> NotFound:
    near = [
        f"{category.name}/{path}"
        for category, patterns in selections
        for pattern in patterns
        for path in _nearest(view, category, pattern)
    ]
    hint = f"Nearest: {', '.join(map(repr, dict.fromkeys(near)))}." if near else "list_documents shows what there is."
    return NotFound(
        f"No document matches {expression[:200]!r} in project {view.project.name!r}. {hint}",
        instruction=consider("one of the nearest names, or what list_documents shows"),
    )


def _nearest(view: View, category: Category, pattern: str) -> list[str]:
    try:
        return view.tree.nearest(pattern, category.dir)
    except NotFound:
        return []


# --- reading ------------------------------------------------------------------------------------------


class Read(NamedTuple):
    """Documents that may be shown, and why others may not."""

    documents: list[Document]
    withheld: list[tuple[str, str]]
    """Path and reason."""


def read(view: View, entries: Iterable[Entry]) -> Read:
    """The documents themselves. One that is not meant for this project, or is no text, is named with the reason."""
    flags = resolve_flags(view.configuration, view.project)
    documents: list[Document] = []
    withheld: list[tuple[str, str]] = []
    for entry in entries:
        try:
            document = view.tree.read(entry.path)
        except NotFound:
            withheld.append((entry.path, "It was removed a moment ago."))
            continue
        missing = [name for name in document.front.requires if not flags.get(name)]
        if missing:
            withheld.append((entry.path, f"It requires the flag {' and '.join(missing)}, which is not set."))
        elif document.text is None:
            withheld.append((entry.path, " ".join(document.warnings) or "It is not text."))
        else:
            documents.append(document)
    return Read(documents, withheld)


def content(
    view: View, expression: str, pattern: str | None = None, format: Format = "plain", cursor: str | None = None
) -> Answer:
    """The text of documents, a page at a time."""
    wanted = join(expression, pattern)
    found = find(view, wanted)
    shown = page(found.entries, cursor, of=f"{view.project.name}\n{wanted}")
    got = read(view, shown.entries)
    if not got.documents and not shown.left_out and cursor is None:
        reasons = " ".join(f"{path}: {why}" for path, why in got.withheld[:_MOST_NAMED])
        raise NotFound(f"Nothing of {wanted[:200]!r} can be shown. {reasons}")
    value: Value = {
        "content": formats.render(got.documents, format),
        "documents": [document.path for document in got.documents],
    }
    return Answer.ok(value | _left_out(got, shown), _told(found, got, shown), _orders(got.documents))


def _left_out(got: Read, shown: Page[Entry]) -> Value:
    value: Value = {}
    if got.withheld:
        value["left_out"] = [{"path": path, "reason": reason} for path, reason in got.withheld]
    if shown.next_cursor:
        value |= {"next_cursor": shown.next_cursor, "remaining": shown.left_out}
    return value


def _told(found: Found, got: Read, shown: Page[Entry]) -> str:
    """For the person: what they get, and what they do not."""
    number = len(got.documents)
    words = ["1 document." if number == 1 else f"{number:,} documents."]
    if shown.notice:
        words.append(shown.notice)
    if got.withheld:
        words.append(f"{len(got.withheld)} cannot be shown.")
    if found.empty:
        names = ", ".join(f"{one.category.name}/{'+'.join(one.patterns)}" for one in found.empty[:_MOST_NAMED])
        words.append(f"Nothing matches {names}.")
    words += [f"{document.path}: {warning}" for document in got.documents for warning in document.warnings]
    return " ".join(words)


def _orders(documents: Sequence[Document]) -> str:
    """For the agent: what the documents say they are, and what they tell it to do."""
    kinds = (
        ("instruction", "Follow the instructions in {}."),
        ("user", "Show {} to the user."),
        ("agent", "{} is for you, not for the user."),
    )
    words = [document.front.instruction for document in documents if document.front.instruction]
    for kind, sentence in kinds:
        paths = [document.path for document in documents if document.front.type == kind]
        words += [sentence.format(", ".join(paths))] if paths else []
    return " ".join(dict.fromkeys(words))


# --- looking around -----------------------------------------------------------------------------------


def listing(view: View, expression: str | None, limit: int, cursor: str | None) -> Answer:
    """What documents there are, without their text."""
    entries = find(view, expression).entries if expression else find_all(view)
    shown = page(entries, cursor, Limits(limit, _NO_LIMIT), of=f"{view.project.name}\nlist\n{expression or ''}")
    flags = resolve_flags(view.configuration, view.project)
    documents = [document for entry in shown.entries if (document := _seen(view, entry)) is not None]
    value: Value = {"documents": [_line(document, flags) for document in documents], "total": len(entries)}
    if shown.next_cursor:
        value["next_cursor"] = shown.next_cursor
    return Answer.ok(value, shown.notice)


def _seen(view: View, entry: Entry) -> Document | None:
    try:
        return view.tree.read(entry.path)
    except NotFound:
        return None


def _line(document: Document, flags: Mapping[str, FlagValue]) -> Value:
    front = document.front
    line: Value = {
        "path": document.path,
        "title": front.title,
        "description": front.description,
        "tags": list(front.tags) or None,
        "type": front.type,
        "size": document.size,
        "modified": datetime.fromtimestamp(document.modified, UTC).isoformat(timespec="seconds"),
        "is_text": None if document.is_text else False,
        "requires": [name for name in front.requires if not flags.get(name)] or None,
    }
    return {name: value for name, value in line.items() if value is not None}


def search(view: View, query: str, limit: int, cursor: str | None) -> Answer:
    """The documents that hold the words, the best first."""
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= len(str(_NO_LIMIT))):
        raise InvalidArguments(
            f"The cursor {cursor[:60]!r} is none of this search; begin without one.", fields=["cursor"]
        )
    offset = int(cursor or 0)
    folders = list(dict.fromkeys(category.dir for category in view.project.categories.values()))
    found = view.search().find(query, folders, limit, offset)
    flags = resolve_flags(view.configuration, view.project)
    value: Value = {"hits": [_hit(view, hit, flags) for hit in found.hits], "total": found.total}
    reached = offset + len(found.hits)
    if found.hits and reached < found.total:
        value["next_cursor"] = str(reached)
    if not found.total:
        return Answer.ok(value, f"No document holds {query[:100]!r}.")
    some = " No document has all the words; these have some." if found.is_relaxed else ""
    return Answer.ok(value, f"{len(found.hits)} of {found.total} hits.{some}")


def _hit(view: View, hit: "Hit", flags: Mapping[str, FlagValue]) -> Value:
    line: Value = {"path": hit.path, "title": hit.title, "snippet": hit.snippet, "score": round(hit.score, 3)}
    with suppress(NotFound):  # removed a moment ago
        missing = [name for name in view.tree.read(hit.path).front.requires if not flags.get(name)]
        line |= {"requires": missing} if missing else {}
    return line
