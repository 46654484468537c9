"""JSON values inside schemas: what they are, and whether a schema takes them."""

import json
import math
from collections.abc import Mapping
from typing import Any, cast

TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_LONGEST_SHOWN = 60


def list_at(schema: Mapping[str, Any], word: str) -> list[Any]:
    """The list under a keyword; empty where there is none."""
    value = schema.get(word)
    return cast(list[Any], value) if isinstance(value, list) else []


def map_at(schema: Mapping[str, Any], word: str) -> dict[str, Any]:
    """The object under a keyword; empty where there is none."""
    value = schema.get(word)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def text_at(schema: Mapping[str, Any], word: str) -> str:
    """The text under a keyword; empty where there is none."""
    value = schema.get(word)
    return value if isinstance(value, str) else ""


def number_at(schema: Mapping[str, Any], word: str) -> float | None:
    """The number under a keyword."""
    value = schema.get(word)
    return value if is_of(value, "number") else None


def is_of(value: Any, kind: str) -> bool:
    """Whether a value has a JSON type; of a type that does not exist, all values are."""
    if kind in {"integer", "number"}:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return kind == "number" or isinstance(value, int) or (math.isfinite(value) and value.is_integer())
    known = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
    return isinstance(value, known.get(kind, object))


def shown(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def same(value: Any) -> str:
    """A text that two values share when JSON Schema calls them equal."""
    return json.dumps(value, sort_keys=True, default=str)


def refusal(value: Any, schema: Mapping[str, Any], types: tuple[str, ...]) -> str | None:
    """Why a schema does not take a value, looking at its type, its enum and its bounds; None where it does."""
    if types and not any(is_of(value, kind) for kind in types):
        return f"it is not of type {' or '.join(types)}"
    options = list_at(schema, "enum")
    if options and same(value) not in {same(option) for option in options}:
        return "it is not in the enum"
    if is_of(value, "number"):
        return _out_of_bounds(value, schema)
    if isinstance(value, str):
        return _wrong_length(len(value), schema, "minLength", "maxLength")
    if isinstance(value, list):
        return _wrong_length(len(cast(list[Any], value)), schema, "minItems", "maxItems")
    return None


def _out_of_bounds(value: float, schema: Mapping[str, Any]) -> str | None:
    least, most = number_at(schema, "minimum"), number_at(schema, "maximum")
    above, below = number_at(schema, "exclusiveMinimum"), number_at(schema, "exclusiveMaximum")
    if (least is not None and value < least) or (above is not None and value <= above):
        return "it is below the minimum"
    if (most is not None and value > most) or (below is not None and value >= below):
        return "it is above the maximum"
    return None


def _wrong_length(length: int, schema: Mapping[str, Any], least: str, most: str) -> str | None:
    low, high = number_at(schema, least), number_at(schema, most)
    if low is not None and length < low:
        return f"it is shorter than {least}"
    if high is not None and length > high:
        return f"it is longer than {most}"
    return None
