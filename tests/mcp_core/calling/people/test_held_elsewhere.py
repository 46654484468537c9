"""The answer of a person reaches another process than the one that asked."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_core import Caller
from mcp_core.calling.people import held_elsewhere
from mcp_core.calling.people.asking import HeldCalls
from mcp_core.calling.records import Answer, Question, Reply, Request
from mcp_core.errors import ElicitationUnsupported, ForgedReply, Refused
from mcp_core.state.memory import MemoryState

CALL = "tools/call"
CLIENT = Request("paint", {"wall": 1}, Caller("ann", "ann"), modes=frozenset({"form"}), must_declare=True)


@pytest.fixture
async def processes() -> AsyncIterator[tuple[HeldCalls, HeldCalls, MemoryState]]:
    """Two that share a store."""
    here, there = HeldCalls(), HeldCalls()
    async with asyncio.timeout(30):
        yield here, there, MemoryState()
    await here.close()
    await there.close()


def replying(question: Any, colour: str = "red") -> Request:
    assert isinstance(question, Question)
    (name,) = question.requests or {}
    return CLIENT._replace(reply=Reply(question.state, accepted=False, responses={name: {"colour": colour}}))


def painting(*outcome: Any) -> Any:
    """A call that asks twice, and ends with an outcome after that."""

    async def run(request: Request) -> Any:
        assert request.elicit is not None
        assert request.progress is not None
        first = await request.elicit({"message": "Which colour?"})
        await request.progress(1, 2, "painting")
        second = await request.elicit({"message": "And now?"})
        for one in outcome:
            if isinstance(one, BaseException):
                raise one
            return one
        return Answer(f"{first['colour']} {second['colour']}", meta={"a": 1})

    return run


async def test_a_call_goes_on_where_it_is_with_answers_that_come_elsewhere(processes: Any):
    here, there, state = processes
    reports: list[Any] = []

    async def report(*progress: Any) -> None:
        reports.append(progress)

    first = await here.run(CLIENT, painting(), state, CALL)
    second = await there.resume(replying(first)._replace(progress=report), state, CALL)
    assert second.text == "And now?"
    assert reports == [(1, 2, "painting")]
    assert await there.resume(replying(second, "blue"), state, CALL) == Answer("red blue", meta={"a": 1})
    for question in (first, second):
        for process in (here, there):
            with pytest.raises(ForgedReply):
                await process.resume(replying(question), state, CALL)


@pytest.mark.parametrize(
    "outcome",
    [
        [{"messages": ["x" * 100_000]}, {"ttlMs": 0}],
        Refused("no", "business", {"errorType": "ConflictError"}),
        ElicitationUnsupported("cannot", mode="url"),
        ValueError("a fault"),
    ],
)
async def test_every_outcome_comes_back(processes: Any, outcome: Any):
    here, there, state = processes
    question = await here.run(CLIENT, painting(outcome), state, CALL)
    question = await there.resume(replying(question), state, CALL)
    if not isinstance(outcome, Exception):
        assert await there.resume(replying(question), state, CALL) == outcome
        return
    with pytest.raises(ForgedReply if isinstance(outcome, ValueError) else type(outcome)) as raised:
        await there.resume(replying(question), state, CALL)
    if not isinstance(outcome, ValueError):
        assert (str(raised.value), vars(raised.value)) == (str(outcome), vars(outcome))


async def test_of_answers_that_reach_all_processes_at_once_one_is_taken(processes: Any):
    here, there, state = processes
    question = await here.run(CLIENT, painting(), state, CALL)
    replies = [process.resume(replying(question), state, CALL) for process in (there, here, there, here)]
    outcomes = await asyncio.gather(*replies, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ForgedReply"] * 3 + ["Question"]


@pytest.mark.parametrize("change", [{"caller": Caller("bob", "bob")}, {"tool": "other"}, {"arguments": {"wall": 2}}])
async def test_an_answer_about_something_else_does_not_reach_the_call(processes: Any, change: dict[str, Any]):
    here, there, state = processes
    question = await here.run(CLIENT, painting(), state, CALL)
    with pytest.raises(ForgedReply):
        await there.resume(replying(question)._replace(**change), state, CALL)
    with pytest.raises(ForgedReply):
        await there.resume(replying(question), state, "prompts/get")
    assert isinstance(await there.resume(replying(question), state, CALL), Question)


async def test_if_the_client_leaves_the_call_is_cancelled_where_it_is(processes: Any):
    here, there, state = processes
    began, ended = asyncio.Event(), asyncio.Event()

    async def run(request: Request) -> Any:
        assert request.elicit is not None
        await request.elicit({"message": "Which colour?"})
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    question = await here.run(CLIENT, run, state, CALL)
    waiting = asyncio.ensure_future(there.resume(replying(question), state, CALL))
    await began.wait()
    waiting.cancel()
    await ended.wait()


async def test_a_call_whose_process_has_ended_is_not_waited_for(processes: Any, monkeypatch: pytest.MonkeyPatch):
    here, there, state = processes
    question = await here.run(CLIENT, painting(), state, CALL)
    await here.close()
    monkeypatch.setattr(held_elsewhere, "_BEGIN_SECONDS", 0.01)
    with pytest.raises(ForgedReply, match="has ended"):
        await there.resume(replying(question), state, CALL)
