import json
import time
from dataclasses import replace
from datetime import date
from random import Random
from typing import Any

import pytest

from mcp_core.declare.listed import ListedTool
from tests.shared_data import real_tools
from tests.toolcharter.contract import random_schemas
from toolcharter.contract.changes import KINDS, OUTPUT_KINDS, TOOL_KINDS, Change
from toolcharter.contract.lock import digest
from toolcharter.contract.tool_diff import diff_tools

TODAY = date(2026, 7, 1)
META = "dev.toolcharter/"
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
GREET = ListedTool("greet", "Greet", "Greet somebody by name.", NAMED)


def changed(**fields: Any) -> list[tuple[str, str]]:
    return changes(GREET, replace(GREET, **fields))


def changes(old: ListedTool, new: ListedTool) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in diff_tools([old], [new], TODAY)]


def meta(**fields: Any) -> dict[str, Any]:
    return {META + name: value for name, value in fields.items()}


def answering(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": sorted(fields)}


TEXT = {"type": "string"}

OF_A_TOOL: list[tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    ({}, {"title": "Say hello"}, [("title-changed", "$.title")]),
    ({}, {"description": "Wave."}, [("description-changed", "$.description")]),
    ({}, {"annotations": {"title": "Hello"}}, [("title-changed", "$.annotations.title")]),
    ({"annotations": {"readOnlyHint": True}}, {"annotations": {"readOnlyHint": False}}, [
        ("read-only-hint-flipped", "$.annotations.readOnlyHint"),
    ]),
    ({"annotations": {"readOnlyHint": True}}, {}, [("read-only-hint-flipped", "$.annotations.readOnlyHint")]),
    ({"annotations": {"destructiveHint": False}}, {"annotations": {"destructiveHint": True}}, [
        ("destructive-hint-flipped", "$.annotations.destructiveHint"),
    ]),
    ({"annotations": {"idempotentHint": True}}, {"annotations": {"idempotentHint": False}}, [
        ("idempotent-hint-lost", "$.annotations.idempotentHint"),
    ]),
    ({"annotations": {"idempotentHint": False}}, {"annotations": {"idempotentHint": True}}, [
        ("idempotent-hint-gained", "$.annotations.idempotentHint"),
    ]),
    ({"annotations": {"openWorldHint": False}}, {"annotations": {"openWorldHint": True}}, [
        ("open-world-hint-gained", "$.annotations.openWorldHint"),
    ]),
    ({"annotations": {"openWorldHint": True}}, {"annotations": {"openWorldHint": False}}, [
        ("open-world-hint-lost", "$.annotations.openWorldHint"),
    ]),
    ({}, {"annotations": {"readOnlyHint": True}}, [("hint-stated", "$.annotations.readOnlyHint")]),
    ({"annotations": {"destructiveHint": True}}, {}, [("hint-stated", "$.annotations.destructiveHint")]),
    ({"annotations": {"readOnlyHint": True, "destructiveHint": False}}, {"annotations": {"readOnlyHint": True}}, [
        ("hint-stated", "$.annotations.destructiveHint"),
    ]),
    ({"annotations": {"readOnlyHint": True, "idempotentHint": True}}, {"annotations": {"readOnlyHint": True}}, [
        ("hint-stated", "$.annotations.idempotentHint"),
    ]),
    ({"annotations": {"readOnlyHint": True, "destructiveHint": False}}, {}, [
        ("destructive-hint-flipped", "$.annotations.destructiveHint"),
        ("read-only-hint-flipped", "$.annotations.readOnlyHint"),
    ]),
    ({}, {"meta": meta(version="1.1.0")}, [("version-changed", '$._meta["dev.toolcharter/version"]')]),
    ({}, {"meta": meta(deprecated={"since": "2026-01-01"})}, [
        ("tool-deprecated", '$._meta["dev.toolcharter/deprecated"]'),
    ]),
    ({}, {"meta": meta(permissions=["a:read"])}, [
        ("meta-changed", '$._meta["dev.toolcharter/permissions"]'),
    ]),
    ({}, {"meta": meta(responseTime="fast", cacheable=False, rateLimit={"maxCalls": 5, "windowMs": 1000})}, [
        ("meta-changed", '$._meta["dev.toolcharter/cacheable"]'),
        ("meta-changed", '$._meta["dev.toolcharter/rateLimit"]'),
        ("meta-changed", '$._meta["dev.toolcharter/responseTime"]'),
    ]),
    ({"meta": meta(permissions=["a:read"])}, {"meta": meta(permissions=["a:write"])}, [
        ("permission-added", '$._meta["dev.toolcharter/permissions"]'),
        ("permission-removed", '$._meta["dev.toolcharter/permissions"]'),
    ]),
    ({}, {"meta": {"org.example/cost": 5}}, [("meta-changed", '$._meta["org.example/cost"]')]),
    ({}, {"output_schema": answering(a=TEXT)}, [("output-schema-added", "$.outputSchema")]),
    ({"output_schema": answering(a=TEXT)}, {}, [("output-schema-removed", "$.outputSchema")]),
    ({"output_schema": answering(a=TEXT)}, {"output_schema": answering()}, [
        ("output-field-removed", "$.outputSchema.properties.a"),
    ]),
    ({"output_schema": answering()}, {"output_schema": answering(a=TEXT)}, [
        ("output-field-added", "$.outputSchema.properties.a"),
    ]),
    ({"output_schema": answering(a=TEXT)}, {"output_schema": answering(a=TEXT) | {"required": []}}, [
        ("output-field-made-optional", "$.outputSchema.properties.a"),
    ]),
    ({"output_schema": answering(a=TEXT)}, {"output_schema": answering(a={"type": ["string", "null"]})}, [
        ("output-widened", "$.outputSchema.properties.a.type"),
    ]),
    ({"output_schema": answering(a={"enum": ["x"]})}, {"output_schema": answering(a={"enum": ["x", "y"]})}, [
        ("output-widened", "$.outputSchema.properties.a.enum"),
    ]),
    ({"output_schema": answering(a={"pattern": "a"})}, {"output_schema": answering(a={"pattern": "b"})}, [
        ("output-changed", "$.outputSchema.properties.a.pattern"),
    ]),
    ({"output_schema": answering(a=TEXT)}, {"output_schema": answering(a=TEXT | {"maxLength": 5})}, [
        ("output-narrowed", "$.outputSchema.properties.a.maxLength"),
    ]),
    ({"output_schema": answering(a=TEXT)}, {"output_schema": answering(a=TEXT | {"description": "A."})}, [
        ("output-described", "$.outputSchema.properties.a.description"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), OF_A_TOOL, ids=lambda value: json.dumps(value)[:60])
def test_a_change_of_a_tool_is_named_with_its_place(old, new, expected):
    assert changes(replace(GREET, **old), replace(GREET, **new)) == expected


def test_a_schema_that_is_too_deep_to_compare_is_not_judged():
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5000):
        deep = {"type": "array", "items": deep}
    assert changed(input_schema=deep) == [("unjudged", "$.inputSchema")]


def test_every_kind_of_change_has_an_example_here_or_at_the_schemas():
    shown = {kind for _, _, expected in OF_A_TOOL for kind, _ in expected}
    others = {"tool-added", "tool-removed", "tool-renamed", "security-finding", "unjudged"}
    assert shown | others == TOOL_KINDS.keys() | OUTPUT_KINDS.keys()


def test_new_and_removed_tools_are_named():
    wave = replace(GREET, name="wave", description="Wave at somebody.")
    assert diff_tools([GREET], [wave], TODAY) == [
        Change("tool-removed", "greet", "$", "greet was removed"),
        Change("tool-added", "wave", "$", "wave is new"),
    ]


def test_a_renamed_tool_is_recognised_and_compared():
    hello = replace(GREET, name="hello", title="Hello")
    assert diff_tools([GREET], [hello], TODAY) == [
        Change("tool-renamed", "greet", "$.name", "greet was renamed to hello"),
        Change("title-changed", "greet", "$.title", "the title of greet changed: [-Greet-] {+Hello+}"),
    ]


def test_a_new_name_beside_the_old_one_is_not_a_rename():
    assert [change.kind for change in diff_tools([GREET], [GREET, replace(GREET, name="hello")], TODAY)] == [
        "tool-added"
    ]


# ---- the rules of versioning ---------------------------------------------------------------------


def with_parameter(*, required: bool, **schema: Any) -> dict[str, Any]:
    names = ["name", "how"] if required else ["name"]
    return {"type": "object", "properties": {"name": TEXT, "how": schema or TEXT}, "required": names}


@pytest.mark.requirement("VER-2")
def test_a_new_optional_field_passes():
    found = diff_tools([GREET], [replace(GREET, input_schema=with_parameter(required=False))], TODAY)
    assert [(change.kind, change.is_breaking) for change in found] == [("parameter-added", False)]


@pytest.mark.requirement("VER-2")
@pytest.mark.parametrize(("schema", "kind"), [({}, "required-parameter-added"), ({"const": "GREET"}, "consent-added")])
def test_a_new_required_field_needs_a_major_version_of_the_tool(schema, kind):
    wants = replace(GREET, input_schema=with_parameter(required=True, **schema))
    (refused,) = diff_tools([GREET], [wants], TODAY)
    assert (refused.kind, refused.is_breaking, refused.rule.needs) == (kind, True, "a major version of the tool")
    one, minor, major = (meta(version=version) for version in ("1.4.0", "1.5.0", "2.0.0"))
    still = diff_tools([replace(GREET, meta=one)], [replace(wants, meta=minor)], TODAY)
    assert [change.is_breaking for change in still] == [False, True]
    accepted = diff_tools([replace(GREET, meta=one)], [replace(wants, meta=major)], TODAY)
    assert [(change.kind, change.accepted) for change in accepted] == [
        ("version-changed", None),
        (kind, "the tool has a new major version, from 1.4.0 to 2.0.0"),
    ]
    assert not any(change.is_breaking for change in accepted)


@pytest.mark.requirement("VER-2")
def test_any_other_breaking_change_needs_a_new_name_whatever_the_version():
    old = replace(GREET, meta=meta(version="1.0.0"))
    new = replace(GREET, meta=meta(version="2.0.0"), input_schema={"type": "object", "properties": {}})
    broken = [change for change in diff_tools([old], [new], TODAY) if change.is_breaking]
    assert [(change.kind, change.rule.needs) for change in broken] == [
        ("parameter-removed", "a new tool name, with the old tool deprecated for at least ninety days")
    ]


def test_a_tool_may_be_removed_on_the_announced_day_and_not_before():
    announced = meta(deprecated={"since": "2026-01-01", "replacement": "hello", "removalDate": "2026-07-01"})
    leaving = replace(GREET, meta=announced)
    (gone,) = diff_tools([leaving], [], TODAY)
    assert (gone.is_breaking, gone.accepted) == (False, "its removal was announced for 2026-07-01")
    assert [change.is_breaking for change in diff_tools([leaving], [], date(2026, 6, 30))] == [True]


def test_every_kind_of_change_says_what_it_needs():
    for kind in KINDS.values():
        assert kind.what
        assert kind.rule.needs


# ---- on real tools -------------------------------------------------------------------------------


def test_no_real_tool_differs_from_itself():
    tools = real_tools()
    again = [ListedTool.from_wire(json.loads(json.dumps(tool.to_wire()))) for tool in tools]
    assert [changes(old, new) for old, new in zip(tools, again, strict=True)] == [[]] * len(tools)


def test_real_tools_are_compared_with_changed_ones_without_an_error_and_quickly():
    dice = Random(7)
    pairs = [
        (tool, replace(tool, input_schema=random_schemas.changed(tool.input_schema, dice))) for tool in real_tools()
    ]
    start = time.process_time()
    found = [diff_tools([old], [new], TODAY) for old, new in pairs]
    assert time.process_time() - start < 20
    # Whatever has another digest differs in something that can be said, or only in how it is written.
    assert all(not changes for changes, (old, new) in zip(found, pairs, strict=True) if digest(old) == digest(new))
    assert sum(map(bool, found)) > len(pairs) / 2
