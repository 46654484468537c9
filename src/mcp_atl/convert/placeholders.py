"""Placeholders: what Markdown cannot say stands in it as `{{status DONE#3f2a91}}`, and comes back as the same node.

The digest at the end is that of the node. A block that has readable content, such as a layout, stands between
`{{layout#3f2a91}}` and `{{/layout#3f2a91}}`; a mark such as that of an inline comment likewise, around its words.
"""

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import Any

from mcp_atl.convert.nodes import Node, attributes, plain_text
from toolcharter import InvalidArguments

PLACEHOLDER = re.compile(r"\{\{(/?)([A-Za-z]\w{0,30})((?: [^#{}\n]{1,60})?)#([0-9a-f]{6,64})\}\}")
LENGTHS = (6, 12, 64)
MAX_DETAIL_LENGTH = 40

NAMES = {
    "extension": "macro",
    "inlineExtension": "macro",
    "bodiedExtension": "macro",
    "mediaSingle": "image",
    "mediaGroup": "files",
    "mediaInline": "file",
    "layoutSection": "layout",
    "layoutColumn": "column",
    "decisionList": "decisions",
    "blockCard": "card",
    "embedCard": "card",
    "annotation": "comment",
    "textColor": "color",
    "backgroundColor": "highlight",
    "storage": "macro",
    "storageInline": "object",
}
"""Common words for nodes and marks; all others have their own names."""


class Originals:
    """The nodes and marks of a document without a Markdown form, by the digest in their placeholders."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def placeholder(self, node: Node) -> str:
        """The placeholder of a node, which brings it back."""
        return f"{{{{{self._name(node)}#{self._digest(node)}}}}}"

    def around(self, node: Node) -> tuple[str, str]:
        """The placeholders before and after what can be read of a node or mark."""
        name = _kind(node)
        digest = self._digest(node)
        return f"{{{{{self._name(node)}#{digest}}}}}", f"{{{{/{name}#{digest}}}}}"

    def find(self, digest: str, shown: str) -> Node:
        """The node that a placeholder stands for."""
        if digest not in self.nodes:
            raise InvalidArguments(
                f"The placeholder {shown} stands for nothing in this text. Copy placeholders as get shows them; they "
                "cannot be taken from another page.",
                fields=("parameters",),
            )
        return self.nodes[digest]

    def _name(self, node: Node) -> str:
        detail = _detail(node)
        return f"{_kind(node)} {detail}" if detail else _kind(node)

    def _digest(self, node: Node) -> str:
        essence = _without_place(node)
        whole = hashlib.sha256(json.dumps(essence, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        for length in LENGTHS:
            if self.nodes.setdefault(whole[:length], essence) == essence:
                return whole[:length]
        raise AssertionError("two different nodes have the same SHA-256")


def _without_place(node: Node) -> Node:
    """A node without its place in a source. What is inside it keeps its source."""
    essence = {key: value for key, value in node.items() if key not in ("raw", "at")}
    if "content" in essence:
        essence["content"] = [{key: value for key, value in one.items() if key != "at"} for one in essence["content"]]
    return essence


def _kind(node: Node) -> str:
    kind = str(node["type"])
    return NAMES.get(kind, kind)


def _detail(node: Node) -> str:
    """A description of the node in a few words."""
    known = attributes(node)
    match node["type"]:
        case "status":
            words: Any = known.get("text")
        case "extension" | "inlineExtension" | "bodiedExtension":
            words = known.get("extensionKey")
        case "storage" | "storageInline":
            words = known.get("name")
        case "date":
            words = _day(known.get("timestamp"))
        case "panel":
            words = known.get("panelType")
        case "mediaSingle" | "mediaInline":
            inner = [attributes(one) for one in node.get("content") or ()]
            words = next((one.get("alt") for one in inner if one.get("alt")), known.get("alt"))
        case "blockCard" | "embedCard":
            words = known.get("url")
        case "placeholder":
            words = known.get("text") or plain_text(node)
        case _:
            words = None
    return re.sub(r"[^\w .,:/@-]", "", str(words or "")).strip()[:MAX_DETAIL_LENGTH].strip()


def _day(timestamp: Any) -> str | None:

    try:
        return datetime.fromtimestamp(int(timestamp) / 1000, UTC).date().isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return None
