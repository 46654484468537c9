"""What a document says, without what nobody sees."""

from itertools import groupby
from typing import Any

from mcp_atl.convert.nodes import Node, attributes, children, marks

EMPTY = ("paragraph", {}, [])


def meaning(node: Node) -> Any:
    """A document as plain values. Marks on spaces do not count, nor does how words are cut into text nodes."""
    known = {name: value for name, value in attributes(node).items() if name != "localId" and value != ""}
    inner: list[Any] = []
    for is_text, group in groupby(children(node), key=lambda one: one["type"] == "text"):
        nodes = list(group)
        inner += _words(nodes) if is_text else [meaning(one) for one in nodes]
    return (node["type"], known, [one for one in inner if one != EMPTY])


def _words(nodes: list[Node]) -> list[Any]:
    letters = [
        (letter, sorted(str(mark) for mark in marks(node)))
        for node in nodes
        for letter in str(node["text"])
        if not letter.isspace()
    ]
    return [("".join(letter for letter, _ in group), own) for own, group in groupby(letters, key=lambda one: one[1])]
