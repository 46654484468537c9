"""Refuses arguments with too many values before they are validated.

The validator builds an error for each wrong item and each unknown name, which takes seconds for a large body.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from mcp_core.declare.schema import MAX_ITEMS, JsonSchema

MAX_VALUES = 100_000
"""In all arguments of a call together."""
MAX_COMPARED = 1_000_000
"""Schemas that values are compared with. Those of other servers may have thousands for one value."""
MAX_UNKNOWN = 100
"""Names in one object that its schema does not have."""
SMALL = 2 * MAX_ITEMS
"""A shorter JSON text cannot have more than `MAX_ITEMS` values."""

Place = tuple[str | int, ...]


class Excess(NamedTuple):
    """The place of too many values, and the message."""

    place: Place
    message: str


def find_excess(arguments: Mapping[str, Any], schema: JsonSchema) -> Excess | None:
    """The first list or object that is too large, if there is one."""
    total = compared = 0
    # A list, not recursion: arguments may be nested deeper than the stack.
    rest: list[tuple[Any, list[JsonSchema], Place]] = [(arguments, [schema], ())]
    while rest:
        value, schemas, place = rest.pop()
        compared += len(schemas)
        if compared > MAX_COMPARED:
            return Excess((), "the arguments have too many values for such a complex schema; send fewer in each call")
        if isinstance(value, list):
            items = cast(list[Any], value)
            arrays = [part for part in schemas if part.get("type") == "array"]
            most = max((part.get("maxItems", MAX_ITEMS) for part in arrays), default=MAX_VALUES)
            if len(items) > most:
                return Excess(place, f"list should have at most {most} items, not {len(items)}")
            total += len(items)
            inner = list(_branches([part["items"] for part in arrays if isinstance(part.get("items"), dict)]))
            rest += [(item, inner, (*place, i)) for i, item in enumerate(items) if isinstance(item, list | dict)]
        else:
            fields = cast(Mapping[str, Any], value)
            if excess := _object_excess(fields, schemas, place):
                return excess
            total += len(fields)
            rest += [
                (item, list(_branches(_field_schemas(name, schemas))), (*place, name))
                for name, item in fields.items()
                if isinstance(item, list | dict)
            ]
        if total > MAX_VALUES:
            return Excess((), f"the arguments have more than {MAX_VALUES} values; send fewer in each call")
    return None


def _object_excess(fields: Mapping[str, Any], schemas: list[JsonSchema], place: Place) -> Excess | None:
    objects = [part for part in schemas if part.get("type") == "object"]
    if not objects:
        return None
    if any(part.get("additionalProperties", True) is not False for part in objects):
        most = max(part.get("maxProperties", MAX_VALUES) for part in objects)
        too_many = len(fields) > most
        return Excess(place, f"object should have at most {most} names, not {len(fields)}") if too_many else None
    unknown = len(fields) - sum(any(name in part.get("properties", {}) for part in objects) for name in fields)
    if unknown > MAX_UNKNOWN:
        return Excess(place, f"has {unknown} names that the schema does not have")
    return None


def _field_schemas(name: str, schemas: list[JsonSchema]) -> list[JsonSchema]:
    parts = [part.get("properties", {}).get(name, part.get("additionalProperties")) for part in schemas]
    return [cast(JsonSchema, part) for part in parts if isinstance(part, dict)]


def _branches(schemas: list[JsonSchema]) -> Iterator[JsonSchema]:
    """The schemas, and the alternatives inside them."""
    for schema in schemas:
        yield schema
        for keyword in ("anyOf", "oneOf", "allOf"):
            yield from _branches(schema.get(keyword, []))
