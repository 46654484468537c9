"""The five tools. contracts/mcp-todo.json has what an agent sees of them, word for word."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from mcp_todo.model import (
    MAX_DESCRIPTION_LENGTH,
    MAX_NAME_LENGTH,
    MAX_TITLE_LENGTH,
    Status,
    Task,
    TaskList,
    TaskRepository,
)
from toolcharter import Example, InvalidArguments, NotFound, Result, ToolContext, tool

DENIED = "Task not found or access denied"
EMPTY_TITLE = "Task title cannot be empty"
BAD_STATUS = "Invalid status filter. Valid values: all, pending, completed"
NOTHING_TO_UPDATE = "Nothing to update: give a title, a description or both"

EXAMPLE_TASK = Task("Buy milk", "Two bottles", id=UUID("6f1de3a0-5c1b-4a55-9d0c-0e6a3f1f7c11"))
"""The task that the examples use; app.py adds it before they run."""
_ID = str(EXAMPLE_TASK.id)

UserName = Annotated[
    str,
    Field(min_length=1, max_length=MAX_NAME_LENGTH, description="The unique identifier of the user who owns the task"),
]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE_LENGTH)]
Description = Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION_LENGTH)]


class TaskChange(TypedDict):
    """The answer to a change."""

    task_id: str
    status: Literal["created", "updated", "deleted", "completed", "pending"]
    title: str


class TaskItem(TypedDict):
    """A task in a list."""

    id: str
    title: str
    description: str | None
    is_completed: bool
    created_at: str


SYNONYMS = {
    **dict.fromkeys(("user", "username", "owner"), "user_id"),
    **dict.fromkeys(("id", "task"), "task_id"),
    **dict.fromkeys(("name", "text", "new_title"), "title"),
    **dict.fromkeys(("notes", "note", "details", "body", "new_description"), "description"),
    **dict.fromkeys(("filter", "state"), "status"),
}
"""Other names that agents use for the arguments."""

both = tool.preset(tags=["tasks"], open_world=False, synonyms=SYNONYMS, user_argument="user_id")
reads = both.query.preset(permissions=["tasks:read"])
writes = both.mutation.preset(permissions=["tasks:write"])


@writes(
    description=(
        "Create a new todo task for a user. Use this when the user wants to add, create, or remember something as a "
        "task. Returns the created task's ID, status, and title."
    ),
    error_messages={"title.string_too_short": EMPTY_TITLE, "title.missing": EMPTY_TITLE},
    examples=[
        Example(
            "Remember an errand",
            {"user_id": "ana", "title": "Call the dentist", "description": "Ask for a morning"},
            {"task_id": "<uuid>", "status": "created", "title": "Call the dentist"},
        )
    ],
)
async def add_task(
    user_id: UserName,
    title: Annotated[Title, Field(description="The title of the task, 1 to 255 characters")],
    description: Annotated[
        Description | None,
        Field(description="Further details of the task, up to 10,000 characters"),
    ] = None,
    *,
    tasks: TaskRepository,
    context: ToolContext,
) -> TaskChange:
    """Create a new todo task for a user."""
    owner = _owner(user_id, context)
    task = Task(title, description)
    await tasks.add(owner, task)
    return _change(task, "created")


@reads(
    description=(
        "Retrieve all tasks for a user, optionally filtered by completion status. Use this when the user wants to see, "
        "show, or review their tasks. Returns an array of task objects."
    ),
    error_messages={"status": BAD_STATUS},
    examples=[
        Example(
            "What is still to do",
            {"user_id": "ana", "status": "pending"},
            [
                {
                    "id": _ID,
                    "title": "Buy milk",
                    "description": "Two bottles",
                    "is_completed": False,
                    "created_at": "<time>",
                }
            ],
        )
    ],
)
async def list_tasks(
    user_id: UserName,
    status: Annotated[
        Status,
        Field(description="Filter by status: 'all' (default), 'pending' (incomplete only), or 'completed' (done only)"),
    ] = "all",
    *,
    tasks: TaskRepository,
    context: ToolContext,
) -> Result[list[TaskItem]]:
    """Retrieve all tasks for a user."""
    found = await tasks.list(_owner(user_id, context), status)
    value = [_item(task) for task in found.tasks]
    return Result(value, content=[_not_shown(found, status)] if found.not_shown else ())


def _not_shown(found: TaskList, status: Status) -> str:
    """How many tasks the list lacks, and how to see fewer."""
    how = {
        "all": "List the pending ones alone: status 'pending'.",
        "pending": "Complete or delete tasks that are no longer needed.",
        "completed": "Delete completed tasks that are no longer needed.",
    }[status]
    return f"These are the newest {len(found.tasks):,} tasks; {found.not_shown:,} older ones are not shown. {how}"


@writes(
    description=(
        "Toggle the completion status of a task. If pending, becomes completed; if completed, reverts to pending. Use "
        "this when the user says they finished, completed, or are done with a task."
    ),
    examples=[
        Example(
            "The milk is bought",
            {"user_id": "ana", "task_id": _ID},
            {"task_id": _ID, "status": "completed", "title": "Buy milk"},
        )
    ],
)
async def complete_task(
    user_id: UserName,
    task_id: Annotated[str, Field(description="The unique identifier of the task to complete")],
    *,
    tasks: TaskRepository,
    context: ToolContext,
) -> TaskChange:
    """Toggle the completion status of a task."""
    task = _existing(await tasks.toggle(*_owner_and_id(user_id, task_id, context)))
    return _change(task, task.status)


@writes(
    description=(
        "Permanently remove a task from the user's list. Use this when the user wants to delete, remove, or cancel a "
        "task. This action cannot be undone."
    ),
    idempotent=True,
    destructive=True,
    examples=[
        Example(
            "The milk is no longer needed",
            {"user_id": "ana", "task_id": _ID},
            {"task_id": _ID, "status": "deleted", "title": "Buy milk"},
        )
    ],
)
async def delete_task(
    user_id: UserName,
    task_id: Annotated[str, Field(description="The unique identifier of the task to delete")],
    *,
    tasks: TaskRepository,
    context: ToolContext,
) -> TaskChange:
    """Permanently remove a task from the user's list."""
    return _change(_existing(await tasks.delete(*_owner_and_id(user_id, task_id, context))), "deleted")


@writes(
    description=(
        "Modify the title and/or description of an existing task. Use this when the user wants to change, rename, "
        "edit, or update a task's details. Only provided fields are updated."
    ),
    idempotent=True,
    error_messages={"title.string_too_short": EMPTY_TITLE},
    examples=[
        Example(
            "Another title, the same description",
            {"user_id": "ana", "task_id": _ID, "title": "Buy oat milk"},
            {"task_id": _ID, "status": "updated", "title": "Buy oat milk"},
        )
    ],
)
async def update_task(
    user_id: UserName,
    task_id: Annotated[str, Field(description="The unique identifier of the task to update")],
    title: Annotated[
        Title | None,
        Field(description="The new title of the task, 1 to 255 characters; left out, it stays"),
    ] = None,
    description: Annotated[
        Description | None,
        Field(description="The new details of the task, up to 10,000 characters; left out, they stay"),
    ] = None,
    *,
    tasks: TaskRepository,
    context: ToolContext,
) -> TaskChange:
    """Modify the title and/or description of an existing task."""
    owner, known = _owner_and_id(user_id, task_id, context)
    if title is None and description is None:
        raise InvalidArguments(NOTHING_TO_UPDATE, fields=("title", "description"))
    return _change(_existing(await tasks.update(owner, known, title, description)), "updated")


TOOLS = (add_task, list_tasks, complete_task, delete_task, update_task)

_NO_TASK = UUID(int=0)


def _owner(user_id: str, context: ToolContext) -> str:
    """The user whose tasks are meant. A caller who is known can only mean themselves."""
    if context.user_id not in (None, user_id):
        raise NotFound(DENIED)
    return user_id


def _owner_and_id(user_id: str, task_id: str, context: ToolContext) -> tuple[str, UUID]:
    """The owner and the id of the task that is meant. What a caller may not see is looked up, and never found.

    So the answer takes as long for another user's task as for one that does not exist.
    """
    if context.user_id not in (None, user_id):
        return context.user_id or "", _NO_TASK
    try:
        return user_id, UUID(task_id)
    except ValueError:
        return user_id, _NO_TASK


def _existing(task: Task | None) -> Task:
    if task is None:
        raise NotFound(DENIED)
    return task


def _change(task: Task, status: Literal["created", "updated", "deleted", "completed", "pending"]) -> TaskChange:
    return {"task_id": str(task.id), "status": status, "title": task.title}


def _item(task: Task) -> TaskItem:
    return {
        "id": str(task.id),
        "title": task.title,
        "description": task.description,
        "is_completed": task.is_completed,
        "created_at": task.created_at.isoformat(),
    }
