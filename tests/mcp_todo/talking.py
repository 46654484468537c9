"""How the tests talk to the todo server: its command, its tools by hand, and what comes back."""

import json
import re
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client

from mcp_core import App
from mcp_core.auth import Caller
from tests.forkserver.commands import command_path

COMMAND = command_path("mcp-todo")
PATIENT = ["--deadline", "30"]
"""A loaded machine is no reason for a test to fail."""

DENIED = (True, {"error": "Task not found or access denied"})
EMPTY_TITLE = (True, {"error": "Task title cannot be empty"})
BAD_STATUS = (True, {"error": "Invalid status filter. Valid values: all, pending, completed"})

Said = tuple[bool, Any]
"""Whether it is an error, and the value of the JSON text."""
Call = Callable[..., Awaitable[Said]]


def calling(client: Client) -> Call:
    """`await call("add_task", user_id=..., title=...)` through a real client."""

    async def call(tool: str, /, **arguments: Any) -> Said:
        result = await client.call_tool(tool, arguments)
        (block,) = result.content
        assert isinstance(block, types.TextContent)
        assert result.structured_content is None
        return bool(result.is_error), json.loads(block.text)

    return call


def calling_app(app: App, caller: Caller | None = None) -> Call:
    """The same through the pipeline alone."""

    async def call(tool: str, /, **arguments: Any) -> Said:
        answer = await app.call(tool, arguments, caller)
        return answer.is_error, json.loads(answer.text)

    return call


async def added(call: Call, user: str, title: str = "Buy milk", **more: Any) -> str:
    """The id of a new task."""
    failed, value = await call("add_task", user_id=user, title=title, **more)
    assert not failed, value
    return value["task_id"]


@contextmanager
def over_http(*options: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """`mcp-todo http` on a free port; its address once it can be used."""
    command = [COMMAND, "http", "--port", "0", *PATIENT, *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as process:
        said = []
        for line in process.stderr:
            said.append(line)
            if found := re.search(r"Health: (http://\S+)/health", line):
                break
        else:
            raise AssertionError("".join(said))
        try:
            yield f"{found[1]}/mcp"
        finally:
            process.terminate()
            process.communicate(timeout=60)


def bearer(token: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
