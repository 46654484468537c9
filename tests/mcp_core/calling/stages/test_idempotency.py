import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa

from mcp_core import Answer, App, Caller, Confirm, Conflict, Question, Request, Settings, Unavailable
from mcp_core.calling.records import Reply
from mcp_core.calling.stages.idempotency import KEY, MAX_KEY_LENGTH, REPEATED
from mcp_core.context import RequestHeaders
from mcp_core.db import Database, address, open_database
from mcp_core.errors import Busy, ForgedReply
from mcp_core.idempotency import database_store as sql
from mcp_core.idempotency import state_store as in_state
from mcp_core.idempotency.keys import KeyedCall, KeyRecord, KeyTaken
from mcp_core.state.memory import MAX_RESERVED, MemoryState
from tests.mcp_core.declared import Number, mutation, query

ANN, BEN = Caller("user:ann", grants=frozenset({"*"})), Caller("user:ben", grants=frozenset({"*"}))
ledger = sa.table("ledger", sa.column("n", sa.Integer))


def insert(connection: sa.Connection, n: int) -> None:
    connection.execute(sa.insert(ledger), {"n": n})


def select(connection: sa.Connection) -> list[int]:
    return list(connection.execute(sa.select(ledger.c.n).order_by(ledger.c.n)).scalars())


def create(connection: sa.Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS ledger (n INTEGER)")


def keys_in(connection: sa.Connection) -> list[str]:
    return list(connection.exec_driver_sql("SELECT key FROM toolcharter_idempotency ORDER BY key").scalars())


class Ledger:
    """Numbers in a database or, without one, in memory; and tools that add to them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.numbers: list[int] = []
        self.started, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()
        self.fails: BaseException | None = None

    def app(self, **options: Any) -> App:
        @mutation({"n": 1}, idempotent=False, permissions=["ledger:write"])
        async def add(n: Number, database: Ledger) -> list[int]:
            await database.add(n)
            return await database.all()

        @mutation({"n": 1}, idempotent=False)
        async def add_also(n: Number, database: Ledger) -> list[int]:
            await database.add(n)
            return await database.all()

        @mutation({"n": 1})
        async def repeat(n: Number, database: Ledger) -> list[int]:
            await database.add(n)
            return await database.all()

        @mutation({"n": 1, "explicit_action": "REMOVE"}, confirm=Confirm("REMOVE", required=True))
        async def remove(n: Number, database: Ledger) -> list[int]:
            await database.add(-n)
            return await database.all()

        @query({})
        async def count(database: Ledger) -> int:
            return len(await database.all())

        tools = [add, add_also, repeat, remove, count]
        return self.serve(tools, **options)

    def serve(self, tools: list[Any], **options: Any) -> App:
        app = App("test", version="1.0.0", tools=tools, settings=self.settings, **{"format": "result", **options})
        app.provide(Ledger, self.open)
        return app

    async def open(self, app: App) -> AsyncIterator["Ledger"]:
        self.database: Database | None = None
        if self.settings.db is None:
            yield self
            return
        async with open_database(address(self.settings.db, "test")) as database:
            self.database = database
            await database.write(create)
            await app.use_database(database)
            yield self

    async def add(self, n: int) -> None:
        if self.database is None:
            self.numbers.append(n)
        else:
            await self.database.write(insert, n)
        self.started.set()
        await self.go_on.wait()
        if self.fails is not None:
            raise self.fails

    async def all(self) -> list[int]:
        return list(self.numbers) if self.database is None else await self.database.read(select)


@pytest.fixture(params=["sqlite", "postgresql", "memory", "redis"])
def settings(request: pytest.FixtureRequest, tmp_path: Any) -> Settings:
    """Each place where keys are kept."""
    urls: dict[str, dict[str, str]] = {
        "sqlite": {"db": f"sqlite:///{tmp_path / 'ledger.db'}"},
        "memory": {},
    }
    if request.param == "postgresql":
        urls["postgresql"] = {"db": request.getfixturevalue("postgres_url")}
    if request.param == "redis":
        urls["redis"] = {"redis": request.getfixturevalue("redis_url")}
    return Settings(deadline=30, **urls[request.param])


@pytest.fixture(params=["sqlite", "postgresql"])
def sql_settings(request: pytest.FixtureRequest, tmp_path: Any) -> Settings:
    sqlite = request.param == "sqlite"
    db = f"sqlite:///{tmp_path / 'ledger.db'}" if sqlite else request.getfixturevalue("postgres_url")
    return Settings(deadline=30, db=db)


@pytest.fixture(params=["memory", "redis"])
def state_settings(request: pytest.FixtureRequest) -> Settings:
    url = request.getfixturevalue("redis_url") if request.param == "redis" else None
    return Settings(deadline=30, redis=url)


def keyed(key: Any, n: int = 1, tool: str = "add", caller: Caller = ANN) -> Request:
    return Request(tool, {"n": n}, caller, meta={KEY: key})


async def said(app: App, request: Request) -> Any:
    """The value of a success, the type of a failure."""
    answer = await app.answer(request)
    assert isinstance(answer, Answer)
    fields = json.loads(answer.text)
    return fields["error_type"] if answer.is_error else fields["value"]


# ---- the same call again -------------------------------------------------------------------------


@pytest.mark.requirement("OPS-4")
async def test_the_same_key_and_arguments_give_the_first_answer_again_and_act_once(settings: Settings):
    book = Ledger(settings)
    async with book.app() as app:
        first, other, again = [await app.answer(keyed(key)) for key in ("k1", "k2", "k1")]
        assert json.loads(other.text)["value"] == [1, 1]
        assert await book.all() == [1, 1]
    assert again.text == first.text == '{"success":true,"value":[1]}'
    assert [first.meta, again.meta] == [None, {REPEATED: True}]


@pytest.mark.requirement("OPS-4")
@pytest.mark.parametrize("settings", ["sqlite", "postgresql", "redis"], indirect=True)
async def test_another_process_gives_the_first_answer(settings: Settings):
    one, two = Ledger(settings), Ledger(settings)
    async with one.app() as first, two.app() as second:
        assert await said(first, keyed("k")) == [1]
        assert await said(second, keyed("k")) == [1]
        assert (await one.all(), two.numbers) == ([1], [])


@pytest.mark.requirement("OPS-4")
async def test_a_key_is_refused_with_other_arguments_or_another_tool(settings: Settings):
    book = Ledger(settings)
    async with book.app() as app:
        assert await said(app, keyed("k")) == [1]
        answer = await app.answer(keyed("k", n=2))
        assert json.loads(answer.text) == {
            "success": False,
            "error": "The idempotency key 'k' was used for another call. Nothing was done. "
            "Send a new key with a new call, and the same tool and arguments with the same key.",
            "error_type": "IdempotencyError",
            "instruction": "Present this error to the user and take no further action.",
        }
        assert await said(app, keyed("k", tool="add_also")) == "IdempotencyError"
        assert await book.all() == [1]


@pytest.mark.requirement("OPS-4")
async def test_the_same_key_of_another_caller_is_another_key(settings: Settings):
    book = Ledger(settings)
    async with book.app() as app:
        assert [await said(app, keyed("k", caller=caller)) for caller in (ANN, BEN, ANN)] == [[1], [1, 1], [1]]


async def test_other_credentials_in_the_headers_do_not_get_the_answer(settings: Settings):
    book = Ledger(settings)
    async with book.app() as app:
        request = keyed("k")._replace(headers=RequestHeaders({"x-acme-token": "one"}))
        assert await said(app, request) == [1]
        assert await said(app, request._replace(headers=RequestHeaders({"x-acme-token": "two"}))) == "IdempotencyError"
        assert await said(app, request) == [1]


async def test_a_call_without_a_key_acts_each_time(settings: Settings):
    book = Ledger(settings)
    async with book.app() as app:
        assert [await said(app, Request("add", {"n": 1}, ANN)) for _ in range(2)] == [[1], [1, 1]]


@pytest.mark.parametrize("key", ["", "k" * (MAX_KEY_LENGTH + 1), 7, None, ["k"], "a\nb", "\x1b[31m", "\u2028"])
async def test_a_key_that_is_not_valid_is_refused_before_anything_is_done(key: Any):
    book = Ledger(Settings())
    async with book.app() as app:
        answer = await app.answer(keyed(key))
        fields = json.loads(answer.text)
        assert fields["error_type"] == "ValidationError"
        assert fields["error"].startswith("The idempotency key ")
        assert len(fields["error"]) < 500
        assert "\n" not in fields["error"]
        assert "\x1b" not in fields["error"]
    assert book.numbers == []


async def test_a_tool_that_only_reads_ignores_the_key(settings: Settings):
    book = Ledger(settings)
    async with book.app() as app:
        reading = Request("count", {}, ANN, meta={KEY: "k"})
        assert await said(app, reading) == 0
        assert await said(app, keyed("k")) == [1]
        assert await said(app, reading) == 1
        assert await said(app, reading._replace(meta={KEY: ["not", "valid"]})) == 1


async def test_the_audit_trail_tells_a_repeated_answer_from_the_first(settings: Settings, tmp_path: Any):
    book = Ledger(settings.model_copy(update={"audit": str(tmp_path / "audit.jsonl")}))
    async with book.app() as app:
        for _ in range(2):
            await said(app, keyed("k"))
    records = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    calls = [record for record in records if record.get("tool") == "add"]
    assert [record.get("repeated") for record in calls] == [None, True]
    assert len({record["argumentsDigest"] for record in calls}) == 1


# ---- gates ---------------------------------------------------------------------------------------


@pytest.mark.requirement("OPS-4")
async def test_a_permission_is_checked_before_the_first_answer_is_given_again(settings: Settings):
    book = Ledger(settings)
    async with book.app() as app:
        assert await said(app, keyed("k")) == [1]
        revoked = Caller(ANN.key, grants=frozenset({"ledger:read"}))
        assert await said(app, keyed("k", caller=revoked)) == "PermissionError"


@pytest.mark.requirement("OPS-4")
async def test_consent_is_checked_before_the_first_answer_is_given_again(settings: Settings):
    book = Ledger(settings)
    async with book.app() as app:
        arguments = {"n": 1, "explicit_action": "REMOVE"}
        call = Request("remove", arguments, ANN, meta={KEY: "k"}, can_return_questions=True)
        question = await app.answer(call)
        assert isinstance(question, Question)
        confirmed = call._replace(reply=Reply(question.state, accepted=True))
        assert await said(app, confirmed) == [-1]
        # The same request again, as after a lost connection: its confirmation was used, by this very call.
        assert await said(app, confirmed) == [-1]
        # A retry by another program, without the reply: nobody is asked about what is done.
        assert await said(app, call) == [-1]
        assert await said(app, call._replace(arguments={"n": 1})) == "ValidationError"
        assert await said(app, call._replace(reply=Reply(question.state, accepted=False))) == "ConsentError"
        with pytest.raises(ForgedReply):
            await app.answer(call._replace(reply=Reply("e30.00", accepted=True)))
        assert await book.all() == [-1]


async def test_without_the_confirmation_nothing_is_done_and_the_key_stays_free(settings: Settings):
    book = Ledger(settings)
    async with book.app() as app:
        call = Request("remove", {"n": 1, "explicit_action": "REMOVE"}, ANN, meta={KEY: "k"}, can_return_questions=True)
        question = await app.answer(call)
        assert isinstance(question, Question)
        assert await said(app, call._replace(reply=Reply(question.state, accepted=False))) == "ConsentError"
        assert await book.all() == []
        assert isinstance(await app.answer(call), Question)


# ---- at the same time ----------------------------------------------------------------------------


@pytest.mark.requirement("OPS-4")
async def test_of_two_calls_at_once_one_acts_and_the_other_waits_for_its_answer(sql_settings: Settings):
    one, two = Ledger(sql_settings), Ledger(sql_settings)
    one.go_on.clear()
    async with one.app() as first, two.app() as second:
        acting = asyncio.create_task(said(first, keyed("k")))
        await one.started.wait()
        waiting = asyncio.create_task(said(second, keyed("k")))
        # The other waits inside the database: nothing of it is visible here but that it goes on.
        await asyncio.wait([waiting], timeout=0.3)
        assert not waiting.done()
        one.go_on.set()
        assert await acting == await waiting == [1]
        assert await one.all() == [1]


async def test_a_call_that_waits_longer_than_its_deadline_is_told_to_call_again(sql_settings: Settings):
    one, two = Ledger(sql_settings), Ledger(sql_settings.model_copy(update={"deadline": 0.2}))
    one.go_on.clear()
    async with one.app() as first, two.app() as second:
        acting = asyncio.create_task(said(first, keyed("k")))
        await one.started.wait()
        answer = await second.answer(keyed("k"))
        assert json.loads(answer.text) == {
            "success": False,
            "error": "Another call of 'add' with the idempotency key 'k' is in progress, or the database is busy. "
            "This call did nothing. Call again with the same key.",
            "error_type": "InProgressError",
            "instruction": "Wait a moment, then call this tool again with the same idempotency key and arguments.",
        }
        one.go_on.set()
        assert await acting == await said(first, keyed("k")) == [1]


async def test_if_the_first_of_two_calls_fails_the_other_acts(sql_settings: Settings):
    one, two = Ledger(sql_settings), Ledger(sql_settings)
    one.go_on.clear()
    one.fails = Conflict("no")
    async with one.app() as first, two.app() as second:
        acting = asyncio.create_task(said(first, keyed("k")))
        await one.started.wait()
        waiting = asyncio.create_task(said(second, keyed("k")))
        await asyncio.wait([waiting], timeout=0.1)
        one.go_on.set()
        assert await acting == "ConflictError"
        assert await waiting == [1]


async def test_without_a_database_the_second_of_two_calls_is_told_to_call_again(state_settings: Settings):
    book = Ledger(state_settings)
    book.go_on.clear()
    async with book.app() as app:
        acting = asyncio.create_task(said(app, keyed("k")))
        await book.started.wait()
        assert await said(app, keyed("k")) == "InProgressError"
        book.go_on.set()
        assert await acting == await said(app, keyed("k")) == [1]
    assert book.numbers == [1]


async def test_a_key_that_is_taken_between_look_and_claim_is_refused(state_settings: Settings):
    call = KeyedCall(ANN.key, "k", "add", "digest", deadline=5, repeatable=False)
    async with Ledger(state_settings).app() as app:
        store = app._pipeline._keys
        async with store.claim(call):
            with pytest.raises(KeyTaken) as taken:
                await store.claim(call).__aenter__()
            assert taken.value.record == KeyRecord("digest", None, in_progress=True)


async def test_other_writes_go_on_after_a_call_with_a_key(sql_settings: Settings):
    book = Ledger(sql_settings)
    async with book.app() as app:
        requests = [keyed(f"k{n}", n) if n % 2 else Request("add", {"n": n}, ANN) for n in range(20)]
        answers = await asyncio.gather(*(said(app, request) for request in requests))
        assert all(isinstance(answer, list) for answer in answers)
        assert await book.all() == list(range(20))


# ---- failures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [Conflict("no"), Unavailable("away"), RuntimeError("bug")])
async def test_a_call_that_fails_leaves_nothing_in_the_database_and_its_key_is_free(
    sql_settings: Settings, failure: Exception
):
    book = Ledger(sql_settings)
    book.fails = failure
    async with book.app() as app:
        assert await said(app, keyed("k")) in ("ConflictError", "UnavailableError", "SystemError")
        assert await book.all() == []
        book.fails = None
        assert await said(app, keyed("k")) == [1]


async def test_a_call_that_is_cancelled_leaves_nothing_in_the_database_and_its_key_is_free(sql_settings: Settings):
    book = Ledger(sql_settings)
    book.go_on.clear()
    async with book.app() as app:
        acting = asyncio.create_task(said(app, keyed("k")))
        await book.started.wait()
        acting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await acting
        book.go_on.set()
        assert await said(app, keyed("k")) == [1]


async def test_without_a_database_a_known_failure_is_the_first_answer(state_settings: Settings):
    book = Ledger(state_settings)
    book.fails = Conflict("The shelf is full.")
    async with book.app() as app:
        first = await app.answer(keyed("k"))
        book.fails = None
        again = await app.answer(keyed("k"))
    assert (first.text, first.is_error) == (again.text, again.is_error)
    assert json.loads(first.text)["error"] == "The shelf is full."
    assert book.numbers == [1]


@pytest.mark.requirement("OPS-4")
@pytest.mark.parametrize("failure", [Unavailable("away"), RuntimeError("bug")])
async def test_without_a_database_a_call_of_unknown_outcome_is_not_carried_out_again(
    state_settings: Settings, failure: Exception
):
    book = Ledger(state_settings)
    book.fails = failure
    async with book.app() as app:
        await said(app, keyed("k"))
        book.fails = None
        answer = await app.answer(keyed("k"))
        assert json.loads(answer.text) == {
            "success": False,
            "error": "An earlier call of 'add' with the idempotency key 'k' was interrupted: it may have been carried "
            "out or not. This call did nothing. Look at what is there before you call again with a new key.",
            "error_type": "OutcomeError",
            "instruction": "Present this error to the user and take no further action. "
            "Do NOT attempt to fix this automatically.",
        }
    assert book.numbers == [1]


async def test_without_a_database_the_key_of_a_call_that_never_began_is_free():
    now = [1_000.0]
    state = MemoryState(clock=lambda: now[0])
    book = Ledger(Settings(deadline=30))
    book.fails = Busy("no thread is free")
    async with book.app(state=state) as app:
        assert await said(app, keyed("k")) == "BusyError"
        book.fails, book.numbers = None, []
        now[0] += 1
        assert await said(app, keyed("k")) == [1]


async def test_without_a_database_a_tool_that_may_be_repeated_is_carried_out_again(state_settings: Settings):
    book = Ledger(state_settings)
    book.fails = Unavailable("away")
    async with book.app() as app:
        assert await said(app, keyed("k", tool="repeat")) == "UnavailableError"
        book.fails = None
        assert await said(app, keyed("k", tool="repeat")) == [1, 1]
        assert await said(app, keyed("k", tool="repeat")) == [1, 1]


async def test_a_key_that_cannot_be_checked_is_refused(dead_url: str):
    book = Ledger(Settings(redis=dead_url))
    async with book.app() as app:
        answer = await app.answer(keyed("k"))
    fields = json.loads(answer.text)
    assert fields["error_type"] == "UnavailableError"
    assert fields["error"] == "The idempotency key cannot be checked right now. Nothing was done."
    assert book.numbers == []


async def test_a_handler_that_catches_everything_does_not_act_twice(sql_settings: Settings):
    @mutation({"n": 1}, idempotent=False)
    async def add_anyway(n: Number, book: Ledger) -> str:
        for _ in range(2):
            with contextlib.suppress(Exception):
                await book.add(n)
                return "added"
        return "gave up"

    one, two = Ledger(sql_settings), Ledger(sql_settings)
    one.go_on.clear()
    request = Request("add_anyway", {"n": 1}, ANN, meta={KEY: "k"})
    apps = [book.serve([add_anyway]) for book in (one, two)]
    async with apps[0] as first, apps[1] as second:
        acting = asyncio.create_task(said(first, request))
        await one.started.wait()
        waiting = asyncio.create_task(said(second, request))
        await asyncio.wait([waiting], timeout=0.1)
        one.go_on.set()
        assert await acting == await waiting == "added"
        assert await one.all() == [1]


# ---- how long ------------------------------------------------------------------------------------


async def test_an_answer_is_kept_for_as_long_as_is_set_and_then_deleted(sql_settings: Settings, monkeypatch: Any):
    now = [1_000_000.0]
    book = Ledger(sql_settings.model_copy(update={"idempotency_seconds": 3600.0}))
    async with book.app() as app:
        monkeypatch.setattr(app._pipeline._keys, "_clock", lambda: now[0])
        assert await said(app, keyed("k")) == [1]
        now[0] += 3600
        assert await said(app, keyed("k")) == [1]
        now[0] += 2
        assert await said(app, keyed("k")) == [1, 1]
        now[0] += 3602
        assert await said(app, keyed("other")) == [1, 1, 1]
        assert book.database is not None
        assert await book.database.read(keys_in) == ["other"]


async def test_cleaning_up_takes_a_bounded_number_at_once(sql_settings: Settings, monkeypatch: Any):
    monkeypatch.setattr(sql, "MAX_DELETED", 2)
    now = [1_000_000.0]
    book = Ledger(sql_settings.model_copy(update={"idempotency_seconds": 10.0}))
    async with book.app() as app:
        monkeypatch.setattr(app._pipeline._keys, "_clock", lambda: now[0])
        for n in range(5):
            await said(app, keyed(f"k{n}"))
        now[0] += sql.CLEANUP_SECONDS
        await said(app, keyed("last"))
        assert book.database is not None
        assert len(await book.database.read(keys_in)) == 4
        await said(app, keyed("another"))  # at once: more keys have expired than were deleted
        assert len(await book.database.read(keys_in)) == 3


async def test_a_call_in_progress_is_of_unknown_outcome_after_its_deadline():
    now = [1_000.0]
    state = MemoryState(clock=lambda: now[0])
    store = in_state.StateKeyStore(state, clock=lambda: now[0])
    book = Ledger(Settings(deadline=5))
    book.go_on.clear()
    async with book.app(state=state) as app:
        app._pipeline._keys = store
        acting = asyncio.create_task(said(app, keyed("k")))
        await book.started.wait()
        now[0] += 5 + in_state.MARGIN_SECONDS - 1
        assert await said(app, keyed("k")) == "InProgressError"
        now[0] += 2
        assert await said(app, keyed("k")) == "OutcomeError"
        book.go_on.set()
        await acting


async def test_memory_holds_a_bounded_number_of_keys_and_evicts_none():
    now = [0.0]
    state = MemoryState(clock=lambda: now[0])
    for n in range(MAX_RESERVED):
        state._reserved[str(n)] = (100.0, "")
    book = Ledger(Settings())
    async with book.app(state=state) as app:
        assert await said(app, keyed("k")) == "UnavailableError"
        now[0] = 101.0
        assert await said(app, keyed("k")) == [1]
    assert len(state._reserved) == 1
