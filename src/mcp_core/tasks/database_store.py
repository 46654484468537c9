"""Tasks in a database: a SQLite file of their own, or the PostgreSQL database of the server.

SQLite has one writer at a time, and a call that runs as a task may hold the server's file for long: the tasks have
another one beside it.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL

from mcp_core.db.database import Database, short_unit
from mcp_core.db.migrations import FRAMEWORK
from mcp_core.db.opening import open_database
from mcp_core.tasks.record import TaskRecord

CLEANUP_SECONDS = 60.0
"""Expired tasks are deleted once in this time, when another is created."""
MAX_DELETED = 1000

_COUNT = text("SELECT count(*) FROM toolcharter_tasks WHERE server = :server AND binding = :binding")
_INSERT = text(
    "INSERT INTO toolcharter_tasks (id, server, binding, expires_at, record) "
    "VALUES (:id, :server, :binding, :expires, :record)"
)
_SAVE = text("UPDATE toolcharter_tasks SET expires_at = :expires, record = :record WHERE id = :id")
_FIND = text("SELECT record FROM toolcharter_tasks WHERE id = :id AND server = :server AND expires_at > :now")
_CLEAN_UP = text(
    "DELETE FROM toolcharter_tasks WHERE id IN "
    "(SELECT id FROM toolcharter_tasks WHERE expires_at <= :now ORDER BY expires_at LIMIT :most)"
)


def beside(url: URL) -> URL:
    """The database for the tasks of a server whose own database has this URL."""
    if url.get_backend_name() != "sqlite":
        return url
    file = Path(str(url.database))
    return url.set(database=str(file.with_name(f"{file.stem}-tasks.db")))


class DatabaseTaskStore:
    """The tasks of one server, in a database."""

    def __init__(self, database: Database, server: str, clock: Callable[[], float] = time.time) -> None:
        self._database, self._server, self._clock = database, server, clock
        self._connections = AsyncExitStack()
        self._next_cleanup = 0.0

    @classmethod
    async def open(cls, url: URL, server: str) -> "DatabaseTaskStore":
        """Open the database, and bring its tables to the newest schema."""
        stack = AsyncExitStack()
        try:
            database = await stack.enter_async_context(open_database(url))
            await FRAMEWORK.apply(database)
        except BaseException:
            await stack.aclose()
            raise
        store = cls(database, server)
        store._connections = stack
        return store

    async def create(self, task: TaskRecord, most: int) -> bool:
        now = self._clock()
        if now >= self._next_cleanup:
            self._next_cleanup = now + CLEANUP_SECONDS
            await self._database.write(_clean_up, now)
        return await self._database.write(_create, self._server, task, most)

    async def find(self, task_id: str) -> TaskRecord | None:
        return await self._database.read(_find, self._server, task_id, self._clock())

    async def save(self, tasks: Sequence[TaskRecord]) -> None:
        await self._database.write(_save, tasks)

    async def close(self) -> None:
        await self._connections.aclose()


@short_unit
def _create(connection: Connection, server: str, task: TaskRecord, most: int) -> bool:
    place = {"server": server, "binding": task.binding}
    if connection.execute(_COUNT, place).scalar_one() >= most:
        return False
    connection.execute(_INSERT, place | _row(task))
    return True


@short_unit
def _find(connection: Connection, server: str, task_id: str, now: float) -> TaskRecord | None:
    row = connection.execute(_FIND, {"id": task_id, "server": server, "now": int(now)}).one_or_none()
    return None if row is None else TaskRecord.from_text(row[0])


@short_unit
def _save(connection: Connection, tasks: Sequence[TaskRecord]) -> None:
    connection.execute(_SAVE, [_row(task) for task in tasks])


def _clean_up(connection: Connection, now: float) -> None:
    connection.execute(_CLEAN_UP, {"now": int(now), "most": MAX_DELETED})


def _row(task: TaskRecord) -> dict[str, str | int]:
    return {"id": task.id, "expires": int(task.expires) + 1, "record": task.to_text()}
