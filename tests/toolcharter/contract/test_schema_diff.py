import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from tests.toolcharter.contract import random_schemas
from toolcharter.contract.changes import DIRECTIONS, INPUT_KINDS, output_kind
from toolcharter.contract.schema_diff import SchemaTooLarge, diff_schemas

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NOTHING = {"type": "null"}
LIST = {"type": "array"}
CAT = {"type": "object", "properties": {"kind": {"const": "cat"}}, "required": ["kind"]}
DOG = {"type": "object", "properties": {"kind": {"const": "dog"}}, "required": ["kind"]}


def found(old: Any, new: Any) -> list[tuple[str, str]]:
    return [(difference.kind, difference.path) for difference in diff_schemas(old, new, "$")]


def taking(**arguments: Any) -> dict[str, Any]:
    return {"type": "object", "properties": arguments}


def of_x(old: Any, new: Any) -> list[tuple[str, str]]:
    """The differences at a parameter x, with paths from there."""
    differences = found(taking(x=old), taking(x=new))
    return [(kind, path.removeprefix("$.properties.x")) for kind, path in differences]


# ---- one by one ----------------------------------------------------------------------------------

AT_A_PARAMETER: list[tuple[Any, Any, list[tuple[str, str]]]] = [
    ({"type": ["string", "null"]}, TEXT, [("type-narrowed", ".type")]),
    ({"type": "number"}, WHOLE, [("type-narrowed", ".type")]),
    ({}, TEXT, [("type-narrowed", ".type")]),
    (TEXT, False, [("type-narrowed", ".type")]),
    (TEXT, WHOLE, [("type-changed", ".type")]),
    (WHOLE, {"type": "number"}, [("type-widened", ".type")]),
    (TEXT, {"type": ["string", "null"]}, [("type-widened", ".type")]),
    ({"enum": ["a", "b"]}, {"enum": ["b"]}, [("enum-value-removed", ".enum")]),
    ({"enum": ["b"]}, {"enum": ["a", "b"]}, [("enum-value-added", ".enum")]),
    ({"enum": ["a"]}, {"enum": [1]}, [("enum-value-removed", ".enum"), ("enum-value-added", ".enum")]),
    ({"const": 1}, {"const": True}, [("enum-value-removed", ".enum"), ("enum-value-added", ".enum")]),
    (TEXT, {"type": "string", "enum": ["a"]}, [("enum-introduced", ".enum")]),
    (TEXT, {"const": "a"}, [("enum-introduced", ".enum")]),
    ({"type": "string", "enum": ["a"]}, TEXT, [("enum-dropped", ".enum")]),
    ({"type": "string", "maxLength": 9}, {"type": "string", "maxLength": 5}, [("bound-tightened", ".maxLength")]),
    (TEXT, {"type": "string", "minLength": 1}, [("bound-tightened", ".minLength")]),
    ({"type": "string", "minLength": 1}, TEXT, [("bound-loosened", ".minLength")]),
    ({"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 1}, [("bound-tightened", ".minimum")]),
    ({"type": "number", "maximum": 5}, {"type": "number", "exclusiveMaximum": 5}, [("bound-tightened", ".maximum")]),
    ({"type": "integer", "maximum": 5}, {"type": "integer", "maximum": 6}, [("bound-loosened", ".maximum")]),
    ({"type": "integer", "multipleOf": 4}, {"type": "integer", "multipleOf": 2}, [("bound-loosened", ".multipleOf")]),
    ({"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}, [("bound-changed", ".multipleOf")]),
    (LIST, {"type": "array", "uniqueItems": True}, [("bound-tightened", ".uniqueItems")]),
    ({"type": "array", "maxItems": 3}, {"type": "array", "maxItems": 2}, [("bound-tightened", ".maxItems")]),
    (LIST, {"type": "array", "items": TEXT}, [("type-narrowed", ".items.type")]),
    (LIST, {"type": "array", "prefixItems": [TEXT]}, [("type-narrowed", ".prefixItems[0].type")]),
    (TEXT, {"type": "string", "pattern": "^a"}, [("pattern-added", ".pattern")]),
    ({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}, [("pattern-changed", ".pattern")]),
    ({"type": "string", "pattern": "^a"}, TEXT, [("pattern-dropped", ".pattern")]),
    (TEXT, {"type": "string", "format": "date"}, [("format-added", ".format")]),
    ({"type": "string", "format": "date"}, {"type": "string", "format": "time"}, [("format-changed", ".format")]),
    ({"type": "string", "format": "date"}, TEXT, [("format-dropped", ".format")]),
    ({"type": "integer", "default": 1}, {"type": "integer", "default": 2}, [("default-changed", ".default")]),
    ({"type": "integer", "default": 1}, WHOLE, [("default-changed", ".default")]),
    (WHOLE, {"type": "integer", "default": 1}, [("default-stated", ".default")]),
    (taking(a=TEXT), taking(a=TEXT, b=TEXT), [("parameter-added", ".properties.b")]),
    (
        {"type": "object"},
        taking(b=TEXT),
        [("parameter-added", ".properties.b"), ("type-narrowed", ".properties.b.type")],
    ),
    (
        {**taking(), "additionalProperties": True},
        {**taking(b=TEXT), "additionalProperties": True},
        [("parameter-added", ".properties.b"), ("type-narrowed", ".properties.b.type")],
    ),
    (taking(), {**taking(), "additionalProperties": False}, [("object-closed", ".additionalProperties")]),
    ({**taking(), "additionalProperties": False}, taking(), [("object-opened", ".additionalProperties")]),
    ({"anyOf": [TEXT, NOTHING]}, {"anyOf": [TEXT]}, [("alternative-removed", ".anyOf[1]")]),
    ({"anyOf": [TEXT, NOTHING]}, TEXT, [("alternative-removed", ".anyOf[1]")]),
    (TEXT, {"anyOf": [NOTHING, TEXT]}, [("alternative-added", ".anyOf[0]")]),
    ({"oneOf": [CAT]}, {"oneOf": [CAT, DOG]}, [("alternative-added", ".anyOf[1]")]),
    ({"oneOf": [{"minimum": 1}, TEXT]}, {"oneOf": [{"minimum": 0}, TEXT]}, [("condition-changed", ".oneOf")]),
    ({"type": "integer", "multipleOf": 1}, {"type": "integer", "multipleOf": 2}, [("bound-tightened", ".multipleOf")]),
    ({"not": TEXT}, {"not": WHOLE}, [("condition-changed", ".not")]),
    ({}, {"not": TEXT}, [("condition-added", ".not")]),
    ({"not": TEXT}, {}, [("condition-dropped", ".not")]),
    (TEXT, {"type": "string", "allOf": [{"minLength": 1}]}, [("condition-added", ".allOf[0]")]),
    (TEXT, {"type": "string", "description": "A name."}, [("parameter-description-changed", ".description")]),
    (TEXT, {"type": "string", "title": "Name"}, [("note-changed", ".title")]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), AT_A_PARAMETER, ids=json.dumps)
def test_a_change_at_a_parameter_is_named_with_its_place(old, new, expected):
    assert of_x(old, new) == expected


OF_PARAMETERS: list[tuple[Any, Any, list[tuple[str, str]]]] = [
    (taking(a=TEXT), taking(), [("parameter-removed", "$.properties.a")]),
    ({"type": "object"}, taking(a=TEXT), [("parameter-added", "$.properties.a")]),
    (taking(), {**taking(a=TEXT), "required": ["a"]}, [("required-parameter-added", "$.properties.a")]),
    (
        taking(),
        {**taking(explicit_action={"enum": ["DELETE"]}), "required": ["explicit_action"]},
        [("consent-added", "$.properties.explicit_action")],
    ),
    (taking(a=TEXT), {**taking(a=TEXT), "required": ["a"]}, [("parameter-made-required", "$.properties.a")]),
    ({**taking(a=TEXT), "required": ["a"]}, taking(a=TEXT), [("parameter-made-optional", "$.properties.a")]),
]


@pytest.mark.parametrize(("old", "new", "expected"), OF_PARAMETERS, ids=json.dumps)
def test_a_new_removed_or_required_parameter_is_named(old, new, expected):
    assert found(old, new) == expected


def test_every_kind_of_difference_has_an_example_here():
    shown = {kind for _, _, expected in (*AT_A_PARAMETER, *OF_PARAMETERS) for kind, _ in expected}
    assert shown == DIRECTIONS.keys() == INPUT_KINDS.keys()


# ---- the same in other words ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": ["string", "null"]}, {"type": ["null", "string"]}),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
        ({"const": "a"}, {"enum": ["a"]}),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": True}, {"type": "number", "exclusiveMinimum": 1}),
        ({"type": "array", "minItems": 0}, LIST),
        (LIST | {"items": [TEXT], "additionalItems": WHOLE}, LIST | {"prefixItems": [TEXT], "items": WHOLE}),
        ({"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}),
        ({"type": ["string", "null"]}, {"anyOf": [NOTHING, TEXT]}),
        ({"anyOf": [TEXT, NOTHING]}, {"oneOf": [NOTHING, TEXT]}),
        ({"allOf": [TEXT]}, TEXT),
        ({"minimum": 1, "maximum": 1.0}, {"maximum": 1, "minimum": 1.0}),
        ({**taking(a=TEXT, b=TEXT), "required": ["a", "b"]}, {"required": ["b", "a"], **taking(b=TEXT, a=TEXT)}),
    ],
    ids=json.dumps,
)  # fmt: skip
def test_another_order_or_spelling_is_not_a_change(old, new):
    assert of_x(old, new) == of_x(new, old) == []


def test_a_local_reference_is_what_it_points_to():
    old = {**taking(x={"$ref": "#/definitions/Name", "description": "Who."}), "definitions": {"Name": TEXT}}
    new = taking(x={"type": "string", "description": "Who."})
    assert found(old, new) == found(new, old) == []


def test_a_change_behind_a_reference_is_found():
    old = {**taking(x={"$ref": "#/$defs/Name"}), "$defs": {"Name": TEXT}}
    new = {**taking(x={"$ref": "#/$defs/Name"}), "$defs": {"Name": {"type": "string", "maxLength": 3}}}
    assert found(old, new) == [("bound-tightened", "$.properties.x.maxLength")]


def test_keywords_beside_a_reference_count_since_2019_and_not_before():
    short = {**taking(x={"$ref": "#/$defs/Name", "maxLength": 3}), "$defs": {"Name": TEXT}}
    long = {**taking(x={"$ref": "#/$defs/Name"}), "$defs": {"Name": TEXT}}
    assert [kind for kind, _ in found(long, short)] == ["bound-tightened"]
    draft = {"$schema": "http://json-schema.org/draft-07/schema#"}
    assert found(draft | long, draft | short) == []


def test_a_recursive_schema_is_compared_completely():
    def tree(limit: int) -> dict[str, Any]:
        node = taking(
            name={"type": "string", "maxLength": limit}, children={"type": "array", "items": {"$ref": "#/$defs/Node"}}
        )
        return {**taking(root={"$ref": "#/$defs/Node"}), "$defs": {"Node": node}}  # fmt: skip

    assert found(tree(9), tree(9)) == []
    assert ("bound-tightened", "$.properties.root.properties.name.maxLength") in found(tree(9), tree(5))


@pytest.mark.parametrize("ref", ["#/$defs/x", "#/$defs/gone", "https://example.org/schema", "#anchor", 5])
def test_a_reference_without_a_target_is_compared_as_it_is_written(ref):
    looping = {**taking(x={"$ref": ref}), "$defs": {"x": {"$ref": "#/$defs/x"}}}
    assert found(looping, looping) == []
    assert [kind for kind, _ in found(looping, taking(x=TEXT))] == ["type-narrowed", "condition-dropped"]


def test_a_changed_definition_inside_a_condition_is_a_change():
    old = {**taking(x={"not": {"$ref": "#/$defs/N"}}), "$defs": {"N": TEXT}}
    assert found(old, old | {"$defs": {"N": WHOLE}}) == [("condition-changed", "$.properties.x.not")]


def test_a_new_field_beside_other_schemas_of_the_same_object_is_compared():
    """Another part of the schema already had a field of this name."""
    old = {**taking(), "allOf": [taking(a=TEXT)]}
    assert found(old, {**taking(a=WHOLE), "allOf": [taking(a=TEXT)]}) == [
        ("parameter-added", "$.properties.a"),
        ("type-narrowed", "$.properties.a.type"),
    ]


def test_a_new_field_in_an_alternative_is_compared_with_the_object_itself():
    def either(**fields: Any) -> dict[str, Any]:
        return {**taking(a=TEXT), "anyOf": [taking(**fields)]}

    assert found(either(b=TEXT), either(b=TEXT, a=WHOLE)) == [
        ("parameter-added", "$.anyOf[0].properties.a"),
        ("type-narrowed", "$.anyOf[0].properties.a.type"),
    ]


def test_fields_that_matched_a_pattern_may_be_rejected_without_it():
    old = {**taking(), "patternProperties": {"^a": TEXT}, "additionalProperties": False}
    new = {**taking(), "additionalProperties": False}
    assert found(old, new) == [("condition-changed", "$.patternProperties")]


def test_a_change_that_affects_unevaluated_properties_is_not_safe():
    """Without the condition, more fields are unevaluated, and those are rejected."""
    old = {**taking(), "additionalProperties": TEXT, "unevaluatedProperties": False}
    new = {**taking(), "unevaluatedProperties": False}
    assert found(old, new) == [
        ("type-widened", "$.additionalProperties.type"),
        ("condition-changed", "$.unevaluatedProperties"),
    ]


def test_a_comparison_that_takes_too_long_is_stopped():
    """Each definition refers to the next in several alternatives, so the number of paths grows exponentially."""

    def maze(limit: int) -> dict[str, Any]:
        doors = [
            {
                f"d{level}": {
                    "anyOf": [taking(a={"$ref": f"#/$defs/d{level + 1}"}, b={"minLength": n}) for n in range(6)]
                }
            }
            for level in range(12)
        ]
        defs = {name: door for each in doors for name, door in each.items()} | {"d12": {"maxLength": limit}}
        return {"$ref": "#/$defs/d0", "$defs": defs}  # fmt: skip

    with pytest.raises(SchemaTooLarge):
        diff_schemas(maze(1), maze(2), "$")


# ---- laws ----------------------------------------------------------------------------------------

TRIES = 30
SEEDS = st.integers(min_value=0, max_value=2**48)


def pair(seed: int) -> tuple[Any, Any, Random]:
    """A schema and a changed form of it, or sometimes an unrelated schema."""
    dice = Random(seed)
    old = random_schemas.schema(dice)
    new = random_schemas.changed(old, dice) if dice.random() < 0.85 else random_schemas.schema(dice)
    for one in (old, new):
        one.setdefault("$defs", {"d": TEXT})
    return old, new, dice


def counterexample(accepting: Any, refusing: Any, dice: Random, root: Any) -> Any:
    """A value that one schema accepts and the other rejects."""
    fits, fits_strictly, fits_other = map(random_schemas.Fit, (accepting, random_schemas.closed(accepting), refusing))
    for _ in range(TRIES):
        value = random_schemas.value(dice.choice([accepting, refusing]), dice, root)
        try:
            if fits(value) and fits_strictly(value) and not fits_other(value):
                return json.dumps(value)
        except RecursionError:
            return None  # a schema that is its own alternative; no validator comes to an end with it
    return None


@given(SEEDS)
@settings(max_examples=examples(500))
def test_a_change_is_compatible_only_if_all_that_was_accepted_still_is(seed):
    old, new, dice = pair(seed)
    differences = diff_schemas(old, new, "$")
    if not any(difference.may_reject for difference in differences):
        assert counterexample(old, new, dice, old) is None, (json.dumps(old), json.dumps(new))


def test_a_pattern_for_names_may_open_an_object_that_was_closed():
    closed = {"type": "object", "additionalProperties": False}
    (difference,) = diff_schemas(closed, {**closed, "patternProperties": {"^a": {"maximum": 2}}}, "$")
    assert output_kind(difference.kind) not in ("output-narrowed", "output-described")


@given(SEEDS)
@settings(max_examples=examples(300))
def test_an_output_schema_is_narrower_only_if_every_result_was_possible_before(seed):
    old, new, dice = pair(seed)
    kinds = {output_kind(difference.kind) for difference in diff_schemas(old, new, "$")}
    if kinds <= {"output-narrowed", "output-described"}:
        assert counterexample(new, old, dice, new) is None, (json.dumps(old), json.dumps(new))


@given(SEEDS)
@settings(max_examples=examples(200))
def test_a_schema_does_not_differ_from_itself_in_any_order(seed):
    old, new, dice = pair(seed)
    assert diff_schemas(old, old, "$") == diff_schemas(old, _shuffled(old, dice), "$") == []
    assert diff_schemas(old, new, "$") == diff_schemas(_shuffled(old, dice), _shuffled(new, dice), "$")


def _shuffled(node: Any, dice: Random, key: str = "") -> Any:
    if isinstance(node, list):
        return (
            dice.sample(node, len(node)) if key in ("required", "enum", "type") else [_shuffled(n, dice) for n in node]
        )
    if not isinstance(node, dict):
        return node
    return {name: _shuffled(node[name], dice, name) for name in dice.sample(list(node), len(node))}


def test_the_random_pairs_are_of_every_kind():
    """The law is tested only if there are compatible changes, and values to test them with."""
    sorts = {"same": 0, "compatible": 0, "refusing": 0, "values": 0}
    for seed in range(300):
        old, new, dice = pair(seed)
        differences = diff_schemas(old, new, "$")
        refuses = any(difference.may_reject for difference in differences)
        sorts["refusing" if refuses else "compatible" if differences else "same"] += 1
        if differences and not refuses:
            fits = random_schemas.Fit(random_schemas.closed(old))
            sorts["values"] += any(fits(random_schemas.value(old, dice, old)) for _ in range(TRIES))
    assert min(sorts.values()) > 20, sorts
