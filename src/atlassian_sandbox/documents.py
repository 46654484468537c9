"""Rich text in the Atlassian Document Format: small builders for the demo data, and the plain text of a document."""

import uuid
from typing import Any, cast

from atlassian_sandbox.http import JsonObject

Inline = str | JsonObject


def local_id(text: str) -> str:
    """An id that is the same each time the sandbox is built."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, text))


# ---- inside a line -----------------------------------------------------------------------------------


def text(value: str, *marks: str | JsonObject) -> JsonObject:
    node: JsonObject = {"type": "text", "text": value}
    if marks:
        node["marks"] = [{"type": mark} if isinstance(mark, str) else mark for mark in marks]
    return node


def strong(value: str) -> JsonObject:
    return text(value, "strong")


def code(value: str) -> JsonObject:
    return text(value, "code")


def link(value: str, url: str) -> JsonObject:
    return text(value, {"type": "link", "attrs": {"href": url}})


def commented(value: str, marker: str) -> JsonObject:
    """A text that an inline comment is about."""
    return text(value, {"type": "annotation", "attrs": {"annotationType": "inlineComment", "id": marker}})


def mention(user_id: str, name: str) -> JsonObject:
    return {"type": "mention", "attrs": {"id": user_id, "text": f"@{name}", "localId": local_id(f"mention {user_id}")}}


def status(label: str, colour: str = "neutral") -> JsonObject:
    return {"type": "status", "attrs": {"text": label, "color": colour, "localId": local_id(f"status {label}")}}


def emoji(short_name: str, character: str) -> JsonObject:
    return {"type": "emoji", "attrs": {"shortName": f":{short_name}:", "text": character}}


def card(url: str) -> JsonObject:
    return {"type": "inlineCard", "attrs": {"url": url}}


def day(milliseconds: int) -> JsonObject:
    return {"type": "date", "attrs": {"timestamp": str(milliseconds)}}


def _inline(parts: tuple[Inline, ...]) -> list[JsonObject]:
    return [text(part) if isinstance(part, str) else part for part in parts if part]


# ---- blocks ------------------------------------------------------------------------------------------


def doc(*blocks: JsonObject) -> JsonObject:
    return {"type": "doc", "version": 1, "content": list(blocks)}


def p(*parts: Inline) -> JsonObject:
    return {"type": "paragraph", "content": _inline(parts)}


def h(level: int, *parts: Inline) -> JsonObject:
    return {"type": "heading", "attrs": {"level": level}, "content": _inline(parts)}


def _items(items: tuple[Inline | tuple[Inline, ...] | list[JsonObject], ...]) -> list[JsonObject]:
    built: list[JsonObject] = []
    for item in items:
        content = item if isinstance(item, list) else [p(*item) if isinstance(item, tuple) else p(item)]
        built.append({"type": "listItem", "content": content})
    return built


def bullets(*items: Inline | tuple[Inline, ...] | list[JsonObject]) -> JsonObject:
    return {"type": "bulletList", "content": _items(items)}


def numbers(*items: Inline | tuple[Inline, ...] | list[JsonObject]) -> JsonObject:
    return {"type": "orderedList", "attrs": {"order": 1}, "content": _items(items)}


def tasks(*items: tuple[bool, str]) -> JsonObject:
    built = [
        {
            "type": "taskItem",
            "attrs": {"localId": local_id(f"task {label}"), "state": "DONE" if done else "TODO"},
            "content": [text(label)],
        }
        for done, label in items
    ]
    return {"type": "taskList", "attrs": {"localId": local_id(f"tasks {items}")}, "content": built}


def table(header: tuple[str, ...], *rows: tuple[Inline, ...]) -> JsonObject:
    def cell(type: str, value: Inline) -> JsonObject:
        return {"type": type, "attrs": {}, "content": [p(value)]}

    lines = [{"type": "tableRow", "content": [cell("tableHeader", strong(name)) for name in header]}]
    lines += [{"type": "tableRow", "content": [cell("tableCell", value) for value in row]} for row in rows]
    attrs = {"isNumberColumnEnabled": False, "layout": "default", "localId": local_id(f"table {header}")}
    return {"type": "table", "attrs": attrs, "content": lines}


def panel(kind: str, *blocks: JsonObject) -> JsonObject:
    return {"type": "panel", "attrs": {"panelType": kind}, "content": list(blocks)}


def expand(title: str, *blocks: JsonObject) -> JsonObject:
    return {"type": "expand", "attrs": {"title": title}, "content": list(blocks)}


def code_block(language: str, source: str) -> JsonObject:
    return {"type": "codeBlock", "attrs": {"language": language}, "content": [text(source)]}


def quote(*parts: Inline) -> JsonObject:
    return {"type": "blockquote", "content": [p(*parts)]}


def rule() -> JsonObject:
    return {"type": "rule"}


def decision(label: str) -> JsonObject:
    item = {"type": "decisionItem", "attrs": {"localId": local_id(label), "state": "DECIDED"}, "content": [text(label)]}
    return {"type": "decisionList", "attrs": {"localId": local_id(f"list {label}")}, "content": [item]}


def image(file_name: str, page: str, width: int, height: int) -> JsonObject:
    media = {"id": local_id(f"file {file_name}"), "type": "file", "collection": f"contentId-{page}"}
    media_attrs = {**media, "width": width, "height": height, "alt": file_name}
    return {"type": "mediaSingle", "attrs": {"layout": "center"}, "content": [{"type": "media", "attrs": media_attrs}]}


def columns(*cells: list[JsonObject]) -> JsonObject:
    width = round(100 / len(cells), 2)
    built = [{"type": "layoutColumn", "attrs": {"width": width}, "content": cell} for cell in cells]
    return {"type": "layoutSection", "content": built}


def macro(name: str, title: str, **parameters: str) -> JsonObject:
    """A macro without a body, such as a table of contents."""
    return {"type": "extension", "attrs": _macro_attributes(name, title, parameters)}


def macro_with_body(name: str, title: str, *blocks: JsonObject, **parameters: str) -> JsonObject:
    attrs = _macro_attributes(name, title, parameters)
    return {"type": "bodiedExtension", "attrs": attrs, "content": list(blocks)}


def _macro_attributes(name: str, title: str, parameters: dict[str, str]) -> JsonObject:
    number = local_id(f"macro {name} {sorted(parameters.items())}")
    return {
        "layout": "default",
        "extensionType": "com.atlassian.confluence.macro.core",
        "extensionKey": name,
        "parameters": {
            "macroParams": {key: {"value": value} for key, value in parameters.items()},
            "macroMetadata": {"macroId": {"value": number}, "schemaVersion": {"value": "1"}, "title": title},
        },
        "localId": number,
    }


# ---- reading -----------------------------------------------------------------------------------------


def plain_text(value: Any) -> str:
    """The words of a document, or the text itself."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return "" if value is None else str(value)
    node = cast(JsonObject, value)
    attrs: JsonObject = node.get("attrs") or {}
    match node.get("type"):
        case "text":
            return str(node.get("text", ""))
        case "hardBreak":
            return "\n"
        case "mention" | "status" | "emoji":
            return str(attrs.get("text") or attrs.get("shortName") or "")
        case "inlineCard" | "blockCard":
            return str(attrs.get("url", ""))
        case kind:
            inner = [plain_text(child) for child in cast(list[Any], node.get("content") or [])]
            inline = kind in ("paragraph", "heading", "codeBlock", "taskItem", "decisionItem")
            return "".join(inner) if inline else "\n".join(part for part in inner if part)
