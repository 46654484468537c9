"""A database in a SQLite file."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool, StaticPool

from mcp_core.db.database import WAIT_SECONDS, P, T, Work, unit_span
from mcp_core.db.transaction import Transaction, Unit, current, one_transaction
from mcp_core.errors import Unavailable
from mcp_core.sqlite_file import CANNOT_BE_USED, PRAGMAS, Cancellation, create_file, interruptible, is_file_error
from mcp_core.telemetry import Waits

READER_THREADS = 4
"""Reads run side by side in these threads; writes take turns in one of their own."""


class Sqlite:
    """A file, read by a few threads and written by one.

    SQLite never waits for a network, so a whole unit of work costs one change of thread.
    """

    def __init__(self, url: URL) -> None:
        self.location = f"sqlite:///{url.database}"
        self.waits = Waits()
        in_memory = url.database == ":memory:"
        if not in_memory and url.database:
            create_file(Path(url.database))
        pool = StaticPool if in_memory else QueuePool
        self._write_engine = _engine(url, pool, begin="BEGIN IMMEDIATE")
        self._read_engine = self._write_engine if in_memory else _engine(url, pool, begin=None)
        self._writer = ThreadPoolExecutor(1, "sqlite-writer")
        self._readers = self._writer if in_memory else ThreadPoolExecutor(READER_THREADS, "sqlite-reader")

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        reading = partial(_query_only, work) if self._read_engine is self._write_engine else work
        with unit_span("read", "sqlite", work):
            if (transaction := current(self)) is not None and transaction.is_begun:
                return await transaction.run(lambda connection: work(connection, *args, **kwargs))
            return await self._run(self._readers, self._read_engine, reading, *args, **kwargs)

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with unit_span("write", "sqlite", work):
            if (transaction := current(self)) is not None:
                return await transaction.run(lambda connection: work(connection, *args, **kwargs))
            return await self._run(self._writer, self._write_engine, work, *args, **kwargs)

    async def _run(
        self, threads: ThreadPoolExecutor, engine: Engine, work: Work[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        loop, cancellation, added = asyncio.get_running_loop(), Cancellation(), time.perf_counter()

        def run() -> T:
            self.waits.add(time.perf_counter() - added)
            return _run_unit(engine, cancellation, work, *args, **kwargs)

        try:
            return await loop.run_in_executor(threads, run)
        except asyncio.CancelledError:
            # The thread goes on to its next statement, and would commit what the caller believes to have failed.
            cancellation.requested = True
            raise

    def transaction(self, first: Unit[None]) -> AbstractAsyncContextManager[Transaction]:
        return one_transaction(self, partial(_Session.open, self._writer, self._write_engine), first)

    async def close(self) -> None:
        for threads in (self._readers, self._writer):
            await asyncio.to_thread(threads.shutdown)
        self._read_engine.dispose()
        self._write_engine.dispose()


def _run_unit(engine: Engine, cancellation: Cancellation, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    with _file_errors(), engine.begin() as connection:
        with interruptible(_driver(connection), cancellation):
            value = work(connection, *args, **kwargs)
        if cancellation.requested:
            connection.rollback()
        return value


@contextmanager
def _file_errors() -> Generator[None]:
    try:
        yield
    except DBAPIError as error:
        if not is_file_error(error.orig):
            raise
        raise Unavailable(CANNOT_BE_USED) from error


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


class _Session:
    """A transaction that has the writer's thread to itself, so that other writes wait for their turn behind it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._cancellation = Cancellation()

    @classmethod
    async def open(cls, writer: ThreadPoolExecutor, engine: Engine) -> "_Session":
        session = cls(engine)
        writer.submit(session._run_jobs)
        return session

    def _run_jobs(self) -> None:
        try:
            while (job := self._jobs.get()) is not None:
                job()
        finally:
            if self._connection is not None:
                self._connection.close()

    async def run(self, unit: Unit[T]) -> T:
        done: Future[T] = Future()

        def job() -> None:
            if not done.set_running_or_notify_cancel() or self._cancellation.requested:
                return
            try:
                with _file_errors():
                    connection = self._connection = self._connection or self._engine.connect()
                    with interruptible(_driver(connection), self._cancellation):
                        done.set_result(unit(connection))
            except BaseException as error:  # noqa: BLE001 - it is raised again where the result is awaited
                done.set_exception(error)

        self._jobs.put(job)
        return await asyncio.wrap_future(done)

    async def close(self) -> None:
        self._cancellation.requested = True
        self._jobs.put(None)


def _query_only(work: Work[P, T], connection: Connection, *args: P.args, **kwargs: P.kwargs) -> T:
    """A read on the only connection of a database in memory, which writes use too."""
    connection.exec_driver_sql("PRAGMA query_only=ON")
    try:
        return work(connection, *args, **kwargs)
    finally:
        connection.exec_driver_sql("PRAGMA query_only=OFF")


def _engine(url: URL, pool: type[Any], *, begin: str | None) -> Engine:
    """An engine whose transactions start with `begin`; None makes its connections read-only."""
    engine = create_engine(url, poolclass=pool, connect_args={"check_same_thread": False, "timeout": WAIT_SECONDS})

    def on_connect(connection: sqlite3.Connection, _: Any) -> None:
        # The driver would begin transactions by itself, too late and without the right to write.
        connection.isolation_level = None
        for pragma in [*PRAGMAS, *([] if begin else ["query_only=ON"])]:
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", on_connect)
    if begin is not None:

        def on_begin(connection: Connection) -> None:
            connection.exec_driver_sql(begin)

        event.listen(engine, "begin", on_begin)
    return engine
