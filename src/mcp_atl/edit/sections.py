"""Sections of a document, and how they are named: by number, or by title."""

from collections.abc import Sequence
from typing import NamedTuple

from mcp_atl.convert.nodes import Node, attributes, children, plain_text
from toolcharter import InvalidArguments, NotFound

CONTAINERS = frozenset({"doc", "layoutSection", "layoutColumn", "panel", "expand", "nestedExpand", "bodiedExtension"})
"""Nodes whose blocks may begin sections."""
MAX_NAMED = 30


class Place(NamedTuple):
    """A section: the blocks from `start` to `end` of the container at `path`."""

    number: str
    level: int
    title: str
    path: tuple[int, ...]
    start: int
    end: int


def places(document: Node) -> list[Place]:
    """All sections, in the order of the document."""
    headings = list(_headings(document, ()))
    levels: list[int] = []
    counts: list[int] = []
    found: list[Place] = []
    for path, index, end, heading in headings:
        level = int(attributes(heading).get("level", 1))
        before = 0  # the last number at this depth, where a deeper heading came first
        while levels and levels[-1] > level:
            levels.pop()
            before = counts.pop()
        if levels and levels[-1] == level:
            counts[-1] += 1
        else:
            levels.append(level)
            counts.append(before + 1)
        number = ".".join(map(str, counts))
        found.append(Place(number, level, plain_text(heading).strip(), path, index, end))
    return found


def find_place(known: Sequence[Place], name: str) -> Place:
    """The section with this number or title."""
    wanted = name.strip().lstrip("#").strip()
    for matches in (
        [one for one in known if one.number == wanted.rstrip(".")],
        [one for one in known if one.title == wanted],
        [one for one in known if one.title.casefold() == wanted.casefold()],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            numbers = ", ".join(one.number for one in matches)
            raise InvalidArguments(
                f"{len(matches)} sections are called {wanted!r}: {numbers}. Use the number of one.",
                fields=("parameters",),
            )
    shown = ", ".join(f"{one.number} {one.title!r}" for one in known[:MAX_NAMED])
    more = f" and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else ""
    raise NotFound(f"The page has no section {name!r}. It has: {shown or 'no headings'}{more}.")


def container_at(document: Node, path: Sequence[int]) -> Node:
    """The node at a path of positions."""
    node = document
    for index in path:
        node = children(node)[index]
    return node


def with_content(document: Node, path: Sequence[int], content: Sequence[Node]) -> Node:
    """The document with other content in the container at a path. Nodes beside the path are the same objects."""
    if not path:
        return {**document, "content": list(content)}
    inner = list(children(document))
    inner[path[0]] = with_content(inner[path[0]], path[1:], content)
    return {**document, "content": inner}


def _headings(node: Node, path: tuple[int, ...]) -> "list[tuple[tuple[int, ...], int, int, Node]]":
    found: list[tuple[tuple[int, ...], int, int, Node]] = []
    blocks = children(node)
    for index, one in enumerate(blocks):
        if one["type"] == "heading":
            found.append((path, index, _end(blocks, index), one))
        elif one["type"] in CONTAINERS:
            found += _headings(one, (*path, index))
    return found


def _end(blocks: Sequence[Node], start: int) -> int:
    level = attributes(blocks[start]).get("level", 1)
    for index in range(start + 1, len(blocks)):
        if blocks[index]["type"] == "heading" and attributes(blocks[index]).get("level", 1) <= level:
            return index
    return len(blocks)
