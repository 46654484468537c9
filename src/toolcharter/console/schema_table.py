"""The arguments of a tool as a table, and its schema without references, as the form needs it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from mcp_core.declare.describe import limit_words, type_words
from toolcharter.console.markup import Html, element, join
from toolcharter.verify.model import resolve_ref

Schema = Mapping[str, Any]
MAX_DEPTH = 8
"""References are followed this deep. What is deeper is written as JSON."""
_CHOICES = ("anyOf", "oneOf", "allOf")
_MAX_ENUM_VALUES = 30


class ArgumentRow(NamedTuple):
    """One argument, or a member of an object inside it."""

    name: str
    depth: int
    schema: Schema
    required: bool


def expand(schema: Schema, root: Schema | None = None, depth: int = 0) -> dict[str, Any]:
    """The schema with all local references replaced by what they refer to."""
    whole = schema if root is None else root
    found = dict(resolve_ref(schema, whole))
    found.pop("$defs", None)
    found.pop("definitions", None)
    if depth >= MAX_DEPTH:
        return {key: value for key, value in found.items() if key in ("type", "description", "title")}

    def inner(value: Any) -> Any:
        return expand(cast(Schema, value), whole, depth + 1) if isinstance(value, Mapping) else value

    properties = found.get("properties")
    if isinstance(properties, Mapping):
        found["properties"] = {name: inner(value) for name, value in cast(Schema, properties).items()}
    for key in ("items", "additionalProperties"):
        if key in found:
            found[key] = inner(found[key])
    for key in (*_CHOICES, "prefixItems"):
        if isinstance(found.get(key), list):
            found[key] = [inner(one) for one in cast(list[Any], found[key])]
    return found


def rows(schema: Schema, depth: int = 0) -> Iterator[ArgumentRow]:
    """All arguments of an expanded schema, each before its members."""
    properties = _mapping(schema.get("properties"))
    required = cast(list[Any], schema["required"]) if isinstance(schema.get("required"), list) else []
    for name, value in properties.items():
        argument = _mapping(value)
        yield ArgumentRow(name, depth, argument, name in required)
        for inside in _objects_inside(argument):
            yield from rows(inside, depth + 1)


def _objects_inside(schema: Schema) -> Iterator[Schema]:
    if "properties" in schema:
        yield schema
        return
    inside: list[Any] = [schema.get("items"), schema.get("additionalProperties")]
    for key in _CHOICES:
        inside += cast(list[Any], schema[key]) if isinstance(schema.get(key), list) else []
    for one in inside:
        if isinstance(one, Mapping):
            yield from _objects_inside(cast(Schema, one))


def table(schema: Schema) -> Html:
    """The table of an expanded schema."""
    found = list(rows(schema))
    if not found:
        return element("p", "It takes no arguments.")
    head = element("tr", [element("th", name, scope="col") for name in ("Argument", "What it is")])
    body = [_row(row) for row in found]
    whole = element("table", element("thead", head), element("tbody", body), class_="arguments")
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label="Arguments")


def _row(row: ArgumentRow) -> Html:
    kind = f"{_type(row.schema)}, {'required' if row.required else 'optional'}"
    name = element("th", element("code", row.name), element("small", kind), scope="row", data_depth=row.depth or None)
    return element("tr", name, element("td", *_description(row.schema)))


def _type(schema: Schema) -> str:
    values = schema.get("enum")
    if isinstance(values, list):
        number = len(cast(list[Any], values))
        return "one value" if number == 1 else f"one of {number}"
    try:
        return type_words(schema)
    except (TypeError, KeyError, AttributeError):  # the schema of another server may be anything
        return "any"


def _description(schema: Schema) -> list[Html]:
    parts = [element("span", str(schema["description"]))] if schema.get("description") else []
    values: list[Any] = cast(list[Any], schema["enum"]) if isinstance(schema.get("enum"), list) else []
    if values:
        more = f" and {len(values) - _MAX_ENUM_VALUES} more" if len(values) > _MAX_ENUM_VALUES else None
        shown = (
            join(", " if at else None, element("code", _json(one))) for at, one in enumerate(values[:_MAX_ENUM_VALUES])
        )
        parts.append(element("small", *shown, more))
    notes = [_with_code(words) for words in limit_words(schema)]
    if "default" in schema:
        notes.append(element("span", "default: ", element("code", _json(schema["default"]))))
    if notes:
        parts.append(element("small", *(join("; " if at else None, note) for at, note in enumerate(notes))))
    return parts


def _with_code(text: str) -> Html:
    """Text with what is between backticks as code."""
    return element("span", [element("code", part) if at % 2 else part for at, part in enumerate(text.split("`"))])


def _mapping(value: Any) -> Schema:
    return cast(Schema, value) if isinstance(value, Mapping) else {}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
