"""Our governed tools on the native host, served as `examples/demo.py http` serves them."""

import asyncio
import logging
from typing import Any

from bench.peers.governed_app import build
from mcp_core.hosts.fast_path.stdio import serve_stdio
from toolcharter.serving.server import Site

logging.getLogger("mcp").setLevel(logging.WARNING)


def http_app(tools: int) -> Any:
    return Site([build(tools)], "http://127.0.0.1")


async def stdio(tools: int) -> None:
    await serve_stdio(build(tools))


if __name__ == "__main__":
    asyncio.run(stdio(1))
