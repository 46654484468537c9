"""The todo server as clients start it, or find it, and what a list goes through in a day."""

import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.forkserver.commands import command_path

MCP_TODO = command_path("mcp-todo")
TOOLS = ["add_task", "list_tasks", "complete_task", "delete_task", "update_task"]
DENIED = {"error": "Task not found or access denied"}

Call = Callable[[str, dict[str, Any]], Awaitable[tuple[bool | None, str]]]
"""A tool and its arguments, to whether it failed and the one text it answered with."""


def command_with(database: Path) -> list[str]:
    """Start it on that SQLite file."""
    return [MCP_TODO, "--db", f"sqlite:///{database}"]


async def go_through_a_day(call: Call) -> None:
    """Add, list, complete, rename and delete; and every answer is what the contract says."""
    failed, text = await call("add_task", {"user_id": "ana", "title": "Buy milk", "description": "Two bottles"})
    milk = json.loads(text)["task_id"]
    assert (failed, json.loads(text)) == (False, {"task_id": milk, "status": "created", "title": "Buy milk"})
    assert str(UUID(milk)) == milk
    mine = {"user_id": "ana", "task_id": milk}

    (listed,) = json.loads((await call("list_tasks", {"user_id": "ana"}))[1])
    assert datetime.fromisoformat(listed.pop("created_at")).utcoffset() == timedelta(0)
    assert listed == {"id": milk, "title": "Buy milk", "description": "Two bottles", "is_completed": False}

    expected = [
        ("complete_task", mine, False, {"task_id": milk, "status": "completed", "title": "Buy milk"}),
        ("list_tasks", {"user_id": "ana", "status": "pending"}, False, []),
        ("complete_task", mine, False, {"task_id": milk, "status": "pending", "title": "Buy milk"}),
        ("update_task", {**mine, "title": "Oat"}, False, {"task_id": milk, "status": "updated", "title": "Oat"}),
        ("list_tasks", {"user_id": "bob"}, False, []),
        ("delete_task", {"user_id": "bob", "task_id": milk}, True, DENIED),
        ("delete_task", mine, False, {"task_id": milk, "status": "deleted", "title": "Oat"}),
        ("complete_task", mine, True, DENIED),
        ("add_task", {"user_id": "ana", "title": " "}, True, {"error": "Task title cannot be empty"}),
        ("list_tasks", {"user_id": "ana"}, False, []),
    ]
    for tool, arguments, fails, answer in expected:
        failed, text = await call(tool, arguments)
        assert (tool, failed, json.loads(text)) == (tool, fails, answer)
