"""A page of Cloud: changes of a document in the Atlassian Document Format."""

from collections.abc import Sequence
from typing import Any

from mcp_atl.convert.nodes import Node, children, contained, document
from mcp_atl.edit.document import DocumentEdit, PageDocument
from mcp_atl.edit.sections import Place, container_at, with_content
from toolcharter import Conflict


class AdfDocument(PageDocument):
    """A document of Cloud."""

    def __init__(self, body: Any) -> None:
        super().__init__(body or document([]))

    def _edit(self, place: Place, blocks: Sequence[Node], summary: str) -> DocumentEdit:
        """The document with other blocks at a place, after a check that everything else is as it was."""
        container = container_at(self._body, place.path)
        before, after = children(container)[: place.start], children(container)[place.end :]
        fitting = contained(container["type"], blocks) if blocks and place.path else list(blocks)
        body = with_content(self._body, place.path, [*before, *fitting, *after])
        if foreign := foreign_changes(self._body, body, place, len(fitting)):
            raise Conflict(f"The change would also touch {', '.join(foreign)}. Nothing was written.")
        return DocumentEdit(body, summary)


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
    """The differences between two nodes, apart from the children at these positions."""
    rest_old = [one for index, one in enumerate(children(old)) if index not in inside_old]
    rest_new = [one for index, one in enumerate(children(new)) if index not in inside_new]
    if len(rest_old) != len(rest_new):
        return [f"{len(rest_old)} nodes of {old['type']}, now {len(rest_new)}"]
    changed = [one["type"] for one, other in zip(rest_old, rest_new, strict=True) if one != other]
    own_old, own_new = ({key: value for key, value in one.items() if key != "content"} for one in (old, new))
    return changed + ([old["type"]] if own_old != own_new else [])
