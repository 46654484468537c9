"""Our governed tools on FastMCP 4."""

import asyncio
from typing import Any

from fastmcp import FastMCP

from bench.peers.governed_app import build as build_app
from mcp_core.hosts.fastmcp import add_tools, governed


def build(tools: int) -> FastMCP[Any]:
    app = build_app(tools)
    server: FastMCP[Any] = FastMCP("governed-fastmcp", lifespan=governed(app))
    add_tools(server, app)
    return server


def http_app(tools: int) -> Any:
    return build(tools).http_app(json_response=True, stateless_http=True)


async def stdio(tools: int) -> None:
    await build(tools).run_stdio_async(show_banner=False)


if __name__ == "__main__":
    asyncio.run(stdio(1))
