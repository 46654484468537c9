"""The database of recent calls: a SQLite file of their own, or the PostgreSQL database that is configured.

SQLite is used through Python's own module. SQLAlchemy takes 15 MB and 0.2 s to load, and a governor needs it for
nothing else.
"""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from platformdirs import user_data_path

from mcp_core.files.sqlite_file import PRAGMAS, Cancellation, SqliteThreads, create_file, interruptible

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from mcp_core.db import Database

P = ParamSpec("P")
T = TypeVar("T")
Values = Mapping[str, Any]

FILE = "calls.db"
IN_MEMORY = ":memory:"
_NO_VALUES: Values = MappingProxyType({})
_WAIT_SECONDS = 10.0
"""How long a write waits for that of another process."""
_CACHE_KB = 1000
"""The cache of a connection. The newest rows are all that is written to."""


class LogTransaction(Protocol):
    """A transaction. SQL names its values: `:name`."""

    @property
    def is_postgres(self) -> bool:
        """Whether this is PostgreSQL, and not SQLite."""
        ...

    def rows(self, sql: str, values: Values = ...) -> Sequence[Sequence[Any]]:
        """The rows that a statement finds."""
        ...

    def run(self, sql: str, values: Values = ...) -> int:
        """Run a statement; returns how many rows it changed."""
        ...

    def run_many(self, sql: str, rows: Sequence[Values]) -> None:
        """Run a statement for each row."""
        ...


Work = Callable[Concatenate[LogTransaction, P], T]


class CallDatabase(Protocol):
    """Runs functions of a session and their own arguments."""

    @property
    def location(self) -> str:
        """The address without a password."""
        ...

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that changes nothing."""
        ...

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in one transaction."""
        ...


def calls_file(db: str | None) -> str | None:
    """The SQLite file, which is beside the data. None if the data is in PostgreSQL."""
    if db is None:
        return str(user_data_path("toolcharter") / FILE)
    from mcp_core.db import address  # noqa: PLC0415 - 180 ms, SQLAlchemy

    url = address(db, "calls")
    if url.get_backend_name() != "sqlite":
        return None
    return IN_MEMORY if url.database == IN_MEMORY else str(Path(url.database or "").with_name(FILE))


@asynccontextmanager
async def open_call_database(db: str | None) -> AsyncGenerator[CallDatabase]:
    """Open the database of recent calls for the address of the data, and close it at the end."""
    file = calls_file(db)
    if file is not None:
        calls = SqliteCalls(file)
        try:
            yield calls
        finally:
            await calls.close()
        return
    from mcp_core.db import address, open_database  # noqa: PLC0415 - 180 ms, SQLAlchemy

    async with open_database(address(db, "calls")) as database:
        yield PostgresCalls(database)


# --- SQLite ----------------------------------------------------------------------------------------------------


class SqliteCalls:
    """A file, with a thread that writes and one that reads."""

    def __init__(self, file: str) -> None:
        self.location = f"sqlite:///{file}"
        if file != IN_MEMORY:
            create_file(Path(file))
        self._writer = _SqliteThread(file, "BEGIN IMMEDIATE")
        self._reader = self._writer if file == IN_MEMORY else _SqliteThread(file, "BEGIN", "query_only=ON")

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._reader.run(work, *args, **kwargs)

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._writer.run(work, *args, **kwargs)

    async def close(self) -> None:
        """Wait for what runs, and close the file."""
        for thread in {self._reader, self._writer}:
            await thread.close()


class _SqliteThread:
    """A thread, and the connection that only it uses."""

    def __init__(self, file: str, begin: str, *pragmas: str) -> None:
        self._file, self._begin, self._pragmas = file, begin, (*PRAGMAS, f"cache_size=-{_CACHE_KB}", *pragmas)
        self._thread = SqliteThreads("calls")
        self._connection: sqlite3.Connection | None = None

    async def run(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        def run(cancellation: Cancellation) -> T:
            connection = self._connection = self._connection or self._connect()
            # The connection commits, or rolls back after an error.
            with interruptible(connection, cancellation.is_requested), connection:
                connection.execute(self._begin)
                value = work(_SqliteSession(connection), *args, **kwargs)
                if cancellation.requested:
                    connection.rollback()
                return value

        return await self._thread.run(run)

    async def close(self) -> None:
        if self._connection is not None:
            connection = self._connection
            await self._thread.run(lambda _: connection.close())
        await self._thread.close()

    def _connect(self) -> sqlite3.Connection:
        # Without an isolation level, the module begins no transactions by itself.
        connection = sqlite3.connect(self._file, timeout=_WAIT_SECONDS, isolation_level=None)
        for pragma in self._pragmas:
            connection.execute(f"PRAGMA {pragma}")
        return connection


class _SqliteSession:
    is_postgres = False

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Values = _NO_VALUES) -> Sequence[Sequence[Any]]:
        return self._connection.execute(sql, dict(values)).fetchall()

    def run(self, sql: str, values: Values = _NO_VALUES) -> int:
        return self._connection.execute(sql, dict(values)).rowcount

    def run_many(self, sql: str, rows: Sequence[Values]) -> None:
        self._connection.executemany(sql, rows)


# --- PostgreSQL ------------------------------------------------------------------------------------------------


class PostgresCalls:
    """The database of a server."""

    def __init__(self, database: "Database") -> None:
        self.location, self._database = database.location, database

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(lambda connection: work(_PostgresSession(connection), *args, **kwargs))

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda connection: work(_PostgresSession(connection), *args, **kwargs))


class _PostgresSession:
    is_postgres = True

    def __init__(self, connection: "Connection") -> None:
        from sqlalchemy import text  # noqa: PLC0415 - loaded with the connection

        self._connection, self._text = connection, text

    def rows(self, sql: str, values: Values = _NO_VALUES) -> Sequence[Sequence[Any]]:
        return self._connection.execute(self._text(sql), dict(values)).all()

    def run(self, sql: str, values: Values = _NO_VALUES) -> int:
        return self._connection.execute(self._text(sql), dict(values)).rowcount

    def run_many(self, sql: str, rows: Sequence[Values]) -> None:
        self._connection.execute(self._text(sql), list(rows))
