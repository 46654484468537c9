from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mcp_core.schema.fields import has_type, list_at, object_at
from mcp_core.schema.walk import MAP_KEYWORDS, SINGLE_KEYWORDS
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

Accepts = Callable[[Any], bool]


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _are_names(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in _list_of(value)))


def _list_of(value: Any) -> list[Any]:
    return list_at({"": value}, "")


def _are_schemas(value: Any) -> bool:
    return bool(_list_of(value)) and all(_is_schema(one) for one in _list_of(value))


def _is_count(value: Any) -> bool:
    return has_type(value, "integer") and value >= 0


_KINDS: tuple[tuple[str, Accepts, tuple[str, ...]], ...] = (
    (
        "a string",
        lambda value: isinstance(value, str),
        ("$schema", "$ref", "$id", "description", "title", "pattern", "format"),
    ),
    (
        "a number",
        lambda value: has_type(value, "number"),
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    ),
    ("a number above 0", lambda value: has_type(value, "number") and value > 0, ("multipleOf",)),
    (
        "a non-negative integer",
        _is_count,
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    ),
    ("a boolean", lambda value: isinstance(value, bool), ("uniqueItems", "readOnly", "writeOnly", "deprecated")),
    ("a list", lambda value: isinstance(value, list), ("enum", "examples")),
    ("a list of names", lambda value: isinstance(value, list) and _are_names(value), ("required",)),
    ("a list of schemas", _are_schemas, ("anyOf", "oneOf", "allOf", "prefixItems")),
    (
        "a schema or a list of schemas",
        lambda value: _is_schema(value) or _are_schemas(value) or value == [],
        ("items",),
    ),
    ("a schema", _is_schema, tuple(word for word in SINGLE_KEYWORDS if word != "items")),
    ("an object of schemas", lambda value: isinstance(value, dict), tuple(MAP_KEYWORDS)),
    ("a string or a list of strings", lambda value: _are_names(value) and value != [], ("type",)),
)
_EXPECTED = {word: (kind, accepts) for kind, accepts, words in _KINDS for word in words}


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        for word, value in node.schema.items():
            expected = _EXPECTED.get(word)
            if expected is None:
                continue
            kind, accepts = expected
            if not accepts(value):
                yield Problem(f"`{word}` is {short_json(value)}, not {kind}", f"{node.path}.{word}")
            elif word in MAP_KEYWORDS:
                yield from _members(node.schema, word, node.path)


def _members(schema: Mapping[str, Any], word: str, path: str) -> Iterable[Problem]:
    for name, value in object_at(schema, word).items():
        if not _is_schema(value):
            yield Problem(f"{name!r} is {short_json(value)}, not a schema", f"{path}.{word}.{name}")


RULE = Rule(
    id="SCH003",
    name="invalid-keyword",
    family="schema",
    severity="error",
    what="A JSON Schema keyword with a value of the wrong type.",
    why="The schema is not valid, neither in draft-07 nor in 2020-12. Clients that validate schemas reject the tool, "
    "often with the whole list. Others ignore the keyword.",
    fix="Give the keyword a value of the right type. "
    "`required` is a list beside `properties`, not a boolean inside a property.",
    bad=[{"inputSchema": {"type": "object", "properties": {"folder": {"type": "string", "required": True}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}, "required": ["folder"]}}],
    check=check,
)
