"""Create, update and delete documents. Reads and writes files: call it in a thread (`Guide.run`)."""

from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import NamedTuple

from mcp_guide.content.documents import Document, make_document
from mcp_guide.content.finding import shown_path
from mcp_guide.content.front_matter import split_front_matter
from mcp_guide.content.patterns import quote_text
from mcp_guide.content.sections import get_section
from mcp_guide.guide import GuideResult, ProjectView
from mcp_guide.model import Category, no_category, suggest_names
from toolcharter import Conflict, InvalidArguments, NotFound, instructions

_MAX_DIFF_LINES = 20
_DIFF_CONTEXT = 40
"""Characters before and after the first difference of a line."""


def create(view: ProjectView, category_dir: str, name: str, content: str) -> GuideResult:
    """Create a document. The folder of the category and the document root are created with the first one."""
    view.require_writable()
    category = _find_category(view, category_dir)
    path = category.path_of(_file_name(name))
    view.root.mkdir(parents=True, exist_ok=True)
    view.tree.own.create(path, content)
    shown = shown_path(category, path)
    return GuideResult.ok({"path": shown, "size": len(content.encode())}, f"Created the document {shown}.")


class Edit(NamedTuple):
    """A change of a document: of words, of a section, or of the whole text."""

    old_text: str | None = None
    new_text: str | None = None
    section: str | None = None
    content: str | None = None
    version: str | None = None
    """The version that was read."""


def update(view: ProjectView, category_dir: str, name: str, edit: Edit) -> GuideResult:
    """Change a document. Its front matter stays, unless the new text has its own."""
    view.require_writable()
    category = _find_category(view, category_dir)
    entry = view.tree.own_entry(category.path_of(name))
    shown = shown_path(category, entry.path)
    before = replace(entry.read(), path=shown)
    if before.text is None:
        raise InvalidArguments(f"{shown} is not text and cannot be edited.")
    if edit.version is not None and edit.version != before.version:
        raise Conflict(
            f"{shown} has changed since you read it: its version is {before.version}, not {edit.version}. "
            "Read it again, then make the change to the text as it is now.",
            instruction=instructions.consider("reading the document again before you change it"),
        )
    text = _edited(before, edit)
    after = make_document(shown, text.encode(errors="surrogatepass"), before.modified)
    view.tree.own.replace(entry.path, text)
    value = {"path": shown, "version": after.version, "diff": short_diff(before.head + before.text, text)}
    return GuideResult.ok(value, f"Changed {shown}." if value["diff"] else f"{shown} already had this text.")


def _edited(document: Document, edit: Edit) -> str:
    """The whole text after an edit, front matter included."""
    text = document.text or ""
    section = get_section(document, edit.section) if edit.section is not None else None
    start, end = (section.start, section.end) if section else (0, len(text))
    if edit.old_text is not None or edit.new_text is not None:
        if not edit.old_text or edit.new_text is None or edit.content is not None:
            raise InvalidArguments(
                "Send old_text and new_text together, and no content; old_text is not empty.",
                fields=["old_text", "new_text", "content"],
            )
        head = document.head if section is None and edit.old_text not in text else ""
        part = head or text[start:end]
        place = _find_once(part, edit.old_text, document.path)
        part = part[:place] + edit.new_text + part[place + len(edit.old_text) :]
        return part + text if head else document.head + text[:start] + part + text[end:]
    if edit.content is None:
        raise InvalidArguments(
            "Nothing to change. Send old_text and new_text, or content with a section or a version.",
            fields=["old_text", "new_text", "content"],
        )
    if section is not None:
        heading = "" if edit.content.lstrip().startswith("#") else text[section.start : section.body] + "\n"
        body = edit.content.strip("\n") + "\n"
        gap = "\n" if end < len(text) else ""
        return document.head + text[:start] + heading + body + gap + text[end:]
    if edit.version is None:
        raise InvalidArguments(
            f"To replace the whole text of {document.path}, read it first and send the `version` that you read: "
            "get_outline shows it. To change a part, send old_text and new_text, or a section with its content.",
            fields=["version"],
        )
    return edit.content if split_front_matter(edit.content).text != edit.content else document.head + edit.content


def _find_once(text: str, words: str, path: str) -> int:
    """The place of words that occur exactly once. Raises InvalidArguments."""
    number = text.count(words)
    if number == 1:
        return text.index(words)
    if number:
        problem = f"occurs {number} times in {path}. Send more of the text around it, or name the section."
    else:
        problem = f"does not occur in {path}. Copy it exactly as get_content shows it, with all signs and line ends."
    raise InvalidArguments(f"old_text {quote_text(words)} {problem}", fields=["old_text"])


def short_diff(before: str, after: str) -> str:
    """The lines that changed, each cut around what is different."""
    lines: list[str] = []
    old, new = before.splitlines(), after.splitlines()
    for kind, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        removed, added = old[i:i_end], new[j:j_end]
        place = _first_difference(removed[0], added[0]) if removed and added else 0
        lines += [f"-{_cut(line, place)}" for line in removed] + [f"+{_cut(line, place)}" for line in added]
    if len(lines) > _MAX_DIFF_LINES:
        lines = [*lines[:_MAX_DIFF_LINES], f"... and {len(lines) - _MAX_DIFF_LINES} more lines"]
    return "\n".join(lines)


def _first_difference(one: str, other: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _cut(line: str, place: int) -> str:
    start = max(0, place - _DIFF_CONTEXT) if len(line) > 2 * _DIFF_CONTEXT else 0
    end = start + 2 * _DIFF_CONTEXT
    return f"{'...' if start else ''}{line[start:end]}{'...' if end < len(line) else ''}"


def delete(view: ProjectView, category_dir: str, name: str) -> GuideResult:
    """Delete a document."""
    view.require_writable()
    category = _find_category(view, category_dir)
    path = view.tree.own_entry(category.path_of(name)).path
    view.tree.own.delete(path)
    shown = shown_path(category, path)
    return GuideResult.ok({"path": shown}, f"Deleted the document {shown}.")


def find(view: ProjectView, category_dir: str, name: str) -> str:
    """The path by which get_content reads a document that can be changed. Raises NotFound."""
    view.require_writable()
    category = _find_category(view, category_dir)
    return shown_path(category, view.tree.own_entry(category.path_of(name)).path)


def _find_category(view: ProjectView, name_or_dir: str) -> Category:
    """Find a category by its name, else by its folder. A document must be in a category to be found again."""
    categories = view.project.categories
    if name_or_dir in categories:
        return categories[name_or_dir]
    folder = name_or_dir.rstrip("/")
    category = next((category for category in categories.values() if category.dir == folder), None)
    if category is None:
        suggestion = suggest_names(folder, categories, no_category(view.project))
        raise NotFound(f"The project {view.project.name!r} has no category {name_or_dir[:100]!r}. {suggestion}")
    return category


def _file_name(name: str) -> str:
    return name if PurePosixPath(name).suffix else f"{name}.md"
