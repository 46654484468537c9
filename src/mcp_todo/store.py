"""Tasks in SQL. Each change is one statement, so that concurrent changes lose nothing."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core.db import Database, Migrations, UtcTime, address, open_database
from mcp_todo.model import Status, Task

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

    async def list(self, user_id: str, status: Status) -> list[Task]:
        return await self.database.read(_select, user_id, status)

    async def toggle(self, user_id: str, task_id: UUID) -> Task | None:
        return await self.database.write(_update, user_id, task_id, {"is_completed": ~tasks.c.is_completed})

    async def update(self, user_id: str, task_id: UUID, title: str | None, description: str | None) -> Task | None:
        fields = {"title": title, "description": description}
        changes = {name: value for name, value in fields.items() if value is not None}
        return await self.database.write(_update, user_id, task_id, changes)

    async def delete(self, user_id: str, task_id: UUID) -> Task | None:
        return await self.database.write(_delete, user_id, task_id)


def _insert(connection: Connection, user_id: str, task: Task) -> None:
    values = {column.name: getattr(task, column.name) for column in _TASK}
    connection.execute(sa.insert(tasks), {"user_id": user_id, **values})


def _select(connection: Connection, user_id: str, status: Status) -> list[Task]:
    query = sa.select(*_TASK).where(tasks.c.user_id == user_id).order_by(tasks.c.created_at, tasks.c.id)
    if status != "all":
        query = query.where(tasks.c.is_completed == (status == "completed"))
    return [Task(*row) for row in connection.execute(query)]


def _update(connection: Connection, user_id: str, task_id: UUID, changes: dict[str, Any]) -> Task | None:
    return _one(connection, sa.update(tasks).values(changes), user_id, task_id)


def _delete(connection: Connection, user_id: str, task_id: UUID) -> Task | None:
    return _one(connection, sa.delete(tasks), user_id, task_id)


def _one(connection: Connection, change: Any, user_id: str, task_id: UUID) -> Task | None:
    mine = change.where(tasks.c.id == task_id, tasks.c.user_id == user_id).returning(*_TASK)
    row = connection.execute(mine).one_or_none()
    return Task(*row) if row is not None else None
