"""Connects a command to a server: one in this process, one that runs elsewhere, or a file with its tools."""

import argparse
import json
import logging
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_core.declare.listed import ListedTool, read_tools
from mcp_core.foreign.terminal import print_text
from toolcharter.commands import CannotRun, UsageError
from toolcharter.commands.interface import ServerConnection, is_address, token_of
from toolcharter.commands.json_file import read_json

if TYPE_CHECKING:
    from mcp_core.app import App
    from mcp_core.calling.records import Answer
    from mcp_core.context import ReportProgress
    from mcp_core.text.json_text import JsonObject

SERVER = (
    "an installed server, file.py, module:object, an http address, a .json file with a tools/list result, "
    "or a command that serves over stdio: -- COMMAND ..."
)


def add_arguments(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the argument that names the server. `more` is what follows it in the usage."""
    parser.usage = f"%(prog)s [options] SERVER{more}\n       %(prog)s [options]{more} -- COMMAND ..."
    parser.add_argument("server", nargs="?", metavar="SERVER", help=SERVER)
    add_remote_options(parser)


def add_remote_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for a server that runs elsewhere."""
    parser.add_argument("--token", help="bearer token for a server at an address [TOOLCHARTER_TOKEN]")
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="time limit for an answer [60, and 600 for a call]",
    )
    parser.set_defaults(takes_server_options=True)


def add_settings(parser: argparse.ArgumentParser, *, without: Collection[str] = (), is_for_calls: bool = True) -> None:
    """Add the settings of a server as options, as soon as one of them or the help is asked for: few calls need them.

    They come last in the help. With `is_for_calls=False`, those that do nothing in a list are left out.
    """

    def add() -> None:
        from toolcharter.commands.local_server import add_server_settings  # noqa: PLC0415 - 300 ms, the framework

        add_server_settings(parser, without, is_for_calls=is_for_calls)

    parser.set_defaults(late_options=add)


@asynccontextmanager
async def connect(
    options: argparse.Namespace, *, list_only: bool = False, attended: bool = False
) -> AsyncGenerator[ServerConnection]:
    """Connect to the server that the options name.

    With `list_only`, its database is not opened. With `attended`, a person answers its questions, which are otherwise
    declined, and sees its log.
    """
    server: str | None = options.server
    if server is not None and server.endswith(".json"):
        yield _read_tools_file(Path(server))
        return
    if server is None and not options.command:
        raise UsageError(f"No server was given. Give {SERVER}.")
    _configure_log(options)
    async with _open(server, options, list_only=list_only, attended=attended) as connection:
        yield connection


def _configure_log(options: argparse.Namespace) -> None:
    from mcp_core import mcp_log  # noqa: PLC0415 - 90 ms with the next, not for a file
    from mcp_core.settings.sources import from_options  # noqa: PLC0415 - the same

    settings = from_options(options)
    if getattr(options, "log_level", None) is not None:
        mcp_log.configure(settings.log_level, file=settings.log_file, as_json=settings.log_json)
        return
    mcp_log.configure("ERROR", file=settings.log_file, as_json=settings.log_json)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_unexplained)


def _is_unexplained(entry: logging.LogRecord) -> bool:
    """Whether the result of a call cannot explain it. A failure that has no stack stands in the result."""
    return entry.name != "mcp_core.calling.stages.record" or entry.exc_info is not None


def _open(
    server: str | None, options: argparse.Namespace, *, list_only: bool, attended: bool
) -> AbstractAsyncContextManager[ServerConnection]:
    if server is None or options.command or is_address(server):
        from toolcharter.commands.remote_server import open_remote  # noqa: PLC0415 - 900 ms, the library of MCP

        return open_remote(server or "", options, attended=attended)
    from toolcharter.commands.local_server import open_local  # noqa: PLC0415 - 300 ms, the framework

    return open_local(server, options, list_only=list_only, attended=attended)


def local_app(server: ServerConnection) -> "App | None":
    """The App behind a connection, with all its declarations, if the server is one of ours and in this process."""
    return getattr(server, "app", None)


def _read_tools_file(file: Path) -> "ToolsFile":
    try:
        return ToolsFile(file.stem, read_tools(read_json(file)))
    except ValueError as error:
        raise CannotRun(f"{file}: {error}") from None


class ToolsFile:
    """The tools/list result of a server, saved in a file."""

    def __init__(self, name: str, tools: list[ListedTool]) -> None:
        self.identity = (name, None)
        self._tools = tools

    async def list_tools(self) -> list[ListedTool]:
        return self._tools

    async def list_prompts(self) -> "list[JsonObject]":
        return []

    async def list_resources(self) -> "list[JsonObject]":
        return []

    async def other_texts(self) -> "JsonObject":
        return {}

    async def documentation(self, tool: ListedTool) -> str:
        return tool.description

    async def call(
        self,
        tool: str,  # noqa: ARG002 - the protocol has it
        arguments: Mapping[str, Any],  # noqa: ARG002 - the same
        progress: "ReportProgress | None" = None,  # noqa: ARG002 - the same
        meta: Mapping[str, Any] | None = None,  # noqa: ARG002 - the same
    ) -> "Answer":
        raise UsageError("The tools in a file cannot be called. Give a server that runs.")


def find_tool(name: str, tools: Sequence[ListedTool]) -> ListedTool | None:
    """The tool of that name, with or without the prefix of the server."""
    exact = [tool for tool in tools if tool.name == name]
    prefixed = [tool for tool in tools if tool.name.endswith((f"_{name}", f"-{name}"))]
    found = exact or prefixed
    return found[0] if len(found) == 1 else None


def require_tool(options: argparse.Namespace, tools: Sequence[ListedTool]) -> ListedTool:
    """The tool that the options name, with or without the prefix of the server. Raises UsageError if none is."""
    tool = find_tool(options.tool, tools)
    if tool is None:
        allowed = " that this token may use" if token_of(options) and is_address(options.server or "") else ""
        raise UsageError(unknown_tool(options.tool, [tool.name for tool in tools], allowed))
    return tool


def unknown_tool(name: str, tools: Sequence[str], allowed: str = "") -> str:
    """The error for a tool that the server does not have, or does not show to the caller."""
    if {"search_tools", "call_tool"}.issubset(tools):
        through = f"call_tool name={name} arguments='{{...}}'"
        return f"The server does not list {name!r}{allowed}. Find tools with search_tools, and call one with: {through}"
    nearest = get_close_matches(name, tools, n=1)
    hint = f"Did you mean {nearest[0]!r}? " if nearest else ""
    return f"The server has no tool {name!r}{allowed}. {hint}Its tools: {', '.join(tools) or 'none'}."


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    print_text(json.dumps(value, ensure_ascii=False))
