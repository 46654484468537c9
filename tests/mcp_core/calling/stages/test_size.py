"""Arguments with very many values are refused before an error is built for each of them."""

import json
import tracemalloc
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from mcp_core import App
from mcp_core.calling.stages.parse import _without_null
from tests.mcp_core.declared import Number, query


class Word(BaseModel, extra="forbid"):
    text: str = Field(description="A word.")


@query({})
async def count(  # noqa: PLR0917 - one argument of each kind
    words: Annotated[list[str] | None, Field(description="Words.")] = None,
    few: Annotated[list[int], Field(max_length=3, description="Up to three.")] = [],  # noqa: B006
    many: Annotated[list[int], Field(max_length=5000, description="Up to 5,000.")] = [],  # noqa: B006
    objects: Annotated[list[Word], Field(description="Objects.")] = [],  # noqa: B006
    table: Annotated[dict[str, int] | None, Field(description="By name.")] = None,
    anything: Annotated[Any, Field(description="Anything.")] = None,
    number: Number = 0,
) -> int:
    return len(words or []) + len(many) + len(table or {})


REFUSED = {
    "items of the wrong type": ({"words": [1] * 400_000}, "words: list should have at most 1000 items, not 400000."),
    "items": ({"words": ["a"] * 1001}, "words: list should have at most 1000 items, not 1001."),
    "a declared length": ({"few": ["a"] * 5000}, "few: list should have at most 3 items, not 5000."),
    "unknown names": ({f"k{i}": 0 for i in range(50_000)}, "has 50000 names that the schema does not have."),
    "unknown names inside": (
        {"objects": [{f"k{i}": 0 for i in range(50_000)}]},
        "objects.0: has 50000 names that the schema does not have.",
    ),
    "names": ({"table": {f"k{i}": 0 for i in range(1001)}}, "table: object should have at most 1000 names, not 1001."),
    "values": (
        {"anything": [[0] * 1000] * 200},
        "the arguments have more than 100000 values; send fewer in each call.",
    ),
    "errors": (
        {"many": ["a"] * 4000},
        "4000 values are not valid, which is too many to list. Compare them with the schema.",
    ),
    "lists for a number": ({"number": [[]] * 50_000}, "number: input should be a valid integer, got a list of 50000 "),
}


@pytest.mark.requirement("VAL-1")
@pytest.mark.parametrize(("arguments", "words"), REFUSED.values(), ids=REFUSED)
async def test_arguments_with_too_many_values_are_refused_in_little_memory(arguments: dict[str, Any], words: str):
    async with App("test", version="1.0.0", format="result", tools=[count]) as app:
        await app.call("count", {})
        tracemalloc.start()
        try:
            answer = await app.call("count", arguments)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    error = json.loads(answer.text)["error"]
    assert error.startswith(f"Invalid arguments for 'count': {words}"), error[:200]
    assert peak < 10_000_000


@pytest.mark.parametrize(
    "arguments", [{"words": ["a"] * 1000}, {"many": [1] * 5000}, {"table": {f"k{i}": 0 for i in range(1000)}}]
)
async def test_the_largest_length_itself_is_accepted(arguments: dict[str, Any]):
    async with App("test", version="1.0.0", format="result", tools=[count]) as app:
        answer = await app.call("count", arguments)
    (value,) = arguments.values()
    assert json.loads(answer.text)["value"] == len(value)


async def test_the_schema_says_the_largest_length():
    async with App("test", version="1.0.0", format="result", tools=[count]) as app:
        properties = app.list_tools()[0].input_schema["properties"]
    lengths = {name: part.get("maxItems", part.get("maxProperties")) for name, part in properties.items()}
    assert lengths == {
        "words": 1000, "few": 3, "many": 5000, "objects": 1000, "table": 1000, "anything": None, "number": None,
    }  # fmt: skip


def test_the_errors_of_nullable_items_are_read_in_one_pass():
    """Each location is looked up by its own beginnings, not compared with every other."""
    compared = 0

    class Part(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, str(other))

        __hash__ = str.__hash__

    details: Any = []
    for index in range(300):
        place = (Part("words"), index)
        details.append({"type": "int_type", "loc": (*place, "int"), "msg": "", "input": None})
        details.append({"type": "none_required", "loc": (*place, "none"), "msg": "", "input": None})
    assert [detail["loc"] for detail in _without_null(details)] == [("words", index) for index in range(300)]
    assert compared < 10 * len(details)
