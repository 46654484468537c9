"""The FastMCP host: governed tools, prompts and resources next to the plain ones of any FastMCP server.

    server = FastMCP("mine")
    add_tools(server, app)

Everything that depends on FastMCP's internals is in this module; its minor versions may change them.
"""

import gc
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
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
from pydantic import AnyUrl, PrivateAttr, TypeAdapter

from mcp_core.app import App
from mcp_core.auth import LOCAL, Caller, user
from mcp_core.calling.records import Answer, Question, Request
from mcp_core.declare import resources as ours
from mcp_core.declare.charter import DOCS_SCHEME
from mcp_core.declare.completion import wire_completion
from mcp_core.declare.prompts import Prompt as OurPrompt
from mcp_core.errors import Refused
from mcp_core.hosts import library_json
from mcp_core.hosts.callers import anonymous, may_ask
from mcp_core.hosts.sdk import wire
from mcp_core.mcp_log import get_logger

logger = get_logger(__name__)

T = TypeVar("T")


_CONTENT = TypeAdapter(list[types.ContentBlock])


class GovernedTool(Tool):
    """A governed tool as a FastMCP tool. Running it runs the pipeline, and nothing else."""

    _app: App = PrivateAttr()
    _final_name: str = PrivateAttr()

    def of(self, app: App) -> "GovernedTool":
        """Bind the tool to its app, under its name there: a mount may give it another one here."""
        self._app, self._final_name = app, self.name
        return self

    @property
    def is_permitted(self) -> bool:
        """Whether the caller of the current request may use the tool."""
        spec = self._app.registry.resolve(self._final_name)
        return not _current_caller(self._app).lacks(spec.permissions)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Answer one call."""
        app = await _opened(self._app)
        answer = cast(Answer | Question, await wire.run(app, _request(app, self._final_name, arguments)))
        if isinstance(answer, Question):
            return InputRequiredToolResult(wire.input_required(answer))
        return ToolResult(
            content=_CONTENT.validate_python(answer.content()),
            structured_content=answer.structured,
            meta=dict(answer.meta) if answer.meta else None,
            is_error=answer.is_error,
        )


class GovernedPrompt(Prompt):
    """A governed prompt as a FastMCP prompt."""

    _app: App = PrivateAttr()
    _final_name: str = PrivateAttr()

    def of(self, app: App) -> "GovernedPrompt":
        """Bind the prompt to its app, under its name there."""
        self._app, self._final_name = app, self.name
        return self

    async def render(self, arguments: dict[str, Any] | None = None) -> PromptResult:
        """The messages."""
        app = await _opened(self._app)
        request = _request(app, self._final_name, arguments or {})
        result, _ = await _or_mcp_error(library_json.answer(app.library, "prompts/get", {}, request))
        prompt_messages = [types.PromptMessage.model_validate(message) for message in result["messages"]]
        messages = [Message(message.content, message.role) for message in prompt_messages]
        return PromptResult(messages, description=result["description"])


class GovernedResource(Resource):
    """A governed resource as a FastMCP resource."""

    _app: App = PrivateAttr()
    _app_uri: str = PrivateAttr()

    def of(self, app: App, uri: str) -> "GovernedResource":
        """Bind the resource to its app, under its address there."""
        self._app, self._app_uri = app, uri
        return self

    @property
    def is_permitted(self) -> bool:
        """Whether the caller may see it: the documentation of a tool only if they may use the tool."""
        tool = self._app.registry.find(self._app_uri.removeprefix(DOCS_SCHEME))
        return tool is None or not _current_caller(self._app).lacks(tool.permissions)

    async def read(self) -> ResourceResult:
        """Read it."""
        app = await _opened(self._app)
        request = _request(app, self._app_uri, {})
        content = (await _or_mcp_error(app.library.read(request))).content
        return ResourceResult([ResourceContent(content.value, content.mime_type)])


class GovernedResources(Provider):
    """The resources of an app that change. FastMCP lists them each time, and makes the pages itself."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    async def _list_resources(self) -> list[Resource]:
        app = await _opened(self._app)
        request = _request(app, "resources/list", {})
        page = await _or_mcp_error(app.library.list_changing(None, request))
        resources = list(page.resources)
        while page.next_cursor is not None:
            page = await _or_mcp_error(app.library.list_changing(page.next_cursor, request))
            resources += page.resources
        return [_resource(app, resource) for resource in resources]

    async def _get_resource(self, uri: str, version: Any = None) -> Resource | None:
        """Any address with a prefix of ours: only reading it shows whether it exists."""
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
        """None. FastMCP would list all resources to find out, at its start, without a caller."""
        return []


def _resource(app: App, resource: ours.Resource) -> Resource:
    governed_resource = GovernedResource(
        uri=AnyUrl(resource.uri),
        name=resource.name,
        description=resource.description,
        mime_type=resource.mime_type or ours.TEXT,
    )
    return governed_resource.of(app, resource.uri)


async def _opened(app: App) -> App:
    if not app.is_open:
        # Without `lifespan=governed(app)` it is opened by the first call, and stays open to the end of the process.
        await app.__aenter__()
    return app


async def _or_mcp_error(reading: Awaitable[T]) -> T:
    """The value, or the protocol error for what the library refuses."""
    try:
        return await reading
    except Refused as refused:
        raise wire.mcp_error(refused) from None


def add_tools(server: FastMCP[Any], app: App) -> list[GovernedTool]:
    """Add the tools, prompts and resources of an app to a FastMCP server. They stay governed there."""
    added: list[GovernedTool] = []
    for listed in app.list_tools():
        tool = GovernedTool(
            name=listed.name,
            title=listed.title,
            description=listed.description,
            parameters=dict(listed.input_schema),
            output_schema=dict(listed.output_schema) if listed.output_schema else None,
            annotations=types.ToolAnnotations.model_validate(dict(listed.annotations)),
            icons=[types.Icon.model_validate(dict(icon)) for icon in listed.icons] or None,
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
    if app.library.has_completions:
        _complete(server, app)
    _list_permitted_tools(server)
    _speed_up_lookups(server)
    return added


def _complete(server: FastMCP[Any], app: App) -> None:
    """Complete the arguments of the prompts and templates of an app; those of others as before."""
    before: Any = getattr(server, "_completion_handler", None)
    ours = {prompt.name for prompt in app.library.prompts} | {one.uri_template for one in app.library.templates}

    async def complete(ref: Any, argument: types.CompletionArgument, context: types.CompletionContext | None) -> Any:
        subject: str = ref.name if isinstance(ref, types.PromptReference) else ref.uri
        if subject not in ours:
            found: Any = None if before is None else before(ref, argument, context)
            return await found if inspect.isawaitable(found) else found
        request = _request(await _opened(app), subject, {})
        others = (context.arguments if context else None) or {}
        values = await _or_mcp_error(app.library.complete(argument.name, argument.value, others, request))
        return types.Completion.model_validate(wire_completion(values))

    server.add_completion_handler(complete)


def _prompt(app: App, prompt: OurPrompt) -> GovernedPrompt:
    return GovernedPrompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            PromptArgument(name=argument.name, description=argument.description, required=argument.required)
            for argument in prompt.arguments
        ],
    ).of(app)


def governed(*apps: App) -> Callable[[Any], AbstractAsyncContextManager[dict[str, Any]]]:
    """A lifespan for the FastMCP server: opens the apps at its start and closes them at its end."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[dict[str, Any]]:
        async with AsyncExitStack() as stack:
            for app in apps:
                await stack.enter_async_context(app)
            # What exists now is never freed. Otherwise the garbage collector visits FastMCP's models of all tools
            # again and again: with 1,000 tools each call waits 0.1 seconds for it.
            gc.freeze()
            yield {}

    return lifespan


def _list_permitted_tools(server: FastMCP[Any]) -> None:
    """Let a caller see the governed tools that they may use. FastMCP's own checks are skipped on stdio."""
    provider = cast(Any, getattr(server, "_local_provider", None))
    list_all_tools, list_all_resources = (getattr(provider, name, None) for name in ("_list_tools", "_list_resources"))
    if list_all_tools is None or list_all_resources is None:
        logger.warning("This version of FastMCP is not known: callers see also the tools that they may not use.")
        return

    async def list_tools() -> Sequence[Tool]:
        tools: Sequence[Tool] = await list_all_tools()
        return [tool for tool in tools if not isinstance(tool, GovernedTool) or tool.is_permitted]

    async def list_resources() -> Sequence[Resource]:
        resources: Sequence[Resource] = await list_all_resources()
        return [one for one in resources if not isinstance(one, GovernedResource) or one.is_permitted]

    provider._list_tools, provider._list_resources = list_tools, list_resources  # noqa: SLF001 - as above, guarded


def _speed_up_lookups(server: FastMCP[Any]) -> None:
    """Let a call find its tool and the tool's schema by name. FastMCP would list all tools for it, each time."""
    inner, provider = getattr(server, "_mcp_server", None), getattr(server, "_local_provider", None)
    components = cast(Mapping[str, Any] | None, getattr(provider, "_components", None))
    if components is None or not hasattr(inner, "get_tool_input_schema"):
        logger.warning("This version of FastMCP is not known: each call lists all tools, which is slow.")
        return

    def get_schema(name: str) -> Mapping[str, Any] | None:
        tool = components.get(f"{Tool.make_key(name)}@")
        return tool.parameters if isinstance(tool, Tool) else None

    search = cast(Any, provider)._get_tool  # noqa: SLF001 - as above, guarded

    async def get_tool(name: str, version: Any = None) -> Tool | None:
        """By its key. FastMCP goes through all tools, because one may have versions; a governed tool has none."""
        tool = components.get(f"{Tool.make_key(name)}@")
        return tool if version is None and isinstance(tool, GovernedTool) else await search(name, version)

    cast(Any, inner).get_tool_input_schema = get_schema
    cast(Any, provider)._get_tool = get_tool  # noqa: SLF001 - FastMCP has no other hook


def _current_caller(app: App) -> Caller:
    request_context = get_context().request_context
    return app.local_caller if request_context is None else _caller(app, request_context.request)


def _request(app: App, tool: str, arguments: Mapping[str, Any]) -> Request:
    request_context = get_context().request_context
    if request_context is None:
        return Request(tool, arguments, app.local_caller)
    sdk_context = request_context._srctx  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - FastMCP's escape hatch
    asks = (spec := app.registry.find(tool)) is not None and may_ask(spec)
    return wire.request_of(app, sdk_context, tool, arguments, _caller(app, request_context.request), asks=asks)


def _user_name(subject: str | None, client_id: str) -> str:
    """A name that is different for each subject and each client, and is not the name of the local user."""
    if not subject:
        return f"client:{client_id}"
    return f"user:{subject}" if subject == LOCAL or subject.startswith(("client:", "user:")) else subject


def _caller(app: App, http: Any) -> Caller:
    token = get_access_token()
    if token is not None:
        return user(_user_name(token.subject, token.client_id), token.scopes)
    if http is None or app.local_caller.user_id is not None:
        return app.local_caller
    return anonymous(app, http.client.host if http.client else "?")
