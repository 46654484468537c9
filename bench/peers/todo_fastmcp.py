"""The five functions of the todo server on FastMCP 4, on the same store, without any governance.

As its makers would tune it: no sessions, plain JSON answers, a look-up of schemas, httptools and uvloop.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal
from uuid import UUID

from fastmcp import FastMCP

from mcp_todo.model import Task
from mcp_todo.store import SqlTaskRepository, open_repository

UVICORN = {"loop": "uvloop", "http": "httptools"}


class _Store:
    """The tasks, once the server has started."""

    tasks: SqlTaskRepository


@asynccontextmanager
async def _open(_: Any) -> AsyncIterator[None]:
    async with open_repository(os.environ["BENCH_DB"]) as _Store.tasks:
        yield


server: FastMCP[Any] = FastMCP("todo", lifespan=_open)


def _change(task: Task | None, status: str | None = None) -> dict[str, str]:
    if task is None:
        raise ValueError("Task not found or access denied")
    return {"task_id": str(task.id), "status": status or task.status, "title": task.title}


@server.tool
async def add_task(user_id: str, title: str, description: str | None = None) -> dict[str, str]:
    """Create a new todo task for a user."""
    task = Task(title, description)
    await _Store.tasks.add(user_id, task)
    return _change(task, "created")


@server.tool
async def list_tasks(
    user_id: str, status: Literal["all", "pending", "completed"] = "all"
) -> list[dict[str, str | bool | None]]:
    """Retrieve all tasks for a user."""
    return [
        {
            "id": str(task.id),
            "title": task.title,
            "description": task.description,
            "is_completed": task.is_completed,
            "created_at": task.created_at.isoformat(),
        }
        for task in (await _Store.tasks.list(user_id, status)).tasks
    ]


@server.tool
async def complete_task(user_id: str, task_id: str) -> dict[str, str]:
    """Toggle the completion status of a task."""
    return _change(await _Store.tasks.toggle(user_id, UUID(task_id)))


@server.tool
async def delete_task(user_id: str, task_id: str) -> dict[str, str]:
    """Permanently remove a task."""
    return _change(await _Store.tasks.delete(user_id, UUID(task_id)), "deleted")


@server.tool
async def update_task(
    user_id: str, task_id: str, title: str | None = None, description: str | None = None
) -> dict[str, str]:
    """Modify a task."""
    return _change(await _Store.tasks.update(user_id, UUID(task_id), title, description), "updated")


def http_app(_: int) -> Any:
    # Without a look-up by name, each call of the newer protocol lists all tools.
    schemas = {tool.name: tool.parameters for tool in asyncio.run(server.list_tools())}
    server._mcp_server.get_tool_input_schema = schemas.get  # noqa: SLF001 - FastMCP has no public way
    return server.http_app(json_response=True, stateless_http=True)
