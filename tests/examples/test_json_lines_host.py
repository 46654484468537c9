"""The smallest host keeps the contract of hosts: requests, answers, questions and the three exceptions."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from toolcharter_examples import demo
from toolcharter_examples.json_lines_host import handle

from toolcharter import App, Confirm, Example, Settings, tool

HOST = Path(__file__).parents[2] / "examples" / "json_lines_host.py"
DELETE = {"tool": "delete_note", "arguments": {"note_id": "note_1", "explicit_action": "DELETE_NOTE"}}


@pytest.fixture
async def app():
    async with demo.build(Settings()) as opened:
        yield opened


def test_it_serves_lines_of_json():
    lines = '{"tool": "count_words", "arguments": {"text": "one two"}}\n{"tool": "count_word"}\n'
    done = subprocess.run([sys.executable, HOST], input=lines, capture_output=True, text=True, timeout=60, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"is_error": False, "text": "2"},
        {"protocol_error": "Unknown tool: 'count_word'. Did you mean 'count_words'?"},
    ]


async def test_an_answer_is_passed_on_with_its_text(app: App):
    answer = await handle(app, {"tool": "add", "arguments": {"a": 2, "b": 3}})
    assert (answer["is_error"], json.loads(answer["text"])["data"]) == (False, 5)


async def test_a_failure_is_an_answer_too(app: App):
    answer = await handle(app, {"tool": "add", "arguments": {"a": 2}})
    assert (answer["is_error"], json.loads(answer["text"])["error"]["type"]) == (True, "ValidationError")


async def test_a_question_is_answered_by_a_second_call_with_the_reply(app: App):
    asked = await handle(app, {**DELETE, "can_ask": True})
    assert asked["question"] == "Delete note note_1 for good?"
    reply = {"state": asked["state"], "accepted": True}
    answer = await handle(app, {**DELETE, "can_ask": True, "reply": reply})
    assert json.loads(answer["text"])["data"] == {"deleted": "note_1"}


async def test_a_no_does_nothing(app: App):
    asked = await handle(app, {**DELETE, "can_ask": True})
    reply = {"state": asked["state"], "accepted": False}
    answer = await handle(app, {**DELETE, "can_ask": True, "reply": reply})
    assert answer["is_error"]
    assert (await handle(app, {"tool": "get_note", "arguments": {"note_id": "note_1"}}))["is_error"] is False


async def test_a_reply_to_a_question_that_was_not_asked_is_a_protocol_error(app: App):
    forged = {**DELETE, "can_ask": True, "reply": {"state": "made up", "accepted": True}}
    assert list(await handle(app, forged)) == ["protocol_error"]


async def test_a_client_that_cannot_ask_gets_a_protocol_error_if_the_tool_requires_a_confirmation():
    @tool.mutation(
        permissions=[],
        tags=["files"],
        confirm=Confirm("ERASE_DISK", required=True),
        examples=[Example("All of it", {"explicit_action": "ERASE_DISK"}, "done")],
    )
    async def erase_disk() -> str:
        """Erase the disk. Use this when the user asks for it. It cannot be undone."""
        return "done"

    async with App("disks", version="1.0.0", format="result", tools=[erase_disk], settings=Settings()) as app:
        call = {"tool": "erase_disk", "arguments": {"explicit_action": "ERASE_DISK"}}
        assert list(await handle(app, call)) == ["protocol_error"]
        assert list(await handle(app, {**call, "can_ask": True})) == ["question", "state"]
