"""A SQLite connection for short units of work, which the event loop runs itself.

To change to another thread and back takes as long as such a unit. Under load it takes longer: SQLite gives up the
interpreter's lock for each statement, and each of the two threads waits until the other gives it back.
"""

import sqlite3
from typing import cast

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from mcp_core.db.database import P, T, Work
from mcp_core.files.sqlite_file import error_code, interruptible

STEPS_BETWEEN_CHECKS = 1000
MAX_CHECKS = 2
"""A unit of work that needs three thousand steps of SQLite's virtual machine is not short: a list of 250 rows, 1 ms."""
_WOULD_WAIT = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT})


class WouldWait(Exception):
    """A unit of work cannot be done at once: somebody else writes, or it is not short. Nothing was done."""


class LoopConnection:
    """A connection that is opened when it is first needed. Its engine must not wait for locks: `timeout=0`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    def run(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit of work in one transaction. Raises WouldWait."""
        try:
            connection = self._opened()
            with connection.begin(), interruptible(driver(connection), _Budget().is_spent, STEPS_BETWEEN_CHECKS):
                return work(connection, *args, **kwargs)
        except (DBAPIError, sqlite3.Error) as error:
            if error_code(getattr(error, "orig", error)) in _WOULD_WAIT:
                raise WouldWait from error
            raise

    def begin(self) -> Connection:
        """Begin a transaction of several units of work. Raises WouldWait."""
        try:
            connection = self._opened()
            connection.begin()
        except (DBAPIError, sqlite3.Error) as error:
            if error_code(getattr(error, "orig", error)) in _WOULD_WAIT:
                raise WouldWait from error
            raise
        return connection

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()

    def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection


class _Budget:
    """Counts the checks of a unit of work."""

    def __init__(self) -> None:
        self._left = MAX_CHECKS

    def is_spent(self) -> bool:
        self._left -= 1
        return self._left < 0


def driver(connection: Connection) -> sqlite3.Connection:
    """The connection of Python's own module."""
    return cast(sqlite3.Connection, connection.connection.driver_connection)
