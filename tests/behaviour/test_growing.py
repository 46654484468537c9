"""A tool that is added to a running app is served, listed and announced."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.subscriptions import ToolsListChanged

from toolcharter import App

GROWING = '''from toolcharter import App

app = App("growing")

@app.tool
def grow() -> str:
    """Add a tool."""

    @app.tool
    def fresh() -> str:
        """Answer."""
        return "fresh"

    return "grown"

app.run()
'''


async def test_a_new_tool_is_served_and_listed_at_once():
    app = App("growing")
    async with app.client() as client:
        assert await client.list_tools() == []
        assert await client.list_resources() == []

        @app.tool
        def fresh() -> str:
            """Answer."""
            return "fresh"

        assert [tool.name for tool in await client.list_tools()] == ["fresh"]
        assert [resource["uri"] for resource in await client.list_resources()] == ["toolcharter://tools/fresh"]
        assert (await client.call_tool("fresh")).data == "fresh"


@asynccontextmanager
async def address(file: Path) -> AsyncIterator[str]:
    words = [sys.executable, str(file), "http", "--port", "0"]
    process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
    try:
        assert process.stderr is not None
        async for line in process.stderr:
            if found := re.search(rb"http://\S+/mcp", line):
                yield found[0].decode()
                break
    finally:
        process.terminate()
        await process.communicate()


@asynccontextmanager
async def connected(file: Path, transport: str, mode: Any, handle: Any) -> AsyncIterator[Client]:
    if transport == "stdio":
        parameters = StdioServerParameters(command=sys.executable, args=[str(file)])
        async with Client(parameters, mode=mode, message_handler=handle) as client:
            yield client
    else:
        async with address(file) as url, Client(url, mode=mode, message_handler=handle) as client:
            yield client


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_clients_are_told_of_a_new_tool(tmp_path, transport, mode):
    file, told = tmp_path / "growing.py", asyncio.Event()
    file.write_text(GROWING, encoding="utf-8")

    async def handle(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            told.set()

    async def follow(events: Any) -> None:
        async for event in events:
            if isinstance(event, ToolsListChanged):
                told.set()

    async with asyncio.timeout(60), connected(file, transport, mode, handle) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["grow"]
        if mode == "legacy":
            assert client.server_capabilities.tools.list_changed
            await client.call_tool("grow")
            await told.wait()
        else:
            async with client.listen(tools_list_changed=True) as events:
                following = asyncio.create_task(follow(events))
                await client.call_tool("grow")
                await told.wait()
                following.cancel()
        assert [tool.name for tool in (await client.list_tools()).tools] == ["grow", "fresh"]
        assert (await client.call_tool("fresh")).content[0].text == "fresh"
