"""A contender in a process of its own: `python -m bench.worker http|memory MODULE TOOLS`.

http      serves until it is ended; the first line it prints is its port
memory    for each line {era, calls, first} on stdin, calls `add` that often through a client in the same process
"""

import asyncio
import importlib
import json
import socket
import sys
import time
from typing import Any

import uvicorn
from mcp.client import Client

from bench import messages
from mcp_core.hosts.site.server import Site
from mcp_core.hosts.site.serving import HttpServer

WARM_UP = 20


def serve_http(peer: Any, tools: int) -> None:
    # With an explicit protocol number asyncio switches off Nagle's algorithm; otherwise each answer waits 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(2048)
    app = peer.http_app(tools)
    # As each library does it: ours as its command, the SDK and FastMCP with uvicorn's defaults.
    if isinstance(app, Site):
        server: uvicorn.Server = HttpServer(app, app.apps, app.settings)
    else:
        options = {"log_config": None, "access_log": False, "timeout_graceful_shutdown": 2}
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", **options))
    print(listener.getsockname()[1], flush=True)
    server.run(sockets=[listener])


async def answer_in_memory(peer: Any, tools: int) -> None:
    async with peer.in_memory(tools) as server:
        print("ready", flush=True)
        while line := sys.stdin.readline():
            print(json.dumps(await call(server, **json.loads(line))), flush=True)


async def call(server: Any, era: str, calls: int, first: int) -> dict[str, float]:
    """Processor time for each call, client and server together; every answer is checked afterwards."""
    async with Client(server, mode="legacy" if era == messages.LEGACY else era) as client:
        for number in range(first, first + WARM_UP):
            await client.call_tool("add", {"a": number, "b": number})
        numbers = range(first + WARM_UP, first + WARM_UP + calls)
        started = time.process_time()
        answers = [await client.call_tool("add", {"a": number, "b": 2 * number}) for number in numbers]
        used = time.process_time() - started
    for number, answer in zip(numbers, answers, strict=True):
        if answer.is_error or messages.sum_in_text(answer.content[0].text) != 3 * number:
            raise ValueError(f"asked for {number} + {2 * number}, got {answer}")
    return {"cpu_us": used / calls * 1e6}


def main() -> None:
    how, module, tools = sys.argv[1], sys.argv[2], int(sys.argv[3])
    peer = importlib.import_module(module)
    if how == "http":
        serve_http(peer, tools)
    else:
        asyncio.run(answer_in_memory(peer, tools))


if __name__ == "__main__":
    main()
