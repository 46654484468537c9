"""The FastMCP host: governed tools beside the plain tools of any FastMCP server.

    server = FastMCP("mine")
    add_tools(server, app)

All that this project knows of FastMCP's insides is in this module; its minor versions may change them.
"""

import gc
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, cast

import mcp_types as types
from fastmcp import FastMCP
from fastmcp.resources import TextResource
from fastmcp.server.dependencies import get_access_token, get_context
from fastmcp.tools import Tool
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from pydantic import AnyUrl, PrivateAttr

from mcp_core.app import App, ListedTool
from mcp_core.auth import user
from mcp_core.call import Caller, Question, Request
from mcp_core.hosts import wire
from mcp_core.hosts.lane import DOCS_SCHEME, documentation_of
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)


class GovernedTool(Tool):
    """One of our tools as FastMCP knows tools. Running it is running the pipeline, and nothing else."""

    _app: App = PrivateAttr()
    _final_name: str = PrivateAttr()

    def of(self, app: App) -> "GovernedTool":
        """Tie the tool to its app, under the name it has there: a mount may give it another one here."""
        self._app, self._final_name = app, self.name
        return self

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Answer one call."""
        app = self._app
        if not app.is_open:
            # Without `lifespan=governed(app)` nobody has opened it. It stays open for the rest of the process.
            await app.__aenter__()
        answer = await wire.run(app, _request(app, self._final_name, arguments))
        if isinstance(answer, Question):
            return InputRequiredToolResult(wire.input_required(answer))
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=answer.text)]
        return ToolResult(
            content=content,
            structured_content=answer.structured,
            meta=dict(answer.meta) if answer.meta else None,
            is_error=answer.is_error,
        )


def add_tools(server: FastMCP[Any], app: App) -> list[GovernedTool]:
    """Add every tool of an app to a FastMCP server. They keep all their promises there."""
    added: list[GovernedTool] = []
    for listed in app.list_tools():
        tool = GovernedTool(
            name=listed.name,
            title=listed.title,
            description=listed.description,
            parameters=dict(listed.input_schema),
            annotations=types.ToolAnnotations.model_validate(dict(listed.annotations)),
            meta=dict(listed.meta),
        )
        server.add_tool(tool.of(app))
        server.add_resource(_documentation(app, listed))
        added.append(tool)
    _look_schemas_up(server)
    return added


def _documentation(app: App, tool: ListedTool) -> TextResource:
    """The full text of a tool, whatever its description shows."""
    return TextResource(
        uri=AnyUrl(f"{DOCS_SCHEME}{tool.name}"),
        name=f"{tool.name} documentation",
        description=documentation_of(tool.name),
        mime_type="text/markdown",
        text=app.documentation(tool.name),
    )


def governed(*apps: App) -> Callable[[Any], AbstractAsyncContextManager[dict[str, Any]]]:
    """A lifespan for the FastMCP server: opens the apps at its start and closes them at its end."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[dict[str, Any]]:
        async with AsyncExitStack() as stack:
            for app in apps:
                await stack.enter_async_context(app)
            # What stands now stays for good. Else the garbage collector walks FastMCP's models of all tools now and
            # then: with 1,000 tools every call waits 0.1 seconds for it.
            gc.freeze()
            yield {}

    return lifespan


def _look_schemas_up(server: FastMCP[Any]) -> None:
    """Let a call find its tool's schema by name; FastMCP would list all tools for it, each time."""
    inner, provider = getattr(server, "_mcp_server", None), getattr(server, "_local_provider", None)
    components = cast(Mapping[str, Any] | None, getattr(provider, "_components", None))
    if components is None or not hasattr(inner, "get_tool_input_schema"):
        logger.warning("This FastMCP keeps its tools elsewhere: calls will list all of them, which is slow.")
        return

    def look_up(name: str) -> Mapping[str, Any] | None:
        found = components.get(f"{Tool.make_key(name)}@")
        return found.parameters if isinstance(found, Tool) else None

    search = cast(Any, provider)._get_tool  # noqa: SLF001 - as above, guarded

    async def get_tool(name: str, version: Any = None) -> Tool | None:
        """By its key. FastMCP goes through all tools, because one may have versions; one of ours has none."""
        found = components.get(f"{Tool.make_key(name)}@")
        return found if version is None and isinstance(found, GovernedTool) else await search(name, version)

    cast(Any, inner).get_tool_input_schema = look_up
    cast(Any, provider)._get_tool = get_tool  # noqa: SLF001


def _request(app: App, tool: str, arguments: Mapping[str, Any]) -> Request:
    around = get_context().request_context
    if around is None:
        return Request(tool, arguments, app.local_caller)
    context = around._srctx  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - FastMCP's own escape hatch
    return wire.request_of(app, context, tool, arguments, _caller(app, around.request))


def _caller(app: App, http: Any) -> Caller:
    token = get_access_token()
    if token is not None:
        return user(token.subject or token.client_id, token.scopes)
    if http is None or app.local_caller.user_id is not None:
        return app.local_caller
    return Caller(f"anonymous:{http.client.host if http.client else '?'}", None, app.local_caller.grants)
