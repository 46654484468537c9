"""All schemas inside a schema, each with its place."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, cast

Kind = Literal["root", "property", "items", "branch", "definition", "other"]

IN_MAPS: dict[str, Kind] = {
    "properties": "property",
    "patternProperties": "other",
    "dependentSchemas": "branch",
    "$defs": "definition",
    "definitions": "definition",
}
IN_LISTS: dict[str, Kind] = {"anyOf": "branch", "oneOf": "branch", "allOf": "branch", "prefixItems": "items"}
ALONE: dict[str, Kind] = {
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
MOST = 20_000
"""Where the walk ends: no honest tool has that many."""


class Node(NamedTuple):
    """A schema, or a schema inside one."""

    path: str
    schema: Mapping[str, Any]
    kind: Kind
    name: str = ""
    """What a property or a definition is called."""


def nodes_of(schema: Mapping[str, Any], path: str) -> tuple[Node, ...]:
    """The schema and all inside it, from the top; a `$ref` is not followed."""
    if not schema:
        return ()
    found: list[Node] = [Node(path, schema, "root")]
    for node in found:  # grows while it is read
        if len(found) > MOST:
            break
        found += _inside(node)
    return tuple(found)


def _inside(node: Node) -> Iterator[Node]:
    for word, value in node.schema.items():
        if isinstance(value, dict):
            if word in IN_MAPS:
                for name, inner in cast(dict[str, Any], value).items():
                    if isinstance(inner, dict):
                        place = f"{node.path}.{word}.{name}"
                        yield Node(place, cast(dict[str, Any], inner), IN_MAPS[word], name)
            elif word in ALONE:
                yield Node(f"{node.path}.{word}", cast(dict[str, Any], value), ALONE[word])
        elif isinstance(value, list) and (word in IN_LISTS or word == "items"):
            for number, inner in enumerate(cast(list[Any], value)):
                if isinstance(inner, dict):
                    kind = IN_LISTS.get(word, "items")
                    yield Node(f"{node.path}.{word}.{number}", cast(dict[str, Any], inner), kind)
