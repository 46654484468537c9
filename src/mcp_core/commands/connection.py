"""One way to list and call, for a server that runs elsewhere and for one started for the call."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import Any, Protocol, cast

from mcp_core import mcp_log, targets
from mcp_core.app import App, ListedTool
from mcp_core.call import Answer, Request
from mcp_core.errors import UnknownTool
from mcp_core.settings import add_options, from_options


class CannotRun(Exception):
    """The server cannot be reached, or does not know the tool."""


class Connection(Protocol):
    """A server that can be asked."""

    async def list_tools(self) -> list[ListedTool]:
        """All tools."""
        ...

    async def documentation(self, tool: ListedTool) -> str:
        """The full documentation of a tool."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool."""
        ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What both commands take."""
    parser.add_argument(
        "server", metavar="SERVER", help="an installed server, file.py, module:object, or an http address"
    )
    parser.add_argument("--token", help="bearer token for a server at an address [TOOLCHARTER_TOKEN]")
    add_options(parser)


@asynccontextmanager
async def connect(options: argparse.Namespace) -> AsyncGenerator[Connection]:
    """Open the server that the options name."""
    settings = from_options(options)
    # The answer says what was refused; the log is for what the answer cannot explain.
    level = "ERROR" if options.log_level is None else settings.log_level
    mcp_log.configure(level, file=settings.log_file, as_json=settings.log_json)
    if targets.is_address(options.server):
        # The MCP client is loaded only for servers that run elsewhere.
        client = import_module("mcp_core.hosts.client")
        opened: AbstractAsyncContextManager[Connection] = client.connect(options.server, options.token, ask_terminal)
        try:
            async with opened as connection:
                yield connection
        except client.Unreachable as error:
            raise CannotRun(str(error)) from None
        return
    try:
        app = targets.load(options.server, settings)
    except targets.NoSuchTarget as error:
        raise CannotRun(str(error)) from None
    async with app:
        yield _Local(app)


class _Local:
    """A server in this very process, through the same pipeline as everywhere."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def list_tools(self) -> list[ListedTool]:
        return self._app.list_tools()

    async def documentation(self, tool: ListedTool) -> str:
        return self._app.documentation(tool.name)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        request = Request(
            tool,
            arguments,
            self._app.local_caller,
            agent_id="toolcharter",
            agent_version=self._app.version,
            ask=ask_terminal if sys.stdin.isatty() else None,
            progress=show_progress,
        )
        try:
            # A question is never returned to one who can be asked.
            return cast(Answer, await self._app.run(request))
        except UnknownTool as error:
            raise CannotRun(str(error)) from None


async def ask_terminal(question: str) -> bool:
    """Ask the person at the terminal. Anything but yes is no."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = await asyncio.to_thread(sys.stdin.readline)
    return answer.strip().lower() in ("y", "yes")


async def show_progress(done: float, total: float | None, message: str | None) -> None:
    """Progress goes to stderr; stdout is for the answer."""
    if sys.stderr.isatty():
        print(f"  {done:g}{f' of {total:g}' if total else ''} {message or ''}", file=sys.stderr)


def print_json(value: Any) -> None:
    """One line, for the next program."""
    print(json.dumps(value, ensure_ascii=False))
