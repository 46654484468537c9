"""The SDK's own high-level server."""

import asyncio
from typing import Any

from mcp.server.mcpserver import MCPServer


async def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


def build(tools: int) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("mcp-server", log_level="WARNING")
    server.add_tool(add)
    for number in range(1, tools):
        server.add_tool(add, name=f"add_{number}")
    return server


def http_app(tools: int) -> Any:
    return build(tools).streamable_http_app(json_response=True, stateless_http=True)


async def stdio(tools: int) -> None:
    await build(tools).run_stdio_async()


if __name__ == "__main__":
    asyncio.run(stdio(1))
