"""Nodes of the Atlassian Document Format, and which of them may stand in which."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, cast

Node = dict[str, Any]

PANELS = {"info": "NOTE", "note": "IMPORTANT", "success": "TIP", "tip": "TIP", "warning": "WARNING", "error": "CAUTION"}
"""The kinds of panels, by the words that Markdown has for them."""
PANEL_TYPES = {"NOTE": "info", "IMPORTANT": "note", "TIP": "success", "WARNING": "warning", "CAUTION": "error"}

_SIMPLE = {"paragraph", "bulletList", "orderedList", "codeBlock", "mediaSingle", "extension"}
_RICH = _SIMPLE | {"heading", "rule", "taskList", "decisionList", "mediaGroup", "blockCard"}
_CELL = _RICH | {"blockquote", "panel", "nestedExpand", "embedCard"}
CHILDREN: dict[str, set[str]] = {
    "listItem": _SIMPLE | {"taskList"},
    "blockquote": _SIMPLE | {"mediaGroup"},
    "panel": _RICH,
    "expand": _CELL | {"table"},
    "nestedExpand": _RICH | {"blockquote", "panel"},
    "tableCell": _CELL,
    "tableHeader": _CELL,
}
"""The blocks that a block may contain, of those that Markdown can make. A document may contain all."""


def text(words: str, marks: Sequence[Node] = ()) -> Node:
    """A text node. It must not be empty."""
    return {"type": "text", "text": words} | ({"marks": list(marks)} if marks else {})


def block(kind: str, content: Sequence[Node] = (), **attributes: Any) -> Node:
    """A node with content; attributes that are None are left out."""
    known = {name: value for name, value in attributes.items() if value is not None}
    node: Node = {"type": kind}
    if known:
        node["attrs"] = known
    if content or kind not in ("rule", "hardBreak"):
        node["content"] = list(content)
    return node


def document(content: Sequence[Node]) -> Node:
    """A whole document. An empty one has an empty paragraph, which editors expect."""
    return {"type": "doc", "version": 1, "content": list(content) or [block("paragraph")]}


def children(node: Node) -> list[Node]:
    """The nodes inside a node."""
    return cast(list[Node], node.get("content", []))


def attributes(node: Node) -> dict[str, Any]:
    """The attributes of a node."""
    return cast(dict[str, Any], node.get("attrs") or {})


def marks(node: Node) -> list[Node]:
    """The marks of a node."""
    return cast(list[Node], node.get("marks") or [])


def plain_text(node: Node) -> str:
    """The words of a node, without marks."""
    if node["type"] == "text":
        return str(node["text"])
    if node["type"] == "hardBreak":
        return "\n"
    return "".join(map(plain_text, children(node)))


def lines(node: Node) -> list[list[Node]]:
    """The text of a block as lines of inline nodes, for a place where only words may stand."""
    match node["type"]:
        case "paragraph" | "heading" | "taskItem":
            return [children(node)] if children(node) else []
        case "codeBlock":
            code = plain_text(node).split("\n")
            return [[text(line, [{"type": "code"}])] for line in code if line.strip()]
        case "rule":
            return [[text("---")]]
        case "media":
            known = attributes(node)
            link = {"type": "link", "attrs": {"href": known["url"]}} if known.get("url") else None
            words = str(known.get("alt") or known.get("url") or "")
            return [[text(words, [link] if link else [])]] if words else []
        case "tableRow":
            cells = [[one for line in lines(cell) for one in line] for cell in children(node)]
            return [joined_texts([part for cell in cells for part in (text(" | "), *cell)][1:])] if any(cells) else []
        case _:
            return [line for one in children(node) for line in lines(one)]


def joined_texts(nodes: Sequence[Node]) -> list[Node]:
    """Nodes, with neighbouring texts of the same marks as one, and no empty text."""
    joined: list[Node] = []
    for is_text, group in groupby(nodes, key=lambda node: node["type"] == "text"):
        if not is_text:
            joined += group
            continue
        filled = (node for node in group if node["text"])
        for own, same in groupby(filled, key=marks):
            joined.append(text("".join(node["text"] for node in same), own))
    return joined


def contained(parent: str, blocks: Sequence[Node]) -> list[Node]:
    """Blocks in a form that the parent may contain, and at least one of them."""
    allowed = CHILDREN.get(parent)
    fitting = list(blocks) if allowed is None else [part for one in blocks for part in _fitted(parent, one, allowed)]
    return fitting or [block("paragraph")]


def _fitted(parent: str, node: Node, allowed: set[str]) -> list[Node]:
    kind = node["type"]
    if kind in allowed:
        return [node]
    match kind:
        case "expand" if "nestedExpand" in allowed:
            return [{**node, "type": "nestedExpand", "content": contained("nestedExpand", children(node))}]
        case "heading":
            strong = [_strong(one) for one in children(node)]
            return [block("paragraph", strong)]
        case "taskList":
            return [_tasks_as_bullets(node)]
        case "rule" | "table":
            return [block("paragraph", line) for line in lines(node)]
        case "blockquote" | "panel" | "expand" | "nestedExpand":
            return [part for one in children(node) for part in _fitted(parent, one, allowed)]
        case _:
            return [node]  # content without a Markdown form is never dropped


def _strong(node: Node) -> Node:
    kinds = {mark["type"] for mark in marks(node)}
    if node["type"] != "text" or kinds & {"code", "strong"}:
        return node
    return {**node, "marks": [*marks(node), {"type": "strong"}]}


def _tasks_as_bullets(node: Node) -> Node:
    items: list[Node] = []
    for one in children(node):
        if one["type"] == "taskList" and items:
            children(items[-1]).append(_tasks_as_bullets(one))
        else:
            box = "[x] " if attributes(one).get("state") == "DONE" else "[ ] "
            items.append(block("listItem", [block("paragraph", joined_texts([text(box), *children(one)]))]))
    return block("bulletList", items)
