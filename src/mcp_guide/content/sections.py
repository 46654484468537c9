"""The sections of a Markdown text: each heading with the text up to the next heading of its level or above."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from mcp_guide.content.documents import Document
from mcp_guide.content.patterns import quote_text
from mcp_guide.content.tokens import count_tokens
from toolcharter import NotFound

MAX_SECTIONS = 5_000
"""Later headings belong to the last section."""
_MAX_NAMED = 20

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_ID = re.compile(r"\{#([\w.:-]+)\}$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKUP = re.compile(r"[`*~]|!?\[([^\[\]]*)\](?:\([^()]*\))?")
_NOT_IN_ID = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its place. The text before the first heading is a section without one."""

    id: str
    """The heading as an anchor, as GitHub writes it; empty without a heading."""
    title: str
    level: int
    start: int
    body: int
    """The beginning of the text after the heading."""
    end: int
    """The end with the sections inside it."""
    own_end: int
    """The end of the text before the first section inside it."""
    parents: tuple[str, ...] = ()
    """The titles of the sections around it."""


@lru_cache(maxsize=64)
def find_sections(text: str) -> tuple[Section, ...]:
    """The sections of a text, in order. A text before the first heading comes first, unless it is blank."""
    headings = [heading for heading, _ in zip(_headings(text), range(MAX_SECTIONS))]  # noqa: B905 - the shorter ends it
    first = headings[0].start if headings else len(text)
    found = [Section("", "", 0, 0, 0, first, first)] if text[:first].strip() or not headings else []
    ids: dict[str, int] = {}
    above: list[Section] = []
    for number, heading in enumerate(headings):
        number_of_id = ids.get(heading.id, -1) + 1
        ids[heading.id] = number_of_id
        own_end = headings[number + 1].start if number + 1 < len(headings) else len(text)
        above = [section for section in above if section.level < heading.level]
        section = replace(
            heading,
            id=f"{heading.id}-{number_of_id}" if number_of_id else heading.id,
            own_end=own_end,
            parents=tuple(section.title for section in above),
        )
        found.append(section)
        above.append(section)
    return tuple(_with_ends(found, len(text)))


def _with_ends(sections: list[Section], length: int) -> list[Section]:
    """The same, each ending where the next one of its level or above begins."""
    ended: list[Section] = []
    starts: list[tuple[int, int]] = []  # level and start of the sections that follow, from the nearest
    for section in reversed(sections):
        while starts and section.level and starts[-1][0] > section.level:
            starts.pop()
        end = (starts[-1][1] if starts else length) if section.level else section.end
        ended.append(replace(section, end=end))
        starts.append((section.level, section.start))
    return ended[::-1]


def _headings(text: str) -> Iterator[Section]:
    """The headings outside code, with neither a unique id nor an end."""
    place, before, before_place = 0, "", 0
    for line, is_code in lines_of(text):
        bare = line.rstrip("\r\n")
        following = place + len(line)
        if is_code:
            bare = ""
        elif (heading := _HEADING.fullmatch(bare)) and heading[2]:
            yield _section(heading[2], len(heading[1]), place, following)
        elif before.strip() and (under := _UNDERLINE.fullmatch(bare)) and _can_be_title(before):
            yield _section(before.strip(), 1 if under[1][0] == "=" else 2, before_place, following)
            bare = ""
        before, before_place, place = bare, place, following


def lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of a text with their ends, and whether each belongs to a block of code between fences."""
    fence = ""
    for line in text.splitlines(keepends=True):
        mark, is_code = _FENCE.match(line), bool(fence)
        if mark and not fence:
            fence, is_code = mark[1], True
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        yield line, is_code


def _can_be_title(line: str) -> bool:
    """Whether an underline makes a line a heading: it is not one already, nor a list, a table or a quote."""
    return line.lstrip()[:1] not in ("#", "-", "*", "|", ">", "+") and not line.startswith("    ")


def _section(title: str, level: int, start: int, body: int) -> Section:
    explicit = _ID.search(title)
    title = title[: explicit.start()] if explicit else title
    return Section(explicit[1] if explicit else make_id(title), title.strip(), level, start, body, 0, 0)


def make_id(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    bare = _MARKUP.sub(lambda mark: mark[1] or "", title).strip().lower()
    return _NOT_IN_ID.sub("", bare).replace(" ", "-")


def get_section(document: Document, name: str) -> Section:
    """The section with an id or a title. Raises NotFound with those that it could be."""
    sections = find_sections(document.text or "")
    wanted = name.strip().lstrip("#").strip()
    folded = wanted.casefold()
    headed = [section for section in sections if section.level and wanted]
    for matching in (
        [section for section in headed if section.id == wanted],
        [section for section in headed if section.title.casefold() == folded],
        [section for section in headed if section.id == make_id(wanted)],
        [section for section in headed if folded in section.title.casefold() or make_id(wanted) in section.id],
    ):
        if matching:
            return matching[0]
    raise NotFound(f"{document.path} has no section {quote_text(name)}. {_suggest(sections, wanted)}")


def _suggest(sections: Sequence[Section], wanted: str) -> str:
    by_id = {section.id: section.title for section in sections if section.level}
    if not by_id:
        return "It has no headings; read it without a section."
    by_title = {title.casefold(): name for name, title in by_id.items()}
    near = difflib.get_close_matches(make_id(wanted), by_id, n=3) or [
        by_title[title] for title in difflib.get_close_matches(wanted.casefold(), by_title, n=3)
    ]
    if near:
        return f"Did you mean {' or '.join(repr(f'#{name}') for name in near)}?"
    return f"Its sections: {', '.join(f'#{name}' for name in list(by_id)[:_MAX_NAMED])}."


def cut_sections(document: Document, names: Sequence[str]) -> Document:
    """The document with these sections alone, in this order. Its path says which. Raises NotFound."""
    sections = list(dict.fromkeys(get_section(document, name) for name in names))
    text = document.text or ""
    parts = [text[section.start : section.end] for section in sections]
    ids = "#".join(section.id for section in sections)
    return replace(document, path=f"{document.path}#{ids}", text="\n\n".join(part.rstrip() for part in parts) + "\n")


def outline(document: Document) -> list[str]:
    """The sections as lines: the id, the title where it says more, and the tokens of its own text."""
    text = document.text or ""
    lines: list[str] = []
    for section in find_sections(text):
        if section.level:
            title = "" if section.id == section.title.lower() else f" {section.title}"
            size = count_tokens(text[section.start : section.own_end])
            lines.append(f"{'  ' * (section.level - 1)}#{section.id}{title} ({size})")
    return lines
