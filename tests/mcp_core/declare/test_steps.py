import asyncio
import logging
from typing import Any

import pytest

from mcp_core import App, DeclarationError, Result, tool
from mcp_core.declare.spec import Declaration, spec_of
from mcp_core.declare.steps import Standing, standing_of, steps_line
from tests.mcp_core import declared
from tests.mcp_core.declared import FULL, function, query
from toolcharter.serving.run import log_steps

pytestmark = pytest.mark.requirement("AUT-2")


def untyped(a, b):
    """Add."""


REST = {name: value for name, value in FULL.items() if name not in {"category", "cache_ttl"}}


@pytest.mark.parametrize(
    ("handler", "fields", "standing"),
    [
        (
            untyped,
            {},
            Standing(
                "untyped",
                "plain",
                ["a description of 50 characters", "a description of a, b", "a type of a, b", "a return type"],
            ),
        ),
        (untyped, FULL | {"examples": []}, "plain"),
        (function("Short."), {}, Standing("get_number", "plain", ["a description of 50 characters"])),
        (function(), {}, Standing("get_number", "described", ["category or read_only"])),
        (function(), {"tags": ["cards"]}, "described"),
        (function(), REST, "described"),
        *(
            (function(), fields, "declared")
            for fields in ({"read_only": True}, {"read_only": False}, {"cache_ttl": 5}, {"category": "mutation"})
        ),
        (
            function(),
            {"category": "query", "tags": ["cards"], "examples": []},
            Standing("get_number", "declared", ["permissions", "response_time", "idempotent"]),
        ),
        (function(), FULL, Standing("get_number", "governed")),
    ],
)
def test_a_tool_is_on_the_last_step_that_it_has_completely(handler: Any, fields: Any, standing: Standing | str):
    found = standing_of(spec_of(handler, Declaration(**fields)))
    assert (found.step if isinstance(standing, str) else found) == standing


def test_one_line_names_what_is_missing_and_is_bounded():
    specs = [spec_of(function("Short."), Declaration(name=f"get_{number}")) for number in range(5)]
    one = "is plain; to be described it lacks a description of 50 characters"
    assert steps_line([*specs, spec_of(function(), Declaration(**FULL))]) == (
        f"5 of 6 tools are not governed: get_0 {one}. get_1 {one}. get_2 {one}. And 2 more."
    )
    assert steps_line(specs[:1]) == f"1 of 1 tool is not governed: get_0 {one}."
    assert steps_line([spec_of(function(), Declaration(**FULL))]) is None


def test_the_server_logs_the_line_at_its_start(caplog: pytest.LogCaptureFixture):
    app = App("hello")
    app.tool(function())
    with caplog.at_level(logging.WARNING):
        log_steps(app)
    (record,) = caplog.records
    assert record.getMessage() == (
        "hello: 1 of 1 tool is not governed: get_number is described; to be declared it lacks category or read_only. "
        "`toolcharter verify` has more."
    )


@pytest.mark.parametrize(
    "fields", [{"read_only": True}, {"tags": ["cards"]}, {"category": "query"}, {"cache_ttl": 60}], ids=str
)
async def test_each_field_works_by_itself(fields: Any):
    app = App("hello")
    app.tool(**fields)(function("Short."))
    tool(**fields)(function("Short."))
    async with app:
        assert not (await app.call("get_number", {"a": 1})).is_error


def test_a_strict_server_refuses_with_everything_that_is_missing_in_all_tools():
    with pytest.raises(DeclarationError) as refused:
        App("hello", strict=True, tools=[tool(function("Short.")), tool(name="again", category="query")(function())])
    assert [problem.split(": ")[:2] for problem in refused.value.problems] == [
        *(
            ["get_number", name]
            for name in ("permissions", "category", "response_time", "idempotent", "examples", "tags", "description")
        ),
        *(["again", name] for name in ("permissions", "response_time", "idempotent", "examples", "tags")),
    ]
    with pytest.raises(DeclarationError, match="get_number: permissions: is missing"):
        App("hello", strict=True).tool(function())


# --- what is no list of tools ----------------------------------------------------------------------


async def later() -> int:
    return 1


@pytest.mark.parametrize(
    ("make_tools", "problem"),
    [
        (lambda: later, "tools: later is not a list; write tools=[later]"),
        (lambda: declared, "tools: declared is not a list; write tools=[declared]"),
        (lambda: [later()], "tools: later(...) is a call; write later, without parentheses"),
        (lambda: [later], "tools: later is not declared as a tool; write @tool above it, or app.tool(later)"),
        (lambda: [5], "tools: 5 is not a tool; give functions with @tool, or modules that have them"),
    ],
)
def test_what_is_not_a_tool_is_refused_with_what_to_write(make_tools: Any, problem: str):
    with pytest.raises(DeclarationError) as refused:
        App("hello", tools=make_tools())
    assert str(refused.value) == problem


@pytest.mark.parametrize("annotation", [int, Any, None])
@pytest.mark.parametrize("wrap", [lambda made: made, Result.ok], ids=["bare", "result"])
async def test_a_forgotten_await_is_named_in_the_log(annotation: Any, wrap: Any, caplog: pytest.LogCaptureFixture):
    async def forget() -> Any:
        return wrap(later())

    forget.__annotations__["return"] = annotation
    app = App("hello")
    app.tool(forget)
    async with app:
        answer = await app.call("forget")
    assert "returned a call of later that did not run; write `await later(...)`" in caplog.text
    assert (answer.is_error, "later" in answer.text) == (True, False)
    await asyncio.sleep(0)


def test_a_tool_that_a_strict_server_accepts_is_governed_without_a_return_type():
    @query()
    async def read():
        return 1

    app = App("hello", tools=[read], strict=True)
    assert steps_line(app.registry.get_all()) is None
