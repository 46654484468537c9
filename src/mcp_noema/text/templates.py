"""Card templates: which cards a note makes, and the text on their two sides. No I/O, and no errors.

Templates are Anki's: `{{Field}}`, `{{filter:Field}}`, `{{#Field}}shown if it is not empty{{/Field}}`, and `{{^Field}}`
for the opposite. A part of a template that is not valid is shown as it is. The sides are plain text, for an agent.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape

from mcp_noema.model import SEPARATOR, NoteType
from mcp_noema.text import clozes
from mcp_noema.text.markup import fold, plain, plain_text

__all__ = ["CardSides", "first_key", "fold", "ordinals", "plain_text", "render", "searchable"]

MAX_FILTERS = 10
"""A tag with more filters is text."""
MAX_SIDE = 500_000
"""Characters of fields that one side may read, each time that it shows a field and for each filter."""
_CUT = "..."
_SIXTY_THREE_BITS = 2**63 - 1
_FRONT_SIDE = "FrontSide"


@dataclass(frozen=True, slots=True)
class CardSides:
    """A card as plain text. The back does not repeat the front; `media` are the names of images and sounds."""

    front: str
    back: str
    media: tuple[str, ...] = ()


def ordinals(type: NoteType, values: tuple[str, ...]) -> tuple[int, ...]:
    """The cards that a note makes, by Anki's rules; except that a note with nothing to ask makes no card."""
    if type.is_cloze:
        fields = _by_name(type, values)
        with_gaps = {name for template in type.templates for name in _cloze_fields(_parse(template.front))}
        return tuple(sorted({n - 1 for name in with_gaps for n in clozes.numbers(fields.get(name, ""))}))
    filled = {name for name, value in _by_name(type, values).items() if not _is_empty(value)}
    return tuple(n for n, template in enumerate(type.templates) if _shows_field(_parse(template.front), filled))


def render(
    type: NoteType, values: tuple[str, ...], ordinal: int, *, deck: str = "", tags: tuple[str, ...] = ()
) -> CardSides:
    """Both sides of one card."""
    index = 0 if type.is_cloze else ordinal
    if not 0 <= index < len(type.templates):
        return CardSides("", "")
    template = type.templates[index]
    special_fields = {
        "Tags": " ".join(tags),
        "Deck": deck,
        "Subdeck": deck.rpartition(SEPARATOR)[2],
        "Type": type.name,
        "Card": template.name,
        "CardFlag": "",
        _FRONT_SIDE: "",
    }
    if type.is_cloze:
        special_fields[f"c{ordinal + 1}"] = "1"
    fields = special_fields | _by_name(type, values)
    media: list[str] = []
    front = _Side(fields, ordinal, media, is_front=True).text(template.front)
    back = _Side(fields, ordinal, media, is_front=False).text(template.back)
    return CardSides(front, back, tuple(dict.fromkeys(media)))


def searchable(values: Iterable[str]) -> str:
    """The text that searches look at: the fields as plain text in lower case, one a line."""
    return "\n".join([_one_line(clozes.reveal(value)) for value in values])


def first_key(value: str) -> int:
    """A hash of the first field; fields with the same plain text have the same key."""
    digest = hashlib.blake2b(_one_line(value).encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) & _SIXTY_THREE_BITS


_CONTROL = dict.fromkeys((*range(9), *range(14, 28), *range(0xD800, 0xE000)))
"""Control characters and surrogates, which databases do not store."""


def _one_line(value: str) -> str:
    return fold(" ".join(plain_text(value).translate(_CONTROL).split()))


def _by_name(type: NoteType, values: tuple[str, ...]) -> dict[str, str]:
    return dict.fromkeys(type.fields, "") | dict(zip(type.fields, values, strict=False))


_EMPTY = re.compile(r"(?:\s|</?(?:br|div) ?/?>)*+", re.IGNORECASE)


def _is_empty(value: str) -> bool:
    """Whether a field is empty by Anki's rules."""
    return not value or _EMPTY.fullmatch(value) is not None


# --- parsing -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Text:
    text: str


@dataclass(frozen=True, slots=True)
class _TemplateField:
    name: str
    filters: tuple[str, ...]
    """In the order in which they are applied: the one next to the name first."""
    source: str


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    negated: bool
    children: tuple["_Node", ...]


_Node = _Text | _TemplateField | _Section

_TAG = re.compile(r"\{\{\{([^{}]*+)\}\}\}|\{\{([^{}]*+)\}\}|<!--")
_OTHER_SYNTAX = "{{=<% %>=}}"
_MAX_DEPTH = 50
"""Sections nested deeper are text."""


def _tags(template: str) -> Iterator[re.Match[str]]:
    """The tags of a template, without those in comments."""
    position, may_have_comments = 0, True
    while match := _TAG.search(template, position):
        position = match.end()
        if match[0] != "<!--":
            yield match
        elif may_have_comments:
            end = template.find("-->", position)
            may_have_comments = end >= 0
            position = max(position, end)


@lru_cache(maxsize=256)
def _parse(template: str) -> tuple[_Node, ...]:
    """The nodes of a template. A section that is not closed, or not opened, is text."""
    if template.lstrip().startswith(_OTHER_SYNTAX):
        template = template.replace(_OTHER_SYNTAX, "", 1).replace("<%", "{{").replace("%>", "}}")
    nodes: list[_Node] = []
    # The open sections: their tag's content and source, and the nodes before them.
    open_sections: list[tuple[str, str, list[_Node]]] = []
    position = 0
    for match in _tags(template):
        nodes.append(_Text(template[position : match.start()]))
        position = match.end()
        content = (match[1] or match[2] or "").strip()
        if content[:1] in ("#", "^") and len(open_sections) < _MAX_DEPTH:
            open_sections.append((content, match[0], nodes))
            nodes = []
        elif content[:1] == "/" and open_sections and open_sections[-1][0][1:].strip() == content[1:].strip():
            opening, _, before = open_sections.pop()
            before.append(_Section(content[1:].strip(), opening[0] == "^", tuple(nodes)))
            nodes = before
        elif content and content[:1] not in ("#", "^", "/"):
            *filters, name = (part.strip() for part in content.split(":"))
            is_field = len(filters) <= MAX_FILTERS
            nodes.append(_TemplateField(name, tuple(reversed(filters)), match[0]) if is_field else _Text(match[0]))
        else:
            nodes.append(_Text(match[0]))
    nodes.append(_Text(template[position:]))
    for _, source, before in reversed(open_sections):
        nodes = [*before, _Text(source), *nodes]
    return tuple(node for node in nodes if node != _Text(""))


def _cloze_fields(nodes: Iterable[_Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, _Section):
            yield from _cloze_fields(node.children)
        elif isinstance(node, _TemplateField) and "cloze" in node.filters:
            yield node.name


def _shows_field(nodes: Iterable[_Node], filled: set[str]) -> bool:
    """Whether a front shows a field that is not empty."""
    for node in nodes:
        if isinstance(node, _TemplateField) and node.name in filled:
            return True
        if isinstance(node, _Section) and (node.name in filled) != node.negated and _shows_field(node.children, filled):
            return True
    return False


# --- rendering ---------------------------------------------------------------------------------------------

_RULE = re.compile(r"<hr\s[^<>]*+>", re.IGNORECASE)
_MASKS_BUTTON = '<button id="toggle">Toggle Masks</button>'
"""In Anki's template for hidden parts of images. An agent cannot press it."""
_ANSWER = re.compile(r"""\bid\s?=\s?["']?answer\b""", re.IGNORECASE)


@dataclass(slots=True)
class _Side:
    """Renders one side of a card. `fields` has the values of all fields, and `media` collects names."""

    fields: Mapping[str, str]
    ordinal: int
    media: list[str]
    is_front: bool
    length: int = 0
    """Characters of fields that were read."""
    empty_fields: dict[str, bool] = field(default_factory=dict[str, bool])

    def text(self, template: str) -> str:
        html = "".join(self._html(_parse(template)))
        if not self.is_front:
            rules = _RULE.finditer(html)
            html = next((html[rule.end() :] for rule in rules if _ANSWER.search(rule[0])), html)
            html = html.replace(_MASKS_BUTTON, "")
        return plain(html, self.media)

    def _html(self, nodes: Iterable[_Node]) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, _Text):
                yield node.text
            elif node.name not in self.fields:
                yield from self._unknown_field(node)
            elif isinstance(node, _TemplateField):
                yield self._field(node)
            elif self._is_empty_field(node.name) == node.negated:
                yield from self._html(node.children)

    def _unknown_field(self, node: _TemplateField | _Section) -> Iterator[str]:
        if isinstance(node, _TemplateField):
            yield node.source
        else:
            # It counts as empty. `{{#c2}}` is true on the card of another gap.
            yield from self._html(node.children) if node.negated else ()

    def _is_empty_field(self, name: str) -> bool:
        if name not in self.empty_fields:
            self.empty_fields[name] = _is_empty(self.fields[name])
        return self.empty_fields[name]

    def _field(self, field: _TemplateField) -> str:
        value = self.fields[field.name]
        self.length += len(value) * (1 + len(field.filters))
        if self.length > MAX_SIDE:
            return _CUT
        for name in field.filters:
            value = self._filter(name, value)
        # Converted to text separately, so that a field cannot close a tag that the template opened.
        return escape(plain(value, self.media), quote=True)

    def _filter(self, name: str, value: str) -> str:
        if name == "cloze":
            return clozes.render(value, self.ordinal + 1, hide=self.is_front)
        if name == "cloze-only":
            return clozes.answers(value, self.ordinal + 1)
        if name == "type":
            return "[type the answer]" if self.is_front else value
        if name == "hint":
            return "" if _is_empty(value) else f"[hint: {value}]"
        if name.startswith("tts "):
            return "" if _is_empty(value) else f"[speech: {value}]"
        text_filter = _FILTERS.get(name)
        return text_filter(value) if text_filter else value


_READING = re.compile(r" ?(?<![^ >\[\]])([^ >\[\]]++)\[(?!sound:)([^\[\]]++)\]")

_FILTERS: Mapping[str, Callable[[str], str]] = {
    "furigana": lambda value: _READING.sub(r"\1[\2]", value),
    "kana": lambda value: _READING.sub(r"\2", value),
    "kanji": lambda value: _READING.sub(r"\1", value),
}
"""Other filters do not change the text of a field."""
