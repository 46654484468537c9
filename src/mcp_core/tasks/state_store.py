"""Tasks in the shared state: in Redis, for several processes; in memory, where the database of a server is, too."""

import time
from collections.abc import Callable, Sequence

from mcp_core.state.interface import State
from mcp_core.tasks.record import TaskRecord


class StateTaskStore:
    """The tasks of one server, in its shared state."""

    def __init__(self, state: State, clock: Callable[[], float] = time.time) -> None:
        self._state, self._clock = state, clock

    async def create(self, task: TaskRecord, most: int) -> bool:
        own = f"tasks:{task.binding}"
        kept = await self._state.members(own)
        if len(kept) >= most:
            for number in kept:
                if await self._state.reserved(_key(number)) is None:
                    await self._state.remove_member(own, number)
            if len(await self._state.members(own)) >= most:
                return False
        seconds = self._seconds(task)
        await self._state.reserve(_key(task.id), task.to_text(), seconds)
        await self._state.add_member(own, task.id, seconds)
        return True

    async def find(self, task_id: str) -> TaskRecord | None:
        text = await self._state.reserved(_key(task_id))
        return None if text is None else TaskRecord.from_text(text)

    async def save(self, tasks: Sequence[TaskRecord]) -> None:
        for task in tasks:
            await self._state.replace(_key(task.id), task.to_text(), self._seconds(task))

    async def close(self) -> None:
        """Nothing to close: the state belongs to the app."""

    def _seconds(self, task: TaskRecord) -> float:
        return max(1.0, task.expires - self._clock())


def _key(task_id: str) -> str:
    return f"task:{task_id}"
