import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core import App, NotFound, Result, ToolContext
from mcp_core.calling.records import Answer
from mcp_core.calling.render import render
from mcp_core.result import Body, Failure
from mcp_core.tool_result import ToolMetadata, metadata_json, versions_json
from tests.mcp_core.declared import query

CONTEXT = ToolContext("b" * 32, "a" * 32, "agent", "1", "2026-07-28T10:00:00.000+00:00")
METADATA = metadata_json(versions_json("1.0.0", "2.0.0"), CONTEXT, 0.0015, cached=False)
LEAN = metadata_json(versions_json("1.0.0", "2.0.0"), CONTEXT, 0.0015, cached=False, lean=True)
WIRE = {
    "toolVersion": "1.0.0",
    "serviceVersion": "2.0.0",
    "timestamp": "2026-07-28T10:00:00.000+00:00",
    "executionTime": 1.5,
    "traceId": "a" * 32,
    "correlationId": "b" * 32,
    "cached": False,
}
GOOD = Body('{"id":7}', None, "For Ann.", "For the agent.", '{"confidence":1.0}')
BAD = Body(
    None,
    Failure("There is no 7.", "NotFoundError", "business", "err-1", "KeyError"),
    "Not there, Ann.",
    "Ask again.",
    '{"confidence":0.0}',
)


def test_result_format():
    assert render(GOOD, "result", None) == Answer(
        '{"success":true,"value":{"id":7},"message":"For Ann.","instruction":"For the agent."}'
    )
    assert render(BAD, "result", None) == Answer(
        '{"success":false,"error":"There is no 7.","error_type":"NotFoundError","exception_type":"KeyError",'
        '"error_id":"err-1","message":"Not there, Ann.","instruction":"Ask again."}',
        is_error=True,
    )


def test_bare_format():
    assert render(GOOD, "bare", None) == Answer(
        '{"id":7}',
        meta={"dev.toolcharter/message": "For Ann.", "dev.toolcharter/instruction": "For the agent."},
    )
    assert render(BAD, "bare", None) == Answer(
        '{"error":"There is no 7."}',
        is_error=True,
        meta={
            "dev.toolcharter/message": "Not there, Ann.",
            "dev.toolcharter/instruction": "Ask again.",
            "dev.toolcharter/error-type": "NotFoundError",
        },
    )


def test_hints_format():
    good, bad = render(GOOD, "hints", METADATA), render(BAD, "hints", METADATA)
    assert json.loads(good.text) == {
        "data": {"id": 7},
        "message": "For Ann.",
        "instruction": "For the agent.",
        "agentHints": {"confidence": 1.0},
        "metadata": WIRE,
    }
    assert (good.is_error, good.meta) == (False, None)
    assert json.loads(bad.text) == {
        "data": None,
        "error": {"type": "NotFoundError", "kind": "business", "message": "There is no 7.", "errorId": "err-1"},
        "message": "Not there, Ann.",
        "instruction": "Ask again.",
        "agentHints": {"confidence": 0.0},
        "metadata": WIRE,
    }
    assert (bad.is_error, bad.meta) == (True, None)


@pytest.mark.requirement("MET-1")
def test_the_metadata_of_an_answer_are_those_of_its_record():
    record = ToolMetadata("1.0.0", "2.0.0", CONTEXT.timestamp, 1.5, CONTEXT.trace_id, CONTEXT.correlation_id)
    assert json.loads(METADATA) == record.to_json() == WIRE


def test_what_is_absent_is_left_out():
    assert render(Body("5"), "result", None).text == '{"success":true,"value":5}'
    assert render(Body(None), "result", None).text == '{"success":true}'
    assert render(Body("null"), "result", None).text == '{"success":true}'
    assert render(Body("5"), "bare", None) == Answer("5")
    assert render(Body(None), "bare", None) == Answer("null")
    assert render(Body("5", hints="{}"), "hints", METADATA).text.startswith('{"data":5,"agentHints":{},"metadata":{')


@pytest.mark.parametrize("format", ["result", "bare", "hints"])
def test_the_structured_content_of_a_success_is_the_text_where_a_server_asks_for_it(format: Any):
    answer = render(GOOD, format, METADATA, structured="as_is")
    assert answer.structured == json.loads(answer.text)
    assert render(GOOD, format, METADATA).structured is None
    # Some clients would check it against the schema of a success, and not show the error.
    assert render(BAD, format, METADATA, structured="as_is").structured is None


def test_a_bare_value_that_need_not_be_an_object_is_put_under_result():
    assert render(Body("5"), "bare", None, structured="wrapped").structured == {"result": 5}
    assert render(Body("null"), "bare", None, structured="wrapped").structured == {"result": None}


@given(message=st.text() | st.none(), instruction=st.text() | st.none(), error=st.text())
def test_any_text_makes_valid_json_in_utf_8(message: str | None, instruction: str | None, error: str):
    failure = Failure(error, "ToolError", "business")
    for body in (Body("5", None, message, instruction, "{}"), Body(None, failure, message, instruction, "{}")):
        for form in ("result", "bare", "hints"):
            answer = render(body, form, METADATA)
            made = json.loads(answer.text.encode())
            channels = made if form != "bare" else {k.rpartition("/")[2]: v for k, v in (answer.meta or {}).items()}
            assert channels.get("message") == message
            assert channels.get("instruction") == instruction


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize("format", ["result", "bare", "hints"])
@pytest.mark.parametrize("fails", [False, True])
async def test_the_message_for_the_person_and_the_instruction_for_the_agent_are_separate(format: Any, fails: bool):
    @query()
    async def speak() -> Result[int]:
        if fails:
            raise NotFound("wrong", message="For Ann.", instruction="For the agent.")
        return Result.ok(5, message="For Ann.", instruction="For the agent.")

    async with App("test", version="1.0.0", tools=[speak], format=format) as app:
        answer = await app.call("speak")
    made = json.loads(answer.text)
    channels = answer.meta if format == "bare" else made
    names = (
        ("dev.toolcharter/message", "dev.toolcharter/instruction") if format == "bare" else ("message", "instruction")
    )
    assert [channels[name] for name in names] == ["For Ann.", "For the agent."]
    data = made if format == "bare" else made.get("value", made.get("data"))
    assert "For" not in json.dumps(data)


def test_a_bare_text_is_plain_and_its_structured_content_is_json():
    answer = render(Body('"a \\"word\\""'), "bare", None, structured="wrapped")
    assert answer == Answer('a "word"', structured_json='{"result":"a \\"word\\""}', is_plain=True)
    assert answer.structured == {"result": 'a "word"'}


def test_an_empty_bare_text_keeps_its_quotes_so_that_no_answer_is_empty():
    assert render(Body('""'), "bare", None) == Answer('""')


def test_the_size_of_an_answer_is_what_a_model_reads():
    both = render(Body("[1]"), "bare", None, structured="wrapped")
    alone = both.without_copy()
    assert (alone.text, alone.structured) == ("", {"result": [1]})
    assert (both.size, alone.size) == (len("[1]"), len('{"result":[1]}'))
    failed = render(BAD, "bare", None, structured="wrapped")
    assert failed.without_copy() == failed


def test_lean_metadata_is_the_same_without_the_ids():
    full, lean = json.loads(METADATA), json.loads(LEAN)
    assert lean == {name: value for name, value in full.items() if name not in ("traceId", "correlationId")}
