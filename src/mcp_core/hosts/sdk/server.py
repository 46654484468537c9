"""An app on the MCP SDK's low-level server, over stdio and streamable HTTP."""

import gc
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

import mcp_types as types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.library import CHANGING_LIST_TTL_MS, LIST_TTL_MS
from mcp_core.calling.live_library import LiveLibrary
from mcp_core.calling.records import Answer, Question
from mcp_core.calling.requests import Sender
from mcp_core.errors import ElicitationUnsupported, ForgedReply, Refused
from mcp_core.hosts import library_json, protocol, task_methods
from mcp_core.hosts.callers import (
    ByGrants,
    NotIdentified,
    allowed_hosts,
    allowed_origins,
    http_caller,
    may_ask,
    record_http,
)
from mcp_core.hosts.list_pages import Pages, list_pages, page_at
from mcp_core.hosts.names import HEADER_MISMATCH, TASK_METHODS
from mcp_core.hosts.protocol import Peer, extensions_of
from mcp_core.hosts.sdk import wire
from mcp_core.hosts.sdk.wire import CALLER_KEY, Context
from mcp_core.settings.model import Settings
from mcp_core.text.json_text import JsonObject


def build_server(app: App) -> Server[App]:
    """The SDK's server for an app. Entering its lifespan opens the app."""
    handlers, is_live = _Handlers(app), isinstance(app.library, LiveLibrary)
    hint = CacheHint(ttl_ms=LIST_TTL_MS, scope="public")
    server = Server(
        app.name,
        version=app.version,
        title=app.title,
        instructions=app.instructions,
        lifespan=handlers.lifespan,
        cache_hints={
            "tools/list": CacheHint(ttl_ms=CHANGING_LIST_TTL_MS if is_live else LIST_TTL_MS, scope=app.list_scope),
            "resources/list": CacheHint(ttl_ms=LIST_TTL_MS, scope=app.list_scope),
            "resources/templates/list": hint,
            "prompts/list": hint,
            "server/discover": hint,
        },
        get_tool_input_schema=app.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts if is_live or app.library.prompts else None,
        on_get_prompt=handlers.get_prompt if is_live or app.library.prompts else None,
        on_completion=handlers.complete if is_live or app.library.has_completions else None,
    )
    server.extensions.update(extensions_of(app))
    for method in library_json.SKILL_METHODS if app.library.skills is not None else ():
        server.add_request_handler(method, types.RequestParams, partial(handlers.answer_skills, method))
    if app.has_tasks:
        for method in TASK_METHODS:
            server.add_request_handler(method, types.RequestParams, partial(handlers.answer_task, method))
    # The SDK would put each call into a span of its own. The pipeline's span says more, and one is enough.
    server.middleware.clear()
    return server


class _Handlers:
    """The functions that the SDK calls. Lists are made once, except that of resources which change.

    The list of the tools is made once for all callers with the same permissions.
    """

    def __init__(self, app: App) -> None:
        self._app, self._tools_version = app, app.tools_version
        self._tools = ByGrants(self._write_tools)
        self._frozen = False
        self._is_live = isinstance(app.library, LiveLibrary)
        self._fixed_resources = ByGrants(self._find_fixed_resources)
        templates = [library_json.template_fields(template) for template in app.library.templates]
        self._templates = list_pages("resourceTemplates", templates)
        self._prompts = list_pages("prompts", [library_json.prompt_fields(prompt) for prompt in app.library.prompts])

    @asynccontextmanager
    async def lifespan(self, server: Server[App]) -> AsyncGenerator[App]:
        async with self._app:
            if not self._frozen:
                # What exists now is never freed. Otherwise the garbage collector visits all tools again and again:
                # with 1,000 tools it took more time than the calls.
                gc.freeze()
                self._frozen = True
            yield self._app

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        if self._tools_version != self._app.tools_version:
            self._tools_version, self._tools = self._app.tools_version, ByGrants(self._write_tools)
        self._record(ctx, "tools/list")
        caller = self._caller(ctx)
        return _page(ctx, self._tools.get(caller, self._app.disabled_for(caller)))

    def _record(self, ctx: Context, method: str) -> None:
        wire.mark_recorded(ctx)
        self._app.requests.record(method, "ok", Sender(self._caller(ctx).key, wire.agent_of(ctx)))

    def _find_fixed_resources(self, caller: Caller) -> list[JsonObject]:
        fixed = () if self._is_live else self._app.library.fixed_for(caller)
        return [library_json.resource_fields(resource) for resource in fixed]

    def _write_tools(self, caller: Caller) -> Pages[JsonObject]:
        return list_pages("tools", [tool.to_wire() for tool in self._app.list_tools(caller)])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        app = self._app
        asks = (spec := app.registry.find(params.name)) is not None and may_ask(spec)
        request = wire.request_of(app, ctx, params.name, params.arguments, self._caller(ctx), asks=asks)
        if spec is not None and spec.declaration.task != "never":
            request = request._replace(takes_tasks=wire.takes_tasks(ctx))
        answer = await wire.run(app, request)
        if isinstance(answer, Question):
            return wire.input_required(answer)
        if not isinstance(answer, Answer):
            return task_methods.created(answer)
        # A dict, not a model, which the SDK would only turn into a dict again.
        result: JsonObject = {"content": answer.content(), "isError": answer.is_error}
        if answer.structured_json is not None:
            result["structuredContent"] = answer.structured
        if answer.meta:
            result["_meta"] = dict(answer.meta)
        return _complete(ctx, result)

    async def answer_skills(self, method: str, ctx: Context, params: types.RequestParams) -> Any:
        """A request for skills."""
        return await self._from_library(ctx, method, str((ctx.params or {}).get("uri", method)))

    async def answer_task(self, method: str, ctx: Context, params: types.RequestParams) -> Any:
        """A request about a call that has become a task. The SDK does not know what its headers must repeat."""
        wire.mark_recorded(ctx)
        given = dict(ctx.params or {})
        if ctx.request is not None and ctx.request.headers.get("mcp-name") != given.get("taskId"):
            raise MCPError(HEADER_MISMATCH, "mcp-name header does not match the request body's 'taskId' parameter")
        peer = Peer(self._caller(ctx), modern=True, takes_tasks=wire.takes_tasks(ctx))
        try:
            return await task_methods.answer(self._app, method, given, peer)
        except protocol.RpcError as error:
            raise MCPError(error.code, error.message, error.data) from None

    async def list_resources(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        if not self._is_live and not self._app.library.has_changing_resources:
            self._record(ctx, "resources/list")
            return _page(ctx, list_pages("resources", self._fixed_resources.get(self._caller(ctx))))
        result = await self._from_library(ctx, "resources/list", "resources/list")
        fixed = [] if "nextCursor" in result else self._fixed_resources.get(self._caller(ctx))
        return {**result, "resources": result["resources"] + fixed}

    async def list_templates(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        if self._is_live:
            return await self._from_library(ctx, "resources/templates/list", "resources/templates/list")
        self._record(ctx, "resources/templates/list")
        return _page(ctx, self._templates)

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        return await self._from_library(ctx, "resources/read", params.uri)

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        if self._is_live:
            return await self._from_library(ctx, "prompts/list", "prompts/list")
        self._record(ctx, "prompts/list")
        return _page(ctx, self._prompts)

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> Any:
        return await self._from_library(ctx, "prompts/get", params.name, params.arguments)

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> Any:
        name = params.ref.name if isinstance(params.ref, types.PromptReference) else params.ref.uri
        return await self._from_library(ctx, "completion/complete", name)

    async def _from_library(self, ctx: Context, method: str, name: str, arguments: dict[str, str] | None = None) -> Any:
        asks = self._app.library.may_ask(method, name)
        request = wire.request_of(self._app, ctx, name, arguments, self._caller(ctx), asks=asks)
        answer = partial(library_json.answer, self._app.library, method, ctx.params or {})
        try:
            answered = await self._app.ask_library(method, request, answer)
        except (Refused, ForgedReply, ElicitationUnsupported) as refused:
            raise wire.mcp_error(refused) from None
        if isinstance(answered, Question):
            return wire.input_required(answered)
        result, caching = answered
        return _complete(ctx, {**result, **caching})

    def _caller(self, ctx: Context) -> Caller:
        return ctx.request.scope[CALLER_KEY] if ctx.request is not None else self._app.local_caller


def _complete(ctx: Context, result: JsonObject) -> JsonObject:
    """Marks a result as complete where the protocol version has a field for it."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        result["resultType"] = "complete"
    return result


def _page(ctx: Context, pages: Pages[JsonObject]) -> JsonObject:
    """The page that a request asks for."""
    try:
        return _complete(ctx, dict(page_at(pages, (ctx.params or {}).get("cursor"))))
    except protocol.RpcError as error:
        raise MCPError(error.code, error.message, error.data) from None


async def serve_stdio(app: App) -> None:
    """Serve over stdin and stdout until the input ends."""
    server = build_server(app)
    # Opened first: a thread of the SDK that waits for input could not be ended.
    async with app, stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


class HttpFront:
    """An ASGI application that serves an app at `/mcp`, with Origin, Host and token checks on.

    Enter its `lifespan` before it is called.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._inner = build_server(app).streamable_http_app(
            transport_security=_security(app.settings), max_request_body_size=app.settings.max_body_bytes
        )

    def lifespan(self) -> AbstractAsyncContextManager[Any]:
        """Opens the app and the SDK's session manager."""
        return self._inner.router.lifespan_context(self._inner)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out who calls, then hand the request to the SDK."""
        try:
            caller = await http_caller(self._app, scope, Headers(scope=scope).get("authorization", ""))
        except NotIdentified as refused:
            return await refused.send(send)
        scope[CALLER_KEY] = caller
        # Space around the value of a header does not belong to it (RFC 9110, 5.5), but the SDK would compare it.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        if caller.user_id is not None:
            # The SDK binds a session to the user who opened it; no other user's token is accepted in it.
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=caller.user_id, scopes=[]))
        recorded: list[bool] = []
        scope[wire.RECORDED_KEY] = recorded
        status = 0

        async def watch(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._inner(scope, receive, watch)
        finally:
            if not recorded and status not in (0, HTTPStatus.ACCEPTED):  # a notification is accepted
                record_http(self._app, scope, status, caller)


def _security(settings: Settings) -> TransportSecuritySettings:
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=allowed_hosts(settings),
        allowed_origins=allowed_origins(settings),
    )
