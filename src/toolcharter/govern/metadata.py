"""Metadata and icons of upstreams: bounded, and without keys that only the governor itself may set."""

from collections.abc import Mapping
from typing import Any, cast

from mcp_core.declare.charter import META
from mcp_core.foreign.budget import TooLarge, check_size
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.upstream.transport import as_object

MAX_KEYS = 32
MAX_LENGTH = 16_000
"""Characters of all members together, as JSON."""
MAX_NODES, MAX_DEPTH = 500, 8
"""Of one member."""
MAX_ICONS, MAX_ICON_LENGTH = 8, 32_000
APP_LINKS = ("ui", "ui/resourceUri", "openai/outputTemplate")
"""The members that link a tool to a page, by MCP Apps, its draft, and the Apps SDK."""
_OURS = (META, "io.modelcontextprotocol/")
"""The prefixes of what the governor declares of a tool, and of what the protocol says of a connection."""
_ICON_ADDRESSES = ("https://", "data:image/")
_HINTS = dict.fromkeys(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), bool)
_ANNOTATIONS: Mapping[str, type] = {"title": str, **_HINTS}


def foreign_meta(meta: Any) -> JsonObject:
    """The members of a `_meta` that are passed on: links to pages, then the first by name that are not too large."""
    kept: JsonObject = {}
    left = MAX_LENGTH
    # By name, because pins do not keep their order.
    for key, value in sorted(as_object(meta).items(), key=_place):
        if len(kept) == MAX_KEYS:
            break
        if key.startswith(_OURS):
            continue
        try:
            check_size({key: value}, nodes=MAX_NODES, length=left, depth=MAX_DEPTH)
        except TooLarge:
            continue
        size = len(json_text.to_text({key: value}))
        if size <= left:
            kept[key] = value
            left -= size
    return kept


def _place(member: tuple[str, Any]) -> tuple[bool, str]:
    return member[0] not in APP_LINKS, member[0]


def app_link(meta: Mapping[str, Any]) -> str | None:
    """The address of the page that a client shows for a tool."""
    links = (as_object(meta.get("ui")).get("resourceUri"), *map(meta.get, APP_LINKS[1:]))
    return next((link for link in links if isinstance(link, str)), None)


def foreign_icons(icons: Any) -> list[JsonObject]:
    """The icons that are passed on: those with an address that a client may load."""
    listed = cast(list[Any], icons)[:MAX_ICONS] if isinstance(icons, list | tuple) else []
    return [icon for icon in map(_icon, listed) if icon]


def _icon(value: Any) -> JsonObject | None:
    icon = as_object(value)
    source, sizes = icon.get("src"), icon.get("sizes")
    if not isinstance(source, str) or len(source) > MAX_ICON_LENGTH or not source.startswith(_ICON_ADDRESSES):
        return None
    kept: JsonObject = {"src": source}
    if isinstance(icon.get("mimeType"), str):
        kept["mimeType"] = icon["mimeType"]
    if isinstance(sizes, list) and all(isinstance(size, str) for size in cast(list[Any], sizes)):
        kept["sizes"] = sizes
    if icon.get("theme") in ("light", "dark"):
        kept["theme"] = icon["theme"]
    return kept


def foreign_annotations(annotations: Mapping[str, Any]) -> JsonObject:
    """The annotations of a tool without those of a wrong type."""
    return {key: value for key, value in annotations.items() if isinstance(value, _ANNOTATIONS.get(key, object))}


def with_foreign_meta(item: Mapping[str, Any]) -> JsonObject:
    """An object of an upstream, with the metadata and icons of it that are passed on."""
    cleaned = {key: value for key, value in item.items() if key not in ("_meta", "icons")}
    if meta := foreign_meta(item.get("_meta")):
        cleaned["_meta"] = meta
    if icons := foreign_icons(item.get("icons")):
        cleaned["icons"] = icons
    return cleaned
