"""Storage format as a tree, with the place of each element in the text.

It is XML with the entities of HTML and prefixes that are never declared, so a parser of XML does not read it. This one
keeps places, so that a change can leave everything around it as it was, byte for byte.
"""

import re
from dataclasses import dataclass, field

from toolcharter import Unavailable

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]*+)(?:[^<>\"'/]|\"[^\"<]*\"|'[^'<]*'|/(?!>))*+(?P<empty>/?)>")
_DATA, _END_DATA = "<![CDATA[", "]]>"
_COMMENT, _END_COMMENT = "<!--", "-->"
_ATTRIBUTE = re.compile(r"(?<![\w:.-])([\w:.-]++)\s*+=\s*+(\"[^\"]*\"|'[^']*')")
VOID = frozenset({"br", "hr", "img", "col"})
MAX_DEPTH = 200


@dataclass(slots=True)
class Element:
    """An element, or the text between elements (which has no name)."""

    name: str
    start: int
    end: int = 0
    opening: str = ""
    closing: str = ""
    text: str = ""
    is_data: bool = False
    children: "list[Element]" = field(default_factory=list)

    @property
    def attributes(self) -> dict[str, str]:
        """Its attributes, with entities read."""
        return {name: unescape(value[1:-1]) for name, value in _ATTRIBUTE.findall(self.opening)}

    def find(self, name: str) -> "Element | None":
        """The first child with this name."""
        return next((one for one in self.children if one.name == name), None)

    def words(self) -> str:
        """All text inside."""
        return self.text + "".join(one.words() for one in self.children)


class Malformed(Unavailable):
    """A page whose text is not well-formed."""


def parse(source: str) -> Element:
    """The tree of a text."""
    root = Element("", 0, len(source))
    stack = [root]
    place = 0
    while (start := source.find("<", place)) >= 0:
        _add_text(stack[-1], source, place, start)
        if source.startswith(_DATA, start):
            place = _end(source, start, _END_DATA)
            data = source[start + len(_DATA) : place - len(_END_DATA)]
            stack[-1].children.append(Element("", start, place, text=data, is_data=True))
        elif source.startswith(_COMMENT, start):
            place = _end(source, start, _END_COMMENT)
        else:
            place = _add_tag(stack, source, start)
    _add_text(stack[-1], source, place, len(source))
    if len(stack) > 1:
        raise Malformed(f"The text of the page is not well-formed: <{stack[-1].name}> is not closed.")
    return root


def unescape(text: str) -> str:
    """Text with its entities read."""
    import html  # noqa: PLC0415 - 3 ms for its table, and Cloud does not need it

    return html.unescape(text)


def escape(text: str) -> str:
    """Text as it stands in storage format."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attribute(text: str) -> str:
    """Text as the value of an attribute."""
    return escape(text).replace('"', "&quot;")


def _add_text(parent: Element, source: str, start: int, end: int) -> None:
    if end > start:
        parent.children.append(Element("", start, end, text=unescape(source[start:end])))


def _end(source: str, start: int, closing: str) -> int:
    end = source.find(closing, start)
    if end < 0:
        raise Malformed(f"The text of the page is not well-formed: {source[start : start + 9]} is not closed.")
    return end + len(closing)


def _add_tag(stack: list[Element], source: str, start: int) -> int:
    tag = _TAG.match(source, start)
    if tag is None:
        raise Malformed(f"The text of the page is not well-formed: {source[start : start + 20]!r} is not a tag.")
    if tag["close"]:
        _close(stack, tag)
    else:
        _open(stack, tag)
    return tag.end()


def _open(stack: list[Element], found: re.Match[str]) -> None:
    element = Element(found["name"], found.start(), found.end(), opening=found[0])
    stack[-1].children.append(element)
    if found["empty"] or found["name"] in VOID:
        return
    if len(stack) > MAX_DEPTH:
        raise Malformed(f"The text of the page is nested more than {MAX_DEPTH} deep.")
    stack.append(element)


def _close(stack: list[Element], found: re.Match[str]) -> None:
    if len(stack) == 1 or stack[-1].name != found["name"]:
        expected = f"</{stack[-1].name}>" if len(stack) > 1 else "nothing"
        raise Malformed(f"The text of the page is not well-formed: {found[0]} where {expected} was expected.")
    element = stack.pop()
    element.end, element.closing = found.end(), found[0]
