"""A page of Data Center: changes of a text in storage format, spliced into its source."""

from collections.abc import Sequence
from typing import Any

from mcp_atl.convert.nodes import Node, children, contained
from mcp_atl.convert.storage_reader import storage_to_document
from mcp_atl.convert.storage_tree import parse
from mcp_atl.convert.storage_writer import blocks_to_storage
from mcp_atl.edit.document import DocumentEdit, PageDocument
from mcp_atl.edit.sections import Place, container_at


def without_source(node: Node) -> Node:
    """A node that is written anew."""
    return {key: value for key, value in node.items() if key not in ("raw", "at")}


class StorageDocument(PageDocument):
    """A document of Data Center. Its nodes are those of Cloud, with their source beside them."""

    def __init__(self, body: Any) -> None:
        self._source = str(body or "")
        super().__init__(storage_to_document(self._source))

    def _edit(self, place: Place, blocks: Sequence[Node], summary: str) -> DocumentEdit:
        """The source with other blocks at a place. All before and after it is the same text."""
        container = container_at(self._body, place.path)
        if place.path and not any("raw" in one for one in children(container)):
            # Parts of a task list or a row have no source of their own: what contains them is written anew.
            content = [*children(container)[: place.start], *blocks, *children(container)[place.end :]]
            *path, index = place.path
            above = Place(place.number, place.level, place.title, tuple(path), index, index + 1)
            return self._edit(above, [without_source(container) | {"content": content}], summary)
        fitting = contained(container["type"], blocks) if blocks and place.path else list(blocks)
        start, end = self._range(container, place)
        text = self._source[:start] + blocks_to_storage(fitting) + self._source[end:]
        parse(text)  # what is sent is well-formed
        return DocumentEdit(text, summary)

    def _range(self, container: Node, place: Place) -> tuple[int, int]:
        """From where to where the blocks of a place stand in the source."""
        blocks = [one for one in children(container) if "raw" in one]
        if not blocks:
            return len(self._source), len(self._source)
        ends = [one["at"] + len(one["raw"]) for one in blocks]
        start = blocks[place.start]["at"] if place.start < len(blocks) else ends[-1]
        return start, ends[place.end - 1] if place.end > place.start else start
