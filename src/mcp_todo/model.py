"""A task, and what can be done with the tasks of a user. No I/O."""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, NamedTuple, Protocol
from uuid import UUID

Status = Literal["all", "pending", "completed"]

MAX_NAME_LENGTH = 255
MAX_TITLE_LENGTH = 255
MAX_DESCRIPTION_LENGTH = 10_000
MAX_LISTED = 5_000
"""Tasks in one list: more would fill the context of every model."""


def _new_id() -> UUID:
    # An id must be unique, not secret. The system's source of randomness gives up the interpreter's lock, and under
    # load the event loop waits a millisecond to get it back.
    return UUID(int=random.getrandbits(128), version=4)


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do."""

    title: str
    description: str | None = None
    is_completed: bool = False
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: UUID = field(default_factory=_new_id)

    @property
    def status(self) -> Literal["completed", "pending"]:
        """The status as answers have it."""
        return "completed" if self.is_completed else "pending"


class TaskList(NamedTuple):
    """The newest tasks of a user, the oldest of them first."""

    tasks: list[Task]
    not_shown: int = 0
    """How many older tasks there are besides."""


class TaskRepository(Protocol):
    """The tasks of all users. A task that does not exist, or belongs to another user, is None."""

    async def add(self, user_id: str, task: Task) -> None:
        """Store a new task."""
        ...

    async def list(self, user_id: str, status: Status) -> TaskList:
        """A user's tasks, the oldest first: all, or the newest `MAX_LISTED`."""
        ...

    async def toggle(self, user_id: str, task_id: UUID) -> Task | None:
        """Make a completed task pending, and a pending one completed."""
        ...

    async def update(self, user_id: str, task_id: UUID, title: str | None, description: str | None) -> Task | None:
        """Change the fields that are given."""
        ...

    async def delete(self, user_id: str, task_id: UUID) -> Task | None:
        """Delete it for good."""
        ...
