import json
import time
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest

from mcp_core import App, Caller
from mcp_core.calling.records import VerbatimResult
from mcp_core.context import ToolContext
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.spec import RateLimit
from mcp_core.schema.cost import UNLIMITED, validation_cost
from toolcharter.govern import argument_checks
from toolcharter.govern.policies import EffectivePolicy
from toolcharter.govern.remote_tool import InvalidTool, narrow, remote_tool

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "Where."}, "mode": {"type": "string"}},
    "required": ["path", "mode"],
}
WRITE = ListedTool("write_file", "Write", "Write a file. It is replaced.", SCHEMA)


class Upstream:
    """Remembers what it was called with."""

    def __init__(self) -> None:
        self.calls: list[Mapping[str, Any]] = []

    async def call(self, arguments: Mapping[str, Any], _: ToolContext) -> VerbatimResult:
        self.calls.append(arguments)
        return VerbatimResult([{"type": "text", "text": f"call {len(self.calls)}"}])


async def call(
    policy: EffectivePolicy, *requests: Mapping[str, Any], caller: Caller | None = None
) -> tuple[list[str], Upstream]:
    upstream = Upstream()
    app = App("files", version="1", format="result", tools=[remote_tool("files", WRITE, policy, upstream.call)])
    async with app:
        answers = [await app.call("write_file", request, caller) for request in requests]
    return ["".join(block["text"] for block in answer.content()) for answer in answers], upstream


async def test_a_remote_tool_answers_as_its_server_does():
    arguments = {"path": "/a", "mode": "w"}
    answers, upstream = await call(EffectivePolicy(), arguments)
    assert (answers, upstream.calls) == (["call 1"], [arguments])


@pytest.mark.requirement("GOV-3")
async def test_a_narrowed_argument_is_what_agents_see_and_what_is_enforced():
    policy = EffectivePolicy(arguments={"path": {"pattern": "^/work/"}})
    shown, _ = narrow(SCHEMA, policy)
    assert shown["properties"]["path"] == {"type": "string", "description": "Where.", "pattern": "^/work/"}
    answers, upstream = await call(policy, {"path": "/etc/passwd", "mode": "w"}, {"path": "/work/a", "mode": "w"})
    assert 'path: \\"/etc/passwd\\" does not match \\"^/work/\\"' in answers[0]
    assert upstream.calls == [{"path": "/work/a", "mode": "w"}]


@pytest.mark.requirement("GOV-3")
async def test_a_path_stays_inside_the_folder_of_the_charter():
    policy = EffectivePolicy(arguments={"path": {"folder": "/my work/", "maxLength": 20}})
    refused = ["/my work/../etc", "/my work/a/..", "/my works/a", "/etc", "my work/a", "..", "/my work/" + "a" * 20]
    allowed = ["/my work", "/my work/a..b", "/my work/...", "/my work/.a/b"]
    answers, upstream = await call(policy, *({"path": path, "mode": "w"} for path in (*refused, *allowed)))
    assert [arguments["path"] for arguments in upstream.calls] == allowed
    assert "path: '/my work/../etc' is not inside the folder '/my work/', or contains '..'." in answers[0]
    assert "is longer than 20 characters" in answers[6]


@pytest.mark.requirement("GOV-3")
@pytest.mark.parametrize(
    ("argument", "allowed", "refused"),
    [
        ({"type": "array", "items": {"type": "string"}}, [["/w/a"], []], [["/w/a", "/etc"], ["/w/../etc"]]),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, ["/w/a"], ["/etc", ["/etc"], {"path": "/etc"}]),
        (None, ["/w/a"], ["/etc", ["/etc"]]),
    ],
)
def test_a_folder_narrows_arguments_of_every_type(argument: Any, allowed: list[Any], refused: list[Any]):
    schema = {"type": "object", "properties": {} if argument is None else {"at": argument}}
    _, checked = narrow(schema, EffectivePolicy(arguments={"at": {"folder": "/w"}}))
    validator = jsonschema_rs.validator_for(checked)
    assert [value for value in (*allowed, *refused) if validator.is_valid({"at": value})] == allowed


@pytest.mark.requirement("GOV-3")
def test_an_argument_that_a_tool_does_not_list_is_narrowed_but_not_shown():
    shown, checked = narrow(SCHEMA, EffectivePolicy(arguments={"url": {"pattern": "^https:"}}))
    assert shown["properties"] == SCHEMA["properties"]
    assert checked["properties"] == {**SCHEMA["properties"], "url": {"pattern": "^https:"}}


def test_a_keyword_that_is_there_already_stays():
    schema = {"type": "object", "properties": {"path": {"type": "string", "pattern": "md$"}}}
    shown, _ = narrow(schema, EffectivePolicy(arguments={"path": {"pattern": "^/work/"}}))
    assert shown["properties"]["path"] == {"type": "string", "pattern": "md$", "allOf": [{"pattern": "^/work/"}]}


@pytest.mark.requirement("GOV-3")
async def test_a_fixed_argument_is_not_shown_and_cannot_be_sent():
    policy = EffectivePolicy(arguments={"mode": {"value": "append"}})
    shown, _ = narrow(SCHEMA, policy)
    assert (list(shown["properties"]), shown["required"]) == (["path"], ["path"])
    answers, upstream = await call(policy, {"path": "/a", "mode": "replace"}, {"path": "/a"})
    assert "mode: is fixed by the charter; leave it out." in answers[0]
    assert upstream.calls == [{"path": "/a", "mode": "append"}]


@pytest.mark.requirement("GOV-1")
async def test_permissions_and_limits_hold_before_the_upstream_hears_of_a_call():
    policy = EffectivePolicy(permissions=("files:write",), rate_limit=RateLimit(2, 60_000))
    arguments = {"path": "/a", "mode": "w"}
    reader, writer = (Caller(name, name, frozenset(grants)) for name, grants in (("r", []), ("w", ["files:write"])))
    refused, upstream = await call(policy, arguments, caller=reader)
    assert ("PermissionError" in refused[0], upstream.calls) == (True, [])
    answers, upstream = await call(policy, arguments, arguments, arguments, caller=writer)
    assert (answers[:2], "RateLimitError" in answers[2], len(upstream.calls)) == (["call 1", "call 2"], True, 2)


@pytest.mark.requirement("GOV-1")
async def test_an_answer_is_reused_only_where_the_policy_says_so():
    arguments = {"path": "/a", "mode": "w"}
    assert (await call(EffectivePolicy(read_only=True, cache=60.0), arguments, arguments))[0] == ["call 1", "call 1"]
    assert (await call(EffectivePolicy(read_only=True), arguments, arguments))[0] == ["call 1", "call 2"]


@pytest.mark.requirement("GOV-1")
async def test_a_required_confirmation_is_refused_where_nobody_can_be_asked():
    answers, upstream = await call(EffectivePolicy(consent="required"), {"path": "/a", "mode": "w"})
    assert json.loads(answers[0])["error_type"] == "ConsentError"
    assert upstream.calls == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "sting"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
    ],
)
def test_a_schema_that_is_not_valid_is_said_to_be_so_and_nothing_is_fetched(schema: dict[str, Any]):
    with pytest.raises(InvalidTool, match="the schema of its arguments is not valid"):
        remote_tool("files", ListedTool("a", "", "", schema), EffectivePolicy(), Upstream().call)


def test_a_tool_without_a_schema_takes_anything():
    spec = remote_tool("files", ListedTool("a", "", "", {}), EffectivePolicy(), Upstream().call)
    assert spec.parameters.model_validate_json('{"x": 1}', strict=True).model_dump() == {"x": 1}


def tower(height: int) -> dict[str, Any]:
    """A small schema that takes a validator 2 to the power of its height steps."""
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(height)}
    properties = {"a": {"$ref": "#/$defs/d0"}}
    return {"type": "object", "properties": properties, "$defs": {**steps, f"d{height}": {"type": "string"}}}


async def call_with_schema(schema: dict[str, Any], arguments: dict[str, Any]) -> tuple[str, Upstream]:
    upstream = Upstream()
    tool = remote_tool("files", ListedTool("t", "", "Do it.", schema), EffectivePolicy(), upstream.call)
    async with App("files", version="1", format="result", tools=[tool]) as app:
        answer = await app.call("t", arguments)
    return "".join(block["text"] for block in answer.content()), upstream


async def test_a_schema_that_takes_years_holds_nobody_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(argument_checks, "DEADLINE", 0.3)
    began = time.process_time()
    text, upstream = await call_with_schema(tower(60), {"a": 5})
    assert time.process_time() - began < 2
    assert "could not be compared with its schema, which is very complex: The work was stopped after 0.3 s." in text
    assert upstream.calls == []


async def test_a_complex_schema_is_checked_in_another_process():
    deep: Any = "text"
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "string"}]}}}
    for _ in range(12):
        deep = {"a": deep}
    assert (await call_with_schema(schema, deep))[1].calls == [deep]
    text, upstream = await call_with_schema(schema, json.loads(json.dumps(deep).replace('"text"', "5")))
    assert "they do not match its schema; compare them with it" in text
    assert upstream.calls == []


@pytest.mark.parametrize("schema", [tower(60), {"type": "object", "unevaluatedProperties": False, **tower(60)}])
def test_the_cost_of_a_schema_counts_what_its_references_repeat(schema: dict[str, Any]):
    assert validation_cost(SCHEMA, 32) < 10
    assert validation_cost(schema, 32) > 2**60


def test_a_schema_that_refers_to_itself_at_one_value_has_no_bound():
    looped = {"$ref": "#/$defs/x", "$defs": {"x": {"allOf": [{"$ref": "#/$defs/x"}]}}}
    assert validation_cost(looped, 1) == UNLIMITED
    nested = {"type": "object", "properties": {"inner": {"$ref": "#"}}}
    assert [validation_cost(nested, levels) for levels in (0, 10)] == [1, 21]


def test_a_schema_that_is_nested_too_deeply_is_refused():
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(500):
        schema = {"anyOf": [schema]}
    with pytest.raises(InvalidTool, match="it is nested more than 200 levels deep"):
        remote_tool("files", ListedTool("t", "", "Do it.", schema), EffectivePolicy(), Upstream().call)
