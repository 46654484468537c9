"""The todo server through real clients, over stdio and HTTP, each on an empty SQLite file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp
from fastmcp import Client as FastMcpClient
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import Client, StdioServerParameters

from tests.clients.over_http import served
from tests.clients.scripted import Scripted
from tests.clients.todo_server import DENIED, TOOLS, command_with, go_through_a_day


@pytest.fixture(params=["stdio", "http"])
def todo(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str] | str]:
    """Its command for stdio, or its address for HTTP."""
    command = command_with(tmp_path / "todo.db")
    if request.param == "stdio":
        yield command
    else:
        with served(command, tmp_path / "http.log") as url:
            yield url


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_client_of_the_sdk_keeps_a_list(todo, mode):
    server = todo if isinstance(todo, str) else StdioServerParameters(command=todo[0], args=todo[1:])
    async with Client(server, mode=mode) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> tuple[bool | None, str]:
            result = await client.call_tool(tool, arguments)
            (block,) = result.content
            return result.is_error, block.text

        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        await go_through_a_day(call)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_client_of_fastmcp_keeps_a_list(todo, mode):
    over_http = isinstance(todo, str)
    server = StreamableHttpTransport(todo) if over_http else StdioTransport(todo[0], todo[1:], keep_alive=False)
    async with FastMcpClient(server, mode=mode) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> tuple[bool | None, str]:
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            (block,) = result.content
            return result.is_error, block.text

        assert [tool.name for tool in await client.list_tools()] == TOOLS
        await go_through_a_day(call)


def for_agents(todo: list[str] | str) -> MCPServer:
    if isinstance(todo, str):
        return MCPServerStreamableHttp({"url": todo})
    return MCPServerStdio({"command": todo[0], "args": todo[1:]})


async def test_an_openai_agent_keeps_a_list_and_goes_on_after_an_error(todo):
    def mine(seen: list[str], **more: str) -> dict[str, str]:
        return {"user_id": "ana", "task_id": json.loads(seen[0])["task_id"], **more}

    model = Scripted(
        lambda _: ("add_task", {"user_id": "ana", "title": "Buy milk"}),
        lambda _: ("list_tasks", {"user_id": "ana", "status": "pending"}),
        lambda seen: ("complete_task", mine(seen)),
        lambda seen: ("update_task", mine(seen, title="Buy oat milk")),
        lambda seen: ("delete_task", mine(seen)),
        lambda seen: ("complete_task", mine(seen)),
        lambda _: ("list_tasks", {"user_id": "ana", "status": "done"}),
        lambda seen: "Nothing is left." if json.loads(seen[5]) == DENIED else "I gave up.",
    )
    async with for_agents(todo) as server:
        agent = Agent(name="keeper", model=model, mcp_servers=[server])
        run = await Runner.run(agent, "Let us see.", run_config=RunConfig(tracing_disabled=True))
    answers = [json.loads(text) for text in model.seen]
    milk, (listed,) = answers[0]["task_id"], answers.pop(1)
    assert model.told == TOOLS
    assert (listed["id"], listed["title"], listed["is_completed"]) == (milk, "Buy milk", False)
    assert answers == [
        {"task_id": milk, "status": "created", "title": "Buy milk"},
        {"task_id": milk, "status": "completed", "title": "Buy milk"},
        {"task_id": milk, "status": "updated", "title": "Buy oat milk"},
        {"task_id": milk, "status": "deleted", "title": "Buy oat milk"},
        {"error": "Task not found or access denied"},
        {"error": "Invalid status filter. Valid values: all, pending, completed"},
    ]
    assert run.final_output == "Nothing is left."
