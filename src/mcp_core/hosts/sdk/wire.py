"""Between the MCP SDK's types and ours, for the SDK's server and for FastMCP: requests in, questions and errors out."""

import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.records import Answer, Question, Reply, Request
from mcp_core.context import NO_HEADERS
from mcp_core.errors import ConsentRequired, ElicitationUnsupported, ForgedReply, TasksUnsupported, UnknownTool
from mcp_core.hosts import protocol
from mcp_core.hosts.callers import request_headers
from mcp_core.hosts.names import CAPABILITIES_KEY, CONFIRM, CONFIRM_SCHEMA
from mcp_core.hosts.protocol import Peer, ReportedError, local_folders, protocol_error, supports_tasks
from mcp_core.tasks.record import TaskRecord

CALLER_KEY = "toolcharter.caller"
"""The key of the caller in the ASGI scope."""

RECORDED_KEY = "toolcharter.recorded"
"""The key of a list in the ASGI scope, which is not empty after the request has been recorded."""

_SESSION_KEY = "session"
_CONTEXT_HEADERS = {
    b"mcp-session-id": _SESSION_KEY,
    b"traceparent": "traceparent",
    b"tracestate": "tracestate",
    b"x-correlation-id": "correlationId",
}

Context = ServerRequestContext[Any, Any]


def request_of(
    app: App, ctx: Context, name: str, arguments: Mapping[str, Any] | None, caller: Caller, *, asks: bool
) -> Request:
    """The request for a tool, prompt or resource that arrived in an SDK context, and may ask the person."""
    mark_recorded(ctx)
    peer = _peer(app, ctx, caller, asks=asks)
    reply = _reply(ctx) if asks and peer.modern else None
    # Read from the raw parameters: the SDK's typed form keeps the progress token only.
    meta: Mapping[str, Any] = (ctx.params or {}).get("_meta") or {}
    return peer.request(name, arguments, meta, asks=asks, reply=reply)


def mark_recorded(ctx: Context) -> None:
    """Say that a request is recorded by whoever answers it, so that the HTTP front does not do so."""
    if ctx.request is not None and RECORDED_KEY in ctx.request.scope:
        ctx.request.scope[RECORDED_KEY].append(True)


def agent_of(ctx: Context) -> str:
    """The name and the version of the client."""
    client = ctx.session.client_params.client_info if ctx.session.client_params else None
    return f"{client.name} {client.version}" if client else "unknown unknown"


def takes_tasks(ctx: Context) -> bool:
    """Whether the client declares that it follows tasks."""
    meta: Any = (ctx.params or {}).get("_meta") or {}
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and supports_tasks(meta.get(CAPABILITIES_KEY))


async def run(app: App, request: Request) -> Answer | Question | TaskRecord:
    """Answer a call. Raises MCPError for protocol errors."""
    try:
        return await app.answer(request)
    except (UnknownTool, ForgedReply, ElicitationUnsupported, TasksUnsupported) as error:
        raise mcp_error(error) from None


def mcp_error(error: ReportedError) -> MCPError:
    """The SDK's exception for a request that the app left to its host to answer."""
    rpc_error = protocol_error(error)
    return MCPError(code=rpc_error.code, message=rpc_error.message, data=rpc_error.data)


def _peer(app: App, ctx: Context, caller: Caller, *, asks: bool) -> Peer:
    session = ctx.session
    client = session.client_params.client_info if session.client_params else None
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    ids = _ids(ctx)
    session_id = ids.pop(_SESSION_KEY, None)
    return Peer(
        caller,
        modern=modern,
        agent_id=client.name if client else "unknown",
        agent_version=client.version if client else "unknown",
        # The modern protocol has no sessions: there, nobody has checked whose id the header has.
        session_id=None if modern else session_id,
        can_elicit=asks and _can_elicit(ctx),
        can_open_urls=asks and _can_open_urls(ctx),
        ask=partial(_ask, ctx) if asks else None,
        elicit=partial(_elicit, ctx) if asks else None,
        progress=session.report_progress,
        folders=partial(_list_folders, ctx) if not modern and _can_list_roots(ctx) else None,
        trace_ids=ids,
        headers=request_headers(app, ctx.request.scope) if ctx.request is not None else NO_HEADERS,
    )


def _ids(ctx: Context) -> dict[str, str]:
    """The session, trace and correlation ids in the HTTP headers of a request."""
    if ctx.request is None:
        return {}
    raw: list[tuple[bytes, bytes]] = ctx.request.scope["headers"]
    return {_CONTEXT_HEADERS[name]: value.decode("latin-1") for name, value in raw if name in _CONTEXT_HEADERS}


def _can_elicit(ctx: Context) -> bool:
    """Whether the client shows forms. One that names no mode does; one that names only URLs does not."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _can_open_urls(ctx: Context) -> bool:
    capabilities = ctx.session.client_capabilities
    return bool(capabilities and capabilities.elicitation and capabilities.elicitation.url is not None)


def _can_list_roots(ctx: Context) -> bool:
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.roots is not None


async def _list_folders(ctx: Context) -> tuple[str, ...]:
    """Handshake protocol: the folders are requested for each call that needs them."""
    try:
        result = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    except (MCPError, ValidationError):
        return ()
    return local_folders(str(root.uri) for root in result.roots)


async def _ask(ctx: Context, question: str) -> bool:
    """Handshake protocol: the question is a request to the client, and the call waits for the response."""
    try:
        return is_accepted(await ctx.session.elicit_form(question, CONFIRM_SCHEMA, related_request_id=ctx.request_id))
    except (MCPError, ValidationError) as error:
        raise ConsentRequired("The client could not ask the user. Nothing was done.") from error


async def _elicit(ctx: Context, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Handshake protocol: what a handler wants to know is a request to the client likewise."""
    try:
        if params.get("mode") == "url":
            number = params.get("elicitationId") or secrets.token_urlsafe(12)
            given = await ctx.session.elicit_url(params["message"], params["url"], number, ctx.request_id)
        else:
            given = await ctx.session.elicit_form(params["message"], params["requestedSchema"], ctx.request_id)
    except (MCPError, ValidationError) as error:
        raise ConsentRequired("The client could not ask the user.") from error
    return given.model_dump(mode="json", by_alias=True, exclude_none=True)


def is_accepted(response: Any) -> bool:
    """Whether the person agreed."""
    return isinstance(response, types.ElicitResult) and protocol.is_accepted(
        {"action": response.action, "content": response.content}
    )


def _reply(ctx: Context) -> Reply | None:
    """Modern protocol: the person's answer comes with the next call, next to the sealed state."""
    params = types.InputResponseRequestParams.model_validate(ctx.params, by_name=False)
    if params.request_state is None:
        return None
    responses = params.input_responses or {}
    given = {
        name: response.model_dump(mode="json", by_alias=True, exclude_none=True) for name, response in responses.items()
    }
    return Reply(params.request_state, is_accepted(responses.get(CONFIRM)), given)


def input_required(question: Question) -> types.InputRequiredResult:
    """Modern protocol: a question as the result of a call."""
    confirm = {CONFIRM: {"mode": "form", "message": question.text, "requestedSchema": CONFIRM_SCHEMA}}
    asked: types.InputRequests = {
        name: types.ElicitRequest.model_validate({"method": "elicitation/create", "params": params})
        for name, params in (question.requests or confirm).items()
    }
    return types.InputRequiredResult(input_requests=asked, request_state=question.state)
