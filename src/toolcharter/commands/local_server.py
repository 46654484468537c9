"""Servers that a command runs in its own process, with the settings of its command line."""

import argparse
import sys
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Any, cast

from mcp_core.app import App
from mcp_core.calling.records import Answer, Ask, Request
from mcp_core.context import Elicit, ReportProgress
from mcp_core.declare.listed import ListedTool
from mcp_core.errors import Refused, UnknownTool
from mcp_core.hosts import library_json
from mcp_core.settings.model import AUDIT_SETTINGS, HTTP_ONLY, settings_type
from mcp_core.settings.sources import add_options, from_options
from mcp_core.text.json_text import JsonObject
from toolcharter.commands import CannotRun, UsageError
from toolcharter.commands.interface import ServerConnection
from toolcharter.commands.questions import AnswersOnTerminal, ask_on_terminal, decline_with_reason
from toolcharter.commands.remote_server import open_remote
from toolcharter.local import targets

_CALL_SETTINGS = AUDIT_SETTINGS | {
    *("db", "redis", "redis_timeout", "limits_without_redis", "idempotency_seconds"),
    *("user", "grants", "deadline", "threads"),
}  # fmt: skip
"""Settings that do nothing in a command that only lists tools."""


def add_server_settings(parser: argparse.ArgumentParser, without: Collection[str], *, is_for_calls: bool) -> None:
    """Add the settings of a server as options, but for those in `without`."""
    group = parser.add_argument_group("settings", "for a toolcharter server that this command runs itself")
    left_out = {*HTTP_ONLY, "otlp", *without, *(() if is_for_calls else _CALL_SETTINGS)}
    # A group takes options just as a parser does.
    add_options(cast(argparse.ArgumentParser, group), without=left_out)


@asynccontextmanager
async def open_local(
    server: str, options: argparse.Namespace, *, list_only: bool, attended: bool
) -> AsyncGenerator[ServerConnection]:
    """Build a server, and open it; a server object of an MCP library is connected to in memory."""
    found = targets.find(server)
    loaded = targets.build(found, server, from_options(options, settings_type(found), server))
    if isinstance(loaded, App):
        try:
            async with nullcontext() if list_only else loaded:
                yield _attended(loaded) if attended else LocalServer(loaded)
        except Refused as error:
            raise CannotRun(str(error)) from None
        return
    async with open_remote(server, options, loaded, attended=attended) as connection:
        yield connection


def _attended(app: App) -> "LocalServer":
    """A server whose questions a person answers, or sees."""
    if sys.stdin.isatty():
        return LocalServer(app, ask_on_terminal, AnswersOnTerminal())
    return LocalServer(app, None, decline_with_reason)


class LocalServer:
    """One of our servers in this process. Calls go through the same pipeline as everywhere."""

    def __init__(self, app: App, ask: Ask | None = None, elicit: Elicit | None = None) -> None:
        self._ask, self._elicit = ask, elicit
        self.identity = (app.name, app.version)
        self.app = app

    async def list_tools(self) -> list[ListedTool]:
        return self.app.list_tools()

    async def list_prompts(self) -> list[JsonObject]:
        return [library_json.prompt_fields(prompt) for prompt in self.app.library.prompts]

    async def list_resources(self) -> list[JsonObject]:
        library, request = self.app.library, Request("resources/list", {}, self.app.local_caller)
        page = await library.list_changing(None, request)
        resources = list(page.resources)
        while page.next_cursor is not None:
            page = await library.list_changing(page.next_cursor, request)
            resources += page.resources
        templates = [library_json.template_fields(template) for template in library.templates]
        return [library_json.resource_fields(resource) for resource in (*resources, *library.fixed)] + templates

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
            modes=frozenset() if self._elicit is None else frozenset({"form", "url"}),
            elicit=self._elicit,
            progress=progress,
            meta=meta or {},
        )
        try:
            # A question is returned only to a caller that cannot be asked during the call.
            return cast(Answer, await self.app.answer(request))
        except UnknownTool as error:
            raise UsageError(str(error)) from None
