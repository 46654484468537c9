"""Wiki markup, the text format of Jira Data Center, from the nodes of a document."""

import re
from collections.abc import Sequence

from mcp_atl.convert.nodes import Node, attributes, children, marks, plain_text

_SIGNS = {"strong": "*", "em": "_", "strike": "-", "underline": "+"}
_PANELS = {"info": "info", "note": "note", "success": "tip", "tip": "tip", "warning": "warning", "error": "warning"}
_SPECIAL = re.compile(r"([\[\]{}|!])|(?<!\w)([*_+^~-])(?=\w)|(?<=\w)([*_+^~-])(?!\w)")
_LINE_START = re.compile(r"(?m)^(h[1-6]\.|bq\.|[#*-]+ |-{4,})")


def document_to_wiki(document: Node) -> str:
    """A whole document."""
    return _blocks(children(document))


def _blocks(nodes: Sequence[Node]) -> str:
    return "\n\n".join(part for one in nodes if (part := _block(one)))


def _block(node: Node) -> str:
    known = attributes(node)
    match node["type"]:
        case "paragraph":
            return _LINE_START.sub(r"\\\1", _inline(children(node)))
        case "heading":
            return f"h{known['level']}. {_inline(children(node))}"
        case "bulletList" | "orderedList":
            return "\n".join(_items(node, ""))
        case "taskList":
            return "\n".join(_tasks(node, "*"))
        case "blockquote":
            return f"{{quote}}\n{_blocks(children(node))}\n{{quote}}"
        case "codeBlock":
            language = f":{known['language']}" if known.get("language") else ""
            return f"{{code{language}}}\n{plain_text(node)}\n{{code}}"
        case "rule":
            return "----"
        case "panel":
            name = _PANELS.get(known["panelType"], "info")
            return f"{{{name}}}\n{_blocks(children(node))}\n{{{name}}}"
        case "expand" | "nestedExpand":
            return f"{{panel:title={known.get('title') or ''}}}\n{_blocks(children(node))}\n{{panel}}"
        case "table":
            return "\n".join(_row(row) for row in children(node))
        case "mediaSingle":
            return f"!{attributes(children(node)[0]).get('url')}!"
        case _:
            return _blocks(children(node))


def _items(node: Node, signs: str) -> list[str]:
    own = signs + ("#" if node["type"] == "orderedList" else "*")
    lines: list[str] = []
    for item in children(node):
        words: list[str] = []
        below: list[str] = []
        for one in children(item):
            if one["type"] in ("bulletList", "orderedList"):
                below += _items(one, own)
            elif one["type"] == "taskList":
                below += _tasks(one, own + "*")
            else:
                words.append(_block(one).replace("\n\n", "\n"))
        lines += [f"{own} {chr(10).join(words)}", *below]
    return lines


def _tasks(node: Node, signs: str) -> list[str]:
    lines: list[str] = []
    for item in children(node):
        if item["type"] == "taskList":
            lines += _tasks(item, signs + "*")
        else:
            box = "(/)" if attributes(item).get("state") == "DONE" else "(x)"
            lines.append(f"{signs} {box} {_inline(children(item))}")
    return lines


def _row(row: Node) -> str:
    cells = children(row)
    sign = "||" if all(one["type"] == "tableHeader" for one in cells) else "|"
    words = [_blocks(children(one)).replace("\n\n", "\n").replace("\n", " \\\\ ") or " " for one in cells]
    return f"{sign}{sign.join(words)}{sign}"


def _inline(nodes: Sequence[Node]) -> str:
    return "".join(_marked(one) for one in nodes)


def _marked(node: Node) -> str:
    kinds = {mark["type"]: attributes(mark) for mark in marks(node)}
    body = str(node.get("text", "")) if "code" in kinds else _leaf(node)
    if "code" in kinds:
        body = f"{{{{{body}}}}}"
    for kind, sign in _SIGNS.items():
        if kind in kinds:
            lead, words, trail = _edges(body)
            body = f"{lead}{sign}{words}{sign}{trail}" if words else body
    if "subsup" in kinds:
        sign = "~" if kinds["subsup"]["type"] == "sub" else "^"
        body = f"{sign}{body}{sign}"
    if "link" in kinds:
        address = kinds["link"]["href"]
        body = f"[{address}]" if body == address else f"[{body}|{address}]"
    return body


def _edges(body: str) -> tuple[str, str, str]:
    words = body.strip()
    lead = body[: len(body) - len(body.lstrip())]
    return lead, words, body[len(lead) + len(words) :]


def _leaf(node: Node) -> str:
    known = attributes(node)
    match node["type"]:
        case "text":
            return _SPECIAL.sub(lambda found: f"\\{found[0]}", str(node["text"]))
        case "hardBreak":
            return "\n"
        case "mention":
            return f"[~{known['id']}]"
        case "emoji":
            return str(known.get("text") or known["shortName"])
        case "inlineCard":
            return f"[{known['url']}]"
        case _:
            return ""
