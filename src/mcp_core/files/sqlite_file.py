"""The common set-up of all SQLite files, and the threads that work on them, whoever opens them."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from mcp_core.errors import Unavailable
from mcp_core.process.start_errors import CannotStart

T = TypeVar("T")

# With NORMAL, a power cut may lose the last moment; a crash or a kill loses nothing.
PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON")
CANNOT_BE_USED = "The database cannot be used at the moment. Try again shortly."

_FILE_ERRORS = frozenset({
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_PERM),
})  # fmt: skip
"""The error codes that are about the file; all others are a fault in our code."""
_PRIMARY_CODE = 0xFF
"""Masks the primary part of SQLite's extended error codes."""
_STEPS_BETWEEN_CHECKS = 100_000
"""Steps of SQLite's virtual machine between two checks for a cancellation: about a millisecond."""


def create_file(file: Path) -> None:
    """Create the folder and the file so that only their owner can open them."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Created here and not by SQLite, so that it is private before anything is written to it.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise CannotStart(f"{file} cannot be used as a database: {error.strerror}. Choose another with --db.") from None


def error_code(error: BaseException | None) -> int:
    """SQLite's code of an error, without its details; 0 for other errors."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE


def is_file_error(error: BaseException | None) -> bool:
    """Whether an error is about the file, and not about a statement."""
    return error_code(error) in _FILE_ERRORS


@contextmanager
def file_errors() -> Generator[None]:
    """Turns the errors that are about the file into Unavailable."""
    try:
        yield
    except Exception as error:
        # SQLAlchemy has the driver's error in `orig`.
        if not is_file_error(getattr(error, "orig", error)):
            raise
        raise Unavailable(CANNOT_BE_USED) from error


class Cancellation:
    """A flag for a thread: the caller no longer waits for its unit of work."""

    requested = False

    def is_requested(self) -> bool:
        """Whether nobody waits."""
        return self.requested


@contextmanager
def interruptible(connection: sqlite3.Connection, must_end: Callable[[], bool]) -> Generator[None]:
    """Ends a statement when `must_end` says so, such as one of a cancelled call, and all that follow it."""
    connection.set_progress_handler(must_end, _STEPS_BETWEEN_CHECKS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)


class SqliteThreads:
    """Threads that run units of work on a file, so that nobody else waits for it."""

    def __init__(self, name: str, number: int = 1) -> None:
        self._threads = ThreadPoolExecutor(number, name)

    async def run(self, unit: Callable[[Cancellation], T]) -> T:
        """Run a unit of work, which must not commit once its cancellation is requested. Raises Unavailable."""
        cancellation = Cancellation()
        try:
            with file_errors():
                return await self.submit(unit, cancellation)
        except asyncio.CancelledError:
            # The thread goes on to its next statement, and would commit what the caller believes to have failed.
            cancellation.requested = True
            raise

    def submit(self, unit: Callable[[Cancellation], T], cancellation: Cancellation) -> asyncio.Future[T]:
        """Run a unit of work, whoever waits for it."""
        return asyncio.get_running_loop().run_in_executor(self._threads, unit, cancellation)

    async def close(self) -> None:
        """Wait for what runs."""
        await asyncio.to_thread(self._threads.shutdown)
