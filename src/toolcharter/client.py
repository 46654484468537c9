"""A client for servers that run elsewhere, for the commands and the tests."""

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


class Unreachable(Exception):
    """The server did not answer, or refused; the message says which."""


@asynccontextmanager
async def connect(url: str, token: str | None, ask: Ask) -> AsyncGenerator["RemoteServer"]:
    """A connection to a server at an address."""
    token = token or os.environ.get("TOOLCHARTER_TOKEN")
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"} if token else None)
    refused: list[httpx2.Response] = []

    async def notice(response: httpx2.Response) -> None:
        if response.status_code == int(httpx2.codes.UNAUTHORIZED):
            refused.append(response)

    # The SDK makes one error of all refusals, and keeps the reason to itself.
    http.event_hooks = {"response": [notice]}
    try:
        async with _reached(url), http, _client(streamable_http_client(url, http_client=http), ask) as client:
            yield RemoteServer(client)
    except Unreachable:
        if not refused:
            raise
        wanted = "refuses this token" if token else "wants a token"
        raise Unreachable(f"{url}: the server {wanted}; give one with --token") from None


@asynccontextmanager
async def start(command: Sequence[str], ask: Ask) -> AsyncGenerator["RemoteServer"]:
    """A connection to a server that is started for it, over stdio. It gets our environment, as from a terminal."""
    # Its errors go where ours go; the library would take whatever stderr was when it was loaded.
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
    async with (
        _reached(" ".join(command)),
        _client(stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr), ask) as client,
    ):
        yield RemoteServer(client)


@asynccontextmanager
async def open_object(server: Any, name: str, ask: Ask) -> AsyncGenerator["RemoteServer"]:
    """A connection to a server of an MCP library (`MCPServer`, the low-level `Server`, FastMCP) in this process."""
    low_level = getattr(server, "_mcp_server", server)
    if not isinstance(low_level, Server | MCPServer):
        raise Unreachable(f"{name!r} is a {type(server).__name__}, and no MCP server")
    async with _reached(name), _client(low_level, ask) as client:
        yield RemoteServer(client)


def _client(server: Any, ask: Ask) -> Client:
    async def elicit(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        agreed = await ask(params.message)
        return types.ElicitResult(action="accept" if agreed else "decline", content={CONFIRM: True} if agreed else None)

    return Client(server, elicitation_callback=elicit)


@asynccontextmanager
async def _reached(where: str) -> AsyncGenerator[None]:
    try:
        yield
    except* (httpx2.HTTPError, MCPError, OSError) as group:
        raise Unreachable(f"{where}: {_reason(group)}") from None


def _reason(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return _reason(cast(BaseExceptionGroup[BaseException], error).exceptions[0])
    if isinstance(error, httpx2.ConnectError):
        return "nothing answers there; is the server running?"
    return str(error) or type(error).__name__


class RemoteServer:
    """A server that is spoken to in MCP."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def identity(self) -> tuple[str, str | None]:
        """The name of the server, and its version; newer servers need not say either."""
        about = self._client.server_info
        return ("server", None) if about is None else (about.name, about.version)

    async def list_tools(self) -> list[ListedTool]:
        """All tools, all pages."""
        found: list[ListedTool] = []
        cursor: str | None = None
        while True:
            page = await self._client.list_tools(cursor=cursor)
            found += [ListedTool.from_wire(tool.model_dump(by_alias=True, exclude_none=True)) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def list_prompts(self) -> list[JsonObject]:
        """All prompts, all pages; none where the server has none."""
        return await self._all(self._client.list_prompts, "prompts")

    async def list_resources(self) -> list[JsonObject]:
        """All resources and templates, all pages."""
        resources = await self._all(self._client.list_resources, "resources")
        return resources + await self._all(self._client.list_resource_templates, "resource_templates")

    async def _all(self, list_page: Callable[..., Awaitable[Any]], name: str) -> list[JsonObject]:
        found: list[JsonObject] = []
        cursor: str | None = None
        while True:
            try:
                page = await list_page(cursor=cursor)
            except MCPError as error:
                if error.error.code == types.METHOD_NOT_FOUND:
                    return found
                raise
            found += [item.model_dump(by_alias=True, exclude_none=True) for item in getattr(page, name)]
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def documentation(self, tool: ListedTool) -> str:
        """The full documentation where the server has it, else its description."""
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
