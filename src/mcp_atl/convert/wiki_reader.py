"""The nodes of a document from wiki markup, the text format of Jira Data Center."""

import re
from collections.abc import Sequence

from mcp_atl.convert.nodes import Node, block, children, contained, document, text

_HEADING = re.compile(r"h([1-6])\.\s+(.*)")
_ITEM = re.compile(r"([*#-]+)\s+(.*)")
_RULE = re.compile(r"-{4,}\s*$")
_MACRO = re.compile(r"\{(code|noformat|quote|panel|info|note|tip|warning)(?::([^}]*))?\}")
_PANELS = {"info": "info", "note": "note", "tip": "success", "warning": "warning"}
_INLINE = re.compile(
    r"\\([\[\]{}|!*_+^~#\\.-])|\{\{(.+?)\}\}|\[~([^\]\s]+)\]|\[(?:([^\]|]*)\|)?((?:https?://|mailto:|#|\^)[^\]|]*)(?:\|[^\]]*)?\]"
    r"|!([^\s!|]+)(?:\|[^!]*)?!|\{color(?::[^}]*)?\}|(?<![\w\\])([*_+^~-])(?=\S)(.+?)(?<=\S)\7(?!\w)"
    r"|(https?://[^\s\]|}]+[^\s\]|}.,;:!?)])|\\\\ ?|\n"
)
_MARKS = {"*": "strong", "_": "em", "-": "strike", "+": "underline"}
DEEPEST = 10


def wiki_to_document(markup: str) -> Node:
    """A whole document."""
    return document(_blocks(markup.replace("\r\n", "\n").split("\n"), 0))


def _blocks(lines: Sequence[str], depth: int) -> list[Node]:
    found: list[Node] = []
    paragraph: list[str] = []
    index = 0

    def end_paragraph() -> None:
        if any(line.strip() for line in paragraph):
            found.append(block("paragraph", _inline("\n".join(paragraph).strip())))
        paragraph.clear()

    while index < len(lines):
        line = lines[index]
        macro = _MACRO.match(line.strip())
        if macro and depth < DEEPEST:
            end_paragraph()
            index = _macro(lines, index, macro, found, depth)
            continue
        if heading := _HEADING.match(line.strip()):
            end_paragraph()
            found.append(block("heading", _inline(heading[2]), level=int(heading[1])))
        elif _RULE.match(line.strip()):
            end_paragraph()
            found.append({"type": "rule"})
        elif line.startswith("bq. "):
            end_paragraph()
            found.append(block("blockquote", [block("paragraph", _inline(line[4:]))]))
        elif _ITEM.match(line.strip()):
            end_paragraph()
            index = _list(lines, index, found)
            continue
        elif line.lstrip().startswith("|"):
            end_paragraph()
            index = _table(lines, index, found)
            continue
        elif not line.strip():
            end_paragraph()
        else:
            paragraph.append(line)
        index += 1
    end_paragraph()
    return found


def _macro(lines: Sequence[str], start: int, macro: re.Match[str], found: list[Node], depth: int) -> int:
    """What stands between two signs such as {code}; the rest of the text, if the second is missing."""
    name, closing = macro[1], f"{{{macro[1]}}}"
    first = lines[start].strip()[macro.end() :]
    if closing in first:
        body, after, end = [first.partition(closing)[0]], first.partition(closing)[2], start
    else:
        end = next((index for index in range(start + 1, len(lines)) if closing in lines[index]), len(lines))
        last = lines[end].partition(closing) if end < len(lines) else ("", "", "")
        body = [first, *lines[start + 1 : end], last[0]]
        after = last[2]
    inner = [line for index, line in enumerate(body) if line or 0 < index < len(body) - 1]
    if name in ("code", "noformat"):
        code = "\n".join(inner)
        language = (
            (macro[2] or "").split("|")[0] if name == "code" and "=" not in (macro[2] or "").split("|")[0] else None
        )
        found.append(block("codeBlock", [text(code)] if code else [], language=language or None))
    elif name == "quote":
        found.append(block("blockquote", contained("blockquote", _blocks(inner, depth + 1))))
    elif name == "panel":
        title = next((one[6:] for one in (macro[2] or "").split("|") if one.startswith("title=")), None)
        found.append(block("expand", contained("expand", _blocks(inner, depth + 1)), title=title))
    else:
        found.append(block("panel", contained("panel", _blocks(inner, depth + 1)), panelType=_PANELS[name]))
    if after.strip():
        found += _blocks([after], depth + 1)
    return end + 1


def _list(lines: Sequence[str], start: int, found: list[Node]) -> int:
    """Items that follow each other. Each sign more is a level deeper."""
    stack: list[tuple[str, Node]] = []
    index = start
    while index < len(lines) and (item := _ITEM.match(lines[index].strip())):
        signs = item[1][:DEEPEST].replace("-", "*")
        while stack and not signs.startswith(stack[-1][0]):
            stack.pop()
        while not stack or stack[-1][0] != signs:
            level = signs[: len(stack[-1][0]) + 1] if stack else signs[:1]
            kind = "orderedList" if level[-1] == "#" else "bulletList"
            opened = block(kind)
            if stack:
                items = children(stack[-1][1])
                if not items:
                    items.append(block("listItem", [block("paragraph")]))
                children(items[-1]).append(opened)
            else:
                found.append(opened)
            stack.append((level, opened))
        children(stack[-1][1]).append(block("listItem", [block("paragraph", _inline(item[2]))]))
        index += 1
    return index


def _table(lines: Sequence[str], start: int, found: list[Node]) -> int:
    rows: list[Node] = []
    index = start
    while index < len(lines) and lines[index].lstrip().startswith("|"):
        line = lines[index].strip()
        is_head = line.startswith("||")
        cells = re.split(r"(?<!\\)\|\|" if is_head else r"(?<!\\)\|(?![^\[]*\])", line)[1:]
        cells = cells[:-1] if cells and not cells[-1].strip() else cells
        kind = "tableHeader" if is_head else "tableCell"
        rows.append(block("tableRow", [block(kind, [block("paragraph", _inline(one.strip()))]) for one in cells]))
        index += 1
    found.append(block("table", rows))
    return index


def _inline(words: str, marks: tuple[Node, ...] = (), depth: int = 0) -> list[Node]:
    nodes: list[Node] = []
    place = 0
    for found in _INLINE.finditer(words):
        if found.start() < place:
            continue
        if before := words[place : found.start()]:
            nodes.append(text(before, marks))
        place = found.end()
        nodes += _piece(found, marks, depth)
    if rest := words[place:]:
        nodes.append(text(rest, marks))
    return _joined(nodes)


def _piece(found: re.Match[str], marks: tuple[Node, ...], depth: int) -> list[Node]:
    escaped, code, user, label, address, image, sign, inside, bare = found.groups()
    if escaped is not None:
        return [text(escaped, marks)]
    if code is not None:
        return [text(code, [{"type": "code"}])]
    if user is not None:
        return [{"type": "mention", "attrs": {"id": user, "text": f"@{user}"}}]
    if address is not None or bare is not None or image is not None:
        target = str(address or bare or image)
        link: Node = {"type": "link", "attrs": {"href": target}}
        return [text(label or target, [*marks, link])]
    if sign is not None and depth < DEEPEST:
        mark: Node = (
            {"type": _MARKS[sign]}
            if sign in _MARKS
            else {"type": "subsup", "attrs": {"type": "sub" if sign == "~" else "sup"}}
        )
        return _inline(inside, (*marks, mark), depth + 1)
    if sign is not None:
        return [text(found[0], marks)]
    return [] if found[0].startswith("{") else [{"type": "hardBreak"}]


def _joined(nodes: list[Node]) -> list[Node]:
    joined: list[Node] = []
    for one in nodes:
        if joined and one["type"] == joined[-1]["type"] == "text" and one.get("marks") == joined[-1].get("marks"):
            joined[-1] = {**joined[-1], "text": joined[-1]["text"] + one["text"]}
        else:
            joined.append(one)
    return joined
