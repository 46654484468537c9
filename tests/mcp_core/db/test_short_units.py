"""Short units of work on SQLite: run by the event loop itself, and by a thread where they would have to wait."""

import asyncio
import sqlite3
import threading
from contextlib import closing

import pytest
import sqlalchemy as sa

from mcp_core import Unavailable
from mcp_core.db import Database, address, open_database, short_unit
from mcp_core.db.sqlite import CHECKPOINT_WRITES

COUNT = sa.text("WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < :most) SELECT count(*) FROM n")
MANY = 100_000
"""Enough for a unit of work that is not short."""


def make_table(connection: sa.Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE numbers (n INTEGER)")


@short_unit
def insert(connection: sa.Connection, n: int) -> int:
    """Add a number; returns the thread."""
    connection.exec_driver_sql("INSERT INTO numbers VALUES (?)", (n,))
    return threading.get_ident()


@short_unit
def select(connection: sa.Connection) -> list[int]:
    return list(connection.exec_driver_sql("SELECT n FROM numbers ORDER BY n").scalars())


@pytest.fixture
async def database(tmp_path):
    async with open_database(address(f"sqlite:///{tmp_path / 'todo.db'}", "todo")) as database:
        await database.write(make_table)
        for _ in range(2):  # after them, the event loop may write
            await database.write(insert, 0)
        yield database


@pytest.fixture
def other(tmp_path):
    """Another process, as far as SQLite can tell."""
    with closing(sqlite3.connect(tmp_path / "todo.db", isolation_level=None)) as connection:
        yield connection


async def test_the_event_loop_runs_a_short_unit(database: Database):
    assert await database.write(insert, 1) == threading.get_ident()
    assert await database.read(short_unit(lambda _: threading.get_ident())) == threading.get_ident()
    assert await database.read(select) == [0, 0, 1]


@pytest.mark.parametrize("kind", ["read", "write"])
async def test_a_short_unit_that_turns_out_to_be_long_is_run_again_in_a_thread(database: Database, kind: str):
    threads: list[int] = []

    @short_unit
    def work(connection: sa.Connection) -> int:
        threads.append(threading.get_ident())
        if kind == "write":
            insert(connection, 1)
        return connection.execute(COUNT, {"most": MANY}).scalar_one()

    assert await (database.read if kind == "read" else database.write)(work) == MANY
    assert [thread == threading.get_ident() for thread in threads] == [True, False]
    assert await database.read(select) == ([0, 0] if kind == "read" else [0, 0, 1])


async def test_many_runs_of_a_short_statement_are_not_taken_for_a_long_one(database: Database):
    """SQLite counts the steps of a statement over all its runs."""
    count = short_unit(lambda connection: (connection.execute(COUNT, {"most": 50}), threading.get_ident())[1])
    assert {await database.read(count) for _ in range(200)} == {threading.get_ident()}


async def test_while_another_process_writes_a_short_write_waits_in_a_thread(database: Database, other):
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(database.write(insert, 1))
    await asyncio.sleep(0)
    assert await database.read(select) == [0, 0], "a read goes on"
    assert not writing.done()
    other.execute("COMMIT")
    assert await asyncio.wait_for(writing, 30) != threading.get_ident()
    assert await database.read(select) == [0, 0, 1]


async def test_short_writes_wait_in_order_for_a_write_in_the_thread(database: Database):
    go_on, order = threading.Event(), list[int]()

    def write_slowly(connection: sa.Connection) -> None:
        assert go_on.wait(30)
        insert(connection, 1)

    async def write(n: int) -> None:
        await database.write(insert, n)
        order.append(n)

    slow = asyncio.create_task(database.write(write_slowly))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(write(n)) for n in range(2, 7)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    go_on.set()
    await slow
    await asyncio.gather(*waiting, return_exceptions=True)
    assert order == [2, 4, 5, 6]
    assert await database.read(select) == [0, 0, 1, 2, 4, 5, 6]


async def test_a_failure_of_a_short_write_undoes_it(database: Database):
    @short_unit
    def fail(connection: sa.Connection) -> None:
        insert(connection, 1)
        raise KeyError("no")

    with pytest.raises(KeyError):
        await database.write(fail)
    assert await database.write(insert, 2) == threading.get_ident()
    assert await database.read(select) == [0, 0, 2]


async def test_a_short_read_cannot_write(database: Database):
    with pytest.raises(sa.exc.DBAPIError, match="readonly"):
        await database.read(insert, 1)


async def test_a_file_that_is_not_a_database_is_unavailable_to_short_units(tmp_path):
    (tmp_path / "no.db").write_text("Dear diary, this is no database, however long I write. " * 20)
    async with open_database(address(f"sqlite:///{tmp_path / 'no.db'}", "todo")) as database:
        with pytest.raises(Unavailable):
            await database.read(select)
        for _ in range(3):
            with pytest.raises(Unavailable):
                await database.write(insert, 1)


async def test_the_log_of_the_file_does_not_grow_without_end(database: Database, tmp_path):
    page = b"x" * 4000
    fill = short_unit(lambda connection: connection.exec_driver_sql("INSERT INTO pages VALUES (?)", (page,)) and None)
    await database.write(lambda connection: connection.exec_driver_sql("CREATE TABLE pages (page BLOB)") and None)
    for _ in range(4 * CHECKPOINT_WRITES):
        await database.write(fill)
    log, file = ((tmp_path / name).stat().st_size for name in ("todo.db-wal", "todo.db"))
    assert log < 12_000_000
    assert file > 2 * CHECKPOINT_WRITES * 4000, "most pages are in the database"


# ---- transactions --------------------------------------------------------------------------------


async def test_the_event_loop_runs_a_transaction_of_short_units(database: Database):
    async with database.transaction(lambda connection: insert(connection, 1) and None) as transaction:
        assert await database.write(insert, 2) == threading.get_ident()
        assert await database.read(select) == [0, 0, 1, 2]
        await transaction.commit(lambda connection: insert(connection, 3) and None)
    async with database.transaction(lambda connection: insert(connection, 4) and None):
        await database.write(insert, 5)
    assert await database.write(insert, 6) == threading.get_ident()
    assert await database.read(select) == [0, 0, 1, 2, 3, 6]


async def test_a_unit_that_is_not_short_takes_its_transaction_to_the_thread(database: Database):
    def slowly(connection: sa.Connection) -> int:
        return insert(connection, 2)

    async with database.transaction(lambda connection: insert(connection, 1) and None) as transaction:
        assert await database.write(insert, 2) == threading.get_ident()
        assert await database.write(slowly) != threading.get_ident()
        assert await database.write(insert, 3) != threading.get_ident()
        await transaction.commit(lambda _: None)
    assert await database.write(insert, 4) == threading.get_ident()
    assert await database.read(select) == [0, 0, 1, 2, 2, 3, 4]


async def test_a_short_write_waits_for_the_transaction_of_another_call(database: Database):
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def change_and_wait() -> None:
        async with database.transaction(lambda _: None) as transaction:
            await database.write(insert, 1)
            begun.set()
            await go_on.wait()
            assert await database.read(select) == [0, 0, 1]
            await transaction.commit(lambda _: None)

    first = asyncio.create_task(change_and_wait())
    await begun.wait()
    second = asyncio.create_task(database.write(insert, 2))
    await asyncio.sleep(0)
    assert await database.read(select) == [0, 0], "nothing is committed"
    go_on.set()
    await asyncio.gather(first, second)
    assert await database.read(select) == [0, 0, 1, 2]


async def test_a_transaction_begins_in_the_thread_while_another_process_writes(database: Database, other):
    other.execute("BEGIN IMMEDIATE")

    async def change() -> int:
        async with database.transaction(lambda connection: insert(connection, 1) and None) as transaction:
            thread = await database.write(insert, 2)
            await transaction.commit(lambda _: None)
        return thread

    changing = asyncio.create_task(change())
    await asyncio.sleep(0)
    other.execute("COMMIT")
    assert await asyncio.wait_for(changing, 30) != threading.get_ident()
    assert await database.read(select) == [0, 0, 1, 2]


async def test_a_short_write_after_a_transaction_of_several_units_is_committed(database: Database, other):
    async with database.transaction(lambda connection: None) as transaction:
        await database.write(insert, 1)
        await transaction.commit(lambda connection: None)
    async with database.transaction(lambda connection: None):
        await database.write(insert, 2)  # and is rolled back
    await database.write(insert, 3)
    assert other.execute("SELECT n FROM numbers ORDER BY n").fetchall() == [(0,), (0,), (1,), (3,)]
