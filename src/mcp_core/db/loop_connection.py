"""A SQLite connection for short units of work, which the event loop runs itself.

To change to another thread and back takes as long as such a unit. Under load it takes longer: SQLite gives up the
interpreter's lock for each statement, and each of the two threads waits until the other gives it back.

It begins and ends the transactions of units without SQLAlchemy, in a fifth of the time. SQLAlchemy believes to be in
one transaction that lasts, and may end it too.
"""

import math
import sqlite3
from typing import cast

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from mcp_core.db.database import P, T, Work
from mcp_core.errors import Unavailable
from mcp_core.files.sqlite_file import CANNOT_BE_USED, error_code, is_file_error

STEPS_BETWEEN_CHECKS = 1000
MAX_CHECKS = 2
"""A unit of work that needs three thousand steps of SQLite's virtual machine is not short: a list of 250 rows, 1 ms."""
_WOULD_WAIT = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT})


class WouldWait(Exception):
    """A unit of work cannot be done at once: somebody else writes, or it is not short. Nothing was done."""


class LoopConnection:
    """A connection that is opened when it is first needed. Its engine must not wait for locks: `timeout=0`."""

    def __init__(self, engine: Engine, begin: str | None) -> None:
        """`begin` begins a transaction; without it, each statement is one. The engine must not begin any."""
        self._engine, self._begin = engine, begin
        self._opened: tuple[Connection, sqlite3.Connection] | None = None
        self._checks_left: float = MAX_CHECKS

    def run(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit of work in one transaction. Raises WouldWait, or Unavailable."""
        try:
            connection, sqlite = self._opened or self._open()
            self._checks_left = MAX_CHECKS
            if self._begin is None:
                return work(connection, *args, **kwargs)
            sqlite.execute(self._begin)
            try:
                value = work(connection, *args, **kwargs)
                sqlite.commit()
            except BaseException:
                sqlite.rollback()
                raise
        except (DBAPIError, sqlite3.Error) as error:
            _raise_known(error)
            raise
        return value

    def begin(self) -> Connection:
        """Begin a transaction of several units of work, which SQLAlchemy ends. Raises WouldWait, or Unavailable."""
        try:
            connection, sqlite = self._opened or self._open()
            self._checks_left = math.inf
            if self._begin is not None:
                sqlite.execute(self._begin)
        except (DBAPIError, sqlite3.Error) as error:
            _raise_known(error)
            raise
        if not connection.in_transaction():
            connection.begin()
        return connection

    def close(self) -> None:
        """Close the connection."""
        if self._opened is not None:
            self._opened[0].close()
        self._engine.dispose()

    def _open(self) -> tuple[Connection, sqlite3.Connection]:
        connection = self._engine.connect()
        sqlite = driver(connection)
        sqlite.set_progress_handler(self._is_spent, STEPS_BETWEEN_CHECKS)
        self._opened = connection, sqlite
        return self._opened

    def _is_spent(self) -> bool:
        self._checks_left -= 1
        return self._checks_left < 0


def _raise_known(error: DBAPIError | sqlite3.Error) -> None:
    original = getattr(error, "orig", error)
    if error_code(original) in _WOULD_WAIT:
        raise WouldWait from error
    if is_file_error(original):
        raise Unavailable(CANNOT_BE_USED) from error


def driver(connection: Connection) -> sqlite3.Connection:
    """The connection of Python's own module."""
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)
