import re

import pytest

from mcp_core.schema.references import MAX_DEPTH, expand
from mcp_core.schema.walk import arguments
from toolcharter.console.schema_table import table

TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/Node"}, "size": {"enum": ["a", 2, None], "default": "a"}},
    "required": ["root"],
    "$defs": {
        "Node": {
            "type": "object",
            "description": "A node.",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["name"],
        }
    },
}


def depth_of(schema: dict) -> int:
    inner = schema.get("properties", {}).get("children", {}).get("items")
    return 1 + depth_of(inner) if inner else 1


def test_references_are_followed_and_recursion_ends():
    expanded = expand(TREE)
    assert "$ref" not in str(expanded)
    assert "$defs" not in expanded
    assert 1 < depth_of(expanded["properties"]["root"]) <= MAX_DEPTH


def test_each_argument_is_followed_by_its_members():
    found = list(arguments(expand(TREE)))
    assert [(row.name, row.depth, row.required) for row in found[:4]] == [
        ("root", 0, True),
        ("name", 1, True),
        ("children", 1, False),
        ("name", 2, True),
    ]
    assert (found[-1].name, found[-1].depth) == ("size", 0)


def test_the_table_has_types_limits_choices_and_defaults():
    text = re.sub(r"<[^>]+>", " ", table(expand(TREE)))
    words = " ".join(text.split())
    assert "root object, required A node." in words
    assert "name string, required at least 1 character" in words
    assert "size one of 3, optional &quot;a&quot; , 2 , null default: &quot;a&quot;" in words


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": None},
        {"properties": {"a": None, "b": {"type": ["string", "null"]}, "c": {"anyOf": []}, "d": {"enum": []}}},
        {"properties": {"a": {"type": "array", "items": True}, "b": {"$ref": "#/nowhere"}}, "required": "a"},
        {"properties": {"a": {"type": 3, "minimum": "x", "items": [], "anyOf": 7, "description": ["x"]}}},
        {"$ref": "#"},
    ],
)
def test_any_schema_of_another_server_can_be_shown(schema):
    assert table(expand(schema))
