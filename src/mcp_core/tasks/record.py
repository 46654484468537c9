"""A task as it is stored, and the interface of its store."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]


class TaskRecord(NamedTuple):
    """A call that outlives its request. All times are in seconds since the epoch."""

    id: str
    binding: str
    """A digest of its caller. For everyone else the task does not exist."""
    tool: str
    created: float
    updated: float
    expires: float
    owner: str
    """The process that runs it."""
    alive_until: float
    """When that process is taken to have ended, if it has not renewed this time."""
    status: Status = "working"
    message: str | None = None
    progress: tuple[float, float | None] | None = None
    """How much is done, and of how much."""
    questions: Mapping[str, Mapping[str, Any]] | None = None
    """The questions to the person, by their names: the parameters of `elicitation/create`."""
    outcome: str | None = None
    """The answer or the protocol error, as `outcomes` writes it."""

    @property
    def is_over(self) -> bool:
        """Whether nothing can change any more."""
        return self.status in ("completed", "failed", "cancelled")

    def to_text(self) -> str:
        """The record as stores keep it."""
        return json.dumps(self)

    @classmethod
    def from_text(cls, text: str) -> "TaskRecord":
        """The opposite of `to_text`."""
        return cls(*json.loads(text))


class TaskStore(Protocol):
    """Keeps tasks until they expire. Raises Unavailable or StateUnavailable where it cannot be reached."""

    async def create(self, task: TaskRecord, most: int) -> bool:
        """Keep a new task, durably. False if its caller has `most` tasks already."""
        ...

    async def find(self, task_id: str) -> TaskRecord | None:
        """The task of that id, unless it has expired."""
        ...

    async def save(self, tasks: Sequence[TaskRecord]) -> None:
        """Replace the records of tasks that exist."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
