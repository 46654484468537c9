"""Wiki markup, the text format of Jira Data Center, from the nodes of a document."""

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from mcp_atl.convert.nodes import Node, attributes, children, marks, plain_text

TODO, DONE = "☐", "☑"
"""The signs of tasks, which wiki markup does not have."""

_LISTS = frozenset({"bulletList", "orderedList", "taskList"})
_SIGNS = {"strong": "*", "em": "_", "strike": "-", "underline": "+"}
_PANELS = {"info": "info", "note": "note", "success": "tip", "tip": "tip", "warning": "warning", "error": "warning"}
_SPECIAL = re.compile(r"[\[\]{}|!]|(?<!\w)[*_+^~-](?=\S|\Z)|(?<=\S)[*_+^~-](?!\w)")
_SIGN = re.compile(r"[*_+^~#-]")
_BESIDE = re.compile(r"[\w*_+^~{}\\-]")
_ENTITY = re.compile(r"&(?=#\d{1,7};)|\\")
_SCHEME = re.compile(r"(https?):(?=//)")
_IN_CODE = re.compile(r"[{}|]")
_LINE_START = re.compile(r"(?m)^( *)(h(?=[1-6]\.)|b(?=q\.)|[#*-](?=[#*-]*(?: |$))|-(?=-{3,})|[☐☑])")
_PLAIN_ADDRESS = re.compile(r"https?://|mailto:|#|\^|/")
_ADDRESS_SPECIAL = {"[": "%5B", "]": "%5D", "|": "%7C", " ": "%20"}


def document_to_wiki(document: Node) -> str:
    """A whole document."""
    return _blocks(children(document))


def _blocks(nodes: Sequence[Node]) -> str:
    return "\n\n".join(part for one in nodes if (part := _block(one)))


def _block(node: Node) -> str:
    writer = _WRITERS.get(node["type"])
    return writer(node) if writer else _blocks(children(node))


def _paragraph(node: Node) -> str:
    return _LINE_START.sub(lambda found: f"{found[1]}{_entity(found[2])}", _inline(children(node)))


def _heading(node: Node) -> str:
    return f"h{attributes(node)['level']}. {_one_line(_inline(children(node)))}".rstrip()


def _code(node: Node) -> str:
    language = attributes(node).get("language")
    return f"{{code{f':{language}' if language else ''}}}\n{plain_text(node)}\n{{code}}"


def _panel(node: Node) -> str:
    return _between(_PANELS.get(attributes(node)["panelType"], "info"), "", node)


def _expand(node: Node) -> str:
    title = re.sub(r"[{}|]", " ", str(attributes(node).get("title") or ""))
    return _between("panel", f":title={title}", node)


def _between(name: str, parameters: str, node: Node) -> str:
    return f"{{{name}{parameters}}}\n{_blocks(children(node))}\n{{{name}}}"


def _items(node: Node, signs: str = "") -> list[str]:
    own = signs + ("#" if node["type"] == "orderedList" else "*")
    lines: list[str] = []
    for item in children(node):
        if not children(item) or children(item)[0]["type"] in _LISTS:
            lines.append(f"{own} ")
        for is_list, group in groupby(children(item), key=lambda one: one["type"] in _LISTS):
            if is_list:
                lines += [line for one in group for line in _below(one, own)]
            else:  # words after a list are an item of their own
                lines.append(f"{own} {chr(10).join(filter(None, map(_block, group)))}")
    return lines


def _below(node: Node, signs: str) -> list[str]:
    return _tasks(node, signs + "*") if node["type"] == "taskList" else _items(node, signs)


def _tasks(node: Node, signs: str = "*") -> list[str]:
    lines: list[str] = []
    for item in children(node):
        if item["type"] == "taskList":
            lines += _tasks(item, signs + "*")
        else:
            sign = DONE if attributes(item).get("state") == "DONE" else TODO
            lines.append(f"{signs} {sign} {_inline(children(item))}".rstrip())
    return lines


def _row(row: Node) -> str:
    cells = [("||" if one["type"] == "tableHeader" else "|", _one_line(_cell(one)) or " ") for one in children(row)]
    return "".join(sign + words for sign, words in cells) + (cells[-1][0] if cells else "|")


def _cell(cell: Node) -> str:
    return "\n".join(_block(one) for one in children(cell))


def _one_line(markup: str) -> str:
    return markup.replace("\n", " \\\\ ").strip()


_WRITERS: dict[str, Callable[[Node], str]] = {
    "paragraph": _paragraph,
    "heading": _heading,
    "bulletList": lambda node: "\n".join(_items(node)),
    "orderedList": lambda node: "\n".join(_items(node)),
    "taskList": lambda node: "\n".join(_tasks(node)),
    "blockquote": lambda node: _between("quote", "", node),
    "codeBlock": _code,
    "rule": lambda _: "----",
    "panel": _panel,
    "expand": _expand,
    "nestedExpand": _expand,
    "table": lambda node: "\n".join(map(_row, children(node))),
    "mediaSingle": lambda node: f"!{_address(attributes(children(node)[0]).get('url'))}!",
}


# --- inline ------------------------------------------------------------------------------------------------


def _inline(nodes: Sequence[Node]) -> str:
    written = ""
    for index, node in enumerate(nodes):
        after = str(nodes[index + 1].get("text", " "))[:1] if index + 1 < len(nodes) else " "
        written += _marked(node, written[-1:], after)
    return written


def _marked(node: Node, before: str, after: str) -> str:
    kinds = {mark["type"]: attributes(mark) for mark in marks(node)}
    body = _monospaced(str(node.get("text", ""))) if "code" in kinds else _leaf(node)
    signs = [sign for kind, sign in _SIGNS.items() if kind in kinds]
    if "subsup" in kinds:
        signs.append("~" if kinds["subsup"]["type"] == "sub" else "^")
    for sign in signs:
        # [~ would begin a mention
        body = _signed(sign, body, "~" if sign == "~" and "link" in kinds else before + after)
    if "link" in kinds:
        address = _address(kinds["link"]["href"])
        is_plain = len(kinds) == 1 and node.get("text") == address and _PLAIN_ADDRESS.match(address)
        body = f"[{address}]" if is_plain else f"[{body}|{address}]"
    return body


def _signed(sign: str, body: str, neighbours: str) -> str:
    """Signs around the words, such as *words*; {*}words{*} where other words are beside them."""
    words = body.strip()
    if not words:
        return body
    lead = body[: len(body) - len(body.lstrip())]
    is_apart = not _BESIDE.search(neighbours) and not _SIGN.search(words)
    sign = sign if is_apart else f"{{{sign}}}"
    return f"{lead}{sign}{words}{sign}{body[len(lead) + len(words) :]}"


def _monospaced(code: str) -> str:
    return f"{{{{{_IN_CODE.sub(lambda found: _entity(found[0]), _without_entities(code))}}}}}" if code.strip() else code


def _leaf(node: Node) -> str:
    known = attributes(node)
    match node["type"]:
        case "text":
            words = _SPECIAL.sub(lambda found: f"\\{found[0]}", _without_entities(str(node["text"])))
            is_link = any(mark["type"] == "link" for mark in marks(node))
            return words if is_link else _SCHEME.sub(r"\1&#58;", words)  # else it would become a link
        case "hardBreak":
            return "\n"
        case "mention":
            return f"[~{known['id']}]"
        case "emoji":
            return str(known.get("text") or known["shortName"])
        case "inlineCard":
            return f"[{_address(known['url'])}]"
        case _:
            return ""


def _without_entities(words: str) -> str:
    """Words in which nothing is read as an entity, a line break or an escaped character."""
    return _ENTITY.sub(lambda found: _entity(found[0]), words)


def _entity(character: str) -> str:
    return f"&#{ord(character)};"


def _address(address: object) -> str:
    return "".join(_ADDRESS_SPECIAL.get(character, character) for character in str(address or ""))
