"""The todo server, wired: the only place that knows where the tasks are kept."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module

from mcp_todo.model import Tasks
from mcp_todo.tools import REHEARSED, TOOLS
from toolcharter import App, Settings

VERSION = "1.0.0"


def build(settings: Settings) -> App:
    """The server."""
    return App(
        "todo",
        version=VERSION,
        title="Todo list",
        instructions=_instructions(settings.user),
        tools=TOOLS,
        format="bare",
        lifespan=_keep_tasks,
        prepare_examples=_prepare_examples,
        settings=settings,
    )


def _instructions(user: str | None) -> str:
    whose = f" The user_id is {user!r}." if user else ""
    return f"A todo list.{whose} Call list_tasks first to learn the ids of the tasks that the user speaks of."


@asynccontextmanager
async def _keep_tasks(app: App) -> AsyncGenerator[None]:
    # Loaded beside the first answers, not before them: SQLAlchemy takes a third of a second.
    store = await asyncio.to_thread(import_module, "mcp_todo.store")
    async with store.open_tasks(app.settings.db) as tasks:
        app.provide(Tasks, tasks)
        yield


async def _prepare_examples(app: App) -> None:
    await app.provided(Tasks).add("ana", REHEARSED)
