"""No rule fails on anything that can be written in JSON."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_core.verify.engine import example_server, verify
from mcp_core.verify.rules import all_rules
from mcp_core.verify.schema_nodes import ALONE, IN_LISTS, IN_MAPS

WORDS = [*ALONE, *IN_LISTS, *IN_MAPS, "type", "enum", "const", "required", "default", "description", "title", "pattern"]
WORDS += ["minimum", "maximum", "minLength", "maxLength", "examples", "format", "$ref", "$schema", "$anchor", "example"]
NAMES = ["a", "limit", "user_id", "userId", "no_cache", "token", "due_date", "x y", "", "é", "data", "id", "list_notes"]
TEXTS = ["object", "array", "string", "integer", "null", "#", "#/$defs/a", "#/properties/a", "(", "one of 'a', 'b'"]
TEXTS += ["Optional. Defaults to 5 (max 10)", "sk-", "\ud800", "http://json-schema.org/draft-04/schema#"]

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(TEXTS) | st.text(max_size=5)
JSON = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=30,
)


@settings(deadline=None, max_examples=50)
@given(
    name=st.sampled_from(NAMES) | st.text(max_size=9),
    fields=st.dictionaries(
        st.sampled_from(["description", "title", "inputSchema", "outputSchema", "annotations", "_meta"]), JSON
    ),
    properties=st.dictionaries(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(WORDS), JSON, max_size=5)),
)
def test_no_rule_fails_on_any_tool(name, fields, properties):
    described = {"name": name, "inputSchema": {"type": "object", "properties": properties}}
    verify(example_server([{"name": name, **fields}, described]), all_rules())


def _doubling(levels):
    definitions = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


def _deep(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


HARD = {
    "a definition that contains itself twice": {
        "properties": {"a": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"properties": {"l": {"$ref": "#/$defs/T"}, "r": {"$ref": "#/$defs/T"}}}},
    },
    "a choice of itself": {
        "properties": {"a": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"anyOf": [{"$ref": "#/$defs/T"}]}},
    },
    "definitions that double": _doubling(40),
    "a long chain of definitions": _doubling(3000),
    "the root itself": {"$ref": "#", "properties": {"a": {"$ref": "#"}}},
    "very deep": _deep(150),
    "very wide": {"properties": {f"field_{n}": {"type": "string", "description": "x" * 50} for n in range(5000)}},
    "a long text": {"properties": {"a": {"type": "string", "description": "one of 'a', " * 5000}}},
    "many spaces": {"properties": {"date": {"type": "string", "description": "default" + " " * 20_000 + "x"}}},
}


@pytest.mark.parametrize("name", HARD)
def test_no_rule_takes_long_over_a_hard_schema(name):
    server = example_server([{"inputSchema": HARD[name], "description": str(HARD[name])[:20_000]}])
    started = time.process_time()
    verify(server, all_rules())
    assert time.process_time() - started < 2
