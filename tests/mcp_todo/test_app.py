"""Whose tasks are whose, what lasts, and what happens at once."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from sqlalchemy import Engine, event

from mcp_core import App, Settings
from mcp_core.auth import user
from mcp_todo.app import build
from tests.mcp_todo.talking import DENIED, Call, added, bearer, calling, calling_app, over_http

EVERYTHING = ("tasks:read", "tasks:write")


def built(db: str, **settings: object) -> App:
    return build(Settings(db=db, deadline=30, **settings))


# ---- who -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The todo server over HTTP, where everybody needs a token."""
    folder: Path = tmp_path_factory.mktemp("guarded")
    grants = {"ana": EVERYTHING, "bob": EVERYTHING, "reader": ["tasks:read"], "writer": ["tasks:write"]}
    tokens = {f"token-{name}": {"user": name, "grants": list(given)} for name, given in grants.items()}
    (folder / "tokens.json").write_text(json.dumps(tokens))
    with over_http("--tokens", str(folder / "tokens.json"), "--db", f"sqlite:///{folder / 'todo.db'}") as url:
        yield url


@asynccontextmanager
async def calling_as(url: str, name: str, mode: str = "2026-07-28") -> AsyncIterator[Call]:
    async with bearer(f"token-{name}") as http, Client(streamable_http_client(url, http_client=http), mode=mode) as c:
        yield calling(c)


@pytest.mark.requirement("TOD-5")
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_with_a_token_the_user_is_the_caller_and_nobody_else(guarded_url, mode):
    async with calling_as(guarded_url, "ana", mode) as as_ana, calling_as(guarded_url, "bob", mode) as as_bob:
        task = await added(as_ana, "ana", f"Buy milk {mode}")
        for name in ("ana", "bob"):
            # Under her name, or under his own: the answer is the same, and the same as for no task at all.
            for which in (task, str(uuid4()), "none"):
                assert await as_bob("complete_task", user_id=name, task_id=which) == DENIED
                assert await as_bob("delete_task", user_id=name, task_id=which) == DENIED
                assert await as_bob("update_task", user_id=name, task_id=which, title="Mine") == DENIED
        assert await as_bob("add_task", user_id="ana", title="A gift") == DENIED
        assert await as_bob("list_tasks", user_id="ana") == DENIED
        assert await as_bob("list_tasks", user_id="nobody") == DENIED
        assert await as_bob("list_tasks", user_id="bob") == (False, [])
        _, mine = await as_ana("list_tasks", user_id="ana")
        assert [(t["title"], t["is_completed"]) for t in mine if t["id"] == task] == [(f"Buy milk {mode}", False)]
        assert (await as_ana("delete_task", user_id="ana", task_id=task))[0] is False


@pytest.mark.requirement("TOD-5", "VAL-2")
async def test_reading_and_writing_are_permissions_of_their_own(guarded_url):
    async with calling_as(guarded_url, "reader") as as_reader, calling_as(guarded_url, "writer") as as_writer:
        assert await as_reader("list_tasks", user_id="reader") == (False, [])
        for tool, more in (
            ("add_task", {"title": "a"}),
            ("complete_task", {"task_id": "x"}),
            ("update_task", {"task_id": "x", "title": "a"}),
            ("delete_task", {"task_id": "x"}),
        ):
            failed, value = await as_reader(tool, user_id="reader", **more)
            assert (failed, list(value)) == (True, ["error"])
            assert "tasks:write" in value["error"]
        assert await as_reader("list_tasks", user_id="reader") == (False, [])
        await added(as_writer, "writer")
        failed, value = await as_writer("list_tasks", user_id="writer")
        assert (failed, "tasks:read" in value["error"]) == (True, True)


@pytest.mark.requirement("TOD-5")
async def test_the_setting_user_fixes_who_it_is_where_there_is_no_token(tmp_path):
    async with built(f"sqlite:///{tmp_path / 'todo.db'}", user="ana") as app:
        call = calling_app(app)
        task = await added(call, "ana")
        assert await call("list_tasks", user_id="bob") == DENIED
        assert await call("add_task", user_id="bob", title="A gift") == DENIED
        assert await call("complete_task", user_id="bob", task_id=task) == DENIED
        assert (await call("list_tasks", user_id="ana"))[1][0]["id"] == task


@contextmanager
def statements() -> Iterator[list[str]]:
    """Every statement that is run meanwhile, on whatever engine."""
    run: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        run.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield run
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@pytest.mark.requirement("TOD-5")
@pytest.mark.parametrize("tool", ["complete_task", "update_task", "delete_task"])
async def test_a_task_of_someone_else_takes_the_same_work_as_one_that_does_not_exist(db_url, tool):
    async with built(db_url) as app:
        as_ana = calling_app(app, user("ana", EVERYTHING))
        as_bob = calling_app(app, user("bob", EVERYTHING))
        task = await added(as_ana, "ana")
        more = {"title": "Mine"} if tool == "update_task" else {}
        run = {}
        for name, which in (("ana", task), ("bob", task), ("bob", str(uuid4())), ("bob", "none"), ("nobody", task)):
            with statements() as run[name, which]:
                assert await as_bob(tool, user_id=name, task_id=which, **more) == DENIED
    unknown = run["bob", "none"]
    assert len(unknown) > 0
    assert list(run.values()) == [unknown] * len(run)


# ---- what lasts ----------------------------------------------------------------------------------


@pytest.mark.requirement("TOD-6")
async def test_tasks_are_still_there_after_a_restart(db_url):
    async with built(db_url) as app:
        call = calling_app(app)
        await added(call, "ana", "Call the dentist")
        await call("complete_task", user_id="ana", task_id=await added(call, "ana"))
        before = await call("list_tasks", user_id="ana")
    async with built(db_url) as app:
        assert await calling_app(app)("list_tasks", user_id="ana") == before
    assert [(t["title"], t["is_completed"]) for t in before[1]] == [("Call the dentist", False), ("Buy milk", True)]


# ---- what happens at once ------------------------------------------------------------------------


@pytest.mark.requirement("TOD-6", "TOD-4")
async def test_fifty_toggles_at_once_end_where_fifty_toggles_end(db_url):
    async with built(db_url) as app:
        call = calling_app(app)
        task = await added(call, "ana")
        said = await asyncio.gather(*(call("complete_task", user_id="ana", task_id=task) for _ in range(50)))
        assert sorted(value["status"] for _, value in said) == ["completed"] * 25 + ["pending"] * 25
        (left,) = (await call("list_tasks", user_id="ana"))[1]
        assert left["is_completed"] is False
        await call("complete_task", user_id="ana", task_id=task)
        (left,) = (await call("list_tasks", user_id="ana"))[1]
        assert left["is_completed"] is True


@pytest.mark.requirement("TOD-6")
async def test_a_hundred_adds_at_once_are_a_hundred_tasks(db_url):
    async with built(db_url) as app:
        call = calling_app(app)
        ids = await asyncio.gather(*(added(call, "ana", f"Task {n}") for n in range(100)))
        _, found = await call("list_tasks", user_id="ana")
    assert sorted(task["id"] for task in found) == sorted(ids)


@pytest.mark.requirement("TOD-6")
async def test_two_servers_on_one_database_see_each_other_s_tasks(db_url):
    async with built(db_url) as one, built(db_url) as other:
        task = await added(calling_app(one), "ana")
        toggles = [calling_app(app)("complete_task", user_id="ana", task_id=task) for app in (one, other) * 10]
        await asyncio.gather(*toggles)
        assert (await calling_app(other)("list_tasks", user_id="ana"))[1][0]["is_completed"] is False


# ---- a database in trouble -----------------------------------------------------------------------


@pytest.mark.requirement("ERR-2")
async def test_without_its_database_every_tool_says_so_and_nothing_else(postgres_server, postgres_url):
    words = {
        (True, "The database cannot be reached at the moment. Try again shortly."),
        (True, "The connection to the database was lost. Try again shortly."),
    }
    async with built(postgres_url) as app:
        call = calling_app(app)
        task = await added(call, "ana")
        await asyncio.to_thread(postgres_server.stop)
        try:
            said = [
                await call("add_task", user_id="ana", title="a"),
                await call("list_tasks", user_id="ana"),
                await call("complete_task", user_id="ana", task_id=task),
            ]
        finally:
            await asyncio.to_thread(postgres_server.start)
        assert {(failed, value["error"]) for failed, value in said} <= words
        assert [task["title"] for task in (await call("list_tasks", user_id="ana"))[1]] == ["Buy milk"]
