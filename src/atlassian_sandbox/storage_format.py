"""Documents in Confluence's storage format: XHTML with elements for macros, links and images."""

from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from typing import Any, cast

from atlassian_sandbox.http import JsonObject, Kind, optional_list, optional_object

# The macro of storage format for each panel of the document format.
PANELS = {"info": "info", "success": "tip", "warning": "note", "error": "warning", "note": "panel"}
MARKS = {"strong": "strong", "em": "em", "code": "code", "underline": "u", "strike": "s"}
# Nodes that are one element, and those that are one element without content.
TAGS = {
    "paragraph": "p",
    "bulletList": "ul",
    "orderedList": "ol",
    "listItem": "li",
    "blockquote": "blockquote",
    "tableRow": "tr",
    "taskList": "ac:task-list",
    "layoutColumn": "ac:layout-cell",
    "decisionItem": "li",
}
_LAYOUTS = {1: "fixed-width", 2: "two_equal", 3: "three_equal"}


class StorageWriter:
    def __init__(self, kind: Kind, user_key: Callable[[str], str] = str) -> None:
        self.kind = kind
        self.user_key = user_key
        self.task_id = 0

    def write(self, document: JsonObject) -> str:
        return self.children(document)

    def children(self, node: JsonObject) -> str:
        return "".join(self.node(child) for child in optional_list(node.get("content")))

    def node(self, node: JsonObject) -> str:
        kind: str = node["type"]
        if kind in TAGS:
            return _element(TAGS[kind], self.children(node))
        attrs = optional_object(node.get("attrs"))
        return self.inline(node, attrs) or self.block(node, attrs) or self.macros(node, attrs) or self.children(node)

    def inline(self, node: JsonObject, attrs: JsonObject) -> str:
        match node["type"]:
            case "text":
                return _text(node)
            case "hardBreak":
                return "<br />"
            case "mention":
                name = "account-id" if self.kind == "cloud" else "userkey"
                return f'<ac:link><ri:user ri:{name}="{escape(self.user_key(attrs["id"]))}" /></ac:link>'
            case "emoji":
                short, fallback = attrs["shortName"], attrs.get("text", "")
                names = f'ac:name="{short.strip(":")}" ac:emoji-shortname="{short}" ac:emoji-fallback="{fallback}"'
                return f"<ac:emoticon {names} />"
            case "date":
                moment = datetime.fromtimestamp(int(attrs["timestamp"]) / 1000, UTC)
                return f'<time datetime="{moment.date().isoformat()}" />'
            case "inlineCard":
                url = escape(attrs["url"])
                return f'<a href="{url}" data-card-appearance="inline">{url}</a>'
            case _:
                return ""

    def block(self, node: JsonObject, attrs: JsonObject) -> str:  # noqa: PLR0911 - one case for each node
        match node["type"]:
            case "heading":
                return _element(f"h{attrs['level']}", self.children(node))
            case "rule":
                return "<hr />"
            case "table":
                return f'<table data-layout="default"><tbody>{self.children(node)}</tbody></table>'
            case "tableHeader" | "tableCell":
                tag = "th" if node["type"] == "tableHeader" else "td"
                return f"<{tag}{_spans(attrs)}>{self.children(node)}</{tag}>"
            case "taskItem":
                return self.task(node, attrs)
            case "decisionList":
                return f'<ul class="decision-list">{self.children(node)}</ul>'
            case "mediaSingle":
                return _image(node, attrs)
            case "layoutSection":
                layout = _LAYOUTS.get(len(node["content"]), "three_equal")
                section = f'<ac:layout-section ac:type="{layout}">{self.children(node)}</ac:layout-section>'
                return _element("ac:layout", section)
            case _:
                return ""

    def task(self, node: JsonObject, attrs: JsonObject) -> str:
        self.task_id += 1
        state = "complete" if attrs["state"] == "DONE" else "incomplete"
        parts = (("id", str(self.task_id)), ("status", state), ("body", self.children(node)))
        return _element("ac:task", "".join(_element(f"ac:task-{name}", value) for name, value in parts))

    def macros(self, node: JsonObject, attrs: JsonObject) -> str:
        match node["type"]:
            case "status":
                colour = "Grey" if attrs["color"] == "neutral" else str(attrs["color"]).capitalize()
                return macro("status", {"title": attrs["text"], "colour": colour}, attrs.get("localId"))
            case "panel":
                return macro(PANELS.get(attrs["panelType"], "panel"), body=self.rich_body(node))
            case "expand" | "nestedExpand":
                return macro("expand", {"title": attrs.get("title", "")}, body=self.rich_body(node))
            case "codeBlock":
                source = "".join(child["text"] for child in optional_list(node.get("content")))
                body = f"<![CDATA[{source.replace(']]>', ']]]]><![CDATA[>')}]]>"
                parameters = {"language": attrs["language"]} if attrs.get("language") else {}
                return macro("code", parameters, body=_element("ac:plain-text-body", body))
            case "extension" | "bodiedExtension" | "inlineExtension":
                values = optional_object(optional_object(attrs.get("parameters")).get("macroParams"))
                body = self.rich_body(node) if node["type"] == "bodiedExtension" else ""
                parameters = {name: str(value["value"]) for name, value in values.items()}
                return macro(attrs["extensionKey"], parameters, attrs.get("localId"), body)
            case _:
                return ""

    def rich_body(self, node: JsonObject) -> str:
        return _element("ac:rich-text-body", self.children(node))


def macro(name: str, parameters: dict[str, str] | None = None, macro_id: str | None = None, body: str = "") -> str:
    inner = "".join(
        f'<ac:parameter ac:name="{key}">{escape(value, quote=False)}</ac:parameter>'
        for key, value in (parameters or {}).items()
    )
    id_attribute = f' ac:macro-id="{macro_id}"' if macro_id else ""
    opening = f'<ac:structured-macro ac:name="{name}" ac:schema-version="1"{id_attribute}>'
    return f"{opening}{inner}{body}</ac:structured-macro>"


def _element(tag: str, content: str) -> str:
    return f"<{tag}>{content}</{tag}>"


def _text(node: JsonObject) -> str:
    result = escape(node["text"], quote=False)
    for mark in cast(list[JsonObject], optional_list(node.get("marks"))):
        attrs: Any = mark.get("attrs")
        match mark["type"]:
            case "link":
                result = f'<a href="{escape(attrs["href"])}">{result}</a>'
            case "annotation":
                result = f'<ac:inline-comment-marker ac:ref="{attrs["id"]}">{result}</ac:inline-comment-marker>'
            case "textColor":
                result = f'<span style="color: {attrs["color"]};">{result}</span>'
            case "subsup":
                result = _element(attrs["type"], result)
            case other:
                result = _element(MARKS[other], result) if other in MARKS else result
    return result


def _image(node: JsonObject, attrs: JsonObject) -> str:
    media = optional_object(node["content"][0].get("attrs"))
    name = escape(str(media.get("alt") or media.get("id")))
    align = attrs.get("layout", "center")
    return f'<ac:image ac:align="{align}" ac:alt="{name}"><ri:attachment ri:filename="{name}" /></ac:image>'


def _spans(attrs: JsonObject) -> str:
    return "".join(f' {name}="{attrs[name]}"' for name in ("colspan", "rowspan") if attrs.get(name, 1) != 1)
