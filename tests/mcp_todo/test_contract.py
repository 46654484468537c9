"""The contract of the todo server, held against the words of its decision record, the lock and the running server."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_core import Settings
from mcp_core.declare.listed import ListedTool
from tests.forkserver.commands import command_path
from toolcharter.contract.lock import Lock, parse_lock
from toolcharter.local import targets
from toolcharter.remote import client

FILE = Path(__file__).parents[2] / "contracts" / "mcp-todo.json"

DESCRIPTIONS = {
    "add_task": "Create a new todo task for a user. Use this when the user wants to add, create, or remember something as a task. Returns the created task's ID, status, and title.",  # noqa: E501
    "list_tasks": "Retrieve all tasks for a user, optionally filtered by completion status. Use this when the user wants to see, show, or review their tasks. Returns an array of task objects.",  # noqa: E501
    "complete_task": "Toggle the completion status of a task. If pending, becomes completed; if completed, reverts to pending. Use this when the user says they finished, completed, or are done with a task.",  # noqa: E501
    "delete_task": "Permanently remove a task from the user's list. Use this when the user wants to delete, remove, or cancel a task. This action cannot be undone.",  # noqa: E501
    "update_task": "Modify the title and/or description of an existing task. Use this when the user wants to change, rename, edit, or update a task's details. Only provided fields are updated.",  # noqa: E501
}
USER_ID = {
    "type": "string",
    "minLength": 1,
    "maxLength": 255,
    "description": "The unique identifier of the user who owns the task",
}
STATUS = {
    "type": "string",
    "enum": ["all", "pending", "completed"],
    "default": "all",
    "description": "Filter by status: 'all' (default), 'pending' (incomplete only), or 'completed' (done only)",
}


def task_id(action: str) -> dict[str, Any]:
    return {"type": "string", "description": f"The unique identifier of the task to {action}"}


def title(words: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": 255, "description": words}


def description(words: str) -> dict[str, Any]:
    return {"type": "string", "maxLength": 10_000, "description": words}


def taking(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


SCHEMAS = {
    "add_task": taking(
        ["user_id", "title"],
        user_id=USER_ID,
        title=title("The title of the task, 1 to 255 characters"),
        description=description("Further details of the task, up to 10,000 characters"),
    ),
    "list_tasks": taking(["user_id"], user_id=USER_ID, status=STATUS),
    "complete_task": taking(["user_id", "task_id"], user_id=USER_ID, task_id=task_id("complete")),
    "delete_task": taking(["user_id", "task_id"], user_id=USER_ID, task_id=task_id("delete")),
    "update_task": taking(
        ["user_id", "task_id"],
        user_id=USER_ID,
        task_id=task_id("update"),
        title=title("The new title of the task, 1 to 255 characters; left out, it stays"),
        description=description("The new details of the task, up to 10,000 characters; left out, they stay"),
    ),
}


def locked() -> Lock:
    return parse_lock(json.loads(FILE.read_text(encoding="utf-8")), FILE.name)


@pytest.mark.requirement("TOD-1")
def test_the_lock_has_the_five_tools_with_their_exact_schemas():
    assert {name: tool.input_schema for name, tool in locked().tools.items()} == SCHEMAS


@pytest.mark.requirement("TOD-1")
def test_the_lock_has_the_descriptions_word_for_word():
    assert {name: tool.description for name, tool in locked().tools.items()} == DESCRIPTIONS


@pytest.mark.requirement("TOD-1", "VER-2")
def test_the_server_is_what_its_lock_says():
    app = targets.load("todo", Settings())
    assert Lock.from_tools(app.name, app.version, app.list_tools()).to_text() == FILE.read_text(encoding="utf-8")


async def nobody(question: Mapping[str, Any]) -> Mapping[str, Any]:
    raise AssertionError(question)


async def listed(command: list[str]) -> dict[str, ListedTool]:
    async with client.start(command, nobody) as server:
        return {tool.name: tool for tool in await server.list_tools()}


@pytest.mark.requirement("TOD-1", "VER-2")
async def test_the_running_server_shows_a_client_what_its_lock_says(tmp_path):
    command = [command_path("mcp-todo"), "stdio", "--db", f"sqlite:///{tmp_path}/todo.db"]
    assert await listed(command) == locked().tools
