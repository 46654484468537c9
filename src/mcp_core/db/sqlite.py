"""A database in a SQLite file."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import QueuePool, StaticPool

from mcp_core.db.database import WAIT_SECONDS, P, T, Work, is_short, unit_span
from mcp_core.db.loop_connection import LoopConnection, WouldWait, driver
from mcp_core.db.transaction import Transaction, Unit, current, one_transaction
from mcp_core.db.write_turn import WriteTurn
from mcp_core.files.sqlite_file import PRAGMAS, Cancellation, SqliteThreads, create_file, file_errors, interruptible
from mcp_core.logs.telemetry import Waits

READER_THREADS = 4
"""Reads run side by side in these threads; writes take turns in one of their own."""
CHECKPOINT_WRITES = 512
"""Of so many writes, two run in the thread in any case."""
_WRITE = "BEGIN IMMEDIATE"


class Sqlite:
    """A file, read by a few threads and written by one; short units of work are run by the event loop itself.

    SQLite never waits for a network, so a whole unit of work costs one change of thread, or none.
    """

    def __init__(self, url: URL) -> None:
        self.location = f"sqlite:///{url.database}"
        self.waits = Waits()
        self._in_memory = url.database == ":memory:"
        if not self._in_memory and url.database:
            create_file(Path(url.database))
        pool = StaticPool if self._in_memory else QueuePool
        self._write_engine = _engine(url, pool, begin=_WRITE)
        self._read_engine = self._write_engine if self._in_memory else _engine(url, pool, writes=False)
        self._writer = SqliteThreads("sqlite-writer")
        self._readers = self._writer if self._in_memory else SqliteThreads("sqlite-reader", READER_THREADS)
        self._loop_reads = LoopConnection(_engine(url, pool, writes=False, waits=False), None)
        self._loop_writes = LoopConnection(_engine(url, pool, waits=False, checkpoints=False), _WRITE)
        self._turn = WriteTurn()
        self._writes = 0

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        began = time.perf_counter()
        with unit_span("read", "sqlite", work):
            if (transaction := current(self)) is not None and transaction.is_begun:
                return await transaction.run(lambda connection: work(connection, *args, **kwargs))
            if is_short(work) and not self._in_memory:
                with suppress(WouldWait):
                    value = self._loop_reads.run(work, *args, **kwargs)
                    self.waits.add(0.0)
                    return value
            reading = partial(_query_only, work) if self._in_memory else work
            return await self._run(self._readers, self._read_engine, began, reading, *args, **kwargs)

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        began = time.perf_counter()
        with unit_span("write", "sqlite", work):
            if (transaction := current(self)) is not None:
                return await transaction.run(lambda connection: work(connection, *args, **kwargs), short=is_short(work))
            if is_short(work):
                if self._turn.is_held:
                    await self._turn.until_free()
                if self._may_write_at_once():
                    waited = time.perf_counter() - began
                    with suppress(WouldWait):
                        value = self._loop_writes.run(work, *args, **kwargs)
                        self.waits.add(waited)
                        return value
            await self._turn.take(long=True)
            try:
                return await self._run(self._writer, self._write_engine, began, work, *args, **kwargs)
            finally:
                self._turn.end()

    def _may_write_at_once(self) -> bool:
        """Whether the event loop may do the next write.

        From time to time SQLite moves what was written from its log to the database, and waits for the disk. Only
        connections of the thread do so, which gets every 512th write; and the one after it, which may begin a new log,
        and then waits for the disk too.
        """
        self._writes += 1
        return self._writes % CHECKPOINT_WRITES > 1 and not self._in_memory

    async def _run(
        self,
        threads: SqliteThreads,
        engine: Engine,
        began: float,
        work: Work[P, T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        def run(cancellation: Cancellation) -> T:
            self.waits.add(time.perf_counter() - began)
            return _run_unit(engine, cancellation, work, *args, **kwargs)

        return await threads.run(run)

    def transaction(self, first: Unit[None]) -> AbstractAsyncContextManager[Transaction]:
        return one_transaction(self, self._open_session, first)

    async def _open_session(self) -> "_SqliteTransaction":
        await self._turn.take(long=False)
        return _SqliteTransaction(self._turn, self._begin_at_once, self._writer, self._write_engine)

    def _begin_at_once(self) -> Connection | None:
        if self._may_write_at_once():
            with suppress(WouldWait):
                return self._loop_writes.begin()
        return None

    async def close(self) -> None:
        for threads in (self._readers, self._writer):
            await threads.close()
        self._loop_reads.close()
        self._loop_writes.close()
        self._read_engine.dispose()
        self._write_engine.dispose()


def _run_unit(engine: Engine, cancellation: Cancellation, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    with engine.begin() as connection:
        with interruptible(driver(connection), cancellation.is_requested):
            value = work(connection, *args, **kwargs)
        if cancellation.requested:
            connection.rollback()
        return value


class _SqliteTransaction:
    """A transaction that has the turn to write, so that other writes wait for theirs behind it.

    The event loop runs its units of work while all of them are short, and then the writer's thread.
    """

    def __init__(
        self,
        turn: WriteTurn,
        begin_at_once: Callable[[], Connection | None],
        writer: SqliteThreads,
        engine: Engine,
    ) -> None:
        self._turn, self._begin_at_once, self._writer, self._engine = turn, begin_at_once, writer, engine
        self._connection: Connection | None = None
        self._in_thread = False
        self._cancellation = Cancellation()

    async def run(self, unit: Unit[T], *, short: bool) -> T:
        if short and not self._in_thread:
            self._connection = self._connection or self._begin_at_once()
            if self._connection is not None:
                with file_errors():
                    return unit(self._connection)
        self._in_thread = True
        with file_errors():
            return await self._writer.submit(partial(self._run_in_thread, unit), self._cancellation)

    def _run_in_thread(self, unit: Unit[T], cancellation: Cancellation) -> T:
        connection = self._connection = self._connection or self._engine.connect()
        with interruptible(driver(connection), cancellation.is_requested):
            return unit(connection)

    def close(self) -> None:
        """End the transaction, without waiting for a thread that may itself wait for another process."""
        self._cancellation.requested = True
        if self._in_thread:
            ending = self._writer.submit(lambda _: self._end(), self._cancellation)
            ending.add_done_callback(lambda _: self._turn.end())
            return
        try:
            self._end()
        finally:
            self._turn.end()

    def _end(self) -> None:
        """Roll back what was not committed. The connection of the event loop stays open."""
        if self._connection is not None and self._connection.engine is self._engine:
            self._connection.close()
        elif self._connection is not None:
            self._connection.rollback()


def _query_only(work: Work[P, T], connection: Connection, *args: P.args, **kwargs: P.kwargs) -> T:
    """A read on the only connection of a database in memory, which writes use too."""
    connection.exec_driver_sql("PRAGMA query_only=ON")
    try:
        return work(connection, *args, **kwargs)
    finally:
        connection.exec_driver_sql("PRAGMA query_only=OFF")


def _engine(
    url: URL,
    pool: type[Any],
    *,
    begin: str | None = None,
    writes: bool = True,
    waits: bool = True,
    checkpoints: bool = True,
) -> Engine:
    """An engine whose transactions start with `begin`; without it, they are left to who uses the connections.

    Without `writes`, its connections are read-only.
    Without `waits`, its connections give up at once where another process has the lock.
    Without `checkpoints`, they leave it to others to move what they wrote from the log to the database.
    """
    options = {"check_same_thread": False, "timeout": WAIT_SECONDS if waits else 0}
    engine = create_engine(url, poolclass=pool, connect_args=options)
    pragmas = [*PRAGMAS, *([] if writes else ["query_only=ON"]), *([] if checkpoints else ["wal_autocheckpoint=0"])]

    def on_connect(connection: sqlite3.Connection, _: Any) -> None:
        # The driver would begin transactions by itself, too late and without the right to write.
        connection.isolation_level = None
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", on_connect)
    if begin is not None:

        def on_begin(connection: Connection) -> None:
            driver(connection).execute(begin)

        event.listen(engine, "begin", on_begin)
    return engine
