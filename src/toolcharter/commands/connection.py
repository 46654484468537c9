"""One way to list and call, for a server that runs elsewhere and for one started for the call."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from mcp_core import mcp_log
from mcp_core.app import App
from mcp_core.calling.records import Answer, Request
from mcp_core.declare.listed import ListedTool, read_tools
from mcp_core.errors import CannotStart, DeclarationError, Refused, UnknownTool
from mcp_core.hosts import library_json
from mcp_core.json_text import JsonObject
from mcp_core.settings import Settings, add_options, from_options
from toolcharter import targets
from toolcharter.commands import CannotRun

SERVER = (
    "an installed server, file.py, module:object, an http address, a .json file with a tools/list answer, "
    "or a command that serves over stdio: -- COMMAND ..."
)


class Connection(Protocol):
    """A server that can be asked."""

    @property
    def identity(self) -> tuple[str, str | None]:
        """The name of the server, and its version where it says so."""
        ...

    async def list_tools(self) -> list[ListedTool]:
        """All tools."""
        ...

    async def list_prompts(self) -> list[JsonObject]:
        """All prompts, as the protocol writes them."""
        ...

    async def list_resources(self) -> list[JsonObject]:
        """All resources and templates, as the protocol writes them."""
        ...

    async def documentation(self, tool: ListedTool) -> str:
        """The full documentation of a tool."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool."""
        ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What all commands take that ask a server."""
    parser.add_argument("server", nargs="?", metavar="SERVER", help=SERVER)
    parser.add_argument("--token", help="bearer token for a server at an address [TOOLCHARTER_TOKEN]")
    add_options(parser)


@asynccontextmanager
async def connect(options: argparse.Namespace, *, only_listed: bool = False) -> AsyncGenerator[Connection]:
    """Open the server that the options name. `only_listed` leaves its database and the like alone."""
    settings = from_options(options)
    # The answer says what was refused; the log is for what the answer cannot explain.
    level = "ERROR" if options.log_level is None else settings.log_level
    mcp_log.configure(level, file=settings.log_file, as_json=settings.log_json)
    try:
        async with _open(options.server, options, settings, only_listed=only_listed) as connection:
            yield connection
    except targets.NoSuchTarget as error:
        raise CannotRun(str(error)) from None


@asynccontextmanager
async def _open(
    server: str | None, options: argparse.Namespace, settings: Settings, *, only_listed: bool
) -> AsyncGenerator[Connection]:
    if server is not None and server.endswith(".json"):
        yield _from_file(Path(server))
        return
    foreign: AbstractAsyncContextManager[Connection]
    if options.command:
        foreign = _client().start(options.command, ask_terminal)
    elif server is None:
        raise CannotRun(f"Which server? Give {SERVER}.")
    elif targets.is_address(server):
        foreign = _client().connect(server, options.token, ask_terminal)
    else:
        loaded = _load(server, settings)
        if isinstance(loaded, App):
            try:
                async with nullcontext() if only_listed else loaded:
                    yield Local(loaded)
            except Refused as error:
                raise CannotRun(str(error)) from None
            return
        foreign = _client().open_object(loaded, server, ask_terminal)
    try:
        async with foreign as connection:
            yield connection
    except _client().Unreachable as error:
        raise CannotRun(str(error)) from None


def app_of(server: Connection) -> App | None:
    """The server itself, with all it declares, where it is one of ours and runs in this process."""
    return server.app if isinstance(server, Local) else None


def _load(server: str, settings: Settings) -> Any:
    try:
        return targets.load_any(server, settings)
    except (targets.NoSuchTarget, DeclarationError, CannotStart):
        raise
    except Exception as error:
        raise CannotRun(f"{server} cannot be loaded: {type(error).__name__}: {error}") from error


def _client() -> Any:
    """The MCP client, loaded only for servers that are not ours or run elsewhere."""
    return import_module("toolcharter.client")


def _from_file(file: Path) -> "_Written":
    try:
        return _Written(file.stem, read_tools(json.loads(file.read_text(encoding="utf-8"))))
    except (OSError, ValueError) as error:
        raise CannotRun(f"{file}: {error}") from None


class _Written:
    """The tools/list answer of a server, kept in a file."""

    def __init__(self, name: str, tools: list[ListedTool]) -> None:
        self.identity = (name, None)
        self._tools = tools

    async def list_tools(self) -> list[ListedTool]:
        return self._tools

    async def list_prompts(self) -> list[JsonObject]:
        return []

    async def list_resources(self) -> list[JsonObject]:
        return []

    async def documentation(self, tool: ListedTool) -> str:
        return tool.description

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:  # noqa: ARG002
        raise CannotRun("A file cannot be called; give a server that runs.")


class Local:
    """A server in this very process, through the same pipeline as everywhere."""

    def __init__(self, app: App) -> None:
        self.identity = (app.name, app.version)
        self.app = app

    async def list_tools(self) -> list[ListedTool]:
        return self.app.list_tools()

    async def list_prompts(self) -> list[JsonObject]:
        return [library_json.prompt_fields(prompt) for prompt in self.app.library.prompts]

    async def list_resources(self) -> list[JsonObject]:
        library, request = self.app.library, Request("resources/list", {}, self.app.local_caller)
        found, page = library.fixed, await library.changing(None, request)
        found += page.resources
        while page.next_cursor is not None:
            page = await library.changing(page.next_cursor, request)
            found += page.resources
        templates = [library_json.template_fields(template) for template in library.templates]
        return [library_json.resource_fields(resource) for resource in found] + templates

    async def documentation(self, tool: ListedTool) -> str:
        return self.app.documentation(tool.name)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        request = Request(
            tool,
            arguments,
            self.app.local_caller,
            agent_id="toolcharter",
            agent_version=self.app.version,
            ask=ask_terminal if sys.stdin.isatty() else None,
            progress=show_progress,
        )
        try:
            # A question is never returned to one who can be asked.
            return cast(Answer, await self.app.run(request))
        except UnknownTool as error:
            raise CannotRun(str(error)) from None


def meant(name: str, tools: Sequence[ListedTool]) -> ListedTool | None:
    """The tool of that name, with or without the prefix that the server puts before it."""
    exact = [tool for tool in tools if tool.name == name]
    ending = [tool for tool in tools if tool.name.endswith((f"_{name}", f"-{name}"))]
    found = exact or ending
    return found[0] if len(found) == 1 else None


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
