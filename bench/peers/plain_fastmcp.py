"""Bare FastMCP 4, with a look-up of schemas by name: without it, each call of the newer protocol lists all tools."""

import asyncio
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import Tool


async def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


def build(tools: int) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("plain-fastmcp")
    server.add_tool(Tool.from_function(add))
    for number in range(1, tools):
        server.add_tool(Tool.from_function(add, name=f"add_{number}"))
    schema = Tool.from_function(add).parameters
    server._mcp_server.get_tool_input_schema = lambda _: schema  # noqa: SLF001 - FastMCP has no public way
    return server


def http_app(tools: int) -> Any:
    return build(tools).http_app(json_response=True, stateless_http=True)


async def stdio(tools: int) -> None:
    await build(tools).run_stdio_async(show_banner=False)


if __name__ == "__main__":
    asyncio.run(stdio(1))
