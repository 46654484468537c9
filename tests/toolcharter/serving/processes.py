"""Servers in processes of their own, and calls to them."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

GATE_SERVER = str(Path(__file__).with_name("gate_server.py"))
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PATIENCE = 60.0
PAUSE = 0.05
"""Between two looks at what another process does. To list its children takes 5 ms."""


def message(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call in the modern protocol."""
    params = {"name": tool, "arguments": arguments, "_meta": META}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def headers(tool: str) -> dict[str, str]:
    """The headers of a call over HTTP."""
    return {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }


async def call(http: httpx2.AsyncClient, number: int, tool: str, path: str = "/mcp", **arguments: Any) -> Any:
    """Send a call."""
    return await http.post(path, json=message(number, tool, **arguments), headers=headers(tool))


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(PAUSE)


class Process:
    """A server in a process of its own. What it writes to stderr is read line by line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process, self.log = process, ""

    def read_until(self, pattern: str, times: int = 1) -> str:
        """Read the log up to the line that matches for that many times; returns this line."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line
            times -= bool(re.search(pattern, line))
            if not times:
                return line
        raise AssertionError(f"it ended before it wrote {pattern!r}:\n{self.log}")

    def base_url(self) -> str:
        """The address that it prints when it serves."""
        self.read_until(r"Stop: Ctrl")
        found = re.search(r"Serving .*(?:Console:|at) (\S+)/\n", self.log)
        assert found
        return found[1]

    def wait(self) -> int:
        """The exit code."""
        assert self.process.stderr is not None
        self.log += self.process.stderr.read()
        return self.process.wait(PATIENCE)


@contextmanager
def started(*arguments: str, program: bool = False, **options: Any) -> Iterator[Process]:
    """Start a Python script with arguments, or a program."""
    command = [*arguments] if program else [sys.executable, *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options) as process:
        try:
            yield Process(process)
        finally:
            process.kill()
