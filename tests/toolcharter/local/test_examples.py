"""Declared examples, run and compared."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App, Confirm, Conflict, Example, Settings
from mcp_core.declare.spec import spec_of
from mcp_todo.app import build as build_todo
from tests.mcp_core.declared import mutation, query
from toolcharter.local import targets
from toolcharter.local.examples import (
    CannotRunExamples,
    ExampleResult,
    declared_examples,
    differences,
    run_example,
    run_examples,
)

UUID = "6f1de3a0-5c1b-4a55-9d0c-0e6a3f1f7c11"


@pytest.mark.parametrize(
    ("expected", "got", "sentences"),
    [
        (1, 1.0, []),
        (None, None, []),
        ({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "x"}]}, []),
        (5, 6, ["value: expected 5, got 6"]),
        (1, True, ["value: expected 1, got true"]),
        ("a", None, ['value: expected "a", got null']),
        ({"a": 1}, [1], ['value: expected {"a": 1}, got [1]']),
        ({"a": 1, "b": 2}, {"a": 1}, ["value.b: expected 2, but it is missing"]),
        ({"a": 1}, {"a": 1, "b": 2}, ["value.b: not expected, got 2"]),
        ([1], [1, 2], ["value: expected 1 entries, got 2: [1, 2]"]),
        (
            [{"id": "<uuid>", "n": 1}, {"id": "<uuid>", "n": 2}],
            [{"id": "7", "n": 1}, {"id": UUID, "n": 3}],
            ['value[0].id: expected <uuid>, got "7"', "value[1].n: expected 2, got 3"],
        ),
        ("x", "y" * 300, [f'value: expected "x", got "{"y" * 199}...']),
    ],
)
def test_each_difference_is_a_sentence_with_its_place(expected, got, sentences):
    assert list(differences(expected, got)) == sentences


@pytest.mark.parametrize(
    ("wildcard", "fitting", "others"),
    [
        ("<uuid>", [UUID, UUID.upper()], ["", "5", 5, None, f"{{{UUID}}}", UUID.replace("-", "")]),
        (
            "<time>",
            ["2026-07-28T12:00:00+00:00", "2026-07-28T12:00:00.123Z", "2026-07-28T12:00"],
            ["2026-07-28", "now", "T", 5, None],
        ),
        ("<text>", ["", "a", "<text>"], [5, None, ["a"]]),
        ("<number>", [0, -1.5, 10**30], ["5", True, None]),
        ("<any>", [None, 0, "", [], {"a": 1}], []),
        ("<date>", ["<date>"], ["2026-07-28"]),
    ],
)
def test_a_wildcard_stands_for_what_differs_each_time(wildcard: str, fitting: list[Any], others: list[Any]):
    assert [list(differences(wildcard, value)) for value in fitting] == [[]] * len(fitting)
    quoted = [f"value: expected {wildcard}, got {json.dumps(value)}" for value in others]
    found = [list(differences(wildcard, value)) for value in others]
    assert found == [[words.replace("<date>", '"<date>"')] for words in quoted]


def test_a_wildcard_in_a_field_requires_the_field():
    assert list(differences({"a": "<any>"}, {})) == ['value.a: expected "<any>", but it is missing']


@pytest.mark.requirement("DOC-5")
@pytest.mark.parametrize("server", list(targets.known()))
def test_every_tool_of_our_servers_has_an_example_with_concrete_values_and_an_explanation(server: str):
    app = targets.load(server, Settings())
    found = declared_examples(app)
    assert {spec.name for spec, _ in found} == {spec.name for spec in app.registry.get_all()}
    for spec, example in found:
        assert len(example.description.split()) > 1
        assert set(spec.input_schema.get("required", ())) <= set(example.params)
        assert example.expected_result not in (None, "<any>")


@pytest.mark.requirement("DOC-5")
async def test_every_example_of_the_todo_server_gives_its_result_on_either_database(db_url):
    specs = {spec.name: (spec, example) for spec, example in declared_examples(build_todo(Settings()))}
    assert list(specs) == ["add_task", "list_tasks", "complete_task", "delete_task", "update_task"]
    # A database that is given is not made anew, so that each example would find what the one before it left.
    result = await run_example(build_todo, *specs["update_task"], Settings(db=db_url))
    assert result == ExampleResult("update_task", "Another title, the same description", ())
    assert all(result.ok for result in await run_examples(build_todo, Settings(db=None)))


@pytest.mark.requirement("DOC-5")
@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        ({"task_id": "<uuid>", "status": "created", "title": "Call"}, 'value.title: expected "Call", got "Call mum"'),
        ({"task_id": "<number>", "status": "created", "title": "Call mum"}, "value.task_id: expected <number>, got "),
    ],
)
async def test_an_example_with_another_result_says_where_it_differs(expected, sentence):
    spec = next(spec for spec, _ in declared_examples(build_todo(Settings()), "add_task"))
    example = Example("A call", {"user_id": "ana", "title": "Call mum"}, expected)
    result = await run_example(build_todo, spec, example, Settings(db=None))
    assert (result.ok, len(result.differences)) == (False, 1)
    assert result.differences[0].startswith(sentence)


@pytest.mark.parametrize("format", ["result", "bare", "hints"])
async def test_the_value_is_compared_in_every_wire_format(format):
    @query({"n": 1}, examples=[Example("Right", {}, [1, 2]), Example("Wrong", {}, [1, 3])])
    async def numbers() -> list[int]:
        return [1, 2]

    def build(settings: Settings) -> App:
        return App("made", version="1.0.0", tools=[numbers], format=format, settings=settings)

    found = [result.differences for result in await run_examples(build, Settings(db=None))]
    assert found == [(), ("value[1]: expected 3, got 2",)]


async def test_a_call_that_fails_is_a_difference_and_the_others_still_run():
    @mutation(examples=[Example("Fails", {}, "<any>")])
    async def clash() -> str:
        raise Conflict("It is taken.")

    @mutation(examples=[Example("Works", {}, "done")], confirm=Confirm(required=True), permissions=["things:do"])
    async def agree() -> str:
        return "done"

    def build(settings: Settings) -> App:
        return App("made", version="1.0.0", tools=[clash, agree], format="bare", settings=settings)

    # No permission is lacking, and the person says yes: an example shows what a tool does.
    results = await run_examples(build, Settings(db=None, grants=(), user="bob"))
    assert results == [
        ExampleResult("clash", "Fails", ('expected "<any>", but the call failed: {"error":"It is taken."}',)),
        ExampleResult("agree", "Works", ()),
    ]


def test_each_example_has_a_server_and_a_database_of_its_own(tmp_path: Path):
    seen: list[Settings] = []

    @query(examples=[Example("One", {}, 1), Example("Two", {}, 1)])
    async def one() -> int:
        return 1

    def build(settings: Settings) -> App:
        seen.append(settings)
        return App("made", version="1.0.0", tools=[one], settings=settings)

    given = Settings(db=None, redis="redis://127.0.0.1:1/0", audit=tmp_path / "audit.jsonl")
    assert all(result.ok for result in asyncio.run(run_examples(build, given)))
    first, second = seen[1:]
    assert first.db.startswith("sqlite:///")
    assert first.db != second.db
    assert not Path(first.db.removeprefix("sqlite:///")).parent.exists()
    # Nothing is left where others run_rule.
    assert list(tmp_path.iterdir()) == []


async def test_no_example_runs_in_a_server_that_ignores_its_settings_and_would_change_real_data():
    @query(examples=[Example("One", {}, 1)])
    async def one() -> int:
        return 1

    app = App("made", version="1.0.0", tools=[one])
    with pytest.raises(CannotRunExamples, match="'made' does not use the settings that its build function gets"):
        await run_example(lambda _: app, spec_of(one), spec_of(one).examples[0], Settings(db=None))
