"""The arguments of a tool as a table."""

import json
from typing import Any, cast

from mcp_core.declare.describe import limit_words, type_words
from mcp_core.schema.fields import Schema
from mcp_core.schema.walk import Node, arguments
from toolcharter.output.markup import Html, element, join

_MAX_ENUM_VALUES = 30


def table(schema: Schema) -> Html:
    """The table of an expanded schema."""
    found = list(arguments(schema))
    if not found:
        return element("p", "It takes no arguments.")
    head = element("tr", [element("th", name, scope="col") for name in ("Argument", "What it is")])
    body = [_row(row) for row in found]
    whole = element("table", element("thead", head), element("tbody", body), class_="arguments")
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label="Arguments")


def _row(row: Node) -> Html:
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


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
