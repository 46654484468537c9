"""Storage format from the nodes of a document. A node that has its source is written as it was."""

from collections.abc import Sequence

from mcp_atl.convert.nodes import Node, attributes, children, marks
from mcp_atl.convert.storage_tree import attribute, escape

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
    kind, known = node["type"], attributes(node)
    match kind:
        case "paragraph":
            return _element(node, "p", _inline(children(node)))
        case "heading":
            return _element(node, f"h{known['level']}", _inline(children(node)))
        case "bulletList" | "orderedList":
            items = "".join(_element(one, "li", _compact(children(one))) for one in children(node))
            return _element(node, "ul" if kind == "bulletList" else "ol", items)
        case "taskList":
            return f"<ac:task-list>{''.join(_task(one) for one in children(node))}</ac:task-list>"
        case "blockquote":
            return _element(node, "blockquote", blocks_to_storage(children(node)))
        case "codeBlock":
            return _code(node)
        case "rule":
            return "<hr />"
        case "panel":
            return _macro(_MACROS.get(known["panelType"], "info"), {}, blocks_to_storage(children(node)))
        case "expand" | "nestedExpand":
            title = {"title": known["title"]} if known.get("title") else {}
            return _macro("expand", title, blocks_to_storage(children(node)))
        case "table":
            rows = "".join(_element(row, "tr", "".join(map(_cell, children(row)))) for row in children(node))
            return _element(node, "table", f"<tbody>{rows}</tbody>")
        case "mediaSingle":
            return _image(node)
        case "bodiedExtension":
            return f"{known['before']}{blocks_to_storage(children(node))}{known['after']}"
        case _:
            return str(known["xml"])


def _element(node: Node, name: str, inner: str) -> str:
    """An element with the opening tag that it had: its attributes are not in the node."""
    opening = str(node.get("tag") or "")
    return (
        f"{opening if opening.startswith(f'<{name}') and not opening.endswith('/>') else f'<{name}>'}{inner}</{name}>"
    )


def _compact(blocks: Sequence[Node]) -> str:
    """The content of a list item: one paragraph needs no tag."""
    if blocks and blocks[0]["type"] == "paragraph" and "raw" not in blocks[0]:
        return _inline(children(blocks[0])) + blocks_to_storage(blocks[1:])
    return blocks_to_storage(blocks)


def _cell(cell: Node) -> str:
    name = "th" if cell["type"] == "tableHeader" else "td"
    return _element(cell, name, blocks_to_storage(children(cell)))


def _task(item: Node) -> str:
    if item["type"] == "taskList":
        return _block(item)
    status = "complete" if attributes(item).get("state") == "DONE" else "incomplete"
    body = f"<ac:task-body>{_inline(children(item))}</ac:task-body>"
    return f"<ac:task><ac:task-status>{status}</ac:task-status>{body}</ac:task>"


def _code(node: Node) -> str:
    code = "".join(str(one.get("text", "")) for one in children(node))
    language = attributes(node).get("language")
    parameter = f'<ac:parameter ac:name="language">{escape(str(language))}</ac:parameter>' if language else ""
    data = code.replace("]]>", "]]]]><![CDATA[>")
    body = f"<ac:plain-text-body><![CDATA[{data}]]></ac:plain-text-body>"
    return f'<ac:structured-macro ac:name="code">{parameter}{body}</ac:structured-macro>'


def _macro(name: str, parameters: dict[str, str], body: str) -> str:
    given = "".join(
        f'<ac:parameter ac:name="{key}">{escape(str(value))}</ac:parameter>' for key, value in parameters.items()
    )
    return (
        f'<ac:structured-macro ac:name="{name}">{given}<ac:rich-text-body>{body}</ac:rich-text-body>'
        "</ac:structured-macro>"
    )


def _image(node: Node) -> str:
    known = attributes(children(node)[0])
    alt = f' ac:alt="{attribute(str(known["alt"]))}"' if known.get("alt") else ""
    return f'<ac:image{alt}><ri:url ri:value="{attribute(str(known["url"]))}" /></ac:image>'


def _inline(nodes: Sequence[Node]) -> str:
    return "".join(_marked(one) for one in nodes)


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
        case "emoji":
            return escape(str(known.get("text") or known["shortName"]))
        case "inlineCard":
            url = str(known["url"])
            return f'<a href="{attribute(url)}">{escape(url)}</a>'
        case _:
            return str(known["xml"])


def _rank(mark: Node) -> int:
    return _ORDER.index(mark["type"]) if mark["type"] in _ORDER else 0
