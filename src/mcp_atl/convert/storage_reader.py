"""A document from storage format. What the nodes of a document cannot say keeps its source, and comes back as it was.

Blocks have two keys more than nodes of Cloud: `raw`, their source up to the next block, and `tag`, their opening tag.
"""

import re
from collections.abc import Callable, Sequence

from mcp_atl.convert.nodes import Node, block, document, joined_texts, text
from mcp_atl.convert.storage_tree import Element, parse
from mcp_atl.convert.storage_writer import EMOTICONS

_MARKS: dict[str, Node] = {
    "strong": {"type": "strong"},
    "b": {"type": "strong"},
    "em": {"type": "em"},
    "i": {"type": "em"},
    "u": {"type": "underline"},
    "s": {"type": "strike"},
    "del": {"type": "strike"},
    "code": {"type": "code"},
    "sub": {"type": "subsup", "attrs": {"type": "sub"}},
    "sup": {"type": "subsup", "attrs": {"type": "sup"}},
}
_BLOCKS = frozenset(
    {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "blockquote", "pre", "hr", "div"}
    | {"ac:structured-macro", "ac:task-list", "ac:layout", "ac:layout-section", "ac:layout-cell", "ac:image"}
)
_PANELS = {"info": "info", "note": "note", "tip": "success", "warning": "warning"}
_SPACES = re.compile(r"[ \t\r\n]+")
_INLINE_MACROS = frozenset({"status", "jira", "anchor"})
_ROWS = frozenset({"tbody", "thead", "tfoot"})
_EMOJIS = {emoticon: name for name, emoticon in EMOTICONS.items()}


def storage_to_document(source: str) -> Node:
    """A document whose blocks have their source."""
    return document(blocks_of(source, parse(source).children, len(source)))


def blocks_of(source: str, elements: Sequence[Element], end: int) -> list[Node]:
    """Blocks, each with its source up to the next one. Words that stand alone are a paragraph."""
    groups: list[tuple[bool, list[Element]]] = []
    for one in elements:
        is_block = one.name in _BLOCKS and not _is_inline(one)
        if not is_block and groups and not groups[-1][0]:
            groups[-1][1].append(one)
        elif is_block or one.name or one.text.strip():
            groups.append((is_block, [one]))
    blocks: list[Node] = []
    for index, (is_block, group) in enumerate(groups):
        stop = groups[index + 1][1][0].start if index + 1 < len(groups) else end
        node = _block(source, group[0]) if is_block else block("paragraph", _inline(source, group))
        blocks.append({**node, "raw": source[group[0].start : stop], "at": group[0].start})
    return blocks


def _is_inline(element: Element) -> bool:
    return element.name == "ac:structured-macro" and element.attributes.get("ac:name") in _INLINE_MACROS


def _block(source: str, element: Element) -> Node:
    reader = _READERS.get(element.name)
    node = reader(source, element) if reader else None
    return _raw(source, element, "storage") if node is None else {**node, "tag": element.opening}


def _raw(source: str, element: Element, kind: str) -> Node:
    """A node that only keeps its source."""
    name = element.attributes.get("ac:name") or element.name.removeprefix("ac:").removeprefix("ri:")
    return {"type": kind, "attrs": {"name": name, "xml": source[element.start : element.end]}}


# --- blocks ------------------------------------------------------------------------------------------------


def _paragraph(source: str, element: Element) -> Node:
    return block("paragraph", _inline(source, element.children))


def _heading(source: str, element: Element) -> Node:
    return block("heading", _inline(source, element.children), level=int(element.name[1]))


def _list(source: str, element: Element) -> Node | None:
    if any(one.name not in ("", "li") for one in element.children):
        return None
    items = [one for one in element.children if one.name == "li"]
    nodes = [{**block("listItem", _inner(source, one)), "tag": one.opening} for one in items]
    if not nodes:
        return None
    start = element.attributes.get("start", "1")
    order = int(start) if element.name == "ol" and start.isdigit() and start != "1" else None
    return block("orderedList" if element.name == "ol" else "bulletList", nodes, order=order)


def _inner(source: str, element: Element) -> list[Node]:
    end = element.end - len(element.closing)
    return blocks_of(source, element.children, end) or [block("paragraph")]


def _quote(source: str, element: Element) -> Node:
    return block("blockquote", _inner(source, element))


def _pre(_source: str, element: Element) -> Node:
    words = element.words()
    return block("codeBlock", [text(words)] if words else [])


def _table(source: str, element: Element) -> Node | None:
    bodies = [one for one in element.children if one.name in _ROWS]
    rows = [row for body in bodies or [element] for row in body.children if row.name == "tr"]
    cells = [[_cell(source, one) for one in row.children if one.name in ("td", "th")] for row in rows]
    if not rows or any(not row for row in cells):
        return None
    return block("table", [{**block("tableRow", row), "tag": tr.opening} for tr, row in zip(rows, cells, strict=True)])


def _cell(source: str, element: Element) -> Node:
    known = element.attributes
    spans = {name: int(known[name]) for name in ("colspan", "rowspan") if known.get(name, "").isdigit()}
    color = known.get("data-highlight-colour")
    kind = "tableHeader" if element.name == "th" else "tableCell"
    return {**block(kind, _inner(source, element), background=color, **spans), "tag": element.opening}


def _tasks(source: str, element: Element) -> Node | None:
    items: list[Node] = []
    for task in element.children:
        if task.name == "":
            continue
        body, status = task.find("ac:task-body"), task.find("ac:task-status")
        if task.name != "ac:task" or body is None:
            return None
        state = "DONE" if status is not None and status.words().strip() == "complete" else "TODO"
        opening = source[task.start : status.start] if status is not None else task.opening  # with its id
        lists = [_tasks(source, one) for one in body.children if one.name == "ac:task-list"]
        words = _inline(source, _task_words(body))
        items.append({**block("taskItem", words, state=state, localId=""), "tag": opening})
        items += [one for one in lists if one is not None]
    return block("taskList", items, localId="") if items else None


def _task_words(body: Element) -> list[Element]:
    """The words of a task, without the tasks below it and without the element that its editor puts around them."""
    words: list[Element] = []
    for one in body.children:
        if one.name == "span" and one.attributes.get("class") == "placeholder-inline-tasks":
            words += one.children
        elif one.name != "ac:task-list":
            words.append(one)
    return words


def _macro(source: str, element: Element) -> Node | None:
    name = element.attributes.get("ac:name", "")
    rich, plain = element.find("ac:rich-text-body"), element.find("ac:plain-text-body")
    parameters = {
        one.attributes.get("ac:name", ""): one.words() for one in element.children if one.name == "ac:parameter"
    }
    if name == "code" and plain is not None and set(parameters) <= {"language"}:
        words = plain.words()
        return block("codeBlock", [text(words)] if words else [], language=parameters.get("language"))
    if name in _PANELS and rich is not None and not parameters:
        return block("panel", _inner(source, rich), panelType=_PANELS[name])
    if name == "expand" and rich is not None and set(parameters) <= {"title"}:
        return block("expand", _inner(source, rich), title=parameters.get("title"))
    if rich is not None:
        return _container(source, element, rich, name)
    return None


def _container(source: str, element: Element, body: Element, name: str) -> Node:
    """A block without a Markdown form whose content has one."""
    before = source[element.start : body.start + len(body.opening)]
    after = source[body.end - len(body.closing) : element.end]
    return block("bodiedExtension", _inner(source, body), extensionKey=name, before=before, after=after)


def _layout(source: str, element: Element) -> Node:
    name = element.name.removeprefix("ac:")
    return _container(source, element, element, name)


def _image(_source: str, element: Element) -> Node | None:
    address = element.find("ri:url")
    if address is None or set(element.attributes) - {"ac:alt"}:
        return None
    url, alt = address.attributes.get("ri:value", ""), element.attributes.get("ac:alt")
    media = block("media", type="external", url=url, alt=alt)
    del media["content"]
    return block("mediaSingle", [media], layout="center")


_READERS: dict[str, Callable[[str, Element], Node | None]] = {
    "p": _paragraph,
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _heading),
    "ul": _list,
    "ol": _list,
    "table": _table,
    "blockquote": _quote,
    "pre": _pre,
    "hr": lambda _source, _element: {"type": "rule"},
    "ac:task-list": _tasks,
    "ac:structured-macro": _macro,
    "ac:layout": _layout,
    "ac:layout-section": _layout,
    "ac:layout-cell": _layout,
    "ac:image": _image,
}


# --- inline ------------------------------------------------------------------------------------------------


def _inline(source: str, elements: Sequence[Element]) -> list[Node]:
    return _trimmed(joined_texts(_nodes(source, elements, ())))


def _nodes(source: str, elements: Sequence[Element], marks: tuple[Node, ...]) -> list[Node]:
    nodes: list[Node] = []
    for one in elements:
        if not one.name:
            nodes.append(text(one.text if one.is_data else _SPACES.sub(" ", one.text), marks))
        elif one.name == "br":
            nodes.append({"type": "hardBreak"})
        elif (mark := _mark(one)) is not None:
            outer = tuple(known for known in marks if known["type"] != mark["type"])
            nodes += _nodes(source, one.children, (*outer, mark))
        else:
            nodes.append(_mention(one) or _emoji(source, one) or _raw(source, one, "storageInline"))
    return nodes


def _mark(element: Element) -> Node | None:
    """The mark that an element puts on its words."""
    known = element.attributes
    if element.name in _MARKS and not known:
        return _MARKS[element.name]
    if element.name == "a" and set(known) == {"href"}:
        return {"type": "link", "attrs": {"href": known["href"]}}
    if element.name in ("span", "ac:inline-comment-marker") and element.children:
        kind = "annotation" if element.name.startswith("ac:") else "textColor"
        return {"type": kind, "attrs": {"open": element.opening, "close": element.closing}}
    return None


def _emoji(source: str, element: Element) -> Node | None:
    known = element.attributes
    name = known.get("ac:emoji-shortname") or _EMOJIS.get(known.get("ac:name", ""))
    if element.name != "ac:emoticon" or name is None:
        return None
    return {"type": "emoji", "attrs": {"shortName": name, "xml": source[element.start : element.end]}}


def _mention(element: Element) -> Node | None:
    user = element.find("ri:user") if element.name == "ac:link" else None
    if user is None or len([one for one in element.children if one.name]) != 1:
        return None
    known = user.attributes
    name = known.get("ri:username") or known.get("ri:account-id") or known.get("ri:userkey")
    if name is None:
        return None
    kind = "username" if "ri:username" in known else "account-id" if "ri:account-id" in known else "userkey"
    return {"type": "mention", "attrs": {"id": name, "text": f"@{name}", "userType": kind}}


def _trimmed(nodes: list[Node]) -> list[Node]:
    """Without the spaces that only indent the source."""
    if nodes and nodes[0]["type"] == "text":
        nodes[0] = {**nodes[0], "text": nodes[0]["text"].lstrip(" \n\t")}
    if nodes and nodes[-1]["type"] == "text":
        nodes[-1] = {**nodes[-1], "text": nodes[-1]["text"].rstrip(" \n\t")}
    return [one for one in nodes if one["type"] != "text" or one["text"]]
