"""Local references of a JSON schema, such as `#/$defs/Note`: followed, or written out."""

from collections.abc import Iterator, Mapping
from itertools import islice, repeat
from typing import Any, cast
from urllib.parse import unquote

from mcp_core.schema.fields import Schema

MAX_DEPTH = 8
"""References are written out this deep."""
MAX_HOPS = 100
"""References to references that are followed for one schema."""
MAX_EXPANDED = 5_000
"""Schemas in one that is written out: definitions that use each other grow exponentially."""
_INNER_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")


def resolve_pointer(root: Any, ref: str) -> Schema | bool | None:
    """The schema that a local reference points to; None if it has no target, or is not a JSON pointer."""
    if ref != "#" and not ref.startswith("#/"):
        return None
    node: Any = root
    for part in unquote(ref).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = cast(Schema, node).get(key)
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(cast(list[Any], node)):
            node = cast(list[Any], node)[int(key)]
        else:
            return None
    return cast(Schema | bool, node) if isinstance(node, Mapping | bool) else None


def resolve_ref(schema: Schema, root: Schema) -> Schema:
    """A schema with its local `$ref` followed. A reference without a target, or in a circle, is left as it is."""
    seen: set[str] = set()
    while isinstance(ref := schema.get("$ref"), str) and ref.startswith("#/") and ref not in seen:
        seen.add(ref)
        target = resolve_pointer(root, ref)
        if not isinstance(target, Mapping) or len(seen) > MAX_HOPS:
            return schema
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **rest} if rest else target
    return schema


def expand(schema: Schema) -> dict[str, Any]:
    """The schema with all local references replaced by what they refer to, as far as the limits go."""
    return _expand(schema, schema, 0, islice(repeat(None), MAX_EXPANDED))


def _expand(schema: Schema, root: Schema, depth: int, budget: Iterator[None]) -> dict[str, Any]:
    is_within_budget = next(budget, root) is None
    found = {**(resolve_ref(schema, root) if is_within_budget else schema)}
    if depth >= MAX_DEPTH or not is_within_budget:
        return {key: value for key, value in found.items() if key in ("type", "description", "title")}
    found.pop("$defs", None)
    found.pop("definitions", None)

    def inner(value: Any) -> Any:
        return _expand(cast(Schema, value), root, depth + 1, budget) if isinstance(value, Mapping) else value

    if isinstance(properties := found.get("properties"), Mapping):
        found["properties"] = {name: inner(value) for name, value in cast(Schema, properties).items()}
    for key in ("items", "additionalProperties"):
        if key in found:
            found[key] = inner(found[key])
    for key in _INNER_LISTS:
        if isinstance(found.get(key), list):
            found[key] = [inner(one) for one in cast(list[Any], found[key])]
    return found
