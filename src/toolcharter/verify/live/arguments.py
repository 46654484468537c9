"""Generates arguments from a schema: a minimal valid set, and values of the wrong type."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from mcp_core.foreign.bounded import Unfinished, run_bounded_sync
from mcp_core.schema.fields import Schema, list_at, object_at, types_of
from mcp_core.schema.references import resolve_ref

UNKNOWN = "toolcharter_no_such_argument"
_MAX_DEPTH = 8
_MAX_VALUES = 5_000
"""How many values are tried for one schema: alternatives in alternatives grow exponentially."""
_PATTERN_SECONDS = 0.5
"""CPU time for one pattern and one text. An honest pattern needs microseconds."""
_FORMATS = {
    "date": "2026-01-15",
    "date-time": "2026-01-15T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_GUESSES = ("example", "1", "a", "A", "example_1", "EX-1", "2026-01-15", "https://example.com/", "12:00", "0" * 8, "en")
_WRONG: Mapping[str, Any] = {  # an object first: servers may read a text as a number, or as a list of one
    "object": {"not": "of this type"},
    "string": "not of this type",
    "array": [[]],
    "number": 0.5,
}


class _NoValue(Exception):
    """No matching value was found."""


class _ExampleSearch(NamedTuple):
    """The schema that references lead into, and the attempts that are left."""

    root: Schema
    attempts: Iterator[int]


def valid_arguments(schema: Schema) -> dict[str, Any] | None:
    """A minimal set of arguments that a schema accepts; None if none can be generated."""
    try:
        return _object(resolve_ref(schema, schema), _ExampleSearch(schema, iter(range(_MAX_VALUES))), 0)
    except _NoValue:
        return None


def wrong_value(types: Sequence[str], schema: Schema) -> Any:
    """A value of another type; None if every type is allowed, or none is named."""
    allowed = set(types) | ({"number"} if "integer" in types else set[str]())
    if not allowed or "const" in schema:
        return None
    return next((value for kind, value in _WRONG.items() if kind not in allowed), None)


def _value(schema: Schema, search: _ExampleSearch, depth: int) -> Any:
    if depth > _MAX_DEPTH or next(search.attempts, None) is None:
        raise _NoValue
    schema = resolve_ref(schema, search.root)
    if "$ref" in schema:
        raise _NoValue  # it points outside the document, in a circle, or nowhere
    if "const" in schema:
        return schema["const"]
    for keyword in ("enum", "examples"):
        options = schema.get(keyword)
        if isinstance(options, list) and options:
            return cast(list[Any], options)[0]
    if schema.get("default") is not None:
        return schema["default"]
    for keyword in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(keyword), list):
            return _first(cast(list[Any], branches), search, depth)
    return _of_type(schema, search, depth)


def _first(branches: list[Any], search: _ExampleSearch, depth: int) -> Any:
    for branch in branches:
        if isinstance(branch, dict) and cast(Schema, branch).get("type") != "null":
            try:
                return _value(cast(Schema, branch), search, depth + 1)
            except _NoValue:
                continue
    raise _NoValue


def _of_type(schema: Schema, search: _ExampleSearch, depth: int) -> Any:
    kind = next((kind for kind in types_of(schema) if kind != "null"), "object" if "properties" in schema else "string")
    if kind == "object":
        return _object(schema, search, depth)
    if kind == "array":
        return _array(schema, search, depth)
    if kind in ("integer", "number"):
        return _number(schema, integer=kind == "integer")
    return False if kind == "boolean" else _text(schema)


def _object(schema: Schema, search: _ExampleSearch, depth: int) -> dict[str, Any]:
    fields = object_at(schema, "properties")
    arguments: dict[str, Any] = {}
    for name in list_at(schema, "required"):
        field = fields.get(name) if isinstance(name, str) else None
        arguments[str(name)] = _value(cast(Schema, field) if isinstance(field, dict) else {}, search, depth + 1)
    return arguments


def _array(schema: Schema, search: _ExampleSearch, depth: int) -> list[Any]:
    least, items = schema.get("minItems"), schema.get("items")
    if not isinstance(least, int) or least < 1:
        return []
    if least > 1 and schema.get("uniqueItems"):
        raise _NoValue
    return [_value(cast(Schema, items) if isinstance(items, dict) else {}, search, depth + 1)] * min(least, 100)


def _number(schema: Schema, *, integer: bool) -> float:
    step = _bound(schema, "multipleOf") or 1
    low, above = _bound(schema, "minimum"), _bound(schema, "exclusiveMinimum")
    high, below = _bound(schema, "maximum"), _bound(schema, "exclusiveMaximum")
    for start in (1, low, above, high, below, 0):
        for number in (start, *((start + step, start - step) if start is not None else ())):
            if number is not None and _in_bounds(number, (low, high, above, below)) and number % step == 0:
                return int(number) if integer or number == int(number) else number
    if low is not None and not integer:
        return low
    raise _NoValue


def _in_bounds(number: float, bounds: tuple[float | None, float | None, float | None, float | None]) -> bool:
    low, high, above, below = bounds
    inside = (low is None or number >= low) and (high is None or number <= high)
    return inside and (above is None or number > above) and (below is None or number < below)


def _bound(schema: Schema, keyword: str) -> float | None:
    value = schema.get(keyword)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53 else None


def _text(schema: Schema) -> str:
    least, most = schema.get("minLength"), schema.get("maxLength")
    low = least if isinstance(least, int) else 0
    high = most if isinstance(most, int) else 10_000
    form, pattern = schema.get("format"), schema.get("pattern")
    guesses = [_FORMATS[form]] if isinstance(form, str) and form in _FORMATS else _GUESSES
    for guess in guesses:
        text = guess if form else guess.ljust(min(low, 10_000), "a")[:high]
        if low <= len(text) <= high and _matches(pattern, text):
            return text
    raise _NoValue


def is_found(pattern: str, text: str) -> bool:
    """Whether a pattern of a server is in a text. Called in a worker process."""
    return re.search(pattern, text) is not None


def _matches(pattern: Any, text: str) -> bool:
    if not isinstance(pattern, str):
        return True
    try:
        return run_bounded_sync(is_found, pattern, text, deadline=_PATTERN_SECONDS)
    except Unfinished:
        raise _NoValue from None  # the next text would take as long
    except (re.error, OverflowError, RecursionError):
        return False
