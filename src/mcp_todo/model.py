"""A task, and what can be done with the tasks of a user. No I/O."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, Protocol
from uuid import UUID, uuid4

Status = Literal["all", "pending", "completed"]

LONGEST_NAME = 255
LONGEST_TITLE = 255
LONGEST_DESCRIPTION = 10_000


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do."""

    title: str
    description: str | None = None
    is_completed: bool = False
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: UUID = field(default_factory=uuid4)

    @property
    def status(self) -> Literal["completed", "pending"]:
        """Whether it is done, in a word."""
        return "completed" if self.is_completed else "pending"


class Tasks(Protocol):
    """Where tasks are kept. What is not there, or not the user's, is None."""

    async def add(self, user_id: str, task: Task) -> None:
        """Keep a new task."""
        ...

    async def of(self, user_id: str, status: Status) -> list[Task]:
        """A user's tasks, the oldest first."""
        ...

    async def toggle(self, user_id: str, task_id: UUID) -> Task | None:
        """Completed becomes pending, and pending completed."""
        ...

    async def change(self, user_id: str, task_id: UUID, title: str | None, description: str | None) -> Task | None:
        """Change what is given."""
        ...

    async def remove(self, user_id: str, task_id: UUID) -> Task | None:
        """Delete it for good."""
        ...
