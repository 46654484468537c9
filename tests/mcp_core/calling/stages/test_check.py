import json
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from mcp_core import (
    AgentHints,
    App,
    Deprecation,
    Evidence,
    Image,
    Naming,
    NotFound,
    ResourceLink,
    Result,
    SuggestedAction,
    ToolResult,
    hints,
)
from tests.mcp_core.declared import Number, mutation, query


class Book(BaseModel):
    title: str


class Entry(TypedDict):
    title: str


@dataclass
class Plain:
    title: str


class Nothing:
    def to_dict(self) -> None:
        return None


def itself() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


async def answer_of(returned: Any, annotation: Any = Any, format: Any = "hints") -> tuple[bool, dict[str, Any]]:
    async def give() -> Any:
        return returned

    give.__annotations__["return"] = annotation
    async with App("test", version="1.0.0", tools=[query()(give)], format=format) as app:
        answer = await app.call("give")
    return answer.is_error, json.loads(answer.text)


async def test_a_tool_that_promises_no_value_may_return_none():
    assert await answer_of(None, type(None), "result") == (False, {"success": True})
    assert await answer_of(None, type(None), "bare") == (False, None)


@pytest.mark.parametrize("structured", [False, True])
async def test_an_image_can_be_all_that_a_tool_returns(structured: bool):
    @query()
    async def draw() -> Image:
        return Image(b"\x89PNG", "image/png")

    async with App("test", version="1.0.0", tools=[draw], format="bare", structured=structured) as app:
        answer = await app.call("draw")
    picture = {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}
    assert answer.content() == [picture, {"type": "text", "text": "image/png, 4 bytes"}]
    assert answer.structured is None


@pytest.mark.requirement("PRO-1")
async def test_content_is_the_whole_answer_or_stands_beside_a_value():
    link = ResourceLink("note://1", "A note")

    async def alone() -> list[ResourceLink | Image]:
        return [link, Image(b"\x89PNG")]

    async def with_text() -> list[str | Image]:
        return ["A dot", Image(b"\x89PNG")]

    async def beside() -> Result[dict[str, int]]:
        return Result.ok({"dots": 1}, content=[link])

    async def promised() -> Result[int]:
        return Result.ok(content=[link])

    picture = {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}
    linked = {"type": "resource_link", "uri": "note://1", "name": "A note"}
    async with App("test", tools=[query()(each) for each in (alone, with_text, beside, promised)]) as app:
        answers = {name: await app.call(name) for name in ("alone", "with_text", "beside", "promised")}
    assert answers["alone"].content() == [
        linked,
        picture,
        {"type": "text", "text": "A note: note://1\nimage/png, 4 bytes"},
    ]
    assert answers["with_text"].content() == [{"type": "text", "text": "A dot"}, picture]
    assert answers["beside"].content() == [{"type": "text", "text": '{"dots":1}'}, linked]
    assert answers["beside"].structured == {"dots": 1}
    # Its schema promises a number to programs.
    assert answers["promised"].is_error


BROKEN = {
    "None": (None, Any, "returned None; return a value"),
    "a success without data": (Result.ok(), Any, "returned a success without data"),
    "bytes for an image": (Result.ok(1, content=cast(Any, [b"x"])), Any, "content with b'x' in place of an Image"),
    "a text for an image": (Result.ok(1, content=[Image(b"x", "text/plain")]), Any, "give it a type such as image/png"),
    "a tool result without data": (ToolResult(None, hints.for_value()), Any, "returned a success without data"),
    "an object that is null": (Nothing(), Any, "returned a success without data"),
    "a set": ({1, 2}, Any, "set is not JSON"),
    "a set inside": ({"a": [1, {2}]}, Any, "value['a'][1]: set is not JSON"),
    "bytes": (b"x", Any, "bytes is not JSON"),
    "NaN": (float("nan"), Any, "value is nan, which JSON cannot hold"),
    "infinity inside": ([1.0, float("inf")], Any, "value[1] is inf, which JSON cannot hold"),
    "a value that contains itself": (itself(), Any, "contains itself or is nested too deeply"),
    "a strange key": ({(1, 2): 3}, Any, "a key of type tuple"),
    "a dataclass": (Plain("Emma"), Any, "Plain is not JSON"),
    "an object": (object(), Any, "object is not JSON"),
    "another type": (
        "five",
        int,
        "returned str, which is not what it declares: the value: Input should be a valid int",
    ),
    "a bool for a number": (True, int, "returned bool, which is not what it declares"),
    "another model": (Plain("Emma"), Book, "returned Plain, which is not what it declares"),
    "a typed dict that lacks a key": ({}, Entry, "is not what it declares: title: Field required"),
    "another type inside": ([1, "2"], list[int], "returned list, which is not what it declares: 1: Input should be"),
    "another type in a Result": (Result.ok("five"), Result[int], "returned str, which is not what it declares"),
    "another type in a ToolResult": (ToolResult("x", hints.for_value()), ToolResult[int], "is not what it declares"),
    "another type in a dataclass": (Plain(cast(Any, 5)), Plain, "Expected `str`"),
    "a dict for a dataclass": ({"title": "Emma"}, Plain, "returned dict, which is not what it declares"),
    "a tuple for a list": ((1, 2), list[int], "returned tuple, which is not what it declares"),
    "a message that is no text": (Result.ok(1, message=5), Any, "a Result with int in place of a text"),
    "an instruction that is no text": (Result.ok(1, instruction=["x"]), Any, "a Result with list in place of a text"),
    "an error that is no text": (
        Result.failure(ValueError("x"), "ToolError"),
        Any,
        "with ValueError in place of a text",
    ),
    "hints that are none": (Result.ok(1, hints={"confidence": 1}), Any, "hints that are not valid"),
    "a confidence out of range": (
        Result.ok(1, hints=AgentHints(evidence=Evidence().model_copy(update={"completeness": 7.0}))),
        Any,
        "hints that are not valid",
    ),
    "a confidence that is no number": (
        Result.ok(1, hints=AgentHints(evidence=Evidence().model_copy(update={"completeness": float("nan")}))),
        Any,
        "hints that are not valid",
    ),
}


@pytest.mark.requirement("MET-2", "MET-3", "ERR-1")
@pytest.mark.parametrize(("returned", "annotation", "logged"), BROKEN.values(), ids=BROKEN)
async def test_an_answer_that_breaks_its_own_contract_is_a_system_error_and_is_logged(
    returned: Any, annotation: Any, logged: str, log
):
    is_error, result = await answer_of(returned, annotation)
    assert is_error
    assert result["data"] is None
    error_id = result["error"]["errorId"]
    assert result["error"] == {
        "type": "ResultError",
        "kind": "system",
        "message": "'give' returned an answer that breaks its own contract. "
        f"Error id {error_id}: the server's log has the details.",
        "errorId": error_id,
    }
    (entry,) = [entry for entry in log.entries if entry.get("fields", {}).get("errorId") == error_id]
    assert entry["level"] == "ERROR"
    assert logged in entry["message"]


@pytest.mark.requirement("MET-3")
@pytest.mark.parametrize("format", ["result", "bare"])
async def test_the_other_formats_check_their_answers_too(format: str):
    assert (await answer_of({1, 2}, format=format))[0]
    assert (await answer_of(float("nan"), format=format))[0]
    assert (await answer_of("five", int, format=format))[0]
    assert (await answer_of(None, format=format))[0]


GOOD = {
    "text": ("ü", str, "ü"),
    "a number": (5, int, 5),
    "a whole number for a fraction": (5, float, 5),
    "an empty list": ([], list[int], []),
    "false": (False, bool, False),
    "zero": (0, int, 0),
    "empty text": ("", str, ""),
    "a model": (Book(title="Emma"), Book, {"title": "Emma"}),
    "a typed dict": ({"title": "Emma"}, Entry, {"title": "Emma"}),
    "a list of models": ([Book(title="Emma")], list[Book], [{"title": "Emma"}]),
    "a Result": (Result.ok(5), Result[int], 5),
    "a ToolResult": (ToolResult(5, hints.for_value()), ToolResult[int], 5),
    "half a character": ("a\ud800b", str, "a?b"),
    "a dataclass": (Plain("Emma"), Plain, {"title": "Emma"}),
    "a list of dataclasses in a Result": (Result.ok([Plain("Emma")]), Result[list[Plain]], [{"title": "Emma"}]),
    "days": ({"day": date(2026, 1, 2)}, dict[str, date], {"day": "2026-01-02"}),
    "a day in a dict of anything": ({"day": date(2026, 1, 2)}, dict[str, Any], {"day": "2026-01-02"}),
    "a set": ({1}, set[int], [1]),
    "a null inside": ({"a": None}, dict[str, Any], {"a": None}),
}


@pytest.mark.requirement("MET-2")
@pytest.mark.parametrize(("returned", "annotation", "data"), GOOD.values(), ids=GOOD)
async def test_an_answer_that_keeps_its_contract_goes_out(returned: Any, annotation: Any, data: Any):
    is_error, result = await answer_of(returned, annotation)
    assert not is_error
    assert result["data"] == data


async def test_a_result_without_a_value_is_fine_where_no_hints_are_promised():
    assert await answer_of(Result.ok(message="Done."), format="result") == (
        False,
        {"success": True, "message": "Done."},
    )


@pytest.mark.requirement("HIN-3")
async def test_a_suggested_action_that_is_not_a_tool_of_the_server_is_a_system_error(log):
    made = hints.for_value(then=[SuggestedAction(action="get_boook")])
    is_error, result = await answer_of(Result.ok(1, hints=made))
    assert is_error
    assert result["error"]["type"] == "ResultError"
    assert "get_boook" not in json.dumps(result)
    assert any("hints that suggest get_boook, which is not a tool of this server" in text for _, text in log.messages)


@pytest.mark.requirement("HIN-3")
async def test_a_suggested_action_is_named_as_the_agent_calls_it():
    @query()
    async def first() -> Result[int]:
        return Result.ok(1, hints=hints.for_value(then=[SuggestedAction(action="second", data={"n": 1})]))

    @query({"n": 1})
    async def second(n: Number) -> int:
        return n

    async with App("t", version="1.0.0", tools=[first, second], format="hints", naming=Naming(prefix="lib")) as app:
        result = json.loads((await app.call("first")).text)
    assert result["agentHints"]["suggestedNextActions"] == [
        {"action": "lib_second", "priority": "medium", "data": {"n": 1}}
    ]


async def test_hints_come_from_the_handler_then_from_the_declaration_then_from_the_value():
    own = hints.for_value(why="From the handler.")

    def declared(arguments: Any, value: Any) -> AgentHints:
        return hints.for_value(why=f"Declared, for {arguments.n} and {value}.")

    @query({"n": 1}, hints=declared)
    async def both(n: Number) -> Result[int]:
        return Result.ok(n, hints=own)

    @query({"n": 1}, hints=declared)
    async def by_declaration(n: Number) -> int:
        return n

    @query({"n": 1})
    async def by_value(n: Number) -> list[int]:
        return list(range(n))

    async with App("test", version="1.0.0", tools=[both, by_declaration, by_value], format="hints") as app:
        names = ("both", "by_declaration", "by_value")
        result = [json.loads((await app.call(name, {"n": 2})).text)["agentHints"]["reasoning"] for name in names]
    assert result == [
        "From the handler. Confidence 1.00: 100% complete, high quality source.",
        "Declared, for 2 and 2. Confidence 1.00: 100% complete, high quality source.",
        "All 2 items are shown. Confidence 1.00: 100% complete, high quality source.",
    ]


async def test_the_hints_of_a_failed_result_are_the_handlers_own():
    @query()
    async def look() -> Result[int]:
        failed: Result[int] = Result.failure("No such book.", "NotFoundError")
        failed.hints = hints.for_not_found(then=[SuggestedAction(action="look")], nearest=["Emma"])
        return failed

    async with App("test", version="1.0.0", tools=[look], format="hints", naming=Naming(prefix="lib")) as app:
        result = json.loads((await app.call("look")).text)
    assert result["agentHints"]["suggestedNextActions"] == [{"action": "lib_look", "priority": "medium"}]
    assert result["agentHints"]["assumptions"] == ["Emma may have been meant"]


@pytest.mark.requirement("ERR-1")
async def test_a_failure_that_is_returned_keeps_its_type_and_hides_the_exception():
    failed = Result.failure("The shelf is full.", "ConflictError", exception=OSError("/srv/shelf.db is locked"))
    is_error, result = await answer_of(failed, format="result")
    assert is_error
    assert result == {
        "success": False,
        "error": "The shelf is full.",
        "error_type": "ConflictError",
        "exception_type": "OSError",
    }


@pytest.mark.requirement("VER-1")
async def test_a_deprecated_tool_works_warns_in_the_log_and_names_its_replacement_also_on_errors(log):
    gone = Deprecation(since="2026-01-01", replacement="look_up", removal_date="2026-06-01")

    @query({"n": 1}, deprecated=gone)
    async def find(n: Number) -> int:
        if n == 0:
            raise NotFound("Nothing there.")
        return n

    @query({"n": 1})
    async def look_up(n: Number) -> int:
        return n

    async with App("t", version="1.0.0", tools=[find, look_up], format="hints", naming=Naming(prefix="lib")) as app:
        found, missing, new = [
            json.loads((await app.call(name, {"n": n})).text) for name, n in (("find", 7), ("find", 0), ("look_up", 7))
        ]
    warning = {
        "type": "deprecation",
        "severity": "high",
        "message": "Deprecated since 2026-01-01; use lib_look_up instead. Removal: 2026-06-01.",
        "suggestedFix": "Call lib_look_up instead.",
    }
    assert found["data"] == 7
    assert found["agentHints"]["warnings"] == [warning]
    assert missing["error"]["type"] == "NotFoundError"
    assert missing["agentHints"]["warnings"] == [warning]
    assert "warnings" not in new["agentHints"]
    words = "Tool find is deprecated: Deprecated since 2026-01-01; use look_up instead. Removal: 2026-06-01."
    assert log.messages.count(("WARNING", words)) == 2


async def test_a_mutation_that_failed_is_not_suggested_again():
    @mutation()
    async def write() -> int:
        raise ZeroDivisionError

    @query()
    async def read() -> int:
        raise ZeroDivisionError

    async with App("test", version="1.0.0", tools=[write, read], format="hints") as app:
        result = [json.loads((await app.call(name)).text)["agentHints"] for name in ("write", "read")]
    assert result[0]["suggestedNextActions"] == []
    assert result[1]["suggestedNextActions"] == [{"action": "read", "priority": "high"}]
