"""JSON values inside schemas: their text, and whether a schema accepts them."""

import json
from collections.abc import Mapping
from typing import Any, cast

from mcp_core.schema.fields import has_type, list_at, number_at

_MAX_QUOTE = 60


def short_json(value: Any) -> str:
    """A value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_QUOTE else f"{text[:_MAX_QUOTE]}..."


def equality_key(value: Any) -> str:
    """A key that is the same for values that JSON Schema calls equal."""
    return json.dumps(value, sort_keys=True, default=str)


def rejection_reason(value: Any, schema: Mapping[str, Any], types: tuple[str, ...]) -> str | None:
    """Why a schema rejects a value because of its type, enum or bounds; None if it accepts the value."""
    if types and not any(has_type(value, kind) for kind in types):
        return f"it is not of type {' or '.join(types)}"
    options = list_at(schema, "enum")
    if options and equality_key(value) not in {equality_key(option) for option in options}:
        return "it is not in the enum"
    if has_type(value, "number"):
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
