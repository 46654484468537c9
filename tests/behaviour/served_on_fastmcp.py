"""The tools of `served`, added to a FastMCP server."""

import argparse
import json
import socket
import sys
from collections.abc import Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.auth import AuthProvider, StaticTokenVerifier
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from mcp_core import App, Settings, mcp_log
from mcp_core.hosts.fastmcp import add_tools, governed
from mcp_core.settings.sources import add_options, from_options
from tests.behaviour.served import build


def on_fastmcp(app: App) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP(app.name, version=app.version, lifespan=governed(app), auth=_auth(app.settings))
    add_tools(server, app)
    return server


def _auth(settings: Settings) -> AuthProvider | None:
    """The tokens of the file, in FastMCP's own terms."""
    if settings.tokens is None:
        return None
    entries = json.loads(settings.tokens.read_text())
    tokens = {t: {"client_id": "tests", "sub": e["user"], "scopes": e["grants"]} for t, e in entries.items()}
    return StaticTokenVerifier(tokens)


def serve(transport: str, options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    settings = from_options(parser.parse_args(options))
    mcp_log.configure(settings.log_level)
    server = on_fastmcp(build(settings))
    if transport == "stdio":
        return server.run("stdio", show_banner=False)

    @server.custom_route("/health", methods=["GET"])
    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    # Named TCP, or asyncio leaves Nagle's algorithm on, and each answer waits 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind((settings.host, settings.port))
    print(f"Health: http://{settings.host}:{listener.getsockname()[1]}/health", file=sys.stderr, flush=True)  # noqa: T201
    return server.run(
        "http",
        show_banner=False,
        sockets=[listener],
        host_origin_protection=True,
        uvicorn_config={"log_config": None, "access_log": False},
    )
