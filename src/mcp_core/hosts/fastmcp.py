"""The FastMCP host: governed tools, prompts and resources beside the plain ones of any FastMCP server.

    server = FastMCP("mine")
    add_tools(server, app)

All that this project knows of FastMCP's insides is in this module; its minor versions may change them.
"""

import gc
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar, cast

import mcp_types as types
from fastmcp import FastMCP
from fastmcp.prompts import Message, Prompt, PromptResult
from fastmcp.prompts.base import PromptArgument
from fastmcp.resources import Resource, ResourceContent, ResourceResult, ResourceTemplate
from fastmcp.server.dependencies import get_access_token, get_context
from fastmcp.server.providers import Provider
from fastmcp.tools import Tool
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from mcp.shared.exceptions import MCPError
from pydantic import AnyUrl, PrivateAttr

from mcp_core.app import App
from mcp_core.auth import Caller, user
from mcp_core.calling.records import Question, Request
from mcp_core.declare import resources as ours
from mcp_core.declare.prompts import Prompt as OurPrompt
from mcp_core.errors import Refused
from mcp_core.hosts import library_json
from mcp_core.hosts.sdk import wire
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)

T = TypeVar("T")


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
        app = await _opened(self._app)
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


class GovernedPrompt(Prompt):
    """One of our prompts as FastMCP knows prompts."""

    _app: App = PrivateAttr()
    _final_name: str = PrivateAttr()

    def of(self, app: App) -> "GovernedPrompt":
        """Tie the prompt to its app, as a tool is tied."""
        self._app, self._final_name = app, self.name
        return self

    async def render(self, arguments: dict[str, Any] | None = None) -> PromptResult:
        """Give the messages."""
        app = await _opened(self._app)
        request = _request(app, self._final_name, arguments or {})
        result, _ = await _refusing(library_json.answer(app.library, "prompts/get", None, request))
        shown = [types.PromptMessage.model_validate(message) for message in result["messages"]]
        messages = [Message(message.content, message.role) for message in shown]
        return PromptResult(messages, description=result["description"])


class GovernedResource(Resource):
    """One of our resources as FastMCP knows resources."""

    _app: App = PrivateAttr()
    _address: str = PrivateAttr()

    def of(self, app: App, address: str) -> "GovernedResource":
        """Tie the resource to its app, under the address that it has there."""
        self._app, self._address = app, address
        return self

    async def read(self) -> ResourceResult:
        """Read it."""
        app = await _opened(self._app)
        request = _request(app, self._address, {})
        content = (await _refusing(app.library.read(request))).content
        return ResourceResult([ResourceContent(content.value, content.mime_type)])


class GovernedResources(Provider):
    """The resources of an app that change. FastMCP asks for them each time, and pages by itself."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    async def _list_resources(self) -> list[Resource]:
        app = await _opened(self._app)
        request = _request(app, "resources/list", {})
        page = await _refusing(app.library.changing(None, request))
        found = list(page.resources)
        while page.next_cursor is not None:
            page = await _refusing(app.library.changing(page.next_cursor, request))
            found += page.resources
        return [_resource(app, resource) for resource in found]

    async def _get_resource(self, uri: str, version: Any = None) -> Resource | None:
        """Whatever begins as ours does: reading it tells whether it is there."""
        prefixes = tuple(source.prefix for source in self._app.library.sources)
        return _resource(self._app, ours.Resource(uri, uri)) if uri.startswith(prefixes) else None

    async def _list_resource_templates(self) -> list[ResourceTemplate]:
        return [
            ResourceTemplate(
                uri_template=template.uri_template,
                name=template.name,
                description=template.description,
                mime_type=template.mime_type or ours.TEXT,
                parameters={},
            )
            for template in self._app.library.templates
        ]

    async def _get_resource_template(self, uri: str, version: Any = None) -> ResourceTemplate | None:
        return None

    async def get_tasks(self) -> list[Any]:
        """None. FastMCP would list all resources to find out, at its start, when nobody is there to ask."""
        return []


def _resource(app: App, resource: ours.Resource) -> Resource:
    made = GovernedResource(
        uri=AnyUrl(resource.uri),
        name=resource.name,
        description=resource.description,
        mime_type=resource.mime_type or ours.TEXT,
    )
    return made.of(app, resource.uri)


async def _opened(app: App) -> App:
    if not app.is_open:
        # Without `lifespan=governed(app)` nobody has opened it. It stays open for the rest of the process.
        await app.__aenter__()
    return app


async def _refusing(asked: Awaitable[T]) -> T:
    """Whatever is asked of the library; a refusal is said in the protocol's words."""
    try:
        return await asked
    except Refused as refused:
        code = library_json.error_code(refused)
        raise MCPError(code=code, message=str(refused), data=refused.data or None) from None


def add_tools(server: FastMCP[Any], app: App) -> list[GovernedTool]:
    """Add every tool of an app to a FastMCP server, and its prompts and resources. They keep all their promises."""
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
        added.append(tool)
    for prompt in app.library.prompts:
        server.add_prompt(_prompt(app, prompt))
    for resource in app.library.fixed:
        server.add_resource(_resource(app, resource))
    if app.library.sources:
        server.add_provider(GovernedResources(app))
    _look_schemas_up(server)
    return added


def _prompt(app: App, prompt: OurPrompt) -> GovernedPrompt:
    return GovernedPrompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[PromptArgument(**argument._asdict()) for argument in prompt.arguments],
    ).of(app)


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
