"""`PageDocument`: a page in the format of its site, read and changed by section or exact text."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import Node, children
from mcp_atl.convert.placeholders import Originals
from mcp_atl.edit.merge import merge, missing_objects, refuse_missing, with_hidden_attributes
from mcp_atl.edit.sections import Place, container_at, find_place, places
from mcp_atl.edit.texts import find_once, replaced


class Heading(NamedTuple):
    """A heading, and the section that it begins."""

    number: str
    """Its place in the outline, such as 2.1."""
    level: int
    title: str
    size: int
    """Characters of its Markdown, with all sections below it."""


class DocumentSection(NamedTuple):
    """A section as Markdown."""

    heading: Heading
    markdown: str


class DocumentEdit(NamedTuple):
    """A changed document, and what was changed, in words."""

    body: Any
    summary: str


class PageDocument(ABC):
    """A page as a tree of ADF nodes, whichever the format of its site.

    A change replaces what was named. Every other node stays as it is: this is checked before a `DocumentEdit` is made.
    """

    def __init__(self, body: Node) -> None:
        self._body = body
        self._originals = Originals()
        self._writer = MarkdownWriter(self._originals)
        # Writing all of it gives each placeholder its digest, the same whichever part is read.
        parts = self._writer.parts(children(self._body))
        self._markdown = "\n\n".join(part for part in parts if part)
        self._sizes: dict[tuple[int, ...], list[int]] = {(): [len(part) for part in parts]}
        self._places = places(self._body)

    def outline(self) -> list[Heading]:
        return [self._heading(place) for place in self._places]

    def markdown(self) -> str:
        return self._markdown

    def section(self, name: str) -> DocumentSection:
        place = find_place(self._places, name)
        return DocumentSection(self._heading(place), self._writer.blocks(self._blocks(place)))

    def replace_section(self, name: str, markdown: str, *, remove_objects: bool = False) -> DocumentEdit:
        place = find_place(self._places, name)
        heading, *old = self._blocks(place)
        new = self._read(markdown)
        first, _, rest = markdown.strip("\n").partition("\n")
        if first.startswith("#") and new and new[0]["type"] == "heading" and new[0]["attrs"]["level"] <= place.level:
            same = first.strip() == self._writer.block(heading)
            heading, new, markdown = (heading if same else with_hidden_attributes(heading, new[0])), new[1:], rest
        if not remove_objects:
            refuse_missing(missing_objects(old, new, self._originals))
        merged = merge(old, markdown, self._originals)
        return self._edit(place, [heading, *merged.blocks], f"section {place.number} {place.title!r}: {merged.summary}")

    def insert_after(self, name: str, markdown: str) -> DocumentEdit:
        place = find_place(self._places, name)
        new = self._read(markdown)
        return self._edit(place, [*self._blocks(place), *new], f"{len(new)} blocks after section {place.number}")

    def replace_text(self, old: str, new: str) -> DocumentEdit:
        match = find_once(self._body, old)
        *path, index = match.path
        parent = container_at(self._body, path)
        block = replaced(children(parent)[index], match, new)
        place = Place("", 0, "", tuple(path), index, index + 1)
        return self._edit(place, [block], "1 text replaced")

    def append(self, markdown: str) -> DocumentEdit:
        end = len(children(self._body))
        new = self._read(markdown)
        return self._edit(Place("", 0, "", (), end, end), new, f"{len(new)} blocks added at the end")

    def prepend(self, markdown: str) -> DocumentEdit:
        new = self._read(markdown)
        return self._edit(Place("", 0, "", (), 0, 0), new, f"{len(new)} blocks added at the beginning")

    def replace_all(self, markdown: str, *, remove_objects: bool = False) -> DocumentEdit:
        old, new = children(self._body), self._read(markdown)
        if not remove_objects:
            refuse_missing(missing_objects(old, new, self._originals))
        merged = merge(old, markdown, self._originals)
        return self._edit(Place("", 0, "", (), 0, len(old)), merged.blocks, f"the whole page: {merged.summary}")

    def _read(self, markdown: str) -> list[Node]:
        return MarkdownReader(self._originals).blocks(markdown)

    def _heading(self, place: Place) -> Heading:
        return Heading(place.number, place.level, place.title, self._size(place))

    def _size(self, place: Place) -> int:
        """Characters of a section, from those of the blocks of its container, which are written once."""
        if place.path not in self._sizes:
            parts = self._writer.parts(children(container_at(self._body, place.path)))
            self._sizes[place.path] = [len(part) for part in parts]
        sizes = [size for size in self._sizes[place.path][place.start : place.end] if size]
        return sum(sizes) + 2 * (len(sizes) - 1)  # an empty line between blocks

    def _blocks(self, place: Place) -> list[Node]:
        return children(container_at(self._body, place.path))[place.start : place.end]

    @abstractmethod
    def _edit(self, place: Place, blocks: Sequence[Node], summary: str) -> DocumentEdit:
        """The document with other blocks at a place, in the format of its site."""
