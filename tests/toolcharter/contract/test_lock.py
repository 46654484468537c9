import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_core.declare.listed import ListedTool
from tests.thorough import examples
from tests.toolcharter.contract import random_schemas
from toolcharter.contract.lock import InvalidLock, Lock, digest, is_lock, parse_lock

SCHEMA = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {}}, "required": ["a", "b"]}
ADD = ListedTool("add", "Add", "Füge hinzu.", SCHEMA, {"readOnlyHint": True}, {"dev.toolcharter/version": "1.2.0"})
LOCK = Lock.from_tools("sums", "3.1.0", [ADD])


def test_a_lock_is_canonical_json():
    entry = {
        "_meta": {"dev.toolcharter/version": "1.2.0"},
        "annotations": {"readOnlyHint": True},
        "description": "Füge hinzu.",
        "digest": digest(ADD),
        "inputSchema": SCHEMA,
        "title": "Add",
        "version": "1.2.0",
    }
    whole = {"contract": 1, "server": "sums", "tools": {"add": entry}, "version": "3.1.0"}
    assert LOCK.to_text() == json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_a_lock_is_written_and_read_again():
    assert parse_lock(json.loads(LOCK.to_text()), "sums.json") == LOCK


@given(st.integers(min_value=0, max_value=2**48))
@settings(max_examples=examples(50))
def test_any_tool_is_written_and_read_again(seed):
    lock = Lock.from_tools("made-up", None, [ListedTool("t", "", "", random_schemas.schema(Random(seed)))])
    assert parse_lock(json.loads(lock.to_text()), "made-up.json") == lock


def test_the_digest_ignores_order_and_nothing_else():
    other_order = {"required": ["b", "a"], "properties": {"b": {}, "a": {"enum": ["y", "x"]}}, "type": "object"}
    assert digest(ListedTool("add", "", "", other_order)) == digest(ListedTool("add", "", "", SCHEMA))
    seen = [
        ADD,
        ListedTool("sum", *(getattr(ADD, name) for name in ADD.__slots__[1:])),
        *(
            ListedTool(**{**{name: getattr(ADD, name) for name in ADD.__slots__}, **change})
            for change in (
                {"title": "Sum"},
                {"description": "Add."},
                {"input_schema": {}},
                {"annotations": {}},
                {"meta": {}},
                {"output_schema": {"type": "object"}},
            )
        ),
    ]
    assert len({digest(tool) for tool in seen}) == len(seen)


@pytest.mark.parametrize(
    ("field", "value"),
    [("description", "Add."), ("digest", "sha256:0"), ("version", "2.0.0"), ("inputSchema", {"type": "object"})],
)
def test_an_edited_lock_is_refused_with_the_fix(field, value):
    content = json.loads(LOCK.to_text())
    content["tools"]["add"][field] = value
    with pytest.raises(InvalidLock) as refused:
        parse_lock(content, "sums.json")
    assert str(refused.value) == (
        "sums.json: 'add' does not match its digest, so the file was edited. "
        "Write it again from the server: `toolcharter lock SERVER --output sums.json --relock`."
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "x.json: the file is not a JSON object"),
        ({"contract": 2}, "x.json: contract is 2, but this version reads 1"),
        ({"contract": 1, "server": "s"}, "x.json: tools is not an object"),
        ({"contract": 1, "server": "s", "tools": {"a": 1}}, "x.json: 'a' is not an object"),
        ({"contract": 1, "tools": {}}, "x.json: server or version is missing"),
    ],
)
def test_a_file_with_another_format_is_refused(content, message):
    with pytest.raises(InvalidLock) as refused:
        parse_lock(content, "x.json")
    assert str(refused.value).startswith(message)


def test_a_lock_is_distinguished_from_a_tools_list_result():
    assert is_lock(json.loads(LOCK.to_text()))
    assert not is_lock({"tools": [ADD.to_wire()]})
    assert not is_lock([ADD.to_wire()])
