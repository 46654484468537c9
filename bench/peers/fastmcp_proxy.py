"""FastMCP's proxy over HTTP: `python -m bench.peers.fastmcp_proxy default|connected URL-OR-COMMAND...`.

default     as FastMCP's documentation has it: `create_proxy(target)`, which connects anew for each request
connected   with a client that stays connected, which all requests share: faster, and FastMCP warns of mixed contexts
"""

import socket
import sys
from contextlib import AsyncExitStack
from typing import Any

import uvicorn
import uvloop
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy


async def main() -> None:
    how, *target = sys.argv[1:]
    upstream: Any = target[0] if target[0].startswith("http") else StdioTransport(target[0], target[1:])
    async with AsyncExitStack() as stack:
        if how == "connected":
            upstream = await stack.enter_async_context(Client(upstream))
        app = create_proxy(upstream).http_app(json_response=True, stateless_http=True)
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.bind(("127.0.0.1", 0))
        listener.listen(2048)
        print(listener.getsockname()[1], flush=True)
        config = uvicorn.Config(app, log_config=None, access_log=False, log_level="warning")
        await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    uvloop.run(main())
