"""Servers that offer everything, a governor in front of them, and clients of both eras in front of it."""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcp_core import Settings
from tests.behaviour.combinations import http_client
from tests.forkserver.commands import command_path
from toolcharter.govern.charter import read_charter
from toolcharter.govern.governor import Governor

OFFERING = str(Path(__file__).with_name("offering_server.py"))
UPSTREAMS = ("pipe", "old-pipe", "web", "old-web")
CLIENTS = ("stdio-legacy", "stdio-2026-07-28", "http-legacy", "http-2026-07-28")


@contextmanager
def offering(kind: str, name: str, *token: str) -> Iterator[str]:
    """The server over HTTP, which may want a token. Gives its address."""
    process = subprocess.Popen([sys.executable, OFFERING, kind, name, *token], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate(timeout=60)


def tables(url: str) -> str:
    """The charter of the same server over both transports, spoken to in both eras."""
    return "list_budget = 100000\n" + "".join(
        f"[upstream.{name}]\n"
        + (
            f"command = {json.dumps([sys.executable, OFFERING, 'stdio', name])}\n"
            if "pipe" in name
            else f'url = "{url}"\n'
        )
        + ("handshake = true\n" if name.startswith("old") else "")
        for name in UPSTREAMS
    )


async def approve_all(path: Path) -> None:
    governor = Governor(path, read_charter(path), Settings(), "1")
    for name in governor.upstreams:
        governor.approve(name, await governor.look(name), [])
    await governor.close()


@contextmanager
def governor_over_http(path: Path, *options: str) -> Iterator[str]:
    """The governor over HTTP. Gives its address without the path."""
    asyncio.run(approve_all(path))
    log = path.with_name("governor.log")
    with log.open("wb") as errors:
        command = [command_path("toolcharter"), "govern", "http", "--port", "0", "--charter", path, *options]
        process = subprocess.Popen(command, stdout=errors, stderr=errors)
    while (printed := re.search(r"Health: (http://\S+)/health", log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)
    try:
        yield printed[1]
    finally:
        process.terminate()
        process.wait(60)


@asynccontextmanager
async def connected(connection: str, path: Path, address: str, **options: Any) -> AsyncIterator[Client]:
    """A client such as `stdio-legacy`."""
    transport, _, mode = connection.partition("-")
    if transport == "stdio":
        arguments = ["govern", "--charter", str(path), "--log-level", "ERROR"]
        channel = stdio_client(StdioServerParameters(command=command_path("toolcharter"), args=arguments))
        async with Client(channel, mode=mode, **options) as client:
            yield client
    else:
        async with http_client() as http:
            channel = streamable_http_client(f"{address}/mcp", http_client=http)
            async with Client(channel, mode=mode, **options) as client:
                yield client
