"""Tasks in SQL. Each change is one statement, so that concurrent changes lose nothing."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_todo.model import MAX_LISTED, Status, Task, TaskList
from toolcharter.db import Database, Migrations, UtcTime, address, change, open_database, short_unit

MIGRATIONS = Migrations("todo", Path(__file__).parent / "migrations")

tasks = sa.table(
    "todo_tasks",
    sa.column("id", sa.Uuid),
    sa.column("user_id", sa.String),
    sa.column("title", sa.String),
    sa.column("description", sa.Text),
    sa.column("is_completed", sa.Boolean),
    sa.column("created_at", UtcTime),
)
_TASK = (tasks.c.title, tasks.c.description, tasks.c.is_completed, tasks.c.created_at, tasks.c.id)
_MINE = (tasks.c.user_id == sa.bindparam("owner"),)
_THIS = (tasks.c.id == sa.bindparam("task"), *_MINE)

# Built once: building a statement takes as long as running it.
_INSERT = sa.insert(tasks)
# The newest first: a limit then keeps those. The indexes have this order, also read from their end.
_LIST = sa.select(*_TASK).where(*_MINE).order_by(tasks.c.created_at.desc(), tasks.c.id.desc()).limit(MAX_LISTED + 1)
_COUNT = sa.select(sa.func.count()).select_from(tasks).where(*_MINE)
_HAS_STATUS = tasks.c.is_completed == sa.bindparam("is_completed")
_LIST_BY_STATUS, _COUNT_BY_STATUS = _LIST.where(_HAS_STATUS), _COUNT.where(_HAS_STATUS)
_TOGGLE = sa.update(tasks).values(is_completed=~tasks.c.is_completed).where(*_THIS).returning(*_TASK)
_DELETE = sa.delete(tasks).where(*_THIS).returning(*_TASK)
_UPDATE = sa.update(tasks).where(*_THIS).returning(*_TASK)  # of the columns that are given with it


@asynccontextmanager
async def open_repository(url: str | None) -> AsyncGenerator["SqlTaskRepository"]:
    """The tasks in the database of that URL, after its migrations."""
    async with open_database(address(url, "todo")) as database:
        await MIGRATIONS.apply(database)
        yield SqlTaskRepository(database)


class SqlTaskRepository:
    """Tasks in a database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def add(self, user_id: str, task: Task) -> None:
        await self.database.write(_insert, user_id, task)

    async def list(self, user_id: str, status: Status) -> TaskList:
        return await self.database.read(_select, user_id, status)

    async def toggle(self, user_id: str, task_id: UUID) -> Task | None:
        return await self.database.write(_change, _TOGGLE, user_id, task_id)

    async def update(self, user_id: str, task_id: UUID, title: str | None, description: str | None) -> Task | None:
        fields = {"title": title, "description": description}
        changes = {name: value for name, value in fields.items() if value is not None}
        return await self.database.write(_change, _UPDATE, user_id, task_id, **changes)

    async def delete(self, user_id: str, task_id: UUID) -> Task | None:
        return await self.database.write(_change, _DELETE, user_id, task_id)


@short_unit
def _insert(connection: Connection, user_id: str, task: Task) -> None:
    values = {
        "id": task.id,
        "user_id": user_id,
        "title": task.title,
        "description": task.description,
        "is_completed": task.is_completed,
        "created_at": task.created_at,
    }
    change(connection, _INSERT, values)


@short_unit
def _select(connection: Connection, user_id: str, status: Status) -> TaskList:
    select, count, values = _LIST, _COUNT, dict[str, Any](owner=user_id)
    if status != "all":
        select, count, values = _LIST_BY_STATUS, _COUNT_BY_STATUS, {**values, "is_completed": status == "completed"}
    found = [Task(*row) for row in connection.execute(select, values).all()]
    if len(found) <= MAX_LISTED:
        return TaskList(found[::-1])
    total = connection.execute(count, values).scalar_one()
    return TaskList(found[MAX_LISTED - 1 :: -1], total - MAX_LISTED)


@short_unit
def _change(connection: Connection, change: Any, user_id: str, task_id: UUID, **changes: str) -> Task | None:
    row = connection.execute(change, {"owner": user_id, "task": task_id, **changes}).one_or_none()
    return Task(*row) if row is not None else None
