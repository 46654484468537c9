"""A page of Cloud: changes of a document in the Atlassian Document Format."""

from collections.abc import Sequence
from typing import Any

from mcp_atl.convert.markdown_reader import MarkdownReader
from mcp_atl.convert.markdown_writer import MarkdownWriter
from mcp_atl.convert.nodes import Node, children, contained, document
from mcp_atl.convert.placeholders import Originals
from mcp_atl.edit.document import Edit, Heading, Section
from mcp_atl.edit.merge import carried, merge, missing_objects, refuse_missing
from mcp_atl.edit.sections import Place, container_at, find_place, places, with_content
from mcp_atl.edit.texts import find_once, replaced
from toolcharter import Conflict


class AdfDocument:
    """A document of Cloud."""

    def __init__(self, body: Any) -> None:
        self._body: Node = body or document([])
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

    def section(self, name: str) -> Section:
        place = find_place(self._places, name)
        return Section(self._heading(place), self._writer.blocks(self._blocks(place)))

    def replace_section(self, name: str, markdown: str, *, remove_objects: bool = False) -> Edit:
        place = find_place(self._places, name)
        heading, *old = self._blocks(place)
        new = self._read(markdown)
        first, _, rest = markdown.strip("\n").partition("\n")
        if first.startswith("#") and new and new[0]["type"] == "heading" and new[0]["attrs"]["level"] <= place.level:
            same = first.strip() == self._writer.block(heading)
            heading, new, markdown = (heading if same else carried(heading, new[0])), new[1:], rest
        if not remove_objects:
            refuse_missing(missing_objects(old, new, self._originals))
        merged = merge(old, markdown, self._originals)
        return self._edit(place, [heading, *merged.blocks], f"section {place.number} {place.title!r}: {merged.summary}")

    def insert_after(self, name: str, markdown: str) -> Edit:
        place = find_place(self._places, name)
        new = self._read(markdown)
        return self._edit(place, [*self._blocks(place), *new], f"{len(new)} blocks after section {place.number}")

    def replace_text(self, old: str, new: str) -> Edit:
        match = find_once(self._body, old)
        *path, index = match.path
        parent = container_at(self._body, path)
        block = replaced(children(parent)[index], match, new)
        place = Place("", 0, "", tuple(path), index, index + 1)
        return self._edit(place, [block], "1 text replaced")

    def append(self, markdown: str) -> Edit:
        end = len(children(self._body))
        new = self._read(markdown)
        return self._edit(Place("", 0, "", (), end, end), new, f"{len(new)} blocks added at the end")

    def prepend(self, markdown: str) -> Edit:
        new = self._read(markdown)
        return self._edit(Place("", 0, "", (), 0, 0), new, f"{len(new)} blocks added at the beginning")

    def replace_all(self, markdown: str, *, remove_objects: bool = False) -> Edit:
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

    def _edit(self, place: Place, blocks: Sequence[Node], summary: str) -> Edit:
        """The document with other blocks at a place, after a check that everything else is as it was."""
        container = container_at(self._body, place.path)
        before, after = children(container)[: place.start], children(container)[place.end :]
        fitting = contained(container["type"], blocks) if blocks and place.path else list(blocks)
        body = with_content(self._body, place.path, [*before, *fitting, *after])
        if foreign := foreign_changes(self._body, body, place, len(fitting)):
            raise Conflict(f"The change would also touch {', '.join(foreign)}. Nothing was written.")
        return Edit(body, summary)


def foreign_changes(old: Node, new: Node, place: Place, count: int) -> list[str]:
    """The nodes outside the place of a change that differ. There must be none before anything is sent."""
    changed: list[str] = []
    one, other = old, new
    for index in place.path:
        changed += _differences(one, other, (index,), (index,))
        one, other = children(one)[index], children(other)[index]
    inside_old, inside_new = range(place.start, place.end), range(place.start, place.start + count)
    return changed + _differences(one, other, inside_old, inside_new)


def _differences(old: Node, new: Node, inside_old: Sequence[int], inside_new: Sequence[int]) -> list[str]:
    """What differs between two nodes, apart from the children at these positions."""
    rest_old = [one for index, one in enumerate(children(old)) if index not in inside_old]
    rest_new = [one for index, one in enumerate(children(new)) if index not in inside_new]
    if len(rest_old) != len(rest_new):
        return [f"{len(rest_old)} nodes of {old['type']}, now {len(rest_new)}"]
    changed = [one["type"] for one, other in zip(rest_old, rest_new, strict=True) if one != other]
    own_old, own_new = ({key: value for key, value in one.items() if key != "content"} for one in (old, new))
    return changed + ([old["type"]] if own_old != own_new else [])
