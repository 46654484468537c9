"""`add_task` as one would write it by hand on the low-level SDK: sqlite3, one connection, no governance.

It has the table and the settings of the todo server, on the database that BENCH_DB names. The statement runs in the
event loop, which costs less processor time than a thread.
"""

import json
import os
import sqlite3
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import mcp_types as types
from mcp.server.lowlevel import Server

SCHEMA = {
    "type": "object",
    "properties": {
        "user_id": {"type": "string", "description": "The user who owns the task."},
        "title": {"type": "string", "description": "The title of the task."},
        "description": {"type": "string", "description": "Further details of the task."},
    },
    "required": ["user_id", "title"],
}
TABLE = """
    CREATE TABLE IF NOT EXISTS todo_tasks (
        id CHAR(32) NOT NULL PRIMARY KEY, user_id VARCHAR(255) NOT NULL, title VARCHAR(255) NOT NULL, description TEXT,
        is_completed BOOLEAN NOT NULL, created_at DATETIME NOT NULL);
    CREATE INDEX IF NOT EXISTS todo_tasks_by_user ON todo_tasks (user_id, created_at, id);
"""
INSERT = "INSERT INTO todo_tasks (id, user_id, title, description, is_completed, created_at) VALUES (?, ?, ?, ?, 0, ?)"


def connect() -> sqlite3.Connection:
    connection = sqlite3.connect(os.environ["BENCH_DB"].removeprefix("sqlite:///"), isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.executescript(TABLE)
    return connection


def http_app(_: int) -> Any:
    connection = connect()
    listed = types.Tool(name="add_task", description="Create a new todo task for a user.", input_schema=SCHEMA)

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[listed])

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = params.arguments or {}
        title = given["title"].strip()
        if not title:
            text = types.TextContent(type="text", text="Task title cannot be empty")
            return types.CallToolResult(content=[text], is_error=True)
        task, created = uuid4(), datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        connection.execute(INSERT, (task.hex, given["user_id"], title, given.get("description"), created))
        text = json.dumps({"task_id": str(task), "status": "created", "title": title})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    server = Server(
        "todo-low-level",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema={"add_task": SCHEMA}.get,
    )
    return server.streamable_http_app(json_response=True, stateless_http=True)
