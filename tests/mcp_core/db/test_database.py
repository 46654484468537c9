"""The database of a server, on real ones of both kinds."""

import asyncio
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Awaitable
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import asyncpg
import pytest
import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.exc import DBAPIError

from mcp_core import App, Settings, Unavailable
from mcp_core.db import UtcTime, address, open_database, opening, postgres, sqlite
from mcp_core.mcp_log import LogContext, set_log_context
from mcp_core.process.install_command import install_command
from mcp_core.process.start_errors import CannotStart

FORMS = "sqlite:///relative/file.db, sqlite:////absolute/file.db or postgresql://user:password@host/name"

numbers = sa.table("numbers", sa.column("n", sa.Integer))


def make_table(connection: sa.Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE numbers (n INTEGER)")


def insert(connection: sa.Connection, *values: int) -> None:
    connection.execute(sa.insert(numbers), [{"n": value} for value in values])


def select(connection: sa.Connection) -> list[int]:
    return list(connection.execute(sa.select(numbers.c.n).order_by(numbers.c.n)).scalars())


# ---- addresses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("sqlite:///todo.db", "todo.db"),
        ("sqlite:///data/todo.db", "data/todo.db"),
        ("sqlite:////var/lib/todo.db", "/var/lib/todo.db"),
        ("sqlite+aiosqlite:///todo.db", "todo.db"),
        ("sqlite+pysqlite:///todo.db", "todo.db"),
        ("sqlite:///~/todo.db", str(Path.home() / "todo.db")),
        ("sqlite:///:memory:", ":memory:"),
        ("sqlite://", ":memory:"),
    ],
)
def test_a_sqlite_url_as_people_write_it_names_a_file(text, file):
    url = address(text, "todo")
    assert (url.drivername, url.database) == ("sqlite", file)


def test_without_a_url_it_is_a_file_of_the_server_in_the_data_folder(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert address(None, "todo").database == "/data/toolcharter/todo.db"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2", "postgresql+asyncpg"])
def test_a_postgresql_url_means_the_same_whatever_driver_it_was_written_for(scheme):
    url = address(f"{scheme}://ana:secret@db.example:5433/todo?sslmode=require", "todo")
    assert url.render_as_string(hide_password=False) == (
        "postgresql+asyncpg://ana:secret@db.example:5433/todo?sslmode=require"
    )


def test_the_option_ssl_of_one_driver_is_the_sslmode_of_all_others():
    assert dict(address("postgresql://db.example/todo?ssl=require", "todo").query) == {"sslmode": "require"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("todo.db", f"'todo.db' is not a database URL; write {FORMS}."),
        ("", f"'' is not a database URL; write {FORMS}."),
        ("postgresql//ana:secret@db/todo", f"'***@db/todo' is not a database URL; write {FORMS}."),
        ("postgresql://ana:secret@db:many/todo", f"'***@db:many/todo' is not a database URL; write {FORMS}."),
        ("postgresql//db?password=secret", f"'postgresql//db' is not a database URL; write {FORMS}."),
        ("postgresql://ana:secret@db:99999/todo", f"99999 is not a port; write {FORMS}."),
        ("mysql://ana:secret@db/todo", f"'mysql' is not a supported database; write {FORMS}."),
        ("sqlite+pysqlcipher:///t.db", f"'sqlite+pysqlcipher' is not a supported database; write {FORMS}."),
        (
            "sqlite://todo.db",
            f"'sqlite://todo.db' names a host, not a file; a file has three slashes: {FORMS}.",
        ),
        (
            "sqlite:///todo.db?mode=ro",
            "SQLite URLs take no options here; remove mode from 'sqlite:///todo.db?mode=ro'.",
        ),
    ],
)
def test_a_url_that_is_not_valid_is_refused_with_what_to_write_and_no_password(text, words):
    with pytest.raises(CannotStart) as refused:
        address(text, "todo")
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ana:secret@db/todo", "postgresql://ana:***@db/todo"),
        ("postgresql://db/todo?user=ana&password=secret", "postgresql://db/todo"),
        ("postgresql://ana:secret@/todo?host=/run/pg", "postgresql://ana:***@/todo?host=/run/pg"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
    ],
)
async def test_the_location_of_a_database_shows_no_password(text, shown):
    async with open_database(address(text, "todo")) as database:
        assert database.location == shown


async def test_a_database_that_cannot_be_reached_is_unavailable_and_the_answer_shows_no_address():
    async with open_database(address("postgresql://ana:secret@127.0.0.1:1/todo", "todo")) as database:
        with pytest.raises(Unavailable, match=r"^The database cannot be reached at the moment. Try again shortly\.$"):
            await database.read(select)


def test_postgresql_without_its_driver_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    monkeypatch.delitem(sys.modules, "mcp_core.db.postgres", raising=False)
    with pytest.raises(CannotStart, match=re.escape(f"PostgreSQL needs asyncpg: {install_command('postgres')}")):
        opening._postgres(address("postgresql://db/todo", "todo"))


# ---- SQLite as a file ----------------------------------------------------------------------------


async def test_the_file_belongs_to_its_owner_alone_and_is_in_wal_mode(tmp_path):
    file = tmp_path / "new" / "todo.db"
    umask = os.umask(0)
    try:
        async with open_database(address(f"sqlite:///{file}", "todo")) as database:
            await database.write(make_table)
            assert await database.read(lambda c: c.exec_driver_sql("PRAGMA journal_mode").scalar()) == "wal"
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (file.parent, *file.parent.iterdir())}
    finally:
        os.umask(umask)
    assert modes == {"new": 0o700, "todo.db": 0o600, "todo.db-wal": 0o600, "todo.db-shm": 0o600}


@pytest.mark.parametrize(("file", "reason"), [("", "Is a directory"), ("taken/todo.db", "Not a directory")])
def test_a_file_that_cannot_be_made_is_explained(tmp_path, file, reason):
    (tmp_path / "taken").write_text("")
    path = tmp_path / file
    with pytest.raises(CannotStart) as refused:
        sqlite.Sqlite(address(f"sqlite:///{path}", "todo"))
    # Which of the two the system looks at first does not matter.
    assert str(refused.value).startswith(f"{path} cannot be used as a database: ")
    assert reason in str(refused.value) or "File exists" in str(refused.value)


async def test_a_file_that_is_not_a_database_is_unavailable(tmp_path):
    (tmp_path / "todo.db").write_text("Dear diary, this is no database, however long I write. " * 20)
    async with open_database(address(f"sqlite:///{tmp_path / 'todo.db'}", "todo")) as database:
        with pytest.raises(Unavailable):
            await database.read(select)


async def test_a_database_in_memory_keeps_what_is_written_and_a_read_there_cannot_write():
    async with open_database(address("sqlite://", "todo")) as database:
        await database.write(make_table)
        await database.write(insert, 1)
        with pytest.raises(DBAPIError, match="readonly"):
            await database.read(insert, 2)
        await database.write(insert, 3)
        assert await database.read(select) == [1, 3]


# ---- units of work, on both ----------------------------------------------------------------------


async def test_a_read_cannot_write(db_url):
    async with open_database(address(db_url, "todo")) as database:
        await database.write(make_table)
        with pytest.raises(DBAPIError, match=r"readonly|read-only"):
            await database.read(insert, 1)
        assert await database.read(select) == []


async def test_a_unit_that_fails_leaves_nothing_behind(db_url):
    def insert_and_fail(connection: sa.Connection) -> None:
        insert(connection, 1)
        raise ValueError("on second thoughts")

    async with open_database(address(db_url, "todo")) as database:
        await database.write(make_table)
        with pytest.raises(ValueError, match="on second thoughts"):
            await database.write(insert_and_fail)
        assert await database.read(select) == []


async def test_a_fault_of_ours_in_the_sql_is_not_called_unavailable(db_url):
    async with open_database(address(db_url, "todo")) as database:
        with pytest.raises(DBAPIError, match="numbers"):
            await database.read(select)


def two_inserts_with_a_wait_between(started: asyncio.Event, go_on: threading.Event):
    """A unit of work, and how to let it go on. SQLite waits in its thread, PostgreSQL in its server."""
    loop = asyncio.get_running_loop()

    def work(connection: sa.Connection) -> None:
        insert(connection, 1)
        loop.call_soon_threadsafe(started.set)
        if connection.dialect.name == "sqlite":
            assert go_on.wait(30)
        else:
            connection.exec_driver_sql("SELECT pg_sleep(60)")
        insert(connection, 2)

    return work


async def test_a_cancelled_write_is_done_whole_or_not_at_all(db_url):
    started, go_on = asyncio.Event(), threading.Event()
    async with open_database(address(db_url, "todo")) as database, asyncio.timeout(30):
        await database.write(make_table)
        writing = asyncio.create_task(database.write(two_inserts_with_a_wait_between(started, go_on)))
        await started.wait()
        writing.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await writing
        # SQLite's writer takes one unit after the other, so this one comes after it.
        await database.write(insert, 3)
        assert await database.read(select) in ([3], [1, 2, 3])


async def test_a_write_that_is_cancelled_before_it_begins_is_never_done(tmp_path):
    started, go_on = asyncio.Event(), threading.Event()
    async with open_database(address(f"sqlite:///{tmp_path / 'todo.db'}", "todo")) as database:
        await database.write(make_table)
        first = asyncio.create_task(database.write(two_inserts_with_a_wait_between(started, go_on)))
        await started.wait()
        second = asyncio.create_task(database.write(insert, 3))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        # Not earlier: a write that begins while its cancellation is on the way may be done.
        go_on.set()
        await first
        assert await database.read(select) == [1, 2]


async def test_a_call_past_its_deadline_leaves_nothing_behind(db_url):
    started, go_on = asyncio.Event(), threading.Event()
    async with open_database(address(db_url, "todo")) as database, asyncio.timeout(30):
        await database.write(make_table)

        async def write_slowly(why: Annotated[str, Field(description="Why.")]) -> str:
            await database.write(two_inserts_with_a_wait_between(started, go_on))
            return why

        app = App("slow", version="1.0.0", format="result", settings=Settings())
        app.tool(response_time=0.2)(write_slowly)
        async with app:
            answer = await app.call("write_slowly", {"why": "to see"})
            go_on.set()
        assert json.loads(answer.text)["error_type"] == "DeadlineError"
        await database.write(insert, 3)
        assert await database.read(select) == [3]


@pytest.mark.parametrize("kind", ["read", "write"])
async def test_a_query_ends_when_its_call_is_cancelled(tmp_path, kind):
    """Otherwise a few slow queries would keep all threads busy."""
    started = asyncio.Queue[None]()
    loop = asyncio.get_running_loop()

    def count_for_minutes(connection: sa.Connection) -> None:
        loop.call_soon_threadsafe(started.put_nowait, None)
        connection.execute(sa.text(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2e9) SELECT count(*) FROM n"
        ))  # fmt: skip

    async with open_database(address(f"sqlite:///{tmp_path / 'todo.db'}", "todo")) as database:
        await database.write(make_table)
        run, threads = (database.read, sqlite.READER_THREADS) if kind == "read" else (database.write, 1)
        slow = [asyncio.create_task(run(count_for_minutes)) for _ in range(threads)]
        for _ in slow:
            await started.get()
        for task in slow:
            task.cancel()
        async with asyncio.timeout(60):
            await asyncio.gather(*slow, return_exceptions=True)
            await database.write(insert, 3)
            assert await database.read(select) == [3]
            # The connections that were interrupted can be used again.
            results = await asyncio.gather(*(database.read(select) for _ in range(20)))
    assert results == [[3]] * 20


async def test_a_hundred_writers_at_once_all_write(db_url):
    async with open_database(address(db_url, "todo")) as database:
        await database.write(make_table)
        await asyncio.gather(*(database.write(insert, n) for n in range(100)))
        assert await database.read(select) == list(range(100))


WRITER = """
import asyncio, sys
import sqlalchemy as sa
from mcp_core.db import address, open_database

def add_one(connection):
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS sums (n INTEGER)")
    n = connection.exec_driver_sql("SELECT n FROM sums").scalar()
    connection.exec_driver_sql("INSERT INTO sums VALUES (1)" if n is None else f"UPDATE sums SET n = {n + 1}")

async def main():
    sys.stdin.readline()
    for _ in range(5):
        async with open_database(address(sys.argv[1], "todo")) as database:
            await asyncio.gather(*(database.write(add_one) for _ in range(10)))

asyncio.run(main())
"""


def test_several_processes_write_one_sqlite_file_and_none_finds_it_locked(tmp_path):
    command = [sys.executable, "-c", WRITER, f"sqlite:///{tmp_path / 'todo.db'}"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    said = [writer.communicate(timeout=60)[1] for writer in writers]
    assert said == [""] * 2
    with closing(sqlite3.connect(tmp_path / "todo.db", isolation_level=None)) as connection:
        assert connection.execute("SELECT n FROM sums").fetchall() == [(100,)]
    connection.close()


async def test_times_come_back_in_utc(db_url):
    moments = sa.table("moments", sa.column("moment", UtcTime), sa.column("none", UtcTime))
    columns = [sa.Column("moment", sa.DateTime(timezone=True)), sa.Column("none", sa.DateTime(timezone=True))]
    table = sa.Table("moments", sa.MetaData(), *columns)
    in_berlin = datetime(2026, 7, 28, 1, 30, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
    async with open_database(address(db_url, "todo")) as database:
        await database.write(table.create)
        await database.write(lambda c: c.execute(sa.insert(moments), {"moment": in_berlin, "none": None}))
        (row,) = await database.read(lambda c: c.execute(sa.select(moments)).all())
    assert row == (datetime(2026, 7, 27, 23, 30, 0, 123456, tzinfo=UTC), None)
    assert row.moment.tzinfo is UTC or row.moment.utcoffset() == timedelta()


# ---- one transaction for several units of work ---------------------------------------------------


async def test_units_of_one_transaction_are_done_together_or_not_at_all(db_url):
    def fail(connection: sa.Connection) -> None:
        insert(connection, 9)
        raise KeyError

    async with open_database(address(db_url, "todo")) as database:
        await database.write(make_table)
        async with database.transaction(lambda connection: insert(connection, 1)) as transaction:
            assert await database.read(select) == []
            await database.write(insert, 2)
            with pytest.raises(KeyError):
                await database.write(fail)
            assert await database.read(select) == [1, 2]
            await asyncio.gather(*(database.write(insert, n) for n in (3, 4)))
            await transaction.commit(lambda connection: insert(connection, 5))
        assert await database.read(select) == [1, 2, 3, 4, 5]
        async with database.transaction(lambda connection: insert(connection, 6)):
            await database.write(insert, 7)
        await database.write(insert, 8)
        assert await database.read(select) == [1, 2, 3, 4, 5, 8]


async def test_a_task_that_outlives_the_transaction_writes_outside_it(db_url):
    async with open_database(address(db_url, "todo")) as database:
        await database.write(make_table)
        go_on = asyncio.Event()

        async def later() -> None:
            await go_on.wait()
            await database.write(insert, 2)

        async with database.transaction(lambda connection: None):
            await database.write(insert, 1)
            task = asyncio.create_task(later())
        go_on.set()
        await task
        assert await database.read(select) == [2]


@pytest.mark.requirement("FAR-3")
async def test_a_caller_whose_units_of_work_wait_in_postgresql_leaves_connections_to_others(postgres_url):
    def lock(connection: sa.Connection) -> None:
        connection.exec_driver_sql("SELECT pg_advisory_lock_shared(7)")
        connection.exec_driver_sql("SELECT pg_advisory_unlock_shared(7)")

    async def as_caller(caller: str, use: Awaitable[Any]) -> Any:
        set_log_context(LogContext("trace", "correlation", caller=caller))
        return await use

    async with open_database(address(postgres_url, "todo")) as database:
        await database.write(make_table)
        holder = await asyncpg.connect(postgres_url)
        await holder.execute("SELECT pg_advisory_lock(7)")
        uses = [use(lock) for use in (database.read, database.write) for _ in range(20)]
        waiting = [asyncio.create_task(as_caller("ana", use)) for use in uses]
        await asyncio.sleep(0)
        async with asyncio.timeout(20):  # a connection is waited for as long as 30 seconds
            await asyncio.create_task(as_caller("ben", database.write(insert, 1)))
            assert await asyncio.create_task(as_caller("ben", database.read(select))) == [1]
            async with database.transaction(lambda connection: insert(connection, 2)) as transaction:
                await transaction.commit(lambda connection: insert(connection, 3))
        assert not any(one.done() for one in waiting)
        await holder.close()
        await asyncio.gather(*waiting)
        assert await database.read(select) == [1, 2, 3]


async def test_of_two_transactions_in_a_deadlock_one_is_told_to_try_again(postgres_url):
    def lock(connection: sa.Connection, n: int) -> None:
        connection.execute(sa.update(numbers).where(numbers.c.n == n).values(n=n))

    async with open_database(address(postgres_url, "todo")) as database:
        await database.write(make_table)
        await database.write(insert, 1, 2)
        both = asyncio.Barrier(2)

        async def cross(first: int, second: int) -> str:
            try:
                async with database.transaction(lambda connection: lock(connection, first)) as transaction:
                    await database.write(lambda connection: None)
                    await both.wait()
                    await transaction.commit(lambda connection: lock(connection, second))
            except Unavailable as error:
                return str(error)
            return "done"

        said = await asyncio.gather(cross(1, 2), cross(2, 1))
    busy = "The database was busy with a change that conflicts with this one. Try again."
    assert sorted(said) == [busy, "done"]


# ---- a database that goes away -------------------------------------------------------------------


async def test_postgresql_that_is_stopped_is_unavailable_and_is_used_again_when_it_is_back(
    postgres_server, postgres_url
):
    async with open_database(address(postgres_url, "todo")) as database:
        await database.write(make_table)
        await database.write(insert, 1)
        await asyncio.to_thread(postgres_server.stop)
        try:
            for use in (database.read(select), database.write(insert, 2), database.read(select)):
                with pytest.raises(Unavailable, match="Try again shortly"):
                    await use
        finally:
            await asyncio.to_thread(postgres_server.start)
        await database.write(insert, 3)
        assert await database.read(select) == [1, 3]


async def test_a_restart_of_postgresql_between_two_calls_is_not_noticed(postgres_server, postgres_url):
    async with open_database(address(postgres_url, "todo")) as database:
        await database.write(make_table)
        assert await database.read(select) == []
        await asyncio.to_thread(postgres_server.stop)
        await asyncio.to_thread(postgres_server.start)
        await database.write(insert, 1)
        assert await database.read(select) == [1]


async def test_a_connection_that_is_cut_during_a_write_is_unavailable_and_leaves_nothing(postgres_url):
    def insert_and_cut(connection: sa.Connection) -> None:
        insert(connection, 1)
        connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")

    async with open_database(address(postgres_url, "todo")) as database:
        await database.write(make_table)
        with pytest.raises(Unavailable, match="Try again shortly"):
            await database.write(insert_and_cut)
        await database.write(insert, 2)
        assert await database.read(select) == [2]


async def test_sqlite_that_another_process_keeps_locked_is_unavailable_and_then_used_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "WAIT_SECONDS", 0)
    async with open_database(address(f"sqlite:///{tmp_path / 'todo.db'}", "todo")) as database:
        await database.write(make_table)
        other = sqlite3.connect(tmp_path / "todo.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match=r"^The database cannot be used at the moment. Try again shortly\.$"):
            await database.write(insert, 1)
        assert await database.read(select) == []
        other.execute("ROLLBACK")
        other.close()
        await database.write(insert, 2)
        assert await database.read(select) == [2]


@pytest.mark.requirement("OPS-7")
async def test_a_server_that_hangs_is_unavailable_and_not_a_fault(postgres_url, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(postgres, "MAX_CONNECTIONS", 2)
    async with open_database(address(postgres_url, "x")) as database, asyncio.TaskGroup() as tasks:
        holder = tasks.create_task(database.write(lambda c: c.exec_driver_sql("SELECT pg_sleep(1)")))
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match=r"The database does not answer at the moment\. Try again shortly\."):
            await database.write(lambda c: c.exec_driver_sql("SELECT 1"))
        assert not holder.done()


@pytest.mark.requirement("OPS-7")
async def test_a_full_disk_is_seen_by_readiness(tmp_path, monkeypatch: pytest.MonkeyPatch):
    app, free = App("demo", settings=Settings()), [10**9]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free[0]))
    async with open_database(address(f"sqlite:///{tmp_path}/x.db", "x")) as database:
        await app.use_database(database)
        assert [health.ok for health in await app.check_health()] == [True]
        free[0] = 1000
        app._checks["database"]._fresh_until = 0.0  # a second later
        (health,) = await app.check_health()
    assert (health.ok, health.detail) == (False, "The disk of the database is full: 1,000 bytes are free.")
