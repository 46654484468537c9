"""A server's database: SQLite in a file by default, PostgreSQL by its URL.

A unit of work is a plain function from a connection to a value, so that one text of SQL serves both:

    await database.write(insert_task, owner, title)    # insert_task(connection, owner, title)

`write` is one transaction: all of it happens, or nothing. `read` cannot change anything. Loading SQLAlchemy takes a
third of a second, so servers import this module only when they open their store.
"""

import asyncio
import importlib
import os
import sqlite3
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from platformdirs import user_data_path
from sqlalchemy import Connection, DateTime, Dialect, Engine, TypeDecorator, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool, StaticPool

from mcp_core.errors import CannotStart, Unavailable

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[Concatenate[Connection, P], T]

READERS = 4
"""Threads that read SQLite side by side; writes take turns in one."""
PATIENCE = 30
"""Seconds that a writer waits for another process to finish with SQLite, and a call for a connection."""

FORMS = "sqlite:///relative/file.db, sqlite:////absolute/file.db or postgresql://user:password@host/name"
_SQLITE_DRIVERS = frozenset({"", "pysqlite", "aiosqlite"})
_AWAY = frozenset({
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_PERM),
})  # fmt: skip
"""What SQLite says when the file is to blame; everything else is a fault of ours."""
_PRIMARY = 0xFF
"""The part of SQLite's error codes that these are."""


class Database(Protocol):
    """Where a server keeps what must last."""

    @property
    def where(self) -> str:
        """Its address, without the password."""
        ...

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Look something up. Each statement sees the newest state."""
        ...

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Change something, in one transaction."""
        ...


class UtcTime(TypeDecorator[datetime]):
    """A moment in UTC, which SQLite would give back without its zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def address(text: str | None, server: str) -> URL:
    """The database that a person means. Without a URL: a file of the server's own in the platform's data folder."""
    if text is None:
        return URL.create("sqlite", database=str(user_data_path("toolcharter") / f"{server}.db"))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise CannotStart(f"{_without_password(text)!r} is no database URL; write {FORMS}.") from None
    kind, _, driver = url.drivername.partition("+")
    if kind == "sqlite" and driver in _SQLITE_DRIVERS:
        return URL.create("sqlite", database=_file(url, text))
    if kind in ("postgresql", "postgres"):
        return _as_libpq_names_it(url)
    raise CannotStart(f"There is no driver for {url.drivername!r} here; write {FORMS}.")


def _without_password(text: str) -> str:
    """What could not be read may hold a password anywhere before the last @, or among the options."""
    known = text.partition("?")[0]
    return f"***{known[known.rindex('@') :]}" if "@" in known else known


def _file(url: URL, text: str) -> str:
    if url.host or url.username:
        raise CannotStart(f"{_without_password(text)!r} names a host, not a file; a file has three slashes: {FORMS}.")
    if url.query:
        raise CannotStart(f"SQLite takes no options here; leave {', '.join(url.query)} out of {text!r}.")
    return ":memory:" if url.database in (None, "", ":memory:") else str(Path(url.database).expanduser())


def _as_libpq_names_it(url: URL) -> URL:
    """The URL as libpq and asyncpg read it, whichever driver it was written for."""
    query = dict(url.query)
    if "ssl" in query:
        query["sslmode"] = query.pop("ssl")
    return url.set(drivername="postgresql+asyncpg", query=query)


@asynccontextmanager
async def open_database(url: URL) -> AsyncGenerator[Database]:
    """Open a database, and close it at the end."""
    database: Any = _Sqlite(url) if url.get_backend_name() == "sqlite" else _postgres(url)
    try:
        yield database
    finally:
        await database.close()


def _postgres(url: URL) -> Any:
    # Its driver, and what it takes to wait for one, come with an extra.
    try:
        return importlib.import_module("mcp_core.db.postgres").Postgres(url)
    except ImportError as error:
        missing = error.name or error
        raise CannotStart(f"PostgreSQL needs {missing}: pip install 'toolcharter[postgres]'.") from None


class _Sqlite:
    """A file, read by a few threads and written by one.

    There is nothing to wait for but the file, so a whole unit of work costs one change of thread.
    """

    def __init__(self, url: URL) -> None:
        self.where = f"sqlite:///{url.database}"
        in_memory = url.database == ":memory:"
        if not in_memory and url.database:
            _make_folder(Path(url.database))
        pool = StaticPool if in_memory else QueuePool
        self._writes = _engine(url, pool, begin="BEGIN IMMEDIATE")
        self._reads = self._writes if in_memory else _engine(url, pool, begin=None)
        self._writer = ThreadPoolExecutor(1, "sqlite-writer")
        self._readers = self._writer if in_memory else ThreadPoolExecutor(READERS, "sqlite-reader")

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        looking = partial(_only_looking, work) if self._reads is self._writes else work
        return await self._run(self._readers, self._reads, looking, *args, **kwargs)

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(self._writer, self._writes, work, *args, **kwargs)

    async def _run(
        self, threads: ThreadPoolExecutor, engine: Engine, work: Work[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        loop, wanted = asyncio.get_running_loop(), _Wanted()
        try:
            return await loop.run_in_executor(threads, partial(self._unit, engine, wanted, work, *args, **kwargs))
        except asyncio.CancelledError:
            # The thread goes on: it may wait for another process, and would write what the caller was told has failed.
            wanted.still = False
            raise

    def _unit(self, engine: Engine, wanted: "_Wanted", work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with engine.begin() as connection:
                value = work(connection, *args, **kwargs)
                if not wanted.still:
                    connection.rollback()
                return value
        except DBAPIError as error:
            if getattr(error.orig, "sqlite_errorcode", 0) & _PRIMARY not in _AWAY:
                raise
            raise Unavailable("The database cannot be used at the moment. Try again shortly.") from error

    async def close(self) -> None:
        for threads in (self._readers, self._writer):
            await asyncio.to_thread(threads.shutdown)
        self._reads.dispose()
        self._writes.dispose()


class _Wanted:
    """Whether somebody waits for a unit of work."""

    still = True


def _only_looking(work: Work[P, T], connection: Connection, *args: P.args, **kwargs: P.kwargs) -> T:
    """A read on the one connection that a database in memory has, and that writes use too."""
    connection.exec_driver_sql("PRAGMA query_only=ON")
    try:
        return work(connection, *args, **kwargs)
    finally:
        connection.exec_driver_sql("PRAGMA query_only=OFF")


def _make_folder(file: Path) -> None:
    """What people write down is their own business: the folder is opened to nobody else."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Made here, so that the file is ours alone before anything is in it.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise CannotStart(f"{file} cannot be used as a database: {error.strerror}. Choose another with --db.") from None


def _engine(url: URL, pool: type[Any], *, begin: str | None) -> Engine:
    engine = create_engine(url, poolclass=pool, connect_args={"check_same_thread": False, "timeout": PATIENCE})

    def connected(connection: sqlite3.Connection, _: Any) -> None:
        # The driver would begin transactions by itself, too late and without the right to write.
        connection.isolation_level = None
        # A power cut may take the last moment with it; a crash or a kill takes nothing.
        pragmas = ["journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"]
        for pragma in [*pragmas, *([] if begin else ["query_only=ON"])]:
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", connected)
    if begin is not None:

        def begun(connection: Connection) -> None:
            connection.exec_driver_sql(begin)

        event.listen(engine, "begin", begun)
    return engine
