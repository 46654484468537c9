"""An MCP client for servers that are not ours or run in another process."""

import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

from mcp_core.calling.library import DOCS_SCHEME
from mcp_core.calling.records import Answer, Ask
from mcp_core.declare.listed import ListedTool
from mcp_core.hosts.protocol import CONFIRM
from mcp_core.json_text import JsonObject


class ServerUnreachable(Exception):
    """The server did not answer, or refused the connection. The message says which."""


@asynccontextmanager
async def connect(url: str, token: str | None, ask: Ask) -> AsyncGenerator["RemoteServer"]:
    """Connect to a server at an address."""
    token = token or os.environ.get("TOOLCHARTER_TOKEN")
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"} if token else None)
    rejected: list[httpx2.Response] = []

    async def note_rejection(response: httpx2.Response) -> None:
        if response.status_code == int(httpx2.codes.UNAUTHORIZED):
            rejected.append(response)

    # The SDK raises the same error for every rejection, without the reason.
    http.event_hooks = {"response": [note_rejection]}
    try:
        async with (
            _unreachable_errors(url),
            http,
            _client(streamable_http_client(url, http_client=http), ask) as client,
        ):
            yield RemoteServer(client)
    except ServerUnreachable:
        if not rejected:
            raise
        problem = "rejects this token; give another one" if token else "requires a token; give one"
        raise ServerUnreachable(f"{url}: the server {problem} with --token.") from None


@asynccontextmanager
async def start(command: Sequence[str], ask: Ask) -> AsyncGenerator["RemoteServer"]:
    """Start a server with our environment, and connect to it over stdio."""
    # Its errors go to our stderr. The library's default is whatever stderr was when the library was imported.
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
    async with (
        _unreachable_errors(" ".join(command)),
        _client(stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr), ask) as client,
    ):
        yield RemoteServer(client)


@asynccontextmanager
async def open_object(server: Any, name: str, ask: Ask) -> AsyncGenerator["RemoteServer"]:
    """Connect to a server object of an MCP library (`MCPServer`, the low-level `Server`, FastMCP) in this process."""
    low_level = getattr(server, "_mcp_server", server)
    if not isinstance(low_level, Server | MCPServer):
        raise ServerUnreachable(f"{name!r} is a {type(server).__name__}, not an MCP server.")
    async with _unreachable_errors(name), _client(low_level, ask) as client:
        yield RemoteServer(client)


def _client(server: Any, ask: Ask) -> Client:
    async def elicit(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        accepted = await ask(params.message)
        action = "accept" if accepted else "decline"
        return types.ElicitResult(action=action, content={CONFIRM: True} if accepted else None)

    return Client(server, elicitation_callback=elicit)


@asynccontextmanager
async def _unreachable_errors(where: str) -> AsyncGenerator[None]:
    """Turn the errors of the MCP library into ServerUnreachable.

    The library's task groups wrap every exception, ours too, in exception groups; here they are taken out again.
    """
    try:
        yield
    except BaseException as error:
        cause = _first_cause(error)
        if isinstance(cause, httpx2.HTTPError | MCPError | OSError):
            raise ServerUnreachable(f"{where}: {_reason(cause)}") from None
        if cause is error:
            raise
        raise cause from None


def _first_cause(error: BaseException) -> BaseException:
    if isinstance(error, BaseExceptionGroup):
        return _first_cause(cast(BaseExceptionGroup[BaseException], error).exceptions[0])
    return error


def _reason(error: BaseException) -> str:
    if isinstance(error, httpx2.ConnectError):
        return "nothing listens at this address; is the server running?"
    if isinstance(error, MCPError) and error.error.code == types.CONNECTION_CLOSED:
        return "the server closed the connection without an answer."
    return str(error) or type(error).__name__


class RemoteServer:
    """A server that we talk to in MCP."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def identity(self) -> tuple[str, str | None]:
        """The name of the server, and its version. Since protocol 2026-07-28 a server may leave out both."""
        info = self._client.server_info
        return ("server", None) if info is None else (info.name, info.version)

    async def list_tools(self) -> list[ListedTool]:
        """All tools, from all pages."""
        return [ListedTool.from_wire(tool) for tool in await self._all_pages(self._client.list_tools, "tools")]

    async def list_prompts(self) -> list[JsonObject]:
        """All prompts, from all pages. A server without prompts has an empty list."""
        return await self._all_pages(self._client.list_prompts, "prompts", optional=True)

    async def list_resources(self) -> list[JsonObject]:
        """All resources and templates, from all pages."""
        resources = await self._all_pages(self._client.list_resources, "resources", optional=True)
        templates = await self._all_pages(self._client.list_resource_templates, "resource_templates", optional=True)
        return resources + templates

    async def _all_pages(
        self, list_page: Callable[..., Awaitable[Any]], name: str, *, optional: bool = False
    ) -> list[JsonObject]:
        """The items of all pages. A server need not know the method of what is optional."""
        items: list[JsonObject] = []
        cursor: str | None = None
        while True:
            try:
                page = await list_page(cursor=cursor)
            except MCPError as error:
                if optional and error.error.code == types.METHOD_NOT_FOUND:
                    return items
                raise
            items += [item.model_dump(by_alias=True, exclude_none=True) for item in getattr(page, name)]
            cursor = page.next_cursor
            if cursor is None:
                return items

    async def documentation(self, tool: ListedTool) -> str:
        """The full documentation of a tool; its description if the server has no documentation."""
        try:
            read = await self._client.read_resource(f"{DOCS_SCHEME}{tool.name}")
        except MCPError:
            return tool.description
        content = read.contents[0]
        return content.text if isinstance(content, types.TextResourceContents) else tool.description

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool."""
        result = await self._client.call_tool(tool, dict(arguments))
        texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
        return Answer("\n".join(texts), bool(result.is_error), result.structured_content)
