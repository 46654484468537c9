"""Values that mean what a schema asks for, and are written in another way: read as the schema has them.

A number or a boolean as text, a choice in another case, a single value where a list belongs, a list or an object as
JSON text, and the name of a field in another style. Only where there is one way to read the value.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from mcp_core.schema.fields import Schema, branches_of, has_type, list_at, object_at, types_of

MAX_NOTES = 8
_INTEGER = re.compile(r"-?\d{1,15}")
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?")
_MAX_QUOTE_LENGTH = 60
_MAX_DEPTH = 8
_MAX_NUMBER = 10**15

Note = Callable[[str], None]


def adapt(value: Any, schema: Schema) -> tuple[Any, list[str]]:
    """The value as the schema has it, and what was read in another way. What cannot be read stays as it is."""
    notes: list[str] = []
    return _adapt(value, schema, "", notes.append, 0), notes[:MAX_NOTES]


def _adapt(value: Any, schema: Schema, path: str, note: Note, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, dict) and "properties" in schema:
        return _adapt_fields(cast(dict[str, Any], value), schema, path, note, depth)
    if isinstance(value, list) and "items" in schema:
        items, inner = cast(list[Any], value), object_at(schema, "items")
        return [_adapt(item, inner, f"{path}[{number}]", note, depth + 1) for number, item in enumerate(items)]
    return _adapt_one(value, schema, path, note, depth)


def _adapt_one(value: Any, schema: Schema, path: str, note: Note, depth: int) -> Any:
    is_whole = isinstance(value, float) and types_of(schema) == ("integer",)  # 5.0
    found = [] if fits(value, schema) and not is_whole else _readings(value, schema, depth)
    if len(found) != 1:
        return value
    note(f"{path or 'the value'}: {_quote(value)} was read as {_quote(found[0])}")
    return found[0]


def _adapt_fields(value: dict[str, Any], schema: Schema, path: str, note: Note, depth: int) -> dict[str, Any]:
    properties = object_at(schema, "properties")
    is_open = schema.get("additionalProperties", True) is not False
    adapted: dict[str, Any] = {}
    for given, item in value.items():
        name = given if given in properties or is_open else _other_style(given, properties, value)
        place = f"{path}.{name}" if path else name
        if name != given:
            note(f"{given} was read as {place}")
        adapted[name] = _adapt(item, object_at(properties, name), place, note, depth + 1)
    return adapted


def _other_style(given: str, properties: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    """The only field whose name differs in case and separators alone; the given name where there is none."""
    same = [name for name in properties if fold(name) == fold(given)]
    return same[0] if len(same) == 1 and same[0] not in value else given


def fits(value: Any, schema: Schema) -> bool:
    """Whether the type and the choices of a schema allow a value. Other bounds are the validator's."""
    if "enum" in schema and value not in list_at(schema, "enum"):
        return False
    if branches := branches_of(schema):
        return any(fits(value, branch) for branch in branches)
    if "const" in schema and value != schema["const"]:
        return False
    types = types_of(schema)
    return not types or any(has_type(value, kind) for kind in types)


def _readings(value: Any, schema: Schema, depth: int) -> list[Any]:
    """The different values that a schema allows and that the value may stand for."""
    if branches := branches_of(schema):
        found = [reading for branch in branches for reading in _readings(value, branch, depth)]
    else:
        found = [
            reading
            for kind in types_of(schema)
            for reading in _as_type(value, kind, schema, depth)
            if fits(reading, schema)
        ]
    return [reading for number, reading in enumerate(found) if _position(reading, found) == number]


def _position(value: Any, among: list[Any]) -> int:
    """The first position of a value. 1 and true are different values."""
    return next(n for n, other in enumerate(among) if type(other) is type(value) and other == value)


def _as_type(value: Any, kind: str, schema: Schema, depth: int) -> list[Any]:
    if kind == "array" and not isinstance(value, list):
        return _as_list(value, schema, depth)
    if isinstance(value, str):
        return _from_text(value, kind, schema, depth)
    if kind == "string" and has_type(value, "integer") and abs(cast(int, value)) < _MAX_NUMBER:
        return [str(int(cast(int, value)))]
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return [int(value)]
    return []


def _from_text(text: str, kind: str, schema: Schema, depth: int) -> list[Any]:
    stripped = text.strip()
    if kind == "string":
        return [one for one in list_at(schema, "enum") if isinstance(one, str) and fold(one) == fold(text)]
    if kind == "integer" and _INTEGER.fullmatch(stripped):
        return [int(stripped)]
    if kind == "number" and _NUMBER.fullmatch(stripped):
        return [float(stripped) if "." in stripped else int(stripped)]
    if kind == "boolean" and stripped.lower() in {"true", "false"}:
        return [stripped.lower() == "true"]
    if kind == "object" and stripped.startswith("{"):
        return _from_json(stripped, schema, dict, depth)
    return []


def _as_list(value: Any, schema: Schema, depth: int) -> list[Any]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        return _from_json(value, schema, list, depth)
    items = object_at(schema, "items")
    one = _adapt(value, items, "", lambda _: None, depth + 1)
    return [[one]] if items and fits(one, items) else []


def _from_json(text: str, schema: Schema, kind: type, depth: int) -> list[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [_adapt(value, schema, "", lambda _: None, depth + 1)] if isinstance(value, kind) else []


def fold(text: str) -> str:
    """A name or a choice without case and separators: In-Progress, in_progress and `in progress` are the same."""
    return re.sub(r"[\s_-]+", "", text).casefold()


def _quote(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_QUOTE_LENGTH else f"{text[:_MAX_QUOTE_LENGTH]}..."
