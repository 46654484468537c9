"""A contender over HTTP in a process of its own: `python -m bench.worker PEER TOOLS`.

It serves until it is ended; the first line it prints is its port.
"""

import importlib
import socket
import sys

import uvicorn

from toolcharter.serving.http import HttpServer
from toolcharter.serving.server import Site


def main() -> None:
    peer, tools = importlib.import_module(f"bench.peers.{sys.argv[1]}"), int(sys.argv[2])
    # With an explicit protocol number asyncio switches off Nagle's algorithm; otherwise each answer waits 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(2048)
    app = peer.http_app(tools)
    # As each library does it: ours as its command, the others with uvicorn at its fastest, without logs.
    if isinstance(app, Site):
        server: uvicorn.Server = HttpServer(app, app.apps, app.settings)
    else:
        options = {"log_config": None, "access_log": False, "timeout_graceful_shutdown": 2}
        config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="warning", **options)
        server = uvicorn.Server(config)
    print(listener.getsockname()[1], flush=True)
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
