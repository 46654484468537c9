"""FastMCP 4 with five of its own middlewares: those that do most of what a governed tool does.

errors -> error results, rate limit -> rate limit, cache -> cache, timing -> metrics, structured log -> audit file.
Their log lines go to a plain file, because FastMCP's own handler draws them with rich, which costs more than the call.
The limit and the cache are configured so that every call is let through, looked up, missed and remembered.
"""

import asyncio
import logging
import os
from pathlib import Path
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware
from fastmcp.server.middleware.logging import StructuredLoggingMiddleware
from fastmcp.server.middleware.rate_limiting import RateLimitingMiddleware
from fastmcp.server.middleware.timing import TimingMiddleware
from fastmcp.tools import Tool

ENOUGH = 1_000_000


async def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


def build(tools: int) -> FastMCP[Any]:
    log = file_logger()
    middlewares = [
        ErrorHandlingMiddleware(logger=log),
        RateLimitingMiddleware(max_requests_per_second=ENOUGH, burst_capacity=ENOUGH, global_limit=True),
        StructuredLoggingMiddleware(logger=log, include_payloads=True),
        TimingMiddleware(logger=log),
        ResponseCachingMiddleware(call_tool_settings={"ttl": 60}),
    ]
    server: FastMCP[Any] = FastMCP("fastmcp-middlewares", middleware=middlewares)
    server.add_tool(Tool.from_function(add))
    for number in range(1, tools):
        server.add_tool(Tool.from_function(add, name=f"add_{number}"))
    return server


def file_logger() -> logging.Logger:
    log = logging.getLogger("bench.fastmcp_middlewares")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(logging.FileHandler(Path(os.environ["BENCH_FOLDER"]) / f"middlewares-{os.getpid()}.log"))
    return log


def http_app(tools: int) -> Any:
    return build(tools).http_app(json_response=True, stateless_http=True)


async def stdio(tools: int) -> None:
    await build(tools).run_stdio_async(show_banner=False)


if __name__ == "__main__":
    asyncio.run(stdio(1))
