import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from mcp_core import Result, hints, instructions
from mcp_core.calling.render import render
from mcp_core.declare.charter import META
from mcp_core.result import Body, Failure


class Card(BaseModel):
    front: str
    back: str = ""


class Plain:
    def to_dict(self):
        return {"made": "by to_dict"}


class Texty:
    def to_json(self):
        return '{"made": "by to_json"}'


class Dicty:
    def to_json(self):
        return {"made": "by to_json"}


# --- making one ------------------------------------------------------------------------------------


@pytest.mark.requirement("RES-1")
def test_a_success_has_a_value_and_both_channels():
    made = Result.ok({"n": 1}, message="Done.", instruction=instructions.NO_CHANGES)
    assert (made.success, made.is_ok(), made.is_failure()) == (True, True, False)
    assert made.to_json() == {
        "success": True,
        "value": {"n": 1},
        "message": "Done.",
        "instruction": "Do NOT make any changes to the project.",
    }


@pytest.mark.requirement("RES-1", "RES-3")
def test_a_success_may_have_no_value():
    assert Result.ok().to_json() == {"success": True}


@pytest.mark.requirement("RES-2")
def test_a_failure_always_has_an_error_and_a_type():
    cause = KeyError("card_1")
    made = Result.failure("No such card", "NotFoundError", cause, "There is none.", "Ask the user.")
    assert (made.success, made.is_ok(), made.is_failure()) == (False, False, True)
    assert made.to_json() == {
        "success": False,
        "error": "No such card",
        "error_type": "NotFoundError",
        "exception_type": "KeyError",
        "exception_message": "'card_1'",
        "message": "There is none.",
        "instruction": "Ask the user.",
    }


@pytest.mark.requirement("RES-2")
def test_a_failure_without_a_type_is_a_tool_error():
    assert Result.failure("broken").to_json() == {"success": False, "error": "broken", "error_type": "ToolError"}


@pytest.mark.requirement("RES-2")
def test_the_answer_of_a_failure_has_its_error_and_its_type():
    answer = render(Body(failure=Failure("broken", "StoreError", "system")), "result", None)
    assert json.loads(answer.text) == {"success": False, "error": "broken", "error_type": "StoreError"}


# --- as JSON ---------------------------------------------------------------------------------------


@pytest.mark.requirement("RES-3")
@pytest.mark.parametrize(
    ("exception", "shown"),
    [
        (FileNotFoundError("cards.db"), {"exception_type": "FileNotFoundError", "exception_message": "cards.db"}),
        ("cards.db", {"exception_message": "cards.db"}),
        (ValueError(), {"exception_type": "ValueError", "exception_message": ""}),
    ],
)
def test_an_exception_becomes_its_type_and_message(exception: BaseException | str, shown: dict[str, str]):
    made = Result.failure("Could not read", "StoreError", exception=exception)
    assert json.loads(made.to_json_str()) == {
        "success": False,
        "error": "Could not read",
        "error_type": "StoreError",
        **shown,
    }


@pytest.mark.requirement("RES-3")
def test_hints_stay_out_of_result_json():
    assert Result.ok(1, hints=hints.for_value()).to_json() == {"success": True, "value": 1}


@pytest.mark.requirement("RES-4")
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("", ""),
        ("é\n", "é\n"),
        (0, 0),
        (-1.5, -1.5),
        (False, False),
        ([], []),
        ({}, {}),
        ((1, (2, 3)), [1, [2, 3]]),
        (Card(front="a"), {"front": "a", "back": ""}),
        ([Card(front="a")], [{"front": "a", "back": ""}]),
        ({"card": Card(front="a")}, {"card": {"front": "a", "back": ""}}),
        (Plain(), {"made": "by to_dict"}),
        (Texty(), {"made": "by to_json"}),
        (Dicty(), {"made": "by to_json"}),
        ([Plain(), Texty()], [{"made": "by to_dict"}, {"made": "by to_json"}]),
    ],
)
def test_a_value_of_an_allowed_type_is_written(value: object, shown: object):
    made = Result.ok(value)
    assert made.to_json() == {"success": True, "value": shown}
    assert json.loads(made.to_json_str()) == {"success": True, "value": shown}


@pytest.mark.requirement("RES-4")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"at": {"deep": [1, object()]}}, r"value\['at'\]\['deep'\]\[1\]: object is not JSON; use str, int,"),
        ({1, 2}, "value: set is not JSON"),
        (b"bytes", "value: bytes is not JSON"),
        (Card, "value: ModelMetaclass is not JSON"),
        (Plain, "value: type is not JSON"),
        (float("nan"), "value is nan, which JSON cannot hold"),
        ([float("inf")], r"value\[0\] is inf, which JSON cannot hold"),
        ({(1, 2): 3}, "value has a key of type tuple; JSON keys are strings"),
        pytest.param(10**5000, "value: Exceeds the limit", id="huge"),
    ],
)
def test_any_other_value_is_refused_with_its_place(value: object, message: str):
    made = Result.ok(value)
    with pytest.raises(TypeError, match=message):
        made.to_json()
    with pytest.raises(TypeError, match=message):
        made.to_json_str()


@pytest.mark.requirement("RES-4")
def test_a_value_that_contains_itself_is_refused():
    value: list[object] = []
    value.append(value)
    with pytest.raises(TypeError, match="contains itself"):
        Result.ok(value).to_json_str()


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@pytest.mark.requirement("RES-3", "RES-4")
@given(value=JSON, message=st.none() | st.text(), instruction=st.none() | st.text())
def test_the_text_and_the_data_of_a_result_are_the_same(value: object, message: str | None, instruction: str | None):
    made = Result.ok(value, message, instruction)
    optional = {"value": value, "message": message, "instruction": instruction}
    expected = {"success": True} | {name: given for name, given in optional.items() if given is not None}
    assert made.to_json() == expected
    assert json.loads(made.to_json_str()) == expected


# --- two channels ----------------------------------------------------------------------------------


@pytest.mark.requirement("RES-5")
def test_message_and_instruction_may_be_set_after_making_it():
    made = Result.ok(1)
    made.message = "For you."
    made.instruction = "For the agent."
    assert made.to_json() == {
        "success": True,
        "value": 1,
        "message": "For you.",
        "instruction": "For the agent.",
    }


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize("failure", [None, Failure("It broke", "ToolError", "business")])
def test_the_channels_are_apart_in_the_result_format(failure: Failure | None):
    body = Body(data="1" if failure is None else None, failure=failure, message="Person.", instruction="Agent.")
    answer = json.loads(render(body, "result", None).text)
    assert (answer["message"], answer["instruction"]) == ("Person.", "Agent.")


@pytest.mark.requirement("RES-5")
def test_the_channels_travel_beside_the_value_in_the_bare_format():
    answer = render(Body(data="[1]", message="Person.", instruction="Agent."), "bare", None)
    assert answer.text == "[1]"
    assert answer.meta == {META + "message": "Person.", META + "instruction": "Agent."}


# --- never both ------------------------------------------------------------------------------------


@pytest.mark.requirement("RES-2", "RES-7")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": 1, "error": "no", "error_type": "E"}, "a value or an error, not both"),
        ({"value": False, "error": "no", "error_type": "E"}, "a value or an error, not both"),
        ({"error": "no"}, "needs an error_type"),
        ({"error": "no", "error_type": ""}, "needs an error_type"),
        ({"error_type": "E"}, "needs an error:"),
        ({"error_type": ""}, "needs an error:"),
        ({"exception": ValueError("x")}, "needs an error:"),
        ({"exception": ""}, "needs an error:"),
    ],
)
def test_a_contradictory_result_is_refused(fields: dict[str, object], message: str):
    with pytest.raises(ValueError, match=message):
        Result(**fields)


@pytest.mark.requirement("RES-2", "RES-7")
@pytest.mark.parametrize("made", [Result.ok(1), Result.failure("no", "E")])
@pytest.mark.parametrize("name", ["value", "error", "error_type", "exception"])
def test_what_makes_a_result_what_it_is_cannot_be_changed(made: Result[int], name: str):
    before = made.to_json()
    with pytest.raises(AttributeError, match=f"{name} is fixed once a Result is made; make a new Result"):
        setattr(made, name, "other")
    assert made.to_json() == before


@pytest.mark.requirement("RES-7")
def test_a_success_is_not_made_by_hand():
    with pytest.raises(TypeError):
        Result(success=True)  # pyright: ignore[reportCallIssue]
    with pytest.raises(AttributeError):
        Result.failure("no", "E").success = True  # pyright: ignore[reportAttributeAccessIssue]


def test_a_result_is_a_dataclass_that_can_be_copied_with_a_change():
    names = [field.name for field in fields(Result)]
    assert names == ["value", "error", "error_type", "exception", "message", "instruction", "hints", "content"]
    assert replace(Result.ok(1), value=2) == Result.ok(2)
