"""The interface of a server's database: SQLite in a file by default, PostgreSQL by its URL.

A unit of work is a plain function from a connection to a value, so that the same SQL serves both:

    await database.write(insert_task, owner, title)    # insert_task(connection, owner, title)

`write` is one transaction: all of it happens, or nothing. `read` cannot change anything. `transaction` makes one of
several units of work.

A unit of work that needs a few indexed rows, such as this one, is marked with `@short_unit`: SQLite then runs it
without a change of thread, which would take as long.
"""

import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from platformdirs import user_data_path
from sqlalchemy import Connection, DateTime, Dialect, TypeDecorator
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from mcp_core.db.transaction import Transaction, Unit
from mcp_core.errors import Unavailable
from mcp_core.logs.telemetry import child_span, current_tracer
from mcp_core.process.start_errors import InvalidSetting

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[Concatenate[Connection, P], T]

MIN_FREE_BYTES = 4_000_000
"""Room on the disk of a SQLite file. With less, the next writes fail."""
_SQLITE_FILE = "sqlite:///"
WAIT_SECONDS = 30
"""How long a writer waits for another process that locks SQLite, and a call for a connection."""

FORMS = "sqlite:///relative/file.db, sqlite:////absolute/file.db or postgresql://user:password@host/name"
_MAX_PORT = 65535
_NO_SPAN = nullcontext()
_SQLITE_DRIVERS = frozenset({"", "pysqlite", "aiosqlite"})


class Database(Protocol):
    """A server's permanent store."""

    @property
    def location(self) -> str:
        """The database URL without the password."""
        ...

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit of work that changes nothing. Each statement sees the newest state."""
        ...

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit of work in one transaction."""
        ...

    def transaction(self, first: Unit[None]) -> AbstractAsyncContextManager[Transaction]:
        """Run all units of work of this task in one transaction, which the first write begins with `first`."""
        ...


def short_unit(work: Work[P, T]) -> Work[P, T]:
    """Marks a unit of work that takes well under a millisecond, and that waits for nothing but its database.

    One that turns out to be long, such as a list with thousands of rows, is undone and run again in a thread: it must
    do nothing besides its SQL.
    """
    cast(Any, work).is_short_unit = True
    return work


def is_short(work: Work[..., Any]) -> bool:
    """Whether a unit of work is marked with `@short_unit`."""
    return getattr(work, "is_short_unit", False)


def ping(connection: Connection) -> None:
    """A unit of work that does nothing, to see whether the database answers."""
    connection.exec_driver_sql("SELECT 1")


async def check_database(database: Database) -> None:
    """Raise Unavailable if a database does not answer, or if its disk has no room for what calls write."""
    await database.read(ping)
    file = Path(database.location.removeprefix(_SQLITE_FILE))
    if database.location.startswith(_SQLITE_FILE) and file.is_absolute():
        free = shutil.disk_usage(file.parent).free
        if free < MIN_FREE_BYTES:
            raise Unavailable(f"The disk of the database is full: {free:,} bytes are free.")


def unit_span(verb: str, system: str, work: Any) -> AbstractContextManager[Any]:
    """A span for a unit of work, if the call that runs is traced."""
    if current_tracer() is None:
        return _NO_SPAN
    name = getattr(work, "__name__", "unit").strip("_")
    return child_span(f"db {verb} {name}", attributes={"db.system.name": system})


class UtcTime(TypeDecorator[datetime]):
    """A time in UTC. SQLite stores no time zone, so it is added again on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def address(text: str | None, server: str) -> URL:
    """Parse a database URL. None means a file of the server's own in the platform's data folder."""
    if text is None:
        return URL.create("sqlite", database=str(user_data_path("toolcharter") / f"{server}.db"))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise InvalidSetting(f"{_without_password(text)!r} is not a database URL; write {FORMS}.") from None
    kind, _, driver = url.drivername.partition("+")
    if kind == "sqlite" and driver in _SQLITE_DRIVERS:
        return URL.create("sqlite", database=_sqlite_file(url, text))
    if url.port is not None and url.port > _MAX_PORT:
        raise InvalidSetting(f"{url.port} is not a port; write {FORMS}.")
    if kind in ("postgresql", "postgres"):
        return _libpq_url(url)
    raise InvalidSetting(f"{url.drivername!r} is not a supported database; write {FORMS}.")


def _without_password(text: str) -> str:
    """A malformed URL may hold a password anywhere before the last @, or in the options."""
    before_options = text.partition("?")[0]
    return f"***{before_options[before_options.rindex('@') :]}" if "@" in before_options else before_options


def _sqlite_file(url: URL, text: str) -> str:
    if url.host or url.username:
        raise InvalidSetting(
            f"{_without_password(text)!r} names a host, not a file; a file has three slashes: {FORMS}."
        )
    if url.query:
        raise InvalidSetting(f"SQLite URLs take no options here; remove {', '.join(url.query)} from {text!r}.")
    return ":memory:" if url.database in (None, "", ":memory:") else str(Path(url.database).expanduser())


def _libpq_url(url: URL) -> URL:
    """The URL as libpq and asyncpg read it, whichever driver it was written for."""
    query = dict(url.query)
    if "ssl" in query:
        query["sslmode"] = query.pop("ssl")
    return url.set(drivername="postgresql+asyncpg", query=query)
