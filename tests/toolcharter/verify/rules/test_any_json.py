"""No rule fails on anything that can be written in JSON."""

import random
import time

import pytest

from mcp_core.schema.walk import LIST_KEYWORDS, MAP_KEYWORDS, SINGLE_KEYWORDS
from tests.thorough import examples
from toolcharter.verify.engine import example_server, run_rules
from toolcharter.verify.rules import static_rules

WORDS = [
    *SINGLE_KEYWORDS,
    *LIST_KEYWORDS,
    *MAP_KEYWORDS,
    "type",
    "enum",
    "const",
    "required",
    "default",
    "description",
    "title",
    "pattern",
]
WORDS += ["minimum", "maximum", "minLength", "maxLength", "examples", "format", "$ref", "$schema", "$anchor", "example"]
NAMES = ["a", "limit", "user_id", "userId", "no_cache", "token", "due_date", "x y", "", "é", "data", "id", "list_notes"]
TEXTS = ["object", "array", "string", "integer", "null", "#", "#/$defs/a", "#/properties/a", "(", "one of 'a', 'b'"]
TEXTS += ["Optional. Defaults to 5 (max 10)", "sk-", "\ud800", "http://json-schema.org/draft-04/schema#"]

PLAIN = [None, True, False, 0, 1, -1, 10**40, 0.5, float("nan"), float("inf"), "", [], {}]
FIELDS = ["description", "title", "inputSchema", "outputSchema", "annotations", "_meta"]


def _any_json(dice, depth):
    """JSON that is partly a schema and partly anything."""
    kind = dice.random()
    if depth == 0 or kind < 0.3:
        return dice.choice(PLAIN + TEXTS)
    if kind < 0.45:
        return [_any_json(dice, depth - 1) for _ in range(dice.randrange(4))]
    keys = NAMES if kind < 0.65 else WORDS
    return {key: _any_json(dice, depth - 1) for key in dice.sample(keys, dice.randrange(6))}


def _any_tool(dice):
    name = dice.choice(NAMES)
    if dice.random() < 0.3:
        return {"name": name, **{field: _any_json(dice, 5) for field in FIELDS}}
    properties = {key: _any_json(dice, 5) for key in dice.sample(NAMES, 4)}
    described = {"name": name, "description": dice.choice(TEXTS), "outputSchema": _any_json(dice, 3)}
    return {**described, "inputSchema": {"type": "object", "properties": properties, "$defs": _any_json(dice, 4)}}


@pytest.mark.parametrize("seed", range(20))
def test_no_rule_fails_on_any_tool(seed):
    dice = random.Random(seed)
    run_rules(example_server([_any_tool(dice) for _ in range(examples(100))]), static_rules())


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
    "many spaces": {
        "properties": {
            "date": {"type": "string", "description": f"default is{' ' * 20_000}x, max{' ' * 20_000}x"},
            "limit": {"type": "integer", "description": f"between 1{' ' * 20_000}x (default{' ' * 20_000}x"},
            "tag" + " " * 20_000: {"type": "string"},
        }
    },
    "a long name": {
        "properties": {"a" * 20_000: {"type": "boolean", "pattern": "a" * 20_000, "default": "sk-" * 9_000}}
    },
}


@pytest.mark.parametrize("name", HARD)
def test_no_rule_takes_long_over_a_hard_schema(name):
    server = example_server([{"inputSchema": HARD[name], "description": str(HARD[name])[:20_000]}])
    started = time.process_time()
    run_rules(server, static_rules())
    assert time.process_time() - started < 10
