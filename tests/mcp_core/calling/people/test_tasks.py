"""Calls that outlive their request: they are stored before they are answered, and belong to their caller."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App, Caller, Request, Settings, ToolContext
from mcp_core.calling.people import asking, tasks
from mcp_core.calling.records import Answer, Question, Reply
from mcp_core.context import RequestHeaders
from mcp_core.errors import TasksUnsupported
from mcp_core.hosts import task_methods
from mcp_core.hosts.names import TASK_PROGRESS
from mcp_core.hosts.protocol import Peer, RpcError
from mcp_core.tasks.record import TaskRecord
from tests.mcp_core.audited import audited
from tests.mcp_core.declared import Text, mutation

ANN = Caller("user:ann", "ann", frozenset({"work:do"}))
BOB = Caller("user:bob", "bob", frozenset({"work:do"}))
NAME = {"type": "object", "properties": {"name": {"type": "string"}}}


class Work:
    """What a handler of the test waits for."""

    def __init__(self) -> None:
        self.go_on, self.began = asyncio.Event(), asyncio.Event()


def build(work: Work, policy: str = "auto", deadline: float = 60.0, **settings: Any) -> App:
    @mutation({"name": "a"}, task=policy, asks=True, response_time=deadline, permissions=["work:do"])
    async def do(name: Text, context: ToolContext) -> str:
        work.began.set()
        await context.report_progress(1, 4, f"working on {name}")
        if name == "ask":
            answer = await context.ask_user("Your name?", NAME)
            return f"Hello, {answer.content['name']}!"
        await work.go_on.wait()
        return f"did {name}"

    return App("work", version="1.0.0", format="bare", tools=[do], settings=Settings(**{"deadline": None} | settings))


def request(name: str = "a", caller: Caller = ANN, **changes: Any) -> Request:
    return Request("do", {"name": name}, caller, must_declare=True, takes_tasks=True, **changes)


def peer(caller: Caller = ANN, **changes: Any) -> Peer:
    return Peer(caller, modern=True, takes_tasks=True, **changes)


async def get(app: App, task: TaskRecord | str, caller: Caller = ANN, **changes: Any) -> dict[str, Any]:
    number = task if isinstance(task, str) else task.id
    return await task_methods.answer(app, "tasks/get", {"taskId": number}, peer(caller, **changes))


async def until(app: App, task: TaskRecord, status: str) -> dict[str, Any]:
    """The task, as soon as it has a status."""
    assert app.changes is not None
    await app.tasks.listen()
    async with asyncio.timeout(60):
        async for _ in app.changes.listen(0.05):
            if (found := await get(app, task))["status"] == status:
                return found
    raise AssertionError(status)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls become tasks when their handler waits for the first time."""
    monkeypatch.setattr(asking, "TASK_AFTER_SECONDS", 0.0)


@asynccontextmanager
async def opened(tmp_path: Path, policy: str = "auto", **settings: Any) -> AsyncIterator[tuple[App, Work]]:
    work = Work()
    async with build(work, policy, **{"db": f"sqlite:///{tmp_path / 'work.db'}"} | settings) as app:
        yield app, work


async def started(app: App, **changes: Any) -> TaskRecord:
    task = await app.answer(request(**changes))
    assert isinstance(task, TaskRecord)
    return task


@pytest.mark.requirement("PRO-5")
@pytest.mark.parametrize("policy", ["auto", "always"])
async def test_a_long_call_becomes_a_task_that_outlives_its_deadline_and_is_recorded_once(
    tmp_path: Path, policy: str, at_once: None
):
    audit = tmp_path / "audit.jsonl"
    async with opened(tmp_path, policy, audit=str(audit), deadline=0.001) as (app, work):
        task = await started(app)
        await work.began.wait()
        working = await get(app, task)
        assert (working["status"], working["statusMessage"]) == ("working", "working on a")
        assert working["_meta"] == {TASK_PROGRESS: {"progress": 1, "total": 4}}
        work.go_on.set()
        done = await until(app, task, "completed")
        assert done["result"] == {
            "content": [{"type": "text", "text": "did a"}],
            "isError": False,
            "resultType": "complete",
            "structuredContent": {"result": "did a"},
        }
    methods = [(one["method"], one["outcome"]) for one in audited(audit) if one["method"] != "tasks/get"]
    assert sorted(methods) == [("tasks/create", "ok"), ("tools/call", "ok")]


@pytest.mark.requirement("PRO-5")
async def test_a_client_that_follows_no_tasks_gets_the_answer_or_learns_what_it_needs(tmp_path: Path, at_once: None):
    async with opened(tmp_path) as (app, work):
        work.go_on.set()
        answer = await app.answer(request()._replace(takes_tasks=False))
        assert isinstance(answer, Answer)
        assert answer.text == "did a"
    async with opened(tmp_path, "always") as (app, work):
        work.go_on.set()
        with pytest.raises(TasksUnsupported):
            await app.answer(request()._replace(takes_tasks=False))
        assert not work.began.is_set()
        handshake = await app.answer(request()._replace(takes_tasks=False, must_declare=False))
        assert isinstance(handshake, Answer)
        assert "cannot follow tasks. Use one of protocol 2026-07-28" in handshake.text
        assert (await app.call("do", {"name": "a"}, ANN)).text == "did a"  # another tool is no client
        with pytest.raises(RpcError) as refused:
            await task_methods.answer(app, "tasks/get", {"taskId": "x"}, Peer(ANN, modern=True))
        assert refused.value.data == {"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}


async def test_a_call_that_ends_soon_is_answered_at_once_and_stores_nothing(tmp_path: Path):
    async with opened(tmp_path) as (app, work):
        work.go_on.set()
        answer = await app.answer(request())
        assert isinstance(answer, Answer)


async def test_a_call_that_a_gate_refuses_never_becomes_a_task(tmp_path: Path):
    async with opened(tmp_path, "always") as (app, work):
        refused = await app.answer(request(caller=Caller("user:eve")))
        assert isinstance(refused, Answer)
        assert "needs the permission work:do" in refused.text
        assert not work.began.is_set()


@pytest.mark.requirement("PRO-5")
@pytest.mark.parametrize("kind", ["sqlite", "postgresql", "redis"])
async def test_a_task_is_stored_before_it_is_answered_and_another_process_finds_it(
    kind: str, tmp_path: Path, at_once: None, request: pytest.FixtureRequest
):
    places = {"postgresql": ("db", "postgres_url"), "redis": ("redis", "redis_url")}
    shared = {places[kind][0]: request.getfixturevalue(places[kind][1])} if kind in places else {}
    async with opened(tmp_path, **shared) as (app, work), opened(tmp_path, **shared) as (other, _):
        task = await started(app)
        assert (await get(other, task))["status"] == "working"
        with pytest.raises(RpcError, match="No task"):
            await get(other, task, BOB)
        work.go_on.set()
        assert (await until(other, task, "completed"))["result"]["content"][0]["text"] == "did a"


@pytest.mark.requirement("PRO-5")
async def test_a_task_belongs_to_its_caller_and_their_credentials(tmp_path: Path, at_once: None):
    async with opened(tmp_path) as (app, _):
        task = await started(app, headers=RequestHeaders({"x-token": "one"}))
        for caller, headers in ((BOB, {"x-token": "one"}), (ANN, {"x-token": "two"}), (ANN, {})):
            for method in ("tasks/get", "tasks/cancel", "tasks/update"):
                asked = {"taskId": task.id, "inputResponses": {}}
                with pytest.raises(RpcError, match="No task"):
                    await task_methods.answer(app, method, asked, peer(caller, headers=RequestHeaders(headers)))
        own = RequestHeaders({"x-token": "one"})
        assert (await get(app, task, headers=own))["status"] == "working"
        with pytest.raises(RpcError, match="needs the permission work:do"):
            await get(app, task, Caller("user:ann", "ann"), headers=own)


@pytest.mark.requirement("PRO-5")
@pytest.mark.parametrize("shared", [False, True])
async def test_a_task_is_cancelled_wherever_it_runs(shared: bool, tmp_path: Path, at_once: None, redis_url: str):
    settings = {"redis": redis_url} if shared else {}
    audit = tmp_path / "audit.jsonl"
    async with opened(tmp_path, audit=str(audit), **settings) as (app, _), opened(tmp_path, **settings) as (other, _):
        task = await started(app)
        at = other if shared else app
        for _ in range(2):  # the second time it is over
            assert await task_methods.answer(at, "tasks/cancel", {"taskId": task.id}, peer()) == {
                "resultType": "complete"
            }
            await until(app, task, "cancelled")
    assert [one["outcome"] for one in audited(audit) if one["method"] == "tools/call"] == ["cancelled"]


@pytest.mark.requirement("PRO-5")
@pytest.mark.parametrize("shared", [False, True])
async def test_a_task_asks_the_person_and_is_answered_at_any_process(
    shared: bool, tmp_path: Path, at_once: None, redis_url: str
):
    settings = {"redis": redis_url} if shared else {}
    async with opened(tmp_path, "always", **settings) as (app, _), opened(tmp_path, **settings) as (other, _):
        at = other if shared else app
        task = await started(app, name="ask", modes=frozenset({"form"}))
        asked = await until(at, task, "input_required")
        ((name, question),) = asked["inputRequests"].items()
        assert question["params"]["message"] == "Your name?"
        for responses in ({"unknown": {}}, {name: {"action": "accept", "content": {"name": "Ann"}}}):
            await task_methods.answer(at, "tasks/update", {"taskId": task.id, "inputResponses": responses}, peer())
        done = await until(at, task, "completed")
        assert done["result"]["content"][0]["text"] == "Hello, Ann!"


async def test_an_answer_that_is_none_is_refused_and_the_task_waits_on(tmp_path: Path, at_once: None):
    async with opened(tmp_path, "always") as (app, _):
        task = await started(app, name="ask", modes=frozenset({"form"}))
        ((name, _),) = (await until(app, task, "input_required"))["inputRequests"].items()
        params = {"taskId": task.id, "inputResponses": {name: {"name": "Ann"}}}
        with pytest.raises(RpcError, match="action must be"):
            await task_methods.answer(app, "tasks/update", params, peer())
        assert (await get(app, task))["status"] == "input_required"


async def test_a_call_asks_first_and_becomes_a_task_afterwards(tmp_path: Path):
    async with opened(tmp_path) as (app, _):
        call = request("ask", modes=frozenset({"form"}))
        question = await app.answer(call)
        assert isinstance(question, Question)
        assert question.requests is not None
        reply = {name: {"action": "accept", "content": {"name": "Ann"}} for name in question.requests}
        answer = await app.answer(call._replace(reply=Reply(question.state, accepted=True, responses=reply)))
        assert isinstance(answer, Answer)
        assert answer.text == "Hello, Ann!"


# --- the end of a process --------------------------------------------------------------------------


@pytest.mark.requirement("PRO-5")
async def test_a_server_that_stops_says_that_the_outcome_is_not_known(tmp_path: Path, at_once: None):
    async with opened(tmp_path) as (app, _):
        task = await started(app)
    async with opened(tmp_path) as (app, _):
        stopped = await get(app, task)
        assert (stopped["status"], stopped["statusMessage"]) == ("failed", tasks.STOPPED)
        assert stopped["error"]["data"] == {"reason": "outcome_unknown"}


@pytest.mark.requirement("PRO-5")
async def test_after_a_crash_a_task_is_no_longer_shown_as_working(tmp_path: Path, at_once: None):
    async with opened(tmp_path) as (crashed, _), opened(tmp_path) as (app, _):
        task = await started(crashed)
        assert (await get(app, task))["status"] == "working"
        app.tasks.clock = lambda: task.created + tasks.ALIVE_SECONDS + 1
        lost = await get(app, task)
        assert (lost["status"], lost["error"]["message"]) == ("failed", tasks.LOST)


async def test_a_finished_task_survives_a_restart_until_it_expires(tmp_path: Path, at_once: None):
    async with opened(tmp_path) as (app, work):
        task = await started(app)
        work.go_on.set()
        await until(app, task, "completed")
    async with opened(tmp_path) as (app, _):
        assert (await get(app, task))["status"] == "completed"


# --- limits ----------------------------------------------------------------------------------------


@pytest.mark.requirement("PRO-5")
async def test_the_number_of_tasks_of_a_caller_is_bounded(
    tmp_path: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tasks, "MAX_RUNNING_EACH", 2)
    async with opened(tmp_path, "always") as (app, work):
        for _ in range(2):
            await started(app)
        busy = await app.answer(request())
        assert isinstance(busy, Answer)
        assert json.loads(busy.text) == {"error": "Too many tasks run."}
        await started(app, caller=BOB)  # others are not held up
        work.go_on.set()


async def test_the_number_of_tasks_that_are_kept_is_bounded_and_expired_ones_are_forgotten(
    tmp_path: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tasks, "MAX_KEPT_EACH", 1)
    async with opened(tmp_path, "always", task_keep=50) as (app, work):
        work.go_on.set()
        task = await started(app)
        await until(app, task, "completed")
        busy = await app.answer(request())
        assert isinstance(busy, Answer)
        assert json.loads(busy.text) == {"error": "Too many tasks of yours are kept."}


async def test_a_task_that_exceeds_its_own_deadline_is_stopped(tmp_path: Path, at_once: None):
    async with opened(tmp_path, "always", deadline=0.2, task_seconds=0.05) as (app, _):
        task = await started(app)
        ended = await until(app, task, "completed")
        assert ended["result"]["isError"]
        assert "took longer than 0.25 seconds" in ended["result"]["content"][0]["text"]
