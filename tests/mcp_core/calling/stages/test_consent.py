import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from mcp_core import Answer, App, Caller, Confirm, Question, Request, Settings, ToolContext
from mcp_core.calling.records import Reply
from mcp_core.calling.stages import consent
from mcp_core.errors import ElicitationUnsupported, ForgedReply
from mcp_core.state.memory import MemoryState
from tests.mcp_core.audited import audited
from tests.mcp_core.declared import Number, Text, mutation

ANN = Caller("user:ann", grants=frozenset({"*"}))
DELETE = {"note": "note_1", "explicit_action": "DELETE"}
NOT_VALID = {
    "success": False,
    "error": "The confirmation for 'delete' is not valid: it has expired, was used before, or is about another "
    "call. Nothing was done. Call the tool again without it, and the user is asked again.",
    "error_type": "ConsentError",
    "instruction": "Require explicit user consent before proceeding.",
}
DONE = {"success": True, "value": "deleted"}


def build(
    deleted: list[str], settings: Settings | None = None, confirm: str = "required", version: str = "1.0.0"
) -> App:
    declared: dict[str, Any] = {
        "confirm": Confirm("DELETE", ask=True, required=confirm == "required"),
        "version": version,
    }

    @mutation(DELETE, **declared)
    async def delete(note: Text) -> str:
        deleted.append(note)
        return "deleted"

    @mutation(DELETE, **declared)
    async def destroy(note: Text) -> str:
        deleted.append(note)
        return "destroyed"

    return App("test", version="1.0.0", format="result", tools=[delete, destroy], settings=settings)


async def ask(app: App, request: Request) -> str:
    question = await app.answer(request)
    assert isinstance(question, Question)
    return question.state


async def result_of(app: App, request: Request) -> dict[str, Any]:
    answer = await app.answer(request)
    assert isinstance(answer, Answer)
    return json.loads(answer.text)


REQUEST = Request("delete", DELETE, ANN, can_return_questions=True)


@pytest.mark.requirement("CON-3")
async def test_a_client_that_takes_questions_is_asked_first_and_nothing_is_done():
    deleted: list[str] = []
    async with build(deleted) as app:
        question = await app.answer(REQUEST)
        assert isinstance(question, Question)
        assert question.text.endswith('(delete with {"note":"note_1","explicit_action":"DELETE"}) Go ahead?')
        assert deleted == []
        assert await result_of(app, REQUEST._replace(reply=Reply(question.state, accepted=True))) == DONE
    assert deleted == ["note_1"]


@pytest.mark.requirement("CON-3")
async def test_a_confirmation_counts_once():
    deleted: list[str] = []
    async with build(deleted) as app:
        confirmed = REQUEST._replace(reply=Reply(await ask(app, REQUEST), accepted=True))
        assert await result_of(app, confirmed) == DONE
        assert await result_of(app, confirmed) == NOT_VALID
    assert deleted == ["note_1"]


@pytest.mark.requirement("CON-3")
async def test_of_two_calls_at_once_with_one_confirmation_one_is_done():
    deleted: list[str] = []
    async with build(deleted) as app:
        confirmed = REQUEST._replace(reply=Reply(await ask(app, REQUEST), accepted=True))
        both = await asyncio.gather(result_of(app, confirmed), result_of(app, confirmed))
    assert sorted(answer["success"] for answer in both) == [False, True]
    assert deleted == ["note_1"]


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize(
    "other",
    [
        {"caller": Caller("user:ben", grants=frozenset({"*"}))},
        {"tool": "destroy"},
        {"arguments": DELETE | {"note": "note_2"}},
    ],
    ids=["caller", "tool", "arguments"],
)
async def test_a_confirmation_is_for_one_caller_one_tool_and_these_arguments(other: dict[str, Any]):
    deleted: list[str] = []
    async with build(deleted) as app:
        reply = Reply(await ask(app, REQUEST), accepted=True)
        refused = await result_of(app, REQUEST._replace(reply=reply, **other))
        assert refused["error_type"] == "ConsentError"
        assert deleted == []
        assert await result_of(app, REQUEST._replace(reply=reply)) == DONE


@pytest.mark.requirement("CON-3")
async def test_a_confirmation_for_another_version_of_the_tool_is_refused(redis_url: str):
    deleted: list[str] = []
    settings = Settings(redis=redis_url)
    async with build(deleted, settings) as old, build(deleted, settings, version="2.0.0") as new:
        reply = Reply(await ask(old, REQUEST), accepted=True)
        assert await result_of(new, REQUEST._replace(reply=reply)) == NOT_VALID
    assert deleted == []


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize("forged", ["", ".", "yes", "e30.e30", "\ud800", "{}", "A" * 100_000])
async def test_a_forged_confirmation_is_left_to_the_host_and_recorded_once(forged: str, tmp_path: Path, log):
    deleted: list[str] = []
    audit = tmp_path / "audit.jsonl"
    async with build(deleted, Settings(audit=audit)) as app:
        with pytest.raises(ForgedReply):
            await app.answer(REQUEST._replace(reply=Reply(forged, accepted=True)))
    assert deleted == []
    assert app.telemetry.tallies["delete"].outcomes == {"business": 1}
    words = "The confirmation for 'delete' was not made by this server. Nothing was done."
    assert log.messages[:-1] == [("TRACE", "Tool called: delete"), ("WARNING", f"Tool delete refused: {words}")]
    (entry,) = audited(audit)
    assert (entry["outcome"], entry["errorType"], entry["error"]) == ("business", "ConsentError", words)


@pytest.mark.requirement("CON-3")
async def test_a_forged_confirmation_is_forged_whether_or_not_the_client_could_ask():
    deleted: list[str] = []
    forged = REQUEST._replace(reply=Reply("yes", accepted=True), can_return_questions=False)
    async with build(deleted) as app:
        for must_declare in (True, False):
            with pytest.raises(ForgedReply):
                await app.answer(forged._replace(must_declare=must_declare))
    assert deleted == []


@pytest.mark.requirement("CON-3")
async def test_a_confirmation_of_another_server_is_refused():
    deleted: list[str] = []
    async with build(deleted) as app, build(deleted) as other:
        reply = Reply(await ask(other, REQUEST), accepted=True)
        with pytest.raises(ForgedReply):
            await app.answer(REQUEST._replace(reply=reply))
    assert deleted == []


@pytest.mark.requirement("CON-3")
async def test_an_expired_confirmation_is_refused(monkeypatch: pytest.MonkeyPatch, log):
    deleted: list[str] = []
    now = 1_000_000.0
    monkeypatch.setattr(consent.time, "time", lambda: now)
    async with build(deleted) as app:
        reply = Reply(await ask(app, REQUEST), accepted=True)
        now += consent.ANSWER_SECONDS
        assert await result_of(app, REQUEST._replace(reply=reply)) == NOT_VALID
    assert deleted == []
    assert ("WARNING", "Confirmation of delete refused: expired") in log.messages


@pytest.mark.requirement("CON-3")
async def test_a_person_who_declines_ends_it_for_good():
    deleted: list[str] = []
    async with build(deleted) as app:
        state = await ask(app, REQUEST)
        assert await result_of(app, REQUEST._replace(reply=Reply(state, accepted=False))) == {
            "success": False,
            "error": "The user did not agree to 'delete'. Nothing was done.",
            "error_type": "ConsentError",
            "instruction": "The user said no. Do not ask them again, and do not do it in another way.",
        }
        assert await result_of(app, REQUEST._replace(reply=Reply(state, accepted=True))) == NOT_VALID
    assert deleted == []


@pytest.mark.requirement("CON-3")
async def test_processes_that_share_a_redis_share_their_confirmations(redis_url: str):
    deleted: list[str] = []
    settings = Settings(redis=redis_url)
    async with build(deleted, settings) as one, build(deleted, settings) as two:
        state = await ask(one, REQUEST)
        confirmed = REQUEST._replace(reply=Reply(state, accepted=True))
        changed = confirmed._replace(arguments=DELETE | {"note": "note_2"})
        assert await result_of(two, changed) == NOT_VALID
        assert await result_of(two, confirmed) == DONE
        assert await result_of(one, confirmed) == NOT_VALID
        assert await result_of(two, confirmed) == NOT_VALID
    assert deleted == ["note_1"]


@pytest.mark.parametrize("confirm", ["required", "if_possible"])
async def test_without_redis_confirmations_are_refused(new_redis, confirm: str):
    deleted: list[str] = []
    server = new_redis()
    away = {
        "success": False,
        "error": "The confirmation cannot be checked right now. Nothing was done.",
        "error_type": "UnavailableError",
        "instruction": "Present this error to the user and take no further action.",
    }
    async with build(deleted, Settings(redis=server.url), confirm) as app:
        confirmed = REQUEST._replace(reply=Reply(await ask(app, REQUEST), accepted=True))
        server.stop()
        async with asyncio.timeout(60):
            assert await result_of(app, REQUEST) == away
            assert await result_of(app, confirmed) == away
    assert deleted == []


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize(("agrees", "done"), [(True, ["note_1"]), (False, [])])
async def test_a_client_that_can_be_asked_during_a_call_is_asked(agrees: bool, done: list[str]):
    deleted: list[str] = []
    asked: list[str] = []

    async def ask_person(question: str) -> bool:
        asked.append(question)
        assert deleted == []
        return agrees

    async with build(deleted) as app:
        answer = await result_of(app, Request("delete", DELETE, ANN, ask=ask_person))
    assert len(asked) == 1
    assert answer["success"] is agrees
    assert deleted == done


async def test_a_client_that_fails_to_ask_gets_nothing_done():
    deleted: list[str] = []

    async def ask_person(question: str) -> bool:
        raise ConnectionError("the client is gone")

    async with build(deleted) as app:
        answer = await result_of(app, Request("delete", DELETE, ANN, ask=ask_person))
    assert answer["error_type"] == "SystemError"
    assert deleted == []


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize(("confirm", "done"), [("required", []), ("if_possible", ["note_1"])])
async def test_a_client_that_cannot_ask_is_refused_where_a_confirmation_is_required(confirm: str, done: list[str]):
    deleted: list[str] = []
    async with build(deleted, confirm=confirm) as app:
        answer = await result_of(app, Request("delete", DELETE, ANN))
    assert deleted == done
    assert answer == DONE if done else answer["error_type"] == "ConsentError"


@pytest.mark.requirement("CON-3")
async def test_a_client_that_should_have_declared_that_it_can_ask_is_left_to_the_host_and_recorded_once(log):
    deleted: list[str] = []
    async with build(deleted) as app:
        with pytest.raises(ElicitationUnsupported, match="'delete' runs only after the user has confirmed it"):
            await app.answer(Request("delete", DELETE, ANN, must_declare=True))
    assert deleted == []
    assert app.telemetry.tallies["delete"].outcomes == {"business": 1}
    assert [level for level, _ in log.messages] == ["TRACE", "WARNING"]


async def test_the_persons_question_shows_what_will_be_done_defaults_included_and_no_secret():
    @mutation(
        {"note": "a", "password": "hunter2"},
        confirm=Confirm(ask="Delete {note} in {place} with {password}?", required=True),
    )
    async def delete(
        note: Text, password: Text, place: Annotated[str, Field(description="Where.")] = "the attic"
    ) -> str:
        return "deleted"

    async with App("test", version="1.0.0", format="result", tools=[delete]) as app:
        arguments = {"note": "note_1", "password": "hunter2"}
        question = await app.answer(Request("delete", arguments, ANN, can_return_questions=True))
    assert isinstance(question, Question)
    assert question.text == "Delete note_1 in the attic with [redacted]?"


async def test_a_question_is_not_endless():
    deleted: list[str] = []
    async with build(deleted) as app:
        question = await app.answer(REQUEST._replace(arguments=DELETE | {"note": "x" * 100_000}))
    assert isinstance(question, Question)
    assert len(question.text) < 1100


async def test_a_question_is_recorded_as_asked_and_is_not_an_error(log):
    async with build([]) as app:
        await ask(app, REQUEST)
        assert app.telemetry.tallies["delete"].outcomes == {"asked": 1}
    assert ("TRACE", "Tool delete ended: asked") in log.messages


async def test_a_person_who_never_answers_has_not_agreed(monkeypatch):
    ran: list[int] = []

    @mutation({"n": 1}, confirm=Confirm(required=True))
    async def wipe(n: Number) -> int:
        ran.append(n)
        return n

    async def never(question: str) -> bool:
        await asyncio.Event().wait()
        return True

    monkeypatch.setattr(consent, "ANSWER_SECONDS", 0.01)
    monkeypatch.setattr(consent, "_GRACE_SECONDS", 0.0)
    async with App("test", version="1.0.0", format="result", tools=[wipe]) as app:
        answer = await app.answer(Request("wipe", {"n": 1}, app.local_caller, ask=never))
    assert json.loads(answer.text) == {
        "success": False,
        "error": "The user has not answered the question about 'wipe'. Nothing was done.",
        "error_type": "ConsentError",
        "instruction": "Require explicit user consent before proceeding.",
    }
    assert ran == []


class Folders:
    """The folders of the person; the last is the current one."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def __getitem__(self, index: int) -> str:
        return self.names[index]


def with_target(folders: list[str], deleted: list[str]) -> App:
    """A tool whose arguments do not say in which folder it deletes."""

    async def current_folder(note: str, folders: Folders) -> str:
        return folders[-1]

    @mutation({"note": "a"}, confirm=Confirm(ask="Delete {note} in {target}?", target=current_folder, required=True))
    async def delete(note: Text, folders: Folders) -> str:
        deleted.append(f"{folders[-1]}/{note}")
        return "deleted"

    app = App("test", version="1.0.0", format="result", tools=[delete])
    app.provide(Folders, Folders(folders))
    return app


@pytest.mark.requirement("CON-3")
async def test_a_confirmation_names_its_target_and_counts_for_that_target_only():
    folders, deleted = ["attic"], list[str]()
    request = Request("delete", {"note": "x"}, ANN, can_return_questions=True)
    async with with_target(folders, deleted) as app:
        question = await app.answer(request)
        assert isinstance(question, Question)
        assert question.text == "Delete x in attic?"
        reply = Reply(question.state, accepted=True)
        folders.append("cellar")
        assert (await result_of(app, request._replace(reply=reply)))["error_type"] == "ConsentError"
        folders.pop()
        assert (await result_of(app, request._replace(reply=reply)))["value"] == "deleted"
    assert deleted == ["attic/x"]


@pytest.mark.requirement("CON-3")
async def test_a_target_that_changes_while_the_person_is_asked_ends_the_call():
    folders, deleted, questions = ["attic"], list[str](), list[str]()

    async def agree(question: str) -> bool:
        questions.append(question)
        folders.append("cellar")
        return True

    async with with_target(folders, deleted) as app:
        assert (await result_of(app, Request("delete", {"note": "x"}, ANN, ask=agree)))["error_type"] == "ConsentError"
    assert (questions, deleted) == (["Delete x in attic?"], [])


@pytest.mark.requirement("CON-3")
async def test_a_call_without_a_target_is_not_asked_about_and_the_handler_knows():
    confirmed: list[bool] = []

    async def folder_if_any(note: str) -> str | None:
        return "attic" if note == "kept" else None

    @mutation({"note": "a"}, confirm=Confirm(ask="Delete {note} in {target}?", target=folder_if_any, required=True))
    async def delete(note: Text, context: ToolContext) -> str:
        confirmed.append(context.is_confirmed)
        return note

    async with App("test", version="1.0.0", format="result", tools=[delete]) as app:
        request = Request("delete", {"note": "loose"}, ANN, can_return_questions=True)
        assert (await result_of(app, request))["value"] == "loose"
        assert (await result_of(app, request._replace(can_return_questions=False)))["value"] == "loose"
        question = await app.answer(request._replace(arguments={"note": "kept"}))
        assert isinstance(question, Question)
        reply = Reply(question.state, accepted=True)
        assert (await result_of(app, request._replace(arguments={"note": "kept"}, reply=reply)))["value"] == "kept"
        # A confirmation of something else is refused, not ignored.
        assert (await result_of(app, request._replace(reply=reply)))["error_type"] == "ConsentError"
    assert confirmed == [False, False, True]


@pytest.mark.requirement("CON-3")
async def test_a_used_confirmation_is_remembered_longer_than_any_clock_accepts_it():
    lifetimes: list[float] = []

    class Watched(MemoryState):
        async def claim(self, nonce: str, ttl: float) -> bool:
            lifetimes.append(ttl)
            return await super().claim(nonce, ttl)

    @mutation({"note": "a"}, confirm=Confirm(required=True))
    async def delete(note: Text) -> str:
        return "deleted"

    request = Request("delete", {"note": "a"}, ANN, can_return_questions=True)
    async with App("test", version="1.0.0", format="result", tools=[delete], state=Watched()) as app:
        await result_of(app, request._replace(reply=Reply(await ask(app, request), accepted=True)))
    (lifetime,) = lifetimes
    assert lifetime > consent.ANSWER_SECONDS + consent.MAX_CLOCK_DIFFERENCE - 60
