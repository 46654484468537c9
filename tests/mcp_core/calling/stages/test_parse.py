import copy
import json
import re
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, StringConstraints, model_validator
from pydantic.json_schema import SkipJsonSchema

from mcp_core import App, Confirm, ToolArguments
from mcp_core.calling.bound import bind
from mcp_core.calling.stages.parse import parse
from mcp_core.calling.stages.record import CallRecord
from mcp_core.declare.spec import DEADLINES, spec_of
from mcp_core.errors import DeclarationError, InvalidArguments
from tests.mcp_core.declared import Number, Text, mutation, query

SHARE = Annotated[float, Field(ge=0, le=1, description="A share.")]


@query({"n": 1})
async def measure(
    n: Annotated[int, Field(ge=0, le=9, description="A digit.")],
    share: SHARE = 0.5,
    unit: Annotated[Literal["m", "km"], Field(description="The unit.")] = "m",
    notes: Annotated[list[str] | None, Field(description="Remarks.")] = None,
) -> list[Any]:
    return [n, share, unit, notes]


WRONG = {
    "missing": ({}, "n: is required, but missing"),
    "extra": ({"n": 1, "m": 2}, "m: is not an argument here; it takes n, share, unit, notes"),
    "text for a number": ({"n": "five"}, 'n: input should be a valid integer, got "five"'),
    "true for a number": ({"n": True}, "n: input should be a valid integer, got true"),
    "a fraction for a whole number": ({"n": 1.5}, "n: input should be a valid integer"),
    "null": ({"n": None}, "n: input should be a valid integer, got null"),
    "too small": ({"n": -1}, "n: input should be greater than or equal to 0, got -1"),
    "too large": ({"n": 10}, "n: input should be less than or equal to 9, got 10"),
    "a wrong literal": ({"n": 1, "unit": "mile"}, "unit: input should be 'm' or 'km', got \"mile\""),
    "a wrong item": ({"n": 1, "notes": ["a", True]}, "notes.1: input should be a valid string, got true"),
    "an object for a list": ({"n": 1, "notes": {"a": 1}}, "notes: input should be a valid array, got an object of 1"),
    "NaN": ({"n": 1, "share": float("nan")}, "a number that is NaN or infinite"),
    "infinity": ({"n": 1, "share": float("-inf")}, "a number that is NaN or infinite"),
    "half a character": ({"n": 1, "notes": ["\ud800"]}, "half a character (a lone surrogate)"),
    "a name with half a character": ({"n": 1, "\udfff": 1}, "half a character (a lone surrogate)"),
    "a number without end": ({"n": 10**5000}, "number out of range"),
}


class Stop(BaseModel, extra="forbid"):
    city: Annotated[str, Field(description="Where.")]
    nights: Annotated[int, Field(description="How long.")] = 1


@query({"stops": []})
async def travel(stops: Annotated[list[Stop], Field(description="Where to stay.")]) -> int:
    return len(stops)


async def test_an_unknown_name_inside_an_argument_is_answered_with_the_names_that_it_takes():
    async with App("test", version="1.0.0", format="result", tools=[travel]) as app:
        answer = await app.call("travel", {"stops": [{"city": "Bern", "night": 2}]})
    words = "stops.0.night: is not an argument here; it takes city, nights (did you mean nights?)"
    assert words in json.loads(answer.text)["error"]


@pytest.mark.requirement("ERR-1")
@pytest.mark.parametrize(("arguments", "words"), WRONG.values(), ids=WRONG)
async def test_wrong_arguments_are_refused_with_an_error_that_helps(arguments: dict[str, Any], words: str):
    async with App("test", version="1.0.0", format="result", tools=[measure]) as app:
        answer = await app.call("measure", arguments)
    result = json.loads(answer.text)
    assert answer.is_error
    assert result.keys() == {"success", "error", "error_type", "instruction"}
    assert result["error_type"] == "ValidationError"
    assert words in result["error"]
    assert result["instruction"] == "Correct the arguments named in the error, and call again."


@pytest.mark.parametrize("text", ["NaN", "Infinity", '"NaN"', "-Infinity and beyond"])
async def test_text_that_spells_a_strange_number_is_still_text(text: str):
    async with App("test", version="1.0.0", format="result", tools=[measure]) as app:
        answer = await app.call("measure", {"n": 1, "notes": [text]})
    assert json.loads(answer.text)["value"] == [1, 0.5, "m", [text]]


async def test_nesting_without_end_is_refused():
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    async with App("test", version="1.0.0", format="result", tools=[measure]) as app:
        answer = await app.call("measure", {"n": 1, "notes": deep})
    assert "nesting that is too deep" in json.loads(answer.text)["error"]


async def test_a_huge_value_is_quoted_by_its_beginning_only():
    async with App("test", version="1.0.0", format="result", tools=[measure]) as app:
        answer = await app.call("measure", {"n": "x" * 10_000_000})
    assert f'got "{"x" * 60}"... (10000000 characters)' in json.loads(answer.text)["error"]
    assert len(answer.text) < 1000


async def test_of_many_faults_the_first_eight_are_named():
    async with App("test", version="1.0.0", format="result", tools=[measure]) as app:
        answer = await app.call("measure", {f"x{number}": 1 for number in range(20)})
    error = json.loads(answer.text)["error"]
    assert error.count("is not an argument") + error.count("is required") == 8
    assert error.endswith("and 13 more.")


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("given", [None, "", "yes", "DELETE", "delete_all", "DELETE_ALL ", True, ["DELETE_ALL"]])
async def test_without_the_exact_literal_a_destructive_tool_does_nothing(given: Any):
    deleted = []

    @mutation({"explicit_action": "DELETE_ALL"}, confirm=Confirm("DELETE_ALL"))
    async def delete_all() -> str:
        deleted.append("all")
        return "gone"

    async with App("test", version="1.0.0", format="result", tools=[delete_all]) as app:
        refused = await app.call("delete_all", {} if given is None else {"explicit_action": given})
        # It does not invite the agent to add the literal.
        assert json.loads(refused.text) == {
            "success": False,
            "error": "Invalid arguments for 'delete_all': explicit_action: the user must ask for exactly this action; "
            "do not set it without their request.",
            "error_type": "ValidationError",
            "instruction": "Require explicit user consent before proceeding.",
        }
        assert deleted == []
        done = await app.call("delete_all", {"explicit_action": "DELETE_ALL"})
    assert json.loads(done.text) == {"success": True, "value": "gone"}
    assert deleted == ["all"]


@pytest.mark.requirement("VAL-4")
async def test_a_handler_that_changes_its_arguments_changes_nothing_of_the_request():
    @query({"items": []})
    async def spoil(items: Annotated[list[Any], Field(description="Lists.")]) -> int:
        items.append([9])
        items[0].clear()
        return len(items)

    given = {"items": [[1, 2], [3]]}
    before = copy.deepcopy(given)
    async with App("test", version="1.0.0", format="result", tools=[spoil]) as app:
        assert json.loads((await app.call("spoil", given)).text)["value"] == 3
        assert json.loads((await app.call("spoil", given)).text)["value"] == 3
    assert given == before


@pytest.mark.requirement("VAL-4")
async def test_a_handler_that_changes_a_default_changes_it_for_no_other_call():
    @query()
    async def gather(items: Annotated[list[int], Field(description="Numbers.")] = []) -> int:  # noqa: B006 - the subject
        items.append(1)
        return len(items)

    async with App("test", version="1.0.0", format="result", tools=[gather]) as app:
        assert [json.loads((await app.call("gather")).text)["value"] for _ in range(3)] == [1, 1, 1]


async def test_arguments_in_another_order_are_the_same_arguments():
    @query({"a": 1, "b": 2})
    async def minus(a: Number, b: Number) -> int:
        return a - b

    async with App("test", version="1.0.0", format="result", tools=[minus]) as app:
        tool = app._pipeline._tools["minus"]
        assert (
            parse(tool, {"a": 1, "b": 2}, CallRecord())[1]
            == parse(tool, {"b": 2, "a": 1}, CallRecord())[1]
            == '{"a":1,"b":2}'
        )
        with pytest.raises(InvalidArguments) as caught:
            parse(tool, {"b": "x", "c": 1}, CallRecord())
        assert caught.value.fields == ("a", "b", "c")


class Account(BaseModel):
    name: str = Field(min_length=3, description="The name.")
    password: str = Field(min_length=8, description="The password.")


class Login(ToolArguments):
    account: Account = Field(description="Who logs in.")
    pin: int = Field(gt=10_000, json_schema_extra={"secret": True}, description="The number.")
    site: str = Field(max_length=20, description="Where.")

    @model_validator(mode="after")
    def _differ(self) -> "Login":
        if self.account.name == str(self.pin):
            raise ValueError(f"the name is the PIN {self.pin}")
        return self


@pytest.mark.requirement("LOG-6")
@pytest.mark.parametrize(
    "arguments",
    [
        {"account": {"name": "ann", "password": "hunter2"}, "pin": 20_000, "site": "here"},
        {"account": {"name": "ann", "password": "long-enough"}, "pin": 4711, "site": "here"},
        {"account": {"name": "47110", "password": "long-enough"}, "pin": 47110, "site": "here"},
        {
            "account": {"name": "ann", "password": "long-enough"},
            "pin": 20_000,
            "site": "https://ann:hunter2@example.org",
        },
    ],
)
async def test_a_validation_error_quotes_no_secret(arguments: dict[str, Any], log):
    @mutation({"account": {"name": "ann", "password": "long-enough"}, "pin": 20_000, "site": "here"})
    async def login(args: Login) -> str:
        return "in"

    async with App("test", version="1.0.0", tools=[login], format="hints") as app:
        answer = await app.call("login", arguments)
    assert json.loads(answer.text)["error"]["type"] == "ValidationError"
    for text in (answer.text, *log.lines, *log.texts):
        without_ids = re.sub(r"[0-9a-f]{32}", "", text)
        assert not [secret for secret in ("hunter2", "4711") if secret in without_ids]


async def test_the_error_about_a_secret_reads_well():
    @mutation({"password": "long-enough"})
    async def log_in(
        password: Annotated[str, Field(min_length=8, description="The password.")], user: Text = ""
    ) -> str:
        return "in"

    async with App("test", version="1.0.0", format="result", tools=[log_in]) as app:
        answer = await app.call("log_in", {"password": "hunter2", "user": "hunter2"})
    assert json.loads(answer.text)["error"] == (
        "Invalid arguments for 'log_in': password: string should have at least 8 characters, got [redacted]."
    )


# ---- a value that may be left out, or null -------------------------------------------------------


@query({"name": "a"})
async def name_or_nothing(
    name: Annotated[
        Annotated[str, StringConstraints(max_length=3)] | SkipJsonSchema[None], Field(description="A name.")
    ] = None,
    names: Annotated[list[Annotated[str, StringConstraints(max_length=3)]] | None, Field(description="Names.")] = None,
) -> str:
    return f"{name}{names}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": True}, "name: input should be a valid string, got true"),
        ({"name": "long"}, 'name: string should have at most 3 characters, got "long"'),
        ({"names": ["a", "long"]}, 'names.1: string should have at most 3 characters, got "long"'),
    ],
)
def test_the_error_of_a_nullable_value_does_not_say_that_it_is_not_null(arguments, words):
    bound = bind(spec_of(name_or_nothing), "name_or_nothing", {}, DEADLINES)
    with pytest.raises(InvalidArguments) as refused:
        parse(bound, arguments, CallRecord())
    assert str(refused.value) == f"Invalid arguments for 'name_or_nothing': {words}."


# ---- a contract's own sentences ------------------------------------------------------------------


@query(
    {"name": "a", "kind": "x"},
    error_messages={"name.string_too_long": "That name is too long", "name.missing": "Who?", "kind": "x or y"},
)
async def named(
    name: Annotated[str, Field(max_length=3, description="A name.")],
    kind: Annotated[Literal["x", "y"], Field(description="A kind.")] = "x",
) -> str:
    return name + kind


@pytest.mark.parametrize(
    ("arguments", "words", "fields"),
    [
        ({"name": "long"}, "That name is too long", ("name",)),
        ({}, "Who?", ("name",)),
        ({"name": "a", "kind": "z"}, "x or y", ("kind",)),
        ({"name": "a", "kind": True}, "x or y", ("kind",)),
        ({"name": "long", "kind": "z"}, "That name is too long", ("name", "kind")),
        ({"name": True}, "Invalid arguments for 'named': name: input should be a valid string, got true.", ("name",)),
        ({"name": True, "kind": "z"}, "x or y", ("name", "kind")),
        (
            {"nam": "a"},
            (
                "Invalid arguments for 'named': name: is required, but missing; "
                "nam: is not an argument here; it takes name, kind (did you mean name?)."
            ),
            ("name", "nam"),
        ),
    ],
)
def test_a_declared_error_message_is_used(arguments, words, fields):
    with pytest.raises(InvalidArguments) as refused:
        parse(bind(spec_of(named), "named", {}, DEADLINES), arguments, CallRecord())
    assert (str(refused.value), refused.value.fields) == (words, fields)


def test_a_missing_object_is_named_with_what_it_needs():
    with pytest.raises(InvalidArguments) as refused:
        parse(bind(spec_of(travel), "travel", {}, DEADLINES), {}, CallRecord())
    assert str(refused.value) == "Invalid arguments for 'travel': stops: is required, but missing; it needs city."


class Removal(BaseModel, extra="forbid"):
    explicit_action: Annotated[Literal["DELETE_ALL"], Field(description="Must be DELETE_ALL.")]


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("given", [{}, {"options": {}}, {"options": {"explicit_action": "yes"}}])
async def test_the_literal_may_stand_inside_an_argument(given: dict[str, Any]):
    @mutation({"name": "a", "options": {"explicit_action": "DELETE_ALL"}}, confirm=Confirm("DELETE_ALL"))
    async def delete_all(
        name: Annotated[str, Field(description="Whose.")], options: Annotated[Removal, Field(description="How.")]
    ) -> str:
        return f"{name}: {options.explicit_action}"

    async with App("test", version="1.0.0", format="result", tools=[delete_all]) as app:
        refused = json.loads((await app.call("delete_all", {"name": "a", **given})).text)
        assert not refused["success"]
        assert "options" in refused["error"]
        done = await app.call("delete_all", {"name": "a", "options": {"explicit_action": "DELETE_ALL"}})
    assert json.loads(done.text)["value"] == "a: DELETE_ALL"


@pytest.mark.requirement("CON-1", "DEF-2")
def test_an_argument_with_the_literal_must_be_given():
    with pytest.raises(DeclarationError, match="explicit_action has a default, so nobody has to state it"):

        @mutation({"options": {"explicit_action": "DELETE_ALL"}}, confirm=Confirm("DELETE_ALL"))
        async def delete_all(
            options: Annotated[Removal | None, Field(description="How.")] = None, more: int = 1
        ) -> str:
            return "gone"
