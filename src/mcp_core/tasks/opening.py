"""Opens the store of tasks that the settings choose."""

import asyncio
from types import ModuleType

from mcp_core.process.extras import RequiresExtra
from mcp_core.settings.model import Settings
from mcp_core.state.interface import State
from mcp_core.state.memory import MemoryState
from mcp_core.tasks.record import TaskStore
from mcp_core.tasks.state_store import StateTaskStore


async def open_task_store(state: State, settings: Settings, server: str) -> TaskStore:
    """The shared state if several processes share it; otherwise a database, which outlives the process."""
    if not isinstance(state, MemoryState):
        return StateTaskStore(state)
    await asyncio.to_thread(_import)
    from mcp_core.db.database import address  # noqa: PLC0415 - imported by now
    from mcp_core.tasks.database_store import DatabaseTaskStore, beside  # noqa: PLC0415 - as above

    url = address(settings.db, server)
    if url.database == ":memory:":
        return StateTaskStore(state)
    return await DatabaseTaskStore.open(beside(url), server)


def _import() -> ModuleType:
    """Import the database in a thread: SQLAlchemy takes 180 ms, and a call is running."""
    with RequiresExtra("sql", "A task that outlives its request"):
        from mcp_core.tasks import database_store  # noqa: PLC0415 - as above
    return database_store
