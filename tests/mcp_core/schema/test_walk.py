"""The walker: order, paths, and bounds for schemas that were made to be expensive."""

import time
from itertools import islice

import pytest

from mcp_core.schema.references import MAX_EXPANDED, MAX_HOPS, expand, resolve_ref
from mcp_core.schema.walk import MAX_NODES, arguments, arguments_with_references, walk

NOTE = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": " The title. "},
        "parts": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]}},
        "any": True,
    },
    "required": ["title"],
    "$defs": {"Part": {"properties": {"text": {"type": "string"}, "below": {"$ref": "#/$defs/Part"}}}},
}


def test_a_node_is_followed_by_what_is_inside_it():
    assert [node.path for node in walk(NOTE, "inputSchema")] == [
        "inputSchema",
        "inputSchema.properties.title",
        "inputSchema.properties.parts",
        "inputSchema.properties.parts.items",
        "inputSchema.properties.parts.items.anyOf.0",
        "inputSchema.properties.parts.items.anyOf.1",
        "inputSchema.properties.any",
        "inputSchema.$defs.Part",
        "inputSchema.$defs.Part.properties.text",
        "inputSchema.$defs.Part.properties.below",
    ]


def test_the_outer_schemas_come_first_on_request():
    levels = [node.level for node in walk(NOTE, by_level=True)]
    assert levels == sorted(levels)
    assert len(levels) == 10


def test_a_node_has_its_keyword_its_name_and_whether_it_is_required():
    title = next(node for node in walk(NOTE) if node.name == "title")
    assert (title.keyword, title.required, title.types, title.description) == (
        "properties",
        True,
        ("string",),
        "The title.",
    )


def test_references_are_followed_and_a_definition_is_entered_once():
    found = arguments_with_references(NOTE, "inputSchema")
    assert [(node.path, node.names, node.depth) for node in found] == [
        ("inputSchema.properties.title", ("title",), 0),
        ("inputSchema.properties.parts", ("parts",), 0),
        ("inputSchema.properties.parts.items.anyOf.0.properties.text", ("parts", "text"), 1),
        ("inputSchema.properties.parts.items.anyOf.0.properties.below", ("parts", "below"), 1),
        ("inputSchema.properties.any", ("any",), 0),
    ]


def nested(depth: int, name: str = "a") -> dict:
    schema: dict = {"type": "string"}
    for _ in range(depth):
        schema = {"properties": {name: schema}}
    return schema


def exponential(definitions: int, uses: int) -> dict:
    """Definitions that each use the next one several times."""
    defs = {
        f"d{n}": {"properties": {f"p{use}": {"$ref": f"#/$defs/d{n + 1}"} for use in range(uses)}}
        for n in range(definitions)
    }
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**defs, f"d{definitions}": {"type": "string"}}}


HOSTILE = {
    "deep": nested(15_000),
    "long names": nested(10_000, "x" * 10_000),
    "wide": {"properties": {f"p{n}": {"type": "string"} for n in range(500_000)}},
    "definitions that use each other": exponential(30, 30),
    "a circle": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    "a long chain": {"$ref": "#/$defs/0", "$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(50_000)}},
}


@pytest.mark.parametrize("schema", HOSTILE.values(), ids=list(HOSTILE))
def test_no_schema_takes_long_or_more_than_its_share(schema):
    started = time.process_time()
    assert sum(1 for _ in walk(schema)) <= 2 * MAX_NODES
    assert sum(1 for _ in arguments(schema)) <= 2 * MAX_NODES
    assert sum(1 for _ in arguments_with_references(schema, "inputSchema")) <= 2 * MAX_NODES
    assert time.process_time() - started < 5


def test_definitions_that_use_each_other_are_written_out_as_far_as_the_limit_goes():
    started = time.process_time()
    expanded = expand(exponential(30, 30))
    assert sum(1 for _ in islice(walk(expanded), MAX_EXPANDED)) == MAX_EXPANDED
    assert time.process_time() - started < 5


def test_a_chain_of_references_is_followed_up_to_a_limit():
    def chain(length: int) -> dict:
        links = {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(length)}
        return {"$ref": "#/$defs/0", "$defs": links | {str(length): {"type": "string"}}}

    short, long = chain(3), chain(2 * MAX_HOPS)
    assert resolve_ref(short["$defs"]["0"], short) == {"type": "string"}
    assert "$ref" in resolve_ref(long["$defs"]["0"], long)
