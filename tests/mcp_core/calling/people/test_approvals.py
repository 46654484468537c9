"""Confirmations in the console, beside the client's own way: the first answer holds, once, for exactly one call."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp_core import Answer, App, Caller, Confirm, Question, Request, Settings
from mcp_core.calling.people import AlreadyAnswered, Approvals, Verdict, Waiting
from mcp_core.calling.records import Reply
from mcp_core.errors import ElicitationUnsupported
from mcp_core.state.memory import MemoryState
from tests.conftest import RedisServer
from tests.mcp_core.audited import audited
from tests.mcp_core.declared import Text, mutation

ANN = Caller("user:ann", "ann", frozenset({"*"}))
BOB = "user:bob"
YES, NO = Verdict(accepted=True, by=BOB), Verdict(accepted=False, by=BOB)
DECLINED = "The user did not agree to 'delete'. Nothing was done."


def build(deleted: list[str], confirm: str = "required", **settings: Any) -> App:
    @mutation({"note": "n", "password": "p"}, confirm=Confirm(ask=True, required=confirm == "required"))
    async def delete(note: Text, password: Text = "") -> str:
        deleted.append(note)
        return "deleted"

    return App("notes", version="1.0.0", format="result", tools=[delete], settings=Settings(**settings))


@asynccontextmanager
async def opened(app: App) -> AsyncIterator[Approvals]:
    async with app, app.confirm_in_console() as approvals, asyncio.timeout(60):
        yield approvals


async def shown(approvals: Approvals) -> Waiting:
    """The first confirmation that waits."""
    changes = approvals.changes.listen(60.0)
    await anext(changes)
    while not (found := await approvals.list()):
        await anext(changes)
    await changes.aclose()
    return found[0]


def asked(client: "asyncio.Future[bool]", **arguments: str) -> Request:
    """A call of a client that can be asked during the call."""

    async def ask(_: str) -> bool:
        return await client

    return Request("delete", {"note": "a", **arguments}, ANN, "claude", "4", ask=ask)


def returned(reply: Reply | None = None, note: str = "a", caller: Caller = ANN) -> Request:
    """A call of a client that takes the question as the answer."""
    return Request("delete", {"note": note}, caller, can_return_questions=True, reply=reply)


def text(answer: Answer | Question) -> dict[str, Any]:
    assert isinstance(answer, Answer)
    return json.loads(answer.text)


# ---- during the call -----------------------------------------------------------------------------


@pytest.mark.requirement("WEB-3")
async def test_a_call_is_confirmed_in_the_console_and_the_audit_says_by_whom(tmp_path: Path):
    deleted: list[str] = []
    app = build(deleted, audit=str(tmp_path / "audit.jsonl"))
    async with opened(app) as approvals:
        client = asyncio.get_running_loop().create_future()
        call = asyncio.ensure_future(app.answer(asked(client, password="hunter2hunter2")))
        waiting = await shown(approvals)
        assert waiting.arguments == {"note": "a", "password": "[redacted]"}
        assert (waiting.server, waiting.tool, waiting.caller, waiting.agent, waiting.is_held) == (
            *("notes", "delete", "user:ann", "claude 4", True),
        )
        assert "delete with" in waiting.question
        assert deleted == []
        await approvals.answer(waiting.id, YES)
        assert text(await call) == {"success": True, "value": "deleted"}
        assert client.cancelled()  # the client is not asked any more
        assert await approvals.list() == []
    assert deleted == ["a"]
    (record,) = audited(tmp_path / "audit.jsonl")
    assert (record["caller"], record["outcome"], record["answeredBy"]) == ("user:ann", "ok", BOB)


@pytest.mark.requirement("WEB-3")
async def test_a_call_is_declined_in_the_console(tmp_path: Path):
    deleted: list[str] = []
    app = build(deleted, audit=str(tmp_path / "audit.jsonl"))
    async with opened(app) as approvals:
        call = asyncio.ensure_future(app.answer(asked(asyncio.get_running_loop().create_future())))
        await approvals.answer((await shown(approvals)).id, NO)
        assert text(await call)["error"] == DECLINED
    assert deleted == []
    assert audited(tmp_path / "audit.jsonl")[0]["answeredBy"] == BOB


async def test_the_client_answers_first_and_the_console_is_too_late(tmp_path: Path):
    deleted: list[str] = []
    app = build(deleted, audit=str(tmp_path / "audit.jsonl"))
    async with opened(app) as approvals:
        client = asyncio.get_running_loop().create_future()
        call = asyncio.ensure_future(app.answer(asked(client)))
        waiting = await shown(approvals)
        client.set_result(True)
        await call
        with pytest.raises(AlreadyAnswered):
            await approvals.answer(waiting.id, NO)
    assert deleted == ["a"]
    assert "answeredBy" not in audited(tmp_path / "audit.jsonl")[0]


@pytest.mark.requirement("WEB-3")
async def test_of_many_answers_at_the_same_time_one_holds():
    deleted: list[str] = []
    app = build(deleted)
    async with opened(app) as approvals:
        for number in range(20):
            client = asyncio.get_running_loop().create_future()
            call = asyncio.ensure_future(app.answer(asked(client)))
            waiting = await shown(approvals)
            verdicts = [Verdict(accepted=bool(n % 2), by=f"user:{n}") for n in range(4)]
            answers = [asyncio.ensure_future(approvals.answer(waiting.id, verdict)) for verdict in verdicts]
            client.set_result(bool(number % 2))
            won = [one for one in await asyncio.gather(*answers, return_exceptions=True) if isinstance(one, Waiting)]
            done = "value" in text(await call)
            assert len(won) <= 1
            assert deleted == (["a"] if done else [])
            deleted.clear()


async def test_a_call_that_is_cancelled_waits_no_more():
    app = build([])
    async with opened(app) as approvals:
        call = asyncio.ensure_future(app.answer(asked(asyncio.get_running_loop().create_future())))
        waiting = await shown(approvals)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        with pytest.raises(AlreadyAnswered):
            await approvals.answer(waiting.id, YES)


async def test_without_a_console_the_client_is_asked_alone():
    deleted: list[str] = []
    app = build(deleted)
    async with app:
        client = asyncio.get_running_loop().create_future()
        client.set_result(True)
        assert text(await app.answer(asked(client)))["value"] == "deleted"


# ---- a client that cannot ask --------------------------------------------------------------------


@pytest.mark.requirement("WEB-3")
@pytest.mark.parametrize("confirm", ["required", "if_possible"])
async def test_a_call_of_a_client_that_cannot_ask_waits_for_the_console_if_the_setting_says_so(confirm: str):
    deleted: list[str] = []
    app = build(deleted, confirm, confirm_in_console="2m")
    async with opened(app) as approvals:
        call = asyncio.ensure_future(app.answer(Request("delete", {"note": "a"}, ANN, must_declare=True)))
        waiting = await shown(approvals)
        assert waiting.expires - waiting.asked == 120
        await approvals.answer(waiting.id, YES)
        assert text(await call)["value"] == "deleted"


async def test_without_the_setting_such_a_call_is_refused_at_once():
    app = build([])
    async with opened(app):
        with pytest.raises(ElicitationUnsupported):
            await app.answer(Request("delete", {"note": "a"}, ANN, must_declare=True))


async def test_without_the_setting_a_confirmation_that_is_wanted_only_if_possible_is_not_asked_for():
    deleted: list[str] = []
    app = build(deleted, "if_possible")
    async with opened(app):
        assert text(await app.answer(Request("delete", {"note": "a"}, ANN)))["value"] == "deleted"
    assert deleted == ["a"]


@pytest.mark.parametrize("confirm", ["required", "if_possible"])
async def test_nobody_answers_in_time(confirm: str):
    deleted: list[str] = []
    app = build(deleted, confirm, confirm_in_console=0.01)
    async with opened(app):
        answer = text(await app.answer(Request("delete", {"note": "a"}, ANN)))
    assert answer["error"] == "The user has not answered the question about 'delete'. Nothing was done."
    assert deleted == []


async def test_a_call_that_waits_for_the_console_ends_when_the_server_stops():
    deleted: list[str] = []
    app = build(deleted, confirm_in_console="10m")
    async with opened(app) as approvals:
        call = asyncio.ensure_future(app.answer(Request("delete", {"note": "a"}, ANN)))
        await shown(approvals)
        approvals.stop()
        assert text(await call)["error_type"] == "StoppingError"
    assert deleted == []


# ---- a client that takes the question as the answer ----------------------------------------------


async def question(app: App, **changes: Any) -> str:
    asked = await app.answer(returned(**changes))
    assert isinstance(asked, Question)
    return asked.state


@pytest.mark.requirement("WEB-3")
async def test_after_an_answer_in_the_console_the_same_call_is_carried_out_once():
    deleted: list[str] = []
    app = build(deleted)
    async with opened(app) as approvals:
        await question(app)
        await question(app)  # the same question, which is shown once
        (waiting,) = await approvals.list()
        assert not waiting.is_held
        await approvals.answer(waiting.id, YES)
        await question(app, note="b")  # neither other arguments
        await question(app, caller=Caller("user:eve", grants=frozenset({"*"})))  # nor another caller
        assert deleted == []
        assert text(await app.answer(returned()))["value"] == "deleted"
        await question(app)
    assert deleted == ["a"]


@pytest.mark.parametrize("shared", ["memory", "redis"])
async def test_of_many_such_calls_at_the_same_time_one_is_carried_out(shared: str, request: pytest.FixtureRequest):
    deleted: list[str] = []
    # In Redis their steps are mixed; in memory one call ends before the next begins.
    redis = {"redis": request.getfixturevalue("redis_url")} if shared == "redis" else {}
    app = build(deleted, **redis)
    async with opened(app) as approvals:
        state = await question(app)
        await approvals.answer((await shown(approvals)).id, YES)
        requests = [returned(), returned(), returned(Reply(state, accepted=True)), returned()]
        await asyncio.gather(*(app.answer(request) for request in requests))
    assert deleted == ["a"]


async def test_a_reply_to_an_old_question_does_not_answer_the_next_one():
    deleted: list[str] = []
    app = build(deleted)
    async with opened(app) as approvals:
        old = await question(app)
        await approvals.answer((await shown(approvals)).id, YES)
        await app.answer(returned())
        await question(app)  # asked again, after the first answer was used
        (waiting,) = await approvals.list()
        assert "is not valid" in text(await app.answer(returned(Reply(old, accepted=True))))["error"]
        assert deleted == ["a"]
        await approvals.answer(waiting.id, YES)
        await app.answer(returned())
    assert deleted == ["a", "a"]


async def test_a_call_that_was_declined_in_the_console_is_refused_once_and_then_asked_about_again():
    deleted: list[str] = []
    app = build(deleted)
    async with opened(app) as approvals:
        await question(app)
        await approvals.answer((await shown(approvals)).id, NO)
        assert text(await app.answer(returned()))["error"] == DECLINED
        await question(app)
    assert deleted == []


@pytest.mark.parametrize(
    ("console", "client", "done"),
    [(None, True, True), (YES, True, True), (YES, False, False), (NO, True, False), (NO, False, False)],
)
async def test_a_reply_of_the_client_runs_only_what_nobody_has_declined(console, client, done):
    deleted: list[str] = []
    app = build(deleted)
    async with opened(app) as approvals:
        state = await question(app)
        waiting = await shown(approvals)
        if console is not None:
            await approvals.answer(waiting.id, console)
        answer = text(await app.answer(returned(Reply(state, accepted=client))))
        assert answer == {"success": True, "value": "deleted"} if done else answer["error"] == DECLINED
        with pytest.raises(AlreadyAnswered):
            await approvals.answer(waiting.id, YES)
        await app.answer(returned(Reply(state, accepted=True)))  # a seal is used once
    assert deleted == (["a"] if done else [])


# ---- several processes ---------------------------------------------------------------------------


@pytest.mark.requirement("WEB-3")
async def test_a_confirmation_is_seen_and_answered_at_every_process(redis_url: str):
    deleted: list[str] = []
    here = build(deleted, redis=redis_url)
    there, late = build([], redis=redis_url), build([], redis=redis_url)
    async with opened(here), opened(there) as other:
        await other.list()
        call = asyncio.ensure_future(here.answer(asked(asyncio.get_running_loop().create_future())))
        assert (await shown(other)).caller == "user:ann"
        async with opened(late) as latest:  # it starts after the question was asked
            waiting = await shown(latest)
            race = [latest.answer(waiting.id, YES), other.answer(waiting.id, NO)]
            won = [one for one in await asyncio.gather(*race, return_exceptions=True) if isinstance(one, Waiting)]
            done = "value" in text(await call)
    assert len(won) == 1
    assert deleted == (["a"] if done else [])


async def test_an_answer_is_found_even_if_its_announcement_is_lost(redis_url: str, monkeypatch):
    deleted: list[str] = []
    here = build(deleted, redis=redis_url)
    async with opened(here) as approvals:
        call = asyncio.ensure_future(here.answer(asked(asyncio.get_running_loop().create_future())))
        waiting = await shown(approvals)

        async def lose(*_):
            pass

        monkeypatch.setattr(approvals, "_announce", lose)
        await approvals.answer(waiting.id, YES)
        assert text(await call)["value"] == "deleted"


async def test_without_redis_nothing_is_carried_out_on_an_answer_that_cannot_be_checked(new_redis):
    deleted: list[str] = []
    redis: RedisServer = new_redis()
    app = build(deleted, redis=redis.url)
    async with opened(app) as approvals:
        client = asyncio.get_running_loop().create_future()
        call = asyncio.ensure_future(app.answer(asked(client)))
        await shown(approvals)
        await asyncio.to_thread(redis.stop)
        client.set_result(True)
        assert text(await call)["error"] == "The confirmation cannot be checked right now. Nothing was done."
    assert deleted == []


async def test_what_is_too_long_to_be_shown_in_full_is_not_shown():
    deleted: list[str] = []
    app = build(deleted)
    async with opened(app) as approvals:
        client = asyncio.get_running_loop().create_future()
        call = asyncio.ensure_future(app.answer(asked(client, note="x" * 300_000)))
        client.set_result(True)
        assert text(await call)["value"] == "deleted"
        assert await approvals.list() == []


async def test_an_expired_confirmation_is_not_shown():
    now = 1000.0
    approvals = Approvals(MemoryState(), clock=lambda: now)
    waiting = Waiting("w", "s", "t", "q", {}, "", "c", "a", 0, 1001, "", "", is_held=False)
    await approvals.offer("binding", waiting)
    assert await approvals.list() == [waiting]
    now = 1001.0
    with pytest.raises(AlreadyAnswered):
        await approvals.answer("w", YES)
    assert await approvals.list() == []
    await approvals.close()
