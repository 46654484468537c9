"""A handler asks the person while it runs, and goes on with the answer."""

import asyncio
import json
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.behaviour.combinations import NEW, NO, Combination, Connect, Person, data_of, error_of, over

pytestmark = pytest.mark.asyncio(loop_scope="session")

RED = types.ElicitResult(action="accept", content={"colour": "red"})


async def test_a_handler_goes_on_with_the_answer_of_the_person(connect: Connect):
    person = Person(RED)
    async with connect(person=person) as client:
        before = await data_of(client, "count", key="painted")
        assert await data_of(client, "paint", key="painted", coats=2) == ["red", "red"]
        # It ran once, not once for each answer.
        assert await data_of(client, "count", key="painted") == before + 11
    assert person.questions == ["Which colour for coat 1?", "Which colour for coat 2?"]


def answers(*contents: dict[str, Any]) -> Person:
    """Somebody who gives one answer after the other."""
    return Person([types.ElicitResult(action="accept", content=content) for content in contents])


@pytest.mark.requirement("PRO-3")
async def test_a_form_is_asked_again_until_its_answers_are_valid(connect: Connect):
    person = answers(
        {"flavour": "salt"},
        {"flavour": "jam", "boxes": 10, "by": "soon"},
        {"flavour": "Jam", "boxes": 2, "by": "2026-11-19"},
        {"street": "A"},
        {"street": "Quay 3"},
    )
    async with connect(person=person) as client:
        assert await data_of(client, "order") == "2 jam by 2026-11-19 to Quay 3"
    assert person.questions == [
        "What do you want?",
        "What do you want?\n\nPlease correct: flavour: must be one of nuts, jam.",
        "What do you want?\n\nPlease correct: boxes: must be at most 9; by: must be a date such as 2026-11-19.",
        "Where to, for 2 of jam?",
        "Where to, for 2 of jam?\n\nPlease correct: street: must have at least 3 characters.",
    ]


@pytest.mark.requirement("PRO-3")
async def test_a_form_whose_answers_are_never_valid_or_that_is_declined_ends_the_call(connect: Connect):
    async with connect(person=answers(*[{"boxes": 1}] * 3)) as client:
        error = await error_of(client, "order")
    words = "The user's answers to 'What do you want?' are not valid: flavour: is required."
    assert error == {"type": "AnswerError", "kind": "business", "message": words}
    async with connect(person=Person(NO)) as client:
        error = await error_of(client, "order")
    assert error == {
        "type": "ConsentError",
        "kind": "business",
        "message": "The user did not answer 'What do you want?'.",
    }


@pytest.mark.requirement("PRO-3")
@over(host=("native", "sdk"))
async def test_a_prompt_can_ask_the_person(connect: Connect):
    async with connect(person=answers({"name": ["Ana"]}, {"name": "Ana"})) as client:
        result = await client.get_prompt("welcome")
    assert [message.content.text for message in result.messages] == ["Welcome, Ana."]


async def test_a_handler_learns_that_the_person_declined(connect: Connect):
    async with connect(person=Person(NO)) as client:
        assert await data_of(client, "paint", key="declined") == ["decline"]


@over(host=("native",), transport=("stdio", "http"))
async def test_the_time_of_the_person_does_not_count_toward_the_deadline(connect: Connect):
    class Slow(Person):
        async def __call__(self, context: Any, asked: types.ElicitRequestParams) -> types.ElicitResult:
            await asyncio.sleep(1.1)  # longer than the deadline
            return await super().__call__(context, asked)

    async with connect(person=Slow(RED)) as client:
        assert await data_of(client, "paint_in_a_second", key="slowly") == ["red"]


async def test_a_client_that_cannot_ask_gets_an_error(connect: Connect, combination: Combination):
    words = (
        "'paint' has a question to the user, and this client cannot ask them. Use a client that supports elicitation."
    )
    async with connect(can_ask=False) as client:
        if combination.era == NEW:
            with pytest.raises(MCPError) as raised:
                await client.call_tool("paint", {"key": "not painted"})
            assert (raised.value.error.code, raised.value.error.message) == (-32021, words)
        else:
            error = await error_of(client, "paint", key="not painted")
            assert error == {"type": "ConsentError", "kind": "business", "message": words}


async def asked(client: Client, arguments: dict[str, Any], **reply: Any) -> Any:
    """The result of a call as the protocol without sessions has it: a question, or the answer."""
    return await client.session.call_tool("paint", arguments, allow_input_required=True, **reply)


@over(era=(NEW,), host=("native", "sdk"), transport=("http", "stdio"))
async def test_an_answer_counts_once_for_this_call_of_this_caller(connect: Connect, combination: Combination):
    async with connect(person=Person(RED)) as client:
        question = await asked(client, {"key": "sealed"})
        (name,) = question.input_requests
        reply = {"input_responses": {name: RED}, "request_state": question.request_state}
        for arguments in ({"key": "other"}, {"key": "sealed", "coats": 2}):
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await asked(client, arguments, **reply)
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await asked(client, {"key": "sealed"}, **{**reply, "request_state": question.request_state[:-1] + "x"})
        if combination.transport == "http":
            async with connect(user="bob") as other:
                with pytest.raises(MCPError, match="Invalid or expired requestState"):
                    await asked(other, {"key": "sealed"}, **reply)
        answer = await asked(client, {"key": "sealed"}, **reply)
        assert json.loads(answer.content[0].text)["data"] == ["red"]
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await asked(client, {"key": "sealed"}, **reply)


@over(era=(NEW,), host=("native",), transport=("http", "stdio"))
async def test_the_answer_to_one_question_is_not_taken_again_while_the_next_one_waits(connect: Connect):
    async with connect(person=Person(RED)) as client:
        arguments = {"key": "twice", "coats": 2}
        first = await asked(client, arguments)
        reply = {"input_responses": dict.fromkeys(first.input_requests, RED), "request_state": first.request_state}
        second = await asked(client, arguments, **reply)
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await asked(client, arguments, **reply)
        last = {"input_responses": dict.fromkeys(second.input_requests, RED), "request_state": second.request_state}
        answer = await asked(client, arguments, **last)
        assert json.loads(answer.content[0].text)["data"] == ["red", "red"]
