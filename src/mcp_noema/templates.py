"""What a note type makes of a note: which cards, and what is on each side of them. No I/O, and nothing raises.

Templates are Anki's: `{{Field}}`, `{{filter:Field}}`, `{{#Field}}shown when it is not empty{{/Field}}`, `{{^Field}}`
for when it is. What is wrong with a template shows as it is written. Sides are plain text, for an agent.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from mcp_noema import clozes
from mcp_noema.markup import fold, plain, plain_text
from mcp_noema.model import SEPARATOR, NoteType

__all__ = ["Face", "first_key", "fold", "ordinals", "plain_text", "render", "searchable"]

_SIXTY_THREE_BITS = 2**63 - 1
_FRONT_SIDE = "FrontSide"


@dataclass(frozen=True, slots=True)
class Face:
    """A card as plain text. The back does not repeat the front; `media` are the names of its images and sounds."""

    front: str
    back: str
    media: tuple[str, ...] = ()


def ordinals(type: NoteType, values: tuple[str, ...]) -> tuple[int, ...]:
    """The cards that a note makes, by Anki's rules; none of a note with nothing to ask, where Anki makes the first."""
    if type.is_cloze:
        given = _by_name(type, values)
        asked = {name for template in type.templates for name in _cloze_fields(_parse(template.front))}
        return tuple(sorted({n - 1 for name in asked for n in clozes.numbers(given.get(name, ""))}))
    filled = {name for name, value in _by_name(type, values).items() if not _is_empty(value)}
    return tuple(n for n, template in enumerate(type.templates) if _asks(_parse(template.front), filled))


def render(
    type: NoteType, values: tuple[str, ...], ordinal: int, *, deck: str = "", tags: tuple[str, ...] = ()
) -> Face:
    """Both sides of one card."""
    position = 0 if type.is_cloze else ordinal
    if not 0 <= position < len(type.templates):
        return Face("", "")
    template = type.templates[position]
    special = {
        "Tags": " ".join(tags),
        "Deck": deck,
        "Subdeck": deck.rpartition(SEPARATOR)[2],
        "Type": type.name,
        "Card": template.name,
        "CardFlag": "",
        _FRONT_SIDE: "",
    }
    if type.is_cloze:
        special[f"c{ordinal + 1}"] = "1"
    known = special | _by_name(type, values)
    media: list[str] = []
    front = _Side(known, ordinal, media, is_front=True).text(template.front)
    back = _Side(known, ordinal, media, is_front=False).text(template.back)
    return Face(front, back, tuple(dict.fromkeys(media)))


def searchable(values: Iterable[str]) -> str:
    """What a note is found by: its fields as plain text in lower case, one a line."""
    return "\n".join([_one_line(clozes.revealed(value)) for value in values])


def first_key(value: str) -> int:
    """A number that two first fields share when they read the same."""
    digest = hashlib.blake2b(_one_line(value).encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) & _SIXTY_THREE_BITS


_CONTROL = dict.fromkeys((*range(9), *range(14, 28), *range(0xD800, 0xE000)))
"""Signs that no database keeps, and no one looks for."""


def _one_line(value: str) -> str:
    return fold(" ".join(plain_text(value).translate(_CONTROL).split()))


def _by_name(type: NoteType, values: tuple[str, ...]) -> dict[str, str]:
    return dict.fromkeys(type.fields, "") | dict(zip(type.fields, values, strict=False))


_EMPTY = re.compile(r"(?:\s|</?(?:br|div) ?/?>)*+", re.IGNORECASE)


def _is_empty(value: str) -> bool:
    """Whether Anki takes a field for empty."""
    return not value or _EMPTY.fullmatch(value) is not None


# --- reading templates -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Text:
    text: str


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    filters: tuple[str, ...]
    """In the order that they are applied in: the one next to the name first."""
    written: str


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    negated: bool
    children: tuple["_Node", ...]
    opening: str
    closing: str


_Node = _Text | _Field | _Section

_TAG = re.compile(r"\{\{\{([^{}]*+)\}\}\}|\{\{([^{}]*+)\}\}|<!--")
_OTHER_SYNTAX = "{{=<% %>=}}"
_DEEPEST = 50
"""Sections further inside than this are text."""


def _tags(template: str) -> Iterator[re.Match[str]]:
    """The tags of a template, without those in comments."""
    place, comments = 0, True
    while match := _TAG.search(template, place):
        place = match.end()
        if match[0] != "<!--":
            yield match
        elif comments:
            end = template.find("-->", place)
            comments = end >= 0
            place = max(place, end)


@lru_cache(maxsize=1024)
def _parse(template: str) -> tuple[_Node, ...]:
    """The parts of a template. A section without its other end is text."""
    if template.lstrip().startswith(_OTHER_SYNTAX):
        template = template.replace(_OTHER_SYNTAX, "", 1).replace("<%", "{{").replace("%>", "}}")
    done: list[_Node] = []
    # The sections that are open: how they were opened, and what came before them.
    open_sections: list[tuple[str, str, list[_Node]]] = []
    place = 0
    for match in _tags(template):
        done.append(_Text(template[place : match.start()]))
        place = match.end()
        inside = (match[1] or match[2] or "").strip()
        if inside[:1] in ("#", "^") and len(open_sections) < _DEEPEST:
            open_sections.append((inside, match[0], done))
            done = []
        elif inside[:1] == "/" and open_sections and open_sections[-1][0][1:].strip() == inside[1:].strip():
            opened, written, before = open_sections.pop()
            section = _Section(inside[1:].strip(), opened[0] == "^", tuple(done), written, match[0])
            before.append(section)
            done = before
        elif inside and inside[:1] not in ("#", "^", "/"):
            *filters, name = (part.strip() for part in inside.split(":"))
            done.append(_Field(name, tuple(reversed(filters)), match[0]))
        else:
            done.append(_Text(match[0]))
    done.append(_Text(template[place:]))
    for _, written, before in reversed(open_sections):
        done = [*before, _Text(written), *done]
    return tuple(node for node in done if node != _Text(""))


def _cloze_fields(nodes: Iterable[_Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, _Section):
            yield from _cloze_fields(node.children)
        elif isinstance(node, _Field) and "cloze" in node.filters:
            yield node.name


def _asks(nodes: Iterable[_Node], filled: set[str]) -> bool:
    """Whether a front shows more than its template's own text."""
    for node in nodes:
        if isinstance(node, _Field) and node.name in filled:
            return True
        if isinstance(node, _Section) and (node.name in filled) != node.negated and _asks(node.children, filled):
            return True
    return False


# --- showing a side ----------------------------------------------------------------------------------------

_ANSWER = re.compile(r"""<hr\s[^<>]*?\bid\s?=\s?["']?answer\b["']?[^<>]*+>""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Side:
    """What one side of one card is made of."""

    known: Mapping[str, str]
    ordinal: int
    media: list[str]
    is_front: bool

    def text(self, template: str) -> str:
        html = "".join(self._shown(_parse(template)))
        if not self.is_front and (answer := _ANSWER.search(html)):
            html = html[answer.end() :]
        return plain(html, self.media)

    def _shown(self, nodes: Iterable[_Node]) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, _Text):
                yield node.text
            elif node.name not in self.known:
                yield from self._as_written(node)
            elif isinstance(node, _Field):
                yield self._field(node)
            elif _is_empty(self.known[node.name]) == node.negated:
                yield from self._shown(node.children)

    def _as_written(self, node: _Field | _Section) -> Iterator[str]:
        """A part that names a field there is none of."""
        if isinstance(node, _Field):
            yield node.written
        else:
            # No field, so it is as empty as can be. `{{#c2}}` asks for another gap of a cloze note.
            yield from self._shown(node.children) if node.negated else ()

    def _field(self, field: _Field) -> str:
        value = self.known[field.name]
        for name in field.filters:
            value = self._filtered(name, value)
        # Reduced to text by itself, so that a field cannot close a tag that the template opened.
        return escape(plain(value, self.media), quote=True)

    def _filtered(self, name: str, value: str) -> str:
        if name == "cloze":
            return clozes.shown(value, self.ordinal + 1, hidden=self.is_front)
        if name == "cloze-only":
            return clozes.only(value, self.ordinal + 1)
        if name == "type":
            return "[type the answer]" if self.is_front else value
        if name == "hint":
            return "" if _is_empty(value) else f"[hint: {value}]"
        if name.startswith("tts "):
            return "" if _is_empty(value) else f"[speech: {value}]"
        change = _FILTERS.get(name)
        return change(value) if change else value


_READING = re.compile(r" ?(?<![^ >\[\]])([^ >\[\]]++)\[(?!sound:)([^\[\]]++)\]")

_FILTERS: Mapping[str, Callable[[str], str]] = {
    "furigana": lambda value: _READING.sub(r"\1[\2]", value),
    "kana": lambda value: _READING.sub(r"\2", value),
    "kanji": lambda value: _READING.sub(r"\1", value),
}
"""The others leave a field as it is: what they change is not in the text."""
