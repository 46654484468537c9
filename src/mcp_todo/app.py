"""The todo server: its tools, and where its tasks are stored."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_todo.model import TaskRepository
from mcp_todo.tools import EXAMPLE_TASK, TOOLS
from toolcharter import App, Settings
from toolcharter.auth import LOCAL

if TYPE_CHECKING:
    from mcp_todo.store import SqlTaskRepository

VERSION = "1.0.0"
SKILLS = Path(__file__).parent / "skills"
DESCRIPTION = "A todo list for your agent."


def build(settings: Settings) -> App:
    """The server."""
    app = App(
        "todo",
        strict=True,
        version=VERSION,
        title="Todo list",
        description=DESCRIPTION,
        instructions=_instructions(settings),
        tools=TOOLS,
        format="bare",
        structured=False,
        prepare_examples=_add_example_task,
        settings=settings,
        skills=SKILLS,
    )
    app.provide(TaskRepository, _open_repository)
    return app


def _instructions(settings: Settings) -> str:
    if settings.user:
        whose = f" The user_id is {settings.user!r}."
    elif settings.tokens or settings.oidc:
        whose = ""
    else:
        whose = f" If you know no other, the user_id is {LOCAL!r}."
    return f"A todo list.{whose} Call list_tasks first to get the ids of the tasks that the user mentions."


async def _open_repository(app: App) -> AsyncGenerator[TaskRepository]:
    # In a thread, so that the server answers while SQLAlchemy is imported.
    opening = await asyncio.to_thread(_repository, app.settings.db)
    async with opening as repository:
        await app.use_database(repository.database)
        yield repository


def _repository(url: str | None) -> "AbstractAsyncContextManager[SqlTaskRepository]":
    from mcp_todo.store import open_repository  # noqa: PLC0415 - 180 ms, most of it SQLAlchemy

    return open_repository(url)


async def _add_example_task(app: App) -> None:
    await app.provided(TaskRepository).add("ana", EXAMPLE_TASK)
