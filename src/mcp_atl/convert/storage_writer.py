"""Storage format from the nodes of a document. A node that has its source is written as it was."""

from collections.abc import Callable, Sequence

from mcp_atl.convert.nodes import Node, attributes, children, marks, plain_text
from mcp_atl.convert.storage_tree import attribute, escape

EMOTICONS = {
    ":smile:": "smile",
    ":disappointed:": "sad",
    ":stuck_out_tongue:": "cheeky",
    ":laughing:": "laugh",
    ":wink:": "wink",
    ":thumbsup:": "thumbs-up",
    ":thumbsdown:": "thumbs-down",
    ":info:": "information",
    ":check_mark:": "tick",
    ":cross_mark:": "cross",
    ":warning:": "warning",
    ":heart:": "heart",
    ":broken_heart:": "broken-heart",
}
"""The emojis that Data Center has, by their short names."""

_TAGS = {"strong": "strong", "em": "em", "underline": "u", "strike": "s", "code": "code"}
_MACROS = {"info": "info", "note": "note", "success": "tip", "tip": "tip", "warning": "warning", "error": "warning"}
_ORDER = ("annotation", "link", "textColor", "strong", "em", "underline", "strike", "subsup", "code")


def document_to_storage(document: Node) -> str:
    """A whole document."""
    return blocks_to_storage(children(document))


def blocks_to_storage(blocks: Sequence[Node]) -> str:
    """Several blocks. One that was not changed is its source."""
    return "".join(str(one["raw"]) if "raw" in one else _block(one) for one in blocks)


def _block(node: Node) -> str:
    writer = _WRITERS.get(node["type"])
    return writer(node) if writer else str(attributes(node)["xml"])


def _element(node: Node, name: str, inner: str, added: str = "") -> str:
    """An element with the opening tag that it had, whose attributes are not in the node."""
    opening = str(node.get("tag") or "")
    if not opening.startswith(f"<{name}") or opening.endswith("/>"):
        opening = f"<{name}{added}>"
    return f"{opening}{inner}</{name}>"


def _list(node: Node) -> str:
    items = "".join(_element(one, "li", _compact(children(one))) for one in children(node))
    if node["type"] == "bulletList":
        return _element(node, "ul", items)
    start = attributes(node).get("order", 1)
    return _element(node, "ol", items, f' start="{start}"' if start != 1 else "")


def _compact(blocks: Sequence[Node]) -> str:
    """The content of a list item: its first paragraph needs no tag, unless another follows."""
    kinds = [one["type"] for one in blocks]
    if kinds[:1] == ["paragraph"] and kinds.count("paragraph") == 1 and "raw" not in blocks[0]:
        return _inline(children(blocks[0])) + blocks_to_storage(blocks[1:])
    return blocks_to_storage(blocks)


def _tasks(node: Node) -> str:
    """A list of tasks. Tasks below a task stand in its body."""
    tasks: list[tuple[Node, list[str]]] = []
    for one in children(node):
        if one["type"] == "taskItem":
            tasks.append((one, []))
        elif tasks:
            tasks[-1][1].append(_tasks(one))
        else:
            tasks.append(({"type": "taskItem"}, [_tasks(one)]))
    return f"<ac:task-list>{''.join(_task(item, ''.join(below)) for item, below in tasks)}</ac:task-list>"


def _task(item: Node, below: str) -> str:
    opening = item.get("tag") or "<ac:task>"
    status = "complete" if attributes(item).get("state") == "DONE" else "incomplete"
    body = f"<ac:task-body>{_inline(children(item))}{below}</ac:task-body>"
    return f"{opening}<ac:task-status>{status}</ac:task-status>{body}</ac:task>"


def _code(node: Node) -> str:
    language = attributes(node).get("language")
    data = plain_text(node).replace("]]>", "]]]]><![CDATA[>")
    body = f"<ac:plain-text-body><![CDATA[{data}]]></ac:plain-text-body>"
    return _macro("code", {"language": str(language)} if language else {}, body)


def _panel(node: Node) -> str:
    return _macro(_MACROS.get(attributes(node)["panelType"], "info"), {}, _rich_text(node))


def _expand(node: Node) -> str:
    title = attributes(node).get("title")
    return _macro("expand", {"title": str(title)} if title else {}, _rich_text(node))


def _rich_text(node: Node) -> str:
    return f"<ac:rich-text-body>{blocks_to_storage(children(node))}</ac:rich-text-body>"


def _macro(name: str, parameters: dict[str, str], body: str) -> str:
    written = "".join(
        f'<ac:parameter ac:name="{key}">{escape(value)}</ac:parameter>' for key, value in parameters.items()
    )
    return f'<ac:structured-macro ac:name="{name}">{written}{body}</ac:structured-macro>'


def _table(node: Node) -> str:
    rows = "".join(_element(row, "tr", "".join(map(_cell, children(row)))) for row in children(node))
    return _element(node, "table", f"<tbody>{rows}</tbody>")


def _cell(cell: Node) -> str:
    name = "th" if cell["type"] == "tableHeader" else "td"
    return _element(cell, name, blocks_to_storage(children(cell)))


def _image(node: Node) -> str:
    known = attributes(children(node)[0])
    alt = f' ac:alt="{attribute(str(known["alt"]))}"' if known.get("alt") else ""
    return f'<ac:image{alt}><ri:url ri:value="{attribute(str(known["url"]))}" /></ac:image>'


def _macro_with_body(node: Node) -> str:
    known = attributes(node)
    return f"{known['before']}{blocks_to_storage(children(node))}{known['after']}"


_WRITERS: dict[str, Callable[[Node], str]] = {
    "paragraph": lambda node: _element(node, "p", _inline(children(node))),
    "heading": lambda node: _element(node, f"h{attributes(node)['level']}", _inline(children(node))),
    "bulletList": _list,
    "orderedList": _list,
    "taskList": _tasks,
    "blockquote": lambda node: _element(node, "blockquote", blocks_to_storage(children(node))),
    "codeBlock": _code,
    "rule": lambda _: "<hr />",
    "panel": _panel,
    "expand": _expand,
    "nestedExpand": _expand,
    "table": _table,
    "mediaSingle": _image,
    "bodiedExtension": _macro_with_body,
}


# --- inline ------------------------------------------------------------------------------------------------


def _inline(nodes: Sequence[Node]) -> str:
    return "".join(map(_marked, nodes))


def _marked(node: Node) -> str:
    body = _leaf(node)
    for mark in sorted(marks(node), key=_rank, reverse=True):
        known = attributes(mark)
        match mark["type"]:
            case "link":
                body = f'<a href="{attribute(str(known["href"]))}">{body}</a>'
            case "subsup":
                body = f"<{known['type']}>{body}</{known['type']}>"
            case kind if kind in _TAGS:
                body = f"<{_TAGS[kind]}>{body}</{_TAGS[kind]}>"
            case _:
                body = f"{known['open']}{body}{known['close']}"
    return body


def _leaf(node: Node) -> str:
    known = attributes(node)
    match node["type"]:
        case "text":
            return escape(str(node["text"]))
        case "hardBreak":
            return "<br />"
        case "mention":
            kind = known.get("userType", "username")
            return f'<ac:link><ri:user ri:{kind}="{attribute(str(known["id"]))}" /></ac:link>'
        case "emoji" if "xml" not in known:
            return _emoji(known["shortName"], known.get("text"))
        case "inlineCard":
            url = str(known["url"])
            return f'<a href="{attribute(url)}">{escape(url)}</a>'
        case _:
            return str(known["xml"])


def _emoji(name: str, words: str | None) -> str:
    return f'<ac:emoticon ac:name="{EMOTICONS[name]}" />' if name in EMOTICONS else escape(words or name)


def _rank(mark: Node) -> int:
    return _ORDER.index(mark["type"]) if mark["type"] in _ORDER else 0
