"""The value under a keyword, if it has the type that it should have: a schema of another server may be anything."""

import math
from collections.abc import Mapping
from typing import Any, cast

Schema = Mapping[str, Any]

TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


def list_at(schema: Schema, keyword: str) -> list[Any]:
    """The list under a keyword; empty if there is none."""
    value = schema.get(keyword)
    return cast(list[Any], value) if isinstance(value, list) else []


def object_at(schema: Schema, keyword: str) -> dict[str, Any]:
    """The object under a keyword; empty if there is none."""
    value = schema.get(keyword)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def string_at(schema: Schema, keyword: str) -> str:
    """The text under a keyword; empty if there is none."""
    value = schema.get(keyword)
    return value if isinstance(value, str) else ""


def number_at(schema: Schema, keyword: str) -> float | None:
    """The number under a keyword; None if there is none."""
    value = schema.get(keyword)
    return value if has_type(value, "number") else None


def has_type(value: Any, kind: str) -> bool:
    """Whether a value has a JSON type. An unknown type matches every value."""
    if kind in {"integer", "number"}:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return kind == "number" or isinstance(value, int) or (math.isfinite(value) and value.is_integer())
    known = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
    return isinstance(value, known.get(kind, object))


def types_of(schema: Schema) -> tuple[str, ...]:
    """The types that a schema names, in `type` or in the alternatives of `anyOf` and `oneOf`."""
    value = schema.get("type")
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return tuple(str(kind) for kind in cast(list[Any], value))
    return tuple(dict.fromkeys(kind for branch in branches_of(schema) for kind in types_of(branch)))


def branches_of(schema: Schema) -> list[Schema]:
    """The alternatives of a schema in `anyOf` and `oneOf`."""
    branches = [*list_at(schema, "anyOf"), *list_at(schema, "oneOf")]
    return [cast(Schema, branch) for branch in branches if isinstance(branch, dict)]
