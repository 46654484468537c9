"""The SQLite file of recent calls."""

import asyncio
import threading

import pytest

from mcp_core.errors import Unavailable
from toolcharter.call_log.database import LogTransaction, SqliteCalls


def rows(session: LogTransaction) -> list[int]:
    return [number for (number,) in session.rows("SELECT number FROM t")]


async def test_a_write_that_nobody_waits_for_any_more_changes_nothing(tmp_path):
    calls, began, goes_on = SqliteCalls(str(tmp_path / "calls.db")), asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def add(session: LogTransaction) -> None:
        session.run("INSERT INTO t VALUES (1)")
        loop.call_soon_threadsafe(began.set)
        goes_on.wait(60)

    await calls.write(lambda session: session.run("CREATE TABLE t (number INTEGER)"))
    writing = asyncio.ensure_future(calls.write(add))
    await began.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    goes_on.set()
    await calls.write(lambda session: session.run("INSERT INTO t VALUES (:number)", {"number": 2}))
    assert await calls.read(rows) == [2]
    await calls.close()


async def test_a_write_that_fails_changes_nothing(tmp_path):
    calls = SqliteCalls(str(tmp_path / "calls.db"))

    def add(session: LogTransaction) -> None:
        session.run("INSERT INTO t VALUES (1)")
        raise KeyError

    await calls.write(lambda session: session.run("CREATE TABLE t (number INTEGER)"))
    with pytest.raises(KeyError):
        await calls.write(add)
    assert await calls.read(rows) == []
    await calls.close()


async def test_a_file_that_is_no_database_is_not_available(tmp_path):
    (tmp_path / "calls.db").write_text("not a database" * 100)
    calls = SqliteCalls(str(tmp_path / "calls.db"))
    with pytest.raises(Unavailable):
        await calls.read(rows)
    await calls.close()
