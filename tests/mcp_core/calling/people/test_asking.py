"""How many calls of a caller may wait for an answer of a person."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable

import pytest

from mcp_core import App, Caller, Request, ToolContext
from mcp_core.calling.people import asking
from mcp_core.calling.records import Answer, Question, Reply
from tests.mcp_core.declared import Number, query

ANN, BOB = Caller("user:ann", "ann"), Caller("user:bob", "bob")
COLOUR = {"type": "object", "properties": {"colour": {"type": "string"}}}


@query({"number": 1}, asks=True)
async def paint(number: Number, context: ToolContext) -> str:
    first = await context.ask_user(f"Which colour for {number}?", COLOUR)
    second = await context.ask_user("And which for the door?", COLOUR)
    return f"{first.content['colour']} {second.content['colour']}"


def call(number: int, caller: Caller = ANN) -> Request:
    return Request("paint", {"number": number}, caller, must_declare=True, modes=frozenset({"form"}))


def reply(request: Request, question: Answer | Question, colour: str) -> Request:
    assert isinstance(question, Question)
    assert question.requests is not None
    answers = {name: {"action": "accept", "content": {"colour": colour}} for name in question.requests}
    return request._replace(reply=Reply(question.state, accepted=True, responses=answers))


async def outcomes(*calls: Awaitable[Answer | Question]) -> Counter[str]:
    answers = await asyncio.gather(*calls)
    return Counter("asked" if isinstance(one, Question) else json.loads(one.text)["error_type"] for one in answers)


@pytest.mark.requirement("GOV-4")
async def test_a_caller_can_have_a_bounded_number_of_calls_that_wait_for_an_answer(monkeypatch):
    async with App("house", version="1.0.0", format="result", tools=[paint]) as app:
        one_by_one = Counter[str]()
        for number in range(asking.MAX_HELD_EACH + 2):
            one_by_one += await outcomes(app.answer(call(number)))
        assert one_by_one == {"asked": asking.MAX_HELD_EACH, "BusyError": 2}
        assert await outcomes(app.answer(call(1, BOB))) == {"asked": 1}  # others are not held up
        monkeypatch.setattr(asking, "MAX_HELD", asking.MAX_HELD_EACH + 1)
        assert await outcomes(app.answer(call(2, BOB))) == {"BusyError": 1}


@pytest.mark.requirement("GOV-4")
async def test_calls_that_ask_at_the_same_time_are_bounded_too():
    async with App("house", version="1.0.0", format="result", tools=[paint]) as app:
        answers = await outcomes(*(app.answer(call(number)) for number in range(asking.MAX_HELD_EACH + 10)))
        assert answers == {"asked": asking.MAX_HELD_EACH, "BusyError": 10}


async def test_a_call_that_asks_again_keeps_its_place_and_gives_it_back_at_its_end():
    async with App("house", version="1.0.0", format="result", tools=[paint]) as app:
        first = [await app.answer(call(number)) for number in range(asking.MAX_HELD_EACH)]
        second = await app.answer(reply(call(0), first[0], "red"))
        assert await outcomes(app.answer(call(98))) == {"BusyError": 1}
        done = await app.answer(reply(call(0), second, "blue"))
        assert isinstance(done, Answer)
        assert json.loads(done.text)["value"] == "red blue"
        assert await outcomes(app.answer(call(99))) == {"asked": 1}
