"""What the hosts share: from MCP's types to a `Request`, and from an `Answer` back."""

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.records import Answer, Ask, Question, Reply, Request
from mcp_core.context import ListFolders
from mcp_core.errors import CannotAsk, ConsentRequired, ForgedReply, UnknownTool
from mcp_core.hosts.lane.methods import CONFIRM, CONFIRM_SCHEMA, folders_in, protocol_error

CALLER_KEY = "toolcharter.caller"
"""Where the HTTP front puts the caller into the ASGI scope."""

_TELLING = {
    b"mcp-session-id": "session",
    b"traceparent": "traceparent",
    b"tracestate": "tracestate",
    b"x-correlation-id": "correlationId",
}

Context = ServerRequestContext[Any, Any]


def request_of(app: App, ctx: Context, tool: str, arguments: Mapping[str, Any] | None, caller: Caller) -> Request:
    """A call as the SDK's low-level context shows it."""
    session = ctx.session
    client = session.client_params.client_info if session.client_params else None
    spec_asks = (spec := app.registry.find(tool)) is not None and spec.declaration.confirm is not None
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    can_elicit = spec_asks and _can_elicit(ctx)
    headers = _headers(ctx)
    return Request(
        tool=tool,
        arguments=arguments or {},
        caller=caller,
        agent_id=client.name if client else "unknown",
        agent_version=client.version if client else "unknown",
        session_id=headers.pop("session", None),
        meta=_meta(ctx, headers),
        progress=session.report_progress,
        folders=_folders(ctx) if not modern and _tells_folders(ctx) else None,
        ask=_asker(ctx) if can_elicit and not modern else None,
        can_return_questions=can_elicit and modern,
        must_declare=modern,
        reply=_reply(ctx) if spec_asks and modern else None,
    )


async def run(app: App, request: Request) -> Answer | Question:
    """Answer a call. Raises MCPError for what is no result, but an error of the protocol."""
    try:
        return await app.run(request)
    except (UnknownTool, ForgedReply, CannotAsk) as refusal:
        error = protocol_error(refusal)
        raise MCPError(code=error.code, message=error.message, data=error.data) from None


def _can_elicit(ctx: Context) -> bool:
    """Whether the client shows forms. One that names no mode means this one; one that names only URLs does not."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _tells_folders(ctx: Context) -> bool:
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.roots is not None


def _folders(ctx: Context) -> ListFolders:
    """Older protocol: the folders are asked for with each call that wants them."""

    async def ask() -> tuple[str, ...]:
        try:
            request, result = types.ListRootsRequest(), types.ListRootsResult
            found = await ctx.session.send_request(request, result)
        except (MCPError, ValidationError):
            return ()
        return folders_in(found.model_dump(mode="json"))

    return ask


def _headers(ctx: Context) -> dict[str, str]:
    """The HTTP headers that say something about a call: its session, trace and correlation."""
    if ctx.request is None:
        return {}
    raw: list[tuple[bytes, bytes]] = ctx.request.scope["headers"]
    return {_TELLING[name]: value.decode("latin-1") for name, value in raw if name in _TELLING}


def _meta(ctx: Context, headers: Mapping[str, str]) -> Mapping[str, Any]:
    """The request's metadata; over HTTP, trace and correlation may come as headers instead."""
    # Read from the raw parameters: the SDK's typed form keeps the progress token only.
    meta: Mapping[str, Any] = (ctx.params or {}).get("_meta") or {}
    return {**headers, **meta} if headers else meta


def _asker(ctx: Context) -> Ask:
    """Older protocol: the question is a request to the client, and the call waits for its answer."""

    async def ask(question: str) -> bool:
        try:
            return agreed(await ctx.session.elicit_form(question, CONFIRM_SCHEMA, related_request_id=ctx.request_id))
        except (MCPError, ValidationError) as error:
            raise ConsentRequired("The client could not ask the user. Nothing was done.") from error

    return ask


def agreed(answer: Any) -> bool:
    """Only a plain yes is a yes."""
    return (
        isinstance(answer, types.ElicitResult)
        and answer.action == "accept"
        and ((answer.content or {}).get(CONFIRM) is True)
    )


def _reply(ctx: Context) -> Reply | None:
    """New protocol: the reply comes with the next call, beside the sealed state."""
    params = types.CallToolRequestParams.model_validate(ctx.params, by_name=False)
    if params.request_state is None:
        return None
    return Reply(params.request_state, agreed((params.input_responses or {}).get(CONFIRM)))


def input_required(question: Question) -> types.InputRequiredResult:
    """New protocol: a question as the result of a call."""
    ask = types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=question.text, requested_schema=CONFIRM_SCHEMA)
    )
    return types.InputRequiredResult(input_requests={CONFIRM: ask}, request_state=question.state)
