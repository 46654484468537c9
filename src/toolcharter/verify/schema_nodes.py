"""All schemas inside a schema, each with its path."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, cast

Kind = Literal["root", "property", "items", "branch", "definition", "other"]

MAP_KEYWORDS: dict[str, Kind] = {
    "properties": "property",
    "patternProperties": "other",
    "dependentSchemas": "branch",
    "$defs": "definition",
    "definitions": "definition",
}
LIST_KEYWORDS: dict[str, Kind] = {"anyOf": "branch", "oneOf": "branch", "allOf": "branch", "prefixItems": "items"}
SINGLE_KEYWORDS: dict[str, Kind] = {
    "items": "items",
    "additionalProperties": "other",
    "additionalItems": "items",
    "contains": "other",
    "not": "branch",
    "if": "branch",
    "then": "branch",
    "else": "branch",
    "propertyNames": "other",
    "unevaluatedProperties": "other",
    "unevaluatedItems": "other",
    "contentSchema": "other",
}
MAX_NODES = 20_000
"""Where the walk stops. No real tool has as many."""


class Node(NamedTuple):
    """A schema, or a schema inside one."""

    path: str
    schema: Mapping[str, Any]
    kind: Kind
    name: str = ""
    """The name of a property or a definition."""


def nodes_of(schema: Mapping[str, Any], path: str) -> tuple[Node, ...]:
    """The schema and all schemas inside it, from the top. A `$ref` is not followed."""
    if not schema:
        return ()
    found: list[Node] = [Node(path, schema, "root")]
    for node in found:  # the list grows during the loop
        if len(found) > MAX_NODES:
            break
        found += _inside(node)
    return tuple(found)


def _inside(node: Node) -> Iterator[Node]:
    for keyword, value in node.schema.items():
        if isinstance(value, dict):
            if keyword in MAP_KEYWORDS:
                for name, inner in cast(dict[str, Any], value).items():
                    if isinstance(inner, dict):
                        place = f"{node.path}.{keyword}.{name}"
                        yield Node(place, cast(dict[str, Any], inner), MAP_KEYWORDS[keyword], name)
            elif keyword in SINGLE_KEYWORDS:
                yield Node(f"{node.path}.{keyword}", cast(dict[str, Any], value), SINGLE_KEYWORDS[keyword])
        elif isinstance(value, list) and (keyword in LIST_KEYWORDS or keyword == "items"):
            for number, inner in enumerate(cast(list[Any], value)):
                if isinstance(inner, dict):
                    kind = LIST_KEYWORDS.get(keyword, "items")
                    yield Node(f"{node.path}.{keyword}.{number}", cast(dict[str, Any], inner), kind)
