"""Connects a command to a server: one in this process, one that runs elsewhere, or a file with its tools."""

import argparse
import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol, cast

from mcp_core import mcp_log
from mcp_core.app import App
from mcp_core.calling.records import Answer, Ask, Request
from mcp_core.context import ReportProgress
from mcp_core.declare.listed import ListedTool, read_tools
from mcp_core.errors import Refused, UnknownTool
from mcp_core.hosts import library_json
from mcp_core.json_text import JsonObject
from mcp_core.setting_sources import add_options, from_options
from mcp_core.settings import AUDIT_SETTINGS, HTTP_ONLY, settings_type
from toolcharter import targets
from toolcharter.commands import CannotRun, UsageError
from toolcharter.commands.json_file import read_json
from toolcharter.terminal import escape_lines

SERVER = (
    "an installed server, file.py, module:object, an http address, a .json file with a tools/list result, "
    "or a command that serves over stdio: -- COMMAND ..."
)


CALL_SETTINGS = AUDIT_SETTINGS | {
    *("db", "redis", "redis_timeout", "limits_without_redis", "idempotency_seconds"),
    *("user", "grants", "deadline", "threads"),
}  # fmt: skip
"""Settings that do nothing in a command that only lists tools."""


class Connection(Protocol):
    """A server that a command can list and call."""

    @property
    def identity(self) -> tuple[str, str | None]:
        """The name of the server, and its version if it has one."""
        ...

    async def list_tools(self) -> list[ListedTool]:
        """All tools."""
        ...

    async def list_prompts(self) -> list[JsonObject]:
        """All prompts, as in the protocol."""
        ...

    async def list_resources(self) -> list[JsonObject]:
        """All resources and templates, as in the protocol."""
        ...

    async def other_texts(self) -> JsonObject:
        """What agents read besides tools: `instructions`, `prompts` and `resources`; `problems` says what failed."""
        ...

    async def documentation(self, tool: ListedTool) -> str:
        """The full documentation of a tool."""
        ...

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: ReportProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Call a tool. `progress` is called with what the tool reports; `meta` is sent as `_meta`."""
        ...


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


def add_settings(parser: argparse.ArgumentParser, *, without: Collection[str] = ()) -> None:
    """Add the settings of a server as options. They come last in the help: few calls need them."""
    group = parser.add_argument_group("settings", "for a toolcharter server that this command runs itself")
    # A group takes options just as a parser does.
    add_options(cast(argparse.ArgumentParser, group), without={*HTTP_ONLY, "otlp", *without})


@asynccontextmanager
async def connect(
    options: argparse.Namespace, *, list_only: bool = False, attended: bool = False
) -> AsyncGenerator[Connection]:
    """Connect to the server that the options name.

    With `list_only`, its database is not opened. With `attended`, a person answers its questions, which are otherwise
    declined, and sees its log.
    """
    settings = from_options(options)
    # The result says why a call was refused; the log is for what the result cannot explain.
    level = "ERROR" if options.log_level is None else settings.log_level
    mcp_log.configure(level, file=settings.log_file, as_json=settings.log_json)
    async with _open(options.server, options, list_only=list_only, attended=attended) as connection:
        yield connection


@asynccontextmanager
async def _open(
    server: str | None, options: argparse.Namespace, *, list_only: bool, attended: bool
) -> AsyncGenerator[Connection]:
    if server is not None and server.endswith(".json"):
        yield _read_tools_file(Path(server))
        return
    if server is None and not options.command:
        raise UsageError(f"No server was given. Give {SERVER}.")
    loaded = None if server is None or options.command or targets.is_address(server) else _load(server, options)
    if isinstance(loaded, App):
        try:
            async with nullcontext() if list_only else loaded:
                yield LocalServer(loaded, ask_on_terminal if attended and sys.stdin.isatty() else None)
        except Refused as error:
            raise CannotRun(str(error)) from None
        return
    async with _open_remote(server or "", options, loaded, attended=attended) as connection:
        yield connection


@asynccontextmanager
async def _open_remote(
    server: str, options: argparse.Namespace, loaded: Any, *, attended: bool
) -> AsyncGenerator[Connection]:
    """Connect to a command, to an address, or to a server object of an MCP library."""
    from toolcharter import client  # noqa: PLC0415 - 900 ms, not for our own servers

    ask = ask_on_terminal if attended else _decline
    limit: float | None = options.timeout
    timeouts = client.DEFAULT_TIMEOUTS if limit is None else client.Timeouts(limit, limit)
    if options.command:
        program: str = options.command[0]
        if shutil.which(program) is None:
            raise UsageError(f"The command {program!r} was not found.")
        remote = client.start(options.command, ask, timeouts, show_log=attended)
    elif targets.is_address(server):
        remote = client.connect(server, _token(options), ask, timeouts)
    else:
        remote = client.open_object(loaded, server, ask, timeouts)
    try:
        async with remote as connection:
            yield connection
    except client.ServerUnreachable as error:
        raise CannotRun(str(error)) from None


def _load(server: str, options: argparse.Namespace) -> Any:
    """Build a server in this process, with the settings that it takes."""
    found = targets.find(server)
    return targets.build(found, server, from_options(options, settings_type(found), server))


def local_app(server: Connection) -> App | None:
    """The App behind a connection, with all its declarations, if the server is one of ours and in this process."""
    return server.app if isinstance(server, LocalServer) else None


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

    async def list_prompts(self) -> list[JsonObject]:
        return []

    async def list_resources(self) -> list[JsonObject]:
        return []

    async def other_texts(self) -> JsonObject:
        return {}

    async def documentation(self, tool: ListedTool) -> str:
        return tool.description

    async def call(
        self,
        tool: str,  # noqa: ARG002 - the protocol has it
        arguments: Mapping[str, Any],  # noqa: ARG002 - the same
        progress: ReportProgress | None = None,  # noqa: ARG002 - the same
        meta: Mapping[str, Any] | None = None,  # noqa: ARG002 - the same
    ) -> Answer:
        raise UsageError("The tools in a file cannot be called. Give a server that runs.")


class LocalServer:
    """One of our servers in this process. Calls go through the same pipeline as everywhere."""

    def __init__(self, app: App, ask: Ask | None = None) -> None:
        self._ask = ask
        self.identity = (app.name, app.version)
        self.app = app

    async def list_tools(self) -> list[ListedTool]:
        return self.app.list_tools()

    async def list_prompts(self) -> list[JsonObject]:
        return [library_json.prompt_fields(prompt) for prompt in self.app.library.prompts]

    async def list_resources(self) -> list[JsonObject]:
        library, request = self.app.library, Request("resources/list", {}, self.app.local_caller)
        resources, page = library.fixed, await library.list_changing(None, request)
        resources += page.resources
        while page.next_cursor is not None:
            page = await library.list_changing(page.next_cursor, request)
            resources += page.resources
        templates = [library_json.template_fields(template) for template in library.templates]
        return [library_json.resource_fields(resource) for resource in resources] + templates

    async def other_texts(self) -> JsonObject:
        return {"instructions": self.app.instructions, **library_json.fixed_lists(self.app.library)}

    async def documentation(self, tool: ListedTool) -> str:
        return self.app.documentation(tool.name)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: ReportProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Answer:
        request = Request(
            tool,
            arguments,
            self.app.local_caller,
            agent_id="toolcharter",
            agent_version=self.app.version,
            ask=self._ask,
            progress=progress,
            meta=meta or {},
        )
        try:
            # A question is returned only to a caller that cannot be asked during the call.
            return cast(Answer, await self.app.answer(request))
        except UnknownTool as error:
            raise UsageError(str(error)) from None


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
        allowed = " that this token may use" if _token(options) and targets.is_address(options.server or "") else ""
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


def _token(options: argparse.Namespace) -> str | None:
    return options.token or os.environ.get("TOOLCHARTER_TOKEN")


async def _decline(question: str) -> bool:  # noqa: ARG001 - whatever is asked
    """Decline a question, where nobody is there to answer it."""
    return False


async def ask_on_terminal(question: str) -> bool:
    """Ask the person at the terminal. Anything but yes means no."""
    print(f"{escape_lines(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = await asyncio.to_thread(sys.stdin.readline)
    return answer.strip().lower() in ("y", "yes")


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    print(json.dumps(value, ensure_ascii=False))
