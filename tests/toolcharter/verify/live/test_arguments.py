"""Generated arguments match their schema."""

import jsonschema
import pytest

from toolcharter.verify.live.arguments import valid_arguments, wrong_value


def needs(schema, **more):
    return {"type": "object", "properties": {"x": schema}, "required": ["x"], **more}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "example"),
        ({"type": "string", "enum": ["b", "a"]}, "b"),
        ({"const": "DELETE"}, "DELETE"),
        ({"type": "integer", "default": 7}, 7),
        ({"type": "string", "examples": ["PRJ-1"]}, "PRJ-1"),
        ({"type": "string", "minLength": 10}, "exampleaaa"),
        ({"type": "string", "maxLength": 3}, "exa"),
        ({"type": "string", "format": "date"}, "2026-01-15"),
        ({"type": "string", "format": "uuid"}, "00000000-0000-4000-8000-000000000000"),
        ({"type": "string", "pattern": "^[A-Z]{2}-[0-9]$"}, "EX-1"),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "integer", "exclusiveMinimum": 5}, 6),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "integer", "multipleOf": 4, "minimum": 1}, 0 + 4),
        ({"type": "number", "minimum": 0.25, "maximum": 0.5}, 0.25),
        ({"type": "boolean"}, False),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"type": ["null", "string"]}, "example"),
        (needs({"type": "integer"}), {"x": 1}),
        ({}, "example"),
    ],
)
def test_a_minimal_valid_set_of_arguments_is_generated(schema, expected):
    made = valid_arguments(needs(schema))
    assert made == {"x": expected}
    jsonschema.validate(made, needs(schema))


def test_a_reference_is_followed():
    root = needs({"$ref": "#/$defs/level"}, **{"$defs": {"level": {"enum": ["high"]}}})
    assert valid_arguments(root) == {"x": "high"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^never such a text$"},
        {"type": "string", "pattern": "("},
        {"type": "string", "minLength": 5, "maxLength": 2},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "array", "minItems": 2, "uniqueItems": True},
        {"$ref": "#"},
    ],
)
def test_arguments_that_cannot_be_generated_are_not_tried(schema):
    assert valid_arguments(needs(schema)) is None


@pytest.mark.parametrize("schema", [{}, {"required": [1, None]}, {"properties": 3, "required": "x"}])
def test_an_invalid_schema_does_not_fail(schema):
    assert isinstance(valid_arguments(schema), dict)


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("string",), {"not": "of this type"}),
        (("integer",), {"not": "of this type"}),
        (("string", "object"), [[]]),
        (("string", "object", "array"), 0.5),
        (("string", "object", "array", "integer"), None),
        ((), None),
    ],
)
def test_a_wrong_value_has_a_type_that_is_not_allowed(types, expected):
    assert wrong_value(types, {}) == expected
