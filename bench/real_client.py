"""A real client in a process of its own: `python -m bench.real_client sdk|fastmcp|agents`.

For each line {url, era, calls, in_flight, first} on stdin it connects, warms up and prints "ready"; after another line
it calls `add` that often and prints {seconds, sums}. `real_client.mjs` does the same in Node.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

WARM_UP = 20
MODERN = "2026-07-28"

Call = Callable[[int, int], Awaitable[Any]]
"""Calls `add` and returns the content of the answer."""


@asynccontextmanager
async def sdk(url: str, era: str) -> AsyncIterator[Call]:
    from mcp.client import Client  # noqa: PLC0415 - each process imports one client

    async with Client(url, mode=era if era == MODERN else "legacy") as client:
        yield lambda a, b: client.call_tool("add", {"a": a, "b": b})


@asynccontextmanager
async def fastmcp(url: str, era: str) -> AsyncIterator[Call]:
    from fastmcp import Client  # noqa: PLC0415

    async with Client(url, mode=era if era == MODERN else "legacy") as client:
        yield lambda a, b: client.call_tool("add", {"a": a, "b": b})


@asynccontextmanager
async def agents(url: str, era: str) -> AsyncIterator[Call]:
    """The MCP client of the OpenAI Agents SDK, which negotiates the protocol."""
    from agents.mcp import MCPServerStreamableHttp  # noqa: PLC0415

    assert era == MODERN
    async with MCPServerStreamableHttp({"url": url}) as server:
        yield lambda a, b: server.call_tool("add", {"a": a, "b": b})


async def call_many(call: Call, numbers: range, in_flight: int) -> dict[str, Any]:
    waiting, sums = iter(numbers), dict[int, Any]()

    async def work() -> None:
        for number in waiting:
            sums[number] = await call(number, 2 * number)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "sums": {number: answer.content[0].text for number, answer in sums.items()}}


async def main() -> None:
    connect = {"sdk": sdk, "fastmcp": fastmcp, "agents": agents}[sys.argv[1]]
    while line := sys.stdin.readline():
        wanted = json.loads(line)
        first, in_flight = wanted["first"], wanted["in_flight"]
        async with connect(wanted["url"], wanted["era"]) as call:
            await call_many(call, range(first, first + WARM_UP), in_flight)
            print("ready", flush=True)
            sys.stdin.readline()
            numbers = range(first + WARM_UP, first + WARM_UP + wanted["calls"])
            print(json.dumps(await call_many(call, numbers, in_flight)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
