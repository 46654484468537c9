"""The nodes of a document from wiki markup, the text format of Jira Data Center."""

import re
from collections.abc import Callable, Sequence

from mcp_atl.convert.nodes import Node, block, children, contained, document, text
from mcp_atl.convert.wiki_inline import wiki_inline
from mcp_atl.convert.wiki_writer import DONE, TODO

_HEADING = re.compile(r"h([1-6])\.(?:\s+(.*)|$)")
_ITEM = re.compile(r"([*#]+|-+(?=\s+[^\s-]))(?:\s+(.*)|$)")
_RULE = re.compile(r"-{4,}$")
_QUOTE = re.compile(r"bq\.\s+(.*)")
_IMAGE = re.compile(r"!(https?://[^\s!|]+)(?:\|[^!]*)?!$")
_MACRO = re.compile(r"(?<!\{)\{(code|noformat|quote|panel|info|note|tip|warning)(?::([^{}]*))?\}(?!\})")
_CELL = re.compile(r"(\|\|?)((?:\\.|\{\{(?:\\.|[^{}\\])+\}\}|\[(?:\\.|[^\[\]\\])*+\]|[^|\\]|\\$)*+)")
_PANELS = {"info": "info", "note": "note", "tip": "success", "warning": "warning"}
MAX_DEPTH = 10


def wiki_to_document(markup: str) -> Node:
    """A whole document."""
    return document(_Reader(markup.replace("\r\n", "\n").split("\n"), 0).read())


class _Reader:
    """Reads lines as blocks."""

    def __init__(self, lines: Sequence[str], depth: int) -> None:
        self._lines, self._depth = lines, depth
        self._index = 0
        self._blocks: list[Node] = []
        self._paragraph: list[str] = []

    def read(self) -> list[Node]:
        """All blocks."""
        while self._index < len(self._lines):
            line = self._lines[self._index].strip()
            if reader := self._reader(line):
                self._end_paragraph()
                reader()
                continue
            if line:
                self._paragraph.append(line)
            else:
                self._end_paragraph()
            self._index += 1
        self._end_paragraph()
        return self._blocks

    def _reader(self, line: str) -> Callable[[], None] | None:
        """The reader for the block that begins with this line; None for a paragraph."""
        if macro := self._macro_at(line):
            return lambda: self._blocks.extend(self._macro(macro))
        if _ITEM.match(line):
            return self._list
        if line.startswith("|"):
            return self._table
        if node := _one_line_block(line):
            return lambda: self._add(node)
        return None

    def _add(self, node: Node) -> None:
        self._blocks.append(node)
        self._index += 1

    def _end_paragraph(self) -> None:
        if self._paragraph:
            self._blocks.append(block("paragraph", wiki_inline("\n".join(self._paragraph))))
            self._paragraph = []

    # --- macros -------------------------------------------------------------------------------------------

    def _macro_at(self, line: str) -> re.Match[str] | None:
        return _MACRO.match(line) if self._depth < MAX_DEPTH else None

    def _macro(self, macro: re.Match[str]) -> list[Node]:
        """The text between two signs such as {code}; the rest of the text, if the second is missing."""
        start = self._index
        first = macro.string[macro.end() :]
        end, column = _macro_end(self._lines, start, first, macro[1])
        last = (first if end == start else self._lines[end]) if end < len(self._lines) else ""
        body = [last[:column]] if end == start else [first, *self._lines[start + 1 : end], last[:column]]
        self._index = end + 1
        after = last[column + len(f"{{{macro[1]}}}") :]
        more = _Reader([after], self._depth + 1).read() if after.strip() else []
        return [_macro_node(macro, _without_edges(body), self._depth), *more]

    # --- lists --------------------------------------------------------------------------------------------

    def _list(self) -> None:
        """Items that follow each other. Each sign more is a level deeper."""
        tree = _ListTree()
        while self._index < len(self._lines):
            line = self._lines[self._index].strip()
            if item := _ITEM.match(line):
                signs, words = item[1][:MAX_DEPTH].replace("-", "*"), item[2] or ""
                if macro := self._macro_at(words):
                    tree.add(signs, "")
                    tree.add_blocks(self._macro(macro))
                else:
                    tree.add(signs, words)
                    self._index += 1
            elif macro := self._macro_at(line):
                tree.add_blocks(self._macro(macro))
            elif not line or (self._reader(line) and not _IMAGE.match(line)):
                break
            else:
                tree.add_line(line)
                self._index += 1
        self._blocks += tree.nodes()

    # --- tables -------------------------------------------------------------------------------------------

    def _table(self) -> None:
        rows: list[Node] = []
        while self._index < len(self._lines) and self._lines[self._index].strip().startswith("|"):
            rows.append(_row(self._lines[self._index].strip()))
            self._index += 1
        self._blocks.append(block("table", rows))


class _ListTree:
    """The items of a list, as they are read."""

    def __init__(self) -> None:
        self._roots: list[Node] = []
        self._stack: list[tuple[str, Node]] = []
        self._item: Node = {}
        self._words: list[tuple[Node, list[str]]] = []
        """Each paragraph, and its lines."""

    def add(self, signs: str, words: str) -> None:
        """An item, in lists that are opened as its signs demand."""
        while self._stack and not signs.startswith(self._stack[-1][0]):
            self._stack.pop()
        while not self._stack or self._stack[-1][0] != signs:
            self._open(signs[: len(self._stack) + 1])
        self._add_item(self._stack[-1][1], words)

    def _add_item(self, parent: Node, words: str) -> None:
        self._item = block("listItem")
        children(parent).append(self._item)
        self._add_paragraph(words)

    def _add_paragraph(self, words: str) -> None:
        paragraph = block("paragraph")
        children(self._item).append(paragraph)
        self._words.append((paragraph, [words]))

    def _open(self, signs: str) -> None:
        opened = block("orderedList" if signs[-1] == "#" else "bulletList")
        if self._stack:
            parent = self._stack[-1][1]
            if not children(parent):
                self._add_item(parent, "")
            children(children(parent)[-1]).append(opened)
        else:
            self._roots.append(opened)
        self._stack.append((signs, opened))

    def add_line(self, line: str) -> None:
        """A line that continues the last item."""
        paragraph, lines = self._words[-1]
        if children(self._item)[-1] is paragraph:
            lines.append(line)
        else:
            self._add_paragraph(line)

    def add_blocks(self, blocks: Sequence[Node]) -> None:
        """Blocks that belong to the last item."""
        children(self._item).extend(contained("listItem", blocks))

    def nodes(self) -> list[Node]:
        """The lists, with tasks where items begin with their sign."""
        for paragraph, lines in self._words:
            paragraph["content"] = wiki_inline("\n".join(lines))
        return [part for root in self._roots for part in _with_tasks(root)]


_PLAIN_LISTS = ("bulletList", "orderedList")


def _with_tasks(node: Node) -> list[Node]:
    """A list, split where tasks begin and end."""
    lists: list[Node] = []
    for item in children(node):
        first, *rest = children(item) or [block("paragraph")]
        below = [part for one in rest for part in (_with_tasks(one) if one["type"] in _PLAIN_LISTS else [one])]
        state = _task_state(first)
        kind = node["type"] if state is None else "taskList"
        if not lists or lists[-1]["type"] != kind:
            lists.append(block(kind, localId=None if state is None else ""))
        if state is None:
            children(lists[-1]).append({**item, "content": [first, *below]})
            continue
        words = text(str(children(first)[0]["text"])[1:].lstrip())
        content = [*([words] if words["text"] else []), *children(first)[1:]]
        children(lists[-1]).append(block("taskItem", content, state=state, localId=""))
        children(lists[-1]).extend(one for one in below if one["type"] == "taskList")
    return lists


def _task_state(paragraph: Node) -> str | None:
    words = str(children(paragraph)[0].get("text", "")) if children(paragraph) else ""
    return {TODO: "TODO", DONE: "DONE"}.get(words[:1])


def _one_line_block(line: str) -> Node | None:
    if heading := _HEADING.match(line):
        return block("heading", wiki_inline(heading[2] or ""), level=int(heading[1]))
    if _RULE.match(line):
        return {"type": "rule"}
    if quote := _QUOTE.match(line):
        return block("blockquote", [block("paragraph", wiki_inline(quote[1]))])
    if image := _IMAGE.match(line):
        media = {"type": "media", "attrs": {"type": "external", "url": image[1]}}
        return block("mediaSingle", [media], layout="center")
    return None


def _row(line: str) -> Node:
    cells = [(sign, words.strip()) for sign, words in _CELL.findall(line)]
    if len(cells) > 1 and not cells[-1][1]:
        cells.pop()  # the sign at the end of the line
    kinds = {"||": "tableHeader", "|": "tableCell"}
    return block("tableRow", [block(kinds[sign], [block("paragraph", wiki_inline(words))]) for sign, words in cells])


def _macro_end(lines: Sequence[str], start: int, first: str, name: str) -> tuple[int, int]:
    """The line and column of the closing sign. Code is skipped, and so are panels inside a panel."""
    closing, depth, code = f"{{{name}}}", 0, ""
    for index in range(start, len(lines)):
        for sign in _MACRO.finditer(first if index == start else lines[index]):
            if code:
                code = "" if sign[0] == f"{{{code}}}" else code
            elif sign[0] == closing and not depth:
                return index, sign.start()
            elif sign[1] == name == "panel":
                depth += 1 if sign[2] is not None else -1
            elif sign[1] in ("code", "noformat") and name not in ("code", "noformat"):
                code = sign[1]
    return len(lines), 0


def _macro_node(macro: re.Match[str], lines: Sequence[str], depth: int) -> Node:
    name, parameters = macro[1], (macro[2] or "").split("|")
    if name in ("code", "noformat"):
        code = "\n".join(lines)
        language = parameters[0] if name == "code" and "=" not in parameters[0] else None
        return block("codeBlock", [text(code)] if code else [], language=language or None)
    inner = _Reader(lines, depth + 1).read()
    if name == "quote":
        return block("blockquote", contained("blockquote", inner))
    if name == "panel":
        title = next((one.removeprefix("title=") for one in parameters if one.startswith("title=")), "")
        return block("expand", contained("expand", inner), title=title)
    return block("panel", contained("panel", inner), panelType=_PANELS[name])


def _without_edges(lines: Sequence[str]) -> list[str]:
    """Lines without an empty first or last one, which only separate them from the signs."""
    start, end = int(bool(lines) and not lines[0].strip()), len(lines)
    return list(lines[start : end - 1 if end > start and not lines[-1].strip() else end])
