"""The headers that repeat parts of a request of 2026-07-28, so that proxies need not read its body.

The name of a tool, prompt or resource, and the arguments that the schema of a tool marks with `x-mcp-header`.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, cast

from mcp_core.declare.listed import ListedTool
from mcp_core.schema.walk import walk

MARK = "x-mcp-header"
_PREFIX = "Mcp-Param-"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

MarkedArguments = Mapping[tuple[str, ...], str]
"""The name of the header, by the path of the argument."""


def header_value(text: str) -> str:
    """A text as the value of a header: in Base64 where it has something that a header cannot have."""
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{b64encode(text.encode('utf-8', 'replace')).decode()}?="


def marked_arguments(tool: ListedTool) -> MarkedArguments:
    """The arguments of a tool that go into headers."""
    # Others than those that are reached through `properties` alone have no place that is always the same.
    nodes = walk(tool.input_schema, inside=lambda _: ("properties",))
    marks = ((node, node.schema.get(MARK)) for node in nodes if node.keyword)
    return {node.names: _PREFIX + mark for node, mark in marks if isinstance(mark, str) and _TOKEN.fullmatch(mark)}


def argument_headers(marked: MarkedArguments, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers for the arguments of one call. What is missing or null has none."""
    found = ((header, _value_at(arguments, path)) for path, header in marked.items())
    return {header: header_value(text) for header, value in found if (text := _as_text(value)) is not None}


def _value_at(arguments: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        arguments = cast(Mapping[str, Any], arguments).get(name) if isinstance(arguments, Mapping) else None
    return arguments


def _as_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None
