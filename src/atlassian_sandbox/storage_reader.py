"""Storage format read into the document format, as far as a reader of the sandbox needs it.

What has no form of its own there (an unknown element) keeps its text.
"""

import html
import re
import xml.etree.ElementTree as ET
from typing import Any

from atlassian_sandbox.documents import local_id, macro, macro_with_body, text
from atlassian_sandbox.http import JsonObject, Refusal
from atlassian_sandbox.storage_format import MARKS, PANELS, TAGS

_NODES = {tag: node for node, tag in TAGS.items() if node != "decisionItem"}
_PANEL_TYPES = {name: panel for panel, name in PANELS.items()}
_TAG_MARKS = {tag: mark for mark, tag in MARKS.items()} | {"b": "strong", "i": "em", "del": "strike"}
_XML_ENTITIES = ("amp", "lt", "gt", "quot", "apos")


def parse_storage(storage: str) -> ET.Element:
    """The elements of a page. Raises Refusal 400 if it is not well-formed."""

    def entity(match: re.Match[str]) -> str:
        return match[0] if match[1] in _XML_ENTITIES else html.unescape(match[0])

    source = re.sub(r"&(\w+);", entity, storage)
    try:
        return ET.fromstring(f'<root xmlns:ac="ac" xmlns:ri="ri">{source}</root>')  # noqa: S314 - no entities are expanded
    except ET.ParseError as error:
        raise Refusal(400, f"Error parsing xhtml: {error}") from None


def read_storage(storage: str) -> JsonObject:
    return {"type": "doc", "version": 1, "content": _blocks(parse_storage(storage))}


def _name(element: ET.Element) -> str:
    return re.sub(r"^{(\w+)}", r"\1:", element.tag)


def _attribute(element: ET.Element, name: str) -> str:
    prefix, _, local = name.rpartition(":")
    return element.get(f"{{{prefix}}}{local}" if prefix else name, "")


def _blocks(element: ET.Element) -> list[JsonObject]:
    """The children as blocks; text and inline elements between them become paragraphs."""
    blocks: list[JsonObject] = []
    line: list[JsonObject] = []

    def close_line() -> None:
        if any(node["type"] != "text" or node["text"].strip() for node in line):
            blocks.append({"type": "paragraph", "content": list(line)})
        line.clear()

    line += _plain(element.text, [])
    for child in element:
        block = _block(child)
        if block is None:
            line += _inline(child, [])
        else:
            close_line()
            blocks += block
        line += _plain(child.tail, [])
    close_line()
    return blocks


def _block(element: ET.Element) -> list[JsonObject] | None:  # noqa: C901, PLR0911 - one case for each element
    """The blocks of an element, or None if it belongs into a line."""
    name = _name(element)
    match name:
        case "p":
            return [{"type": "paragraph", "content": _line(element)}]
        case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
            return [{"type": "heading", "attrs": {"level": int(name[1])}, "content": _line(element)}]
        case "hr":
            return [{"type": "rule"}]
        case "table":
            rows = [_row(row) for row in element.iter("tr")]
            return [{"type": "table", "attrs": {"layout": "default"}, "content": rows}]
        case "ac:task-list":
            items = [_task(task) for task in element]
            return [{"type": "taskList", "attrs": {"localId": local_id(str(items))}, "content": items}]
        case "ac:image":
            return [_image(element)]
        case "ac:layout":
            return [block for section in element for block in _layout(section)]
        case "ac:structured-macro" if _attribute(element, "ac:name") != "status":
            return [_macro(element)]
        case "div" | "tbody":
            return _blocks(element)
        case _ if name in _NODES:
            return [{"type": _NODES[name], "content": _blocks(element)}]
        case _:
            return None


def _line(element: ET.Element) -> list[JsonObject]:
    return _contents(element, [])


def _contents(element: ET.Element, marks: list[Any]) -> list[JsonObject]:
    nodes = _plain(element.text, marks)
    for child in element:
        nodes += _inline(child, marks)
        nodes += _plain(child.tail, marks)
    return nodes


def _plain(value: str | None, marks: list[Any]) -> list[JsonObject]:
    return [text(value, *marks)] if value else []


def _inline(element: ET.Element, marks: list[Any]) -> list[JsonObject]:  # noqa: PLR0911 - one case for each element
    name = _name(element)
    match name:
        case "br":
            return [{"type": "hardBreak"}]
        case "a":
            href = element.get("href", "")
            if element.get("data-card-appearance") == "inline":
                return [{"type": "inlineCard", "attrs": {"url": href}}]
            return _contents(element, [*marks, {"type": "link", "attrs": {"href": href}}])
        case "time":
            return [text(element.get("datetime", ""))]
        case "ac:link":
            return _link(element)
        case "ac:inline-comment-marker":
            attrs = {"annotationType": "inlineComment", "id": _attribute(element, "ac:ref")}
            return _contents(element, [*marks, {"type": "annotation", "attrs": attrs}])
        case "ac:emoticon":
            short = _attribute(element, "ac:emoji-shortname") or f":{_attribute(element, 'ac:name')}:"
            return [{"type": "emoji", "attrs": {"shortName": short, "text": _attribute(element, "ac:emoji-fallback")}}]
        case "ac:structured-macro":
            return [_status(element)]
        case _:
            return _contents(element, [*marks, _TAG_MARKS[name]] if name in _TAG_MARKS else marks)


def _link(element: ET.Element) -> list[JsonObject]:
    for child in element:
        if _name(child) == "ri:user":
            user = _attribute(child, "ri:account-id") or _attribute(child, "ri:userkey")
            return [{"type": "mention", "attrs": {"id": user, "text": ""}}]
    return _plain("".join(element.itertext()), [])


def _parameters(element: ET.Element) -> dict[str, str]:
    return {
        _attribute(child, "ac:name"): "".join(child.itertext()) for child in element if _name(child) == "ac:parameter"
    }


def _status(element: ET.Element) -> JsonObject:
    parameters = _parameters(element)
    colour = parameters.get("colour", "Grey").lower()
    attrs = {"text": parameters.get("title", ""), "color": "neutral" if colour == "grey" else colour}
    return {"type": "status", "attrs": attrs | {"localId": _attribute(element, "ac:macro-id")}}


def _macro(element: ET.Element) -> JsonObject:
    name, parameters = _attribute(element, "ac:name"), _parameters(element)
    body = next((child for child in element if _name(child) == "ac:rich-text-body"), None)
    if name == "code":
        source = "".join(text for child in element if _name(child) == "ac:plain-text-body" for text in child.itertext())
        attrs = {"language": parameters["language"]} if "language" in parameters else {}
        return {"type": "codeBlock", "attrs": attrs, "content": _plain(source, [])}
    if body is None:
        return macro(name, name, **parameters)
    if name == "expand":
        return {"type": "expand", "attrs": {"title": parameters.get("title", "")}, "content": _blocks(body)}
    if name in _PANEL_TYPES:
        return {"type": "panel", "attrs": {"panelType": _PANEL_TYPES[name]}, "content": _blocks(body)}
    return macro_with_body(name, name, *_blocks(body), **parameters)


def _row(row: ET.Element) -> JsonObject:
    cells: list[JsonObject] = [
        {
            "type": "tableHeader" if _name(cell) == "th" else "tableCell",
            "attrs": {},
            "content": _blocks(cell) or [_EMPTY],
        }
        for cell in row
    ]
    return {"type": "tableRow", "content": cells}


_EMPTY: JsonObject = {"type": "paragraph", "content": []}


def _task(task: ET.Element) -> JsonObject:
    parts = {_name(child): child for child in task}
    body = parts.get("ac:task-body")
    done = "ac:task-status" in parts and parts["ac:task-status"].text == "complete"
    content = [] if body is None else _line(body)
    attrs = {"localId": local_id(str(content)), "state": "DONE" if done else "TODO"}
    return {"type": "taskItem", "attrs": attrs, "content": content}


def _image(element: ET.Element) -> JsonObject:
    name = next((_attribute(child, "ri:filename") or _attribute(child, "ri:value") for child in element), "")
    media = {"id": local_id(f"file {name}"), "type": "file", "collection": "", "alt": name}
    return {"type": "mediaSingle", "attrs": {"layout": "center"}, "content": [{"type": "media", "attrs": media}]}


def _layout(section: ET.Element) -> list[JsonObject]:
    cells = [_blocks(cell) or [_EMPTY] for cell in section]
    if len(cells) == 1:
        return cells[0]
    width = round(100 / max(len(cells), 1), 2)
    columns = [{"type": "layoutColumn", "attrs": {"width": width}, "content": cell} for cell in cells]
    return [{"type": "layoutSection", "content": columns}]
