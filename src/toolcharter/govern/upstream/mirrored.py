"""What a request of 2026-07-28 repeats in its headers, so that proxies need not read its body.

The name of a tool, prompt or resource, and the arguments that the schema of a tool marks with `x-mcp-header`.
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_core.declare.listed import ListedTool

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
    return dict(_marked(tool.input_schema, ()))


def _marked(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Those that are reached through `properties` alone: others have no place that is always the same."""
    properties = cast(Mapping[str, Any], schema).get("properties") if isinstance(schema, Mapping) else None
    for name, inner in cast(Mapping[str, Any], properties).items() if isinstance(properties, Mapping) else ():
        mark: Any = cast(Mapping[str, Any], inner).get(MARK) if isinstance(inner, Mapping) else None
        if isinstance(mark, str) and _TOKEN.fullmatch(mark):
            yield (*path, name), _PREFIX + mark
        yield from _marked(inner, (*path, name))


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
