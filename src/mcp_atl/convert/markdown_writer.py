"""Markdown from a document, for agents. Content without a Markdown form becomes a placeholder."""

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from mcp_atl.convert.inline_writer import InlineWriter
from mcp_atl.convert.nodes import PANELS, Node, attributes, children, marks
from mcp_atl.convert.placeholders import Originals

MAX_DEPTH = 40
"""Blocks nested deeper than this are one placeholder: no person writes such a page."""

_LISTS = frozenset({"bulletList", "orderedList", "taskList"})
_LIST_START = re.compile(r"([-*]|1[.)]) +\S")
"""A list that begins right after a paragraph. Others would be taken for words, or for the line below a heading."""
_FENCE = re.compile(r"`{3,}")


class MarkdownWriter:
    """Writes blocks as Markdown, and remembers in `originals` what its placeholders stand for."""

    def __init__(self, originals: Originals | None = None) -> None:
        self.originals = originals or Originals()
        self._inline = InlineWriter(self.originals)
        self._leaves: dict[str, Callable[[Node], str]] = {
            "paragraph": self._paragraph,
            "heading": self._heading,
            "codeBlock": _code,
            "rule": lambda _: "---",
            "mediaSingle": self._image,
        }
        self._containers: dict[str, Callable[[Node, int], str]] = {
            "blockquote": self._quote,
            "panel": self._panel,
            "expand": self._expand,
            "nestedExpand": self._expand,
            "table": self._table,
        }

    def blocks(self, nodes: Sequence[Node], depth: int = 0) -> str:
        """Several blocks, with an empty line between them."""
        return "\n\n".join(part for part in self.parts(nodes, depth) if part)

    def parts(self, nodes: Sequence[Node], depth: int = 0, *, alternate: bool = False) -> list[str]:
        """The Markdown of each block. That of a list depends on the block before it, or on the list around it."""
        parts: list[str] = []
        previous = ""
        for node in nodes:
            # Two lists in a row would become one; another sign at the beginning keeps them apart.
            alternate = node["type"] == previous and not alternate if previous else alternate
            part = self.block(node, depth, alternate=alternate)
            previous = node["type"] if part else previous
            parts.append(part)
        return parts

    def block(self, node: Node, depth: int = 0, *, alternate: bool = False) -> str:
        kind = node["type"]
        if depth > MAX_DEPTH:
            return self.originals.placeholder(node)
        if kind in ("bulletList", "orderedList"):
            return self._list(node, depth, alternate=alternate)
        if kind == "taskList" and _has_markdown(node):
            return self._tasks(node, depth, "*" if alternate else "-")
        if kind in self._leaves and _has_markdown(node):
            return self._leaves[kind](node)
        if kind in self._containers and _has_markdown(node):
            return self._containers[kind](node, depth)
        if not children(node) or kind in ("mediaSingle", "mediaGroup"):
            return self.originals.placeholder(node)
        return self._locked(node, depth)

    def inline(self, nodes: Sequence[Node]) -> str:
        """The content of a paragraph."""
        return self._inline.write(nodes)

    def locked_body(self, node: Node, depth: int = 0) -> str:
        """The readable part of a node that Markdown cannot express."""
        if node["type"] == "table":
            return self._table(node, depth)
        if node["type"] == "decisionList":
            return "\n".join(f"- {self.inline(children(item))}" for item in children(node))
        return self.blocks(children(node), depth + 1)

    def _locked(self, node: Node, depth: int) -> str:
        before, after = self.originals.around(node)
        body = self.locked_body(node, depth)
        return "\n\n".join(part for part in (before, body, after) if part)

    def _paragraph(self, node: Node) -> str:
        return self.inline(children(node))

    def _heading(self, node: Node) -> str:
        words = self.inline(children(node)).replace("\\\n", " ").replace("\n", " ")
        return f"{'#' * attributes(node).get('level', 1)} {words}".rstrip()

    def _list(self, node: Node, depth: int, *, alternate: bool) -> str:
        ordered = node["type"] == "orderedList"
        number = int(attributes(node).get("order", 1)) if ordered else 0
        end = (")" if alternate else ".") if ordered else ("*" if alternate else "-")
        items = [
            self._item(item, f"{number + index}{end}" if ordered else end, depth)
            for index, item in enumerate(children(node))
        ]
        loose = any("\n\n" in item for item in items)
        return ("\n\n" if loose else "\n").join(items)

    def _item(self, item: Node, sign: str, depth: int) -> str:
        inner = children(item)
        parts = [part for part in self.parts(inner, depth + 1, alternate=sign == "-") if part]  # "- - -" is a rule
        kinds = [one["type"] for one in inner]
        tight = kinds[:1] == ["paragraph"] and all(_LIST_START.match(part) for part in parts[1:])
        alone = len(set(kinds[1:])) == len(kinds[1:]) and all(kind in _LISTS for kind in kinds[1:])
        return _indented(f"{sign} ", ("\n" if tight and alone else "\n\n").join(parts))

    def _tasks(self, node: Node, depth: int, sign: str) -> str:
        lines: list[str] = []
        for item in children(node):
            if item["type"] == "taskList":
                lines.append(_indented("  ", self._tasks(item, depth + 1, sign), first="  "))
            else:
                box = "x" if attributes(item).get("state") == "DONE" else " "
                lines.append(_indented("  ", self.inline(children(item)), first=f"{sign} [{box}] "))
        return "\n".join(lines)

    def _quote(self, node: Node, depth: int) -> str:
        return _quoted(self.blocks(children(node), depth + 1))

    def _panel(self, node: Node, depth: int) -> str:
        word = PANELS[attributes(node)["panelType"]]
        parts = self.parts(children(node), depth + 1)
        first = next((one["type"] for one, part in zip(children(node), parts, strict=True) if part), "")
        gap = "\n" if first == "paragraph" else "\n\n"  # a rule would make the first line a heading
        return _quoted(f"[!{word}]{gap}" + "\n\n".join(filter(None, parts)))

    def _expand(self, node: Node, depth: int) -> str:
        title = self._inline.escaped(str(attributes(node).get("title") or ""))
        return f"<details><summary>{title}</summary>\n\n{self.blocks(children(node), depth + 1)}\n\n</details>"

    def _image(self, node: Node) -> str:
        known = attributes(children(node)[0])
        return f"![{self._inline.escaped(str(known.get('alt') or ''))}](<{known['url']}>)"

    def _table(self, node: Node, depth: int) -> str:
        rows = [[self._cell(cell, depth) for cell in children(row)] for row in children(node)]
        width = max((len(row) for row in rows), default=1)
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
        return "\n".join([*lines[:1], f"|{' --- |' * width}", *lines[1:]])

    def _cell(self, cell: Node, depth: int) -> str:
        body = self.blocks(children(cell), depth + 1)
        return re.sub(r"(?<!\s)\s*\n\s*", "<br>", body.replace("\\\n", "<br>").replace("|", "\\|").strip())


def _code(node: Node) -> str:
    code = "".join(str(one.get("text", "")) for one in children(node))
    longest = max((len(one) for one in _FENCE.findall(code)), default=2)
    fence = "`" * (longest + 1)  # three is the shortest fence
    return f"{fence}{attributes(node).get('language') or ''}\n{code}\n{fence}"


def _has_markdown(node: Node) -> bool:
    """Whether Markdown has words for the whole block. What it loses besides (widths, alignment) is kept on edits."""
    match node["type"]:
        case "panel":
            return attributes(node).get("panelType") in PANELS
        case "mediaSingle":
            inner = children(node)
            return (
                len(inner) == 1
                and attributes(inner[0]).get("type") == "external"
                and ">" not in str(attributes(inner[0]).get("url"))
            )
        case "table":
            return _is_simple_table(node)
        case "taskList":
            return (
                all(
                    one["type"] in ("taskItem", "taskList") and (one["type"] != "taskList" or _has_markdown(one))
                    for one in children(node)
                )
                and children(node)[:1] != []
                and children(node)[0]["type"] == "taskItem"
            )
        case _:
            return True


def _is_simple_table(node: Node) -> bool:
    rows = [children(row) for row in children(node)]
    kinds = [{cell["type"] for cell in row} for row in rows]
    if len(rows) == 0 or kinds[0] != {"tableHeader"} or any(kind != {"tableCell"} for kind in kinds[1:]):
        return False
    widths = {width for width, _ in groupby(len(row) for row in rows)}
    return len(widths) == 1 and all(_is_simple_cell(cell) for row in rows for cell in row)


def _is_simple_cell(cell: Node) -> bool:
    known, inner = attributes(cell), children(cell)
    spans = {known.get("colspan", 1), known.get("rowspan", 1)}
    plain = spans == {1} and not known.get("background")
    return plain and len(inner) == 1 and inner[0]["type"] == "paragraph" and not marks(inner[0])


def _indented(indent: str, body: str, first: str | None = None) -> str:
    """A text whose first line begins with a sign, and whose other lines stand below its words."""
    sign = indent if first is None else first
    space = " " * len(indent)
    lines = body.split("\n")
    return "\n".join([sign + lines[0], *(space + line if line else "" for line in lines[1:])]).rstrip()


def _quoted(body: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in body.split("\n"))
