"""The fast lane: the hot methods of MCP, answered without the SDK and its types.

It speaks plain dicts and JSON text. Both transports share it: `lane_stdio` and `lane_http`. Lists are written
once, when the lane is made; a call goes straight to the pipeline. What it does not handle it says it does not
(`Unusual`), and leaves to whoever is underneath. docs/adr/0018 lists both.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from json.encoder import encode_basestring as quoted
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from pydantic_core import from_json

from mcp_core import json_text
from mcp_core.app import App, ListedTool
from mcp_core.auth import Caller
from mcp_core.calling.library import LIST_TTL_MS
from mcp_core.calling.records import Ask, Question, Reply, Request
from mcp_core.context import ListFolders, ReportProgress
from mcp_core.errors import CannotAsk, ForgedReply, Refused, UnknownTool
from mcp_core.hosts import library_json
from mcp_core.hosts.lane import shapes as lane_shapes
from mcp_core.hosts.lane.shapes import fits

MODERN = "2026-07-28"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST_HANDSHAKE = HANDSHAKES[-1]
CONFIRM = "confirm"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

_FILE = "file://"
_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = _PREFIX + "protocolVersion"
CAPABILITIES_KEY = _PREFIX + "clientCapabilities"
CLIENT_KEY = _PREFIX + "clientInfo"
SERVER_KEY = _PREFIX + "serverInfo"

CONFIRM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        CONFIRM: {"type": "boolean", "title": "Yes, go ahead", "description": "Whether the action may be carried out."}
    },
    "required": [CONFIRM],
}

Fields = dict[str, Any]


class Unusual(Exception):
    """A request that the fast lane does not answer."""


class RpcError(Exception):
    """A protocol error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def to_text(self) -> str:
        """The error object as JSON."""
        fields: Fields = {"code": self.code, "message": self.message}
        return json_text.to_text(fields if self.data is None else fields | {"data": self.data})


class Peer(NamedTuple):
    """What is known about the other side when it sends a request."""

    caller: Caller
    modern: bool
    agent_id: str = "unknown"
    agent_version: str = "unknown"
    session_id: str | None = None
    can_elicit: bool = False
    ask: Ask | None = None
    progress: ReportProgress | None = None
    folders: ListFolders | None = None
    headers: Mapping[str, str] | None = None
    """Trace and correlation, where a transport has them beside the message."""


def invalid_params() -> RpcError:
    """What the SDK says to parameters of the wrong shape."""
    return RpcError(INVALID_PARAMS, "Invalid request parameters", "")


def method_not_found(method: str) -> RpcError:
    """What the SDK says to a method nobody serves."""
    return RpcError(METHOD_NOT_FOUND, "Method not found", method)


def shows_forms(capabilities: Any) -> bool:
    """Whether a client shows forms. One that names no mode means this one; one that names only URLs does not."""
    elicitation = capabilities.get("elicitation") if isinstance(capabilities, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(elicitation, dict):
        return False
    modes = cast(Fields, elicitation)
    return modes.get("form") is not None or modes.get("url") is None


def tells_folders(capabilities: Any) -> bool:
    """Whether a client can be asked for the folders that it works in."""
    return isinstance(capabilities, dict) and cast(Fields, capabilities).get("roots") is not None


def folders_in(result: Any) -> tuple[str, ...]:
    """The folders in a client's answer to `roots/list`; what is no file of this machine is left out."""
    listed: Any = cast(Fields, result).get("roots") if isinstance(result, dict) else None
    if not fits(listed, lane_shapes.ROOTS):
        return ()
    uris = [str(root.get("uri", "")) for root in listed]
    return tuple(unquote(uri.removeprefix(_FILE)) for uri in uris if uri.startswith(f"{_FILE}/"))


def about_client(client: Any) -> tuple[str, str]:
    """Name and version of a client, from what it said about itself."""
    fields = cast(Fields, client) if isinstance(client, dict) else {}
    return fields.get("name", "unknown"), fields.get("version", "unknown")


def decode(text: bytes) -> Any:
    """A JSON text as the SDK reads it. Raises ValueError."""
    return from_json(text)


def agreed(answer: Any) -> bool:
    """Only a plain yes is a yes."""
    fields = cast(Fields, answer) if isinstance(answer, dict) else {}
    content = fields.get("content")
    return fields.get("action") == "accept" and isinstance(content, dict) and content.get(CONFIRM) is True  # pyright: ignore[reportUnknownMemberType]


def protocol_error(error: UnknownTool | ForgedReply | CannotAsk) -> RpcError:
    """What a call is answered with that the pipeline leaves to its host."""
    if isinstance(error, UnknownTool):
        return RpcError(INVALID_PARAMS, str(error), {"nearest": list(error.nearest)})
    if isinstance(error, ForgedReply):
        # The words of the SDK. A client may look at the reason; an agent can do nothing about it.
        return RpcError(INVALID_PARAMS, "Invalid or expired requestState", {"reason": "invalid_request_state"})
    return RpcError(MISSING_CAPABILITY, str(error), {"requiredCapabilities": {"elicitation": {"form": {}}}})


def envelope(params: Fields) -> Fields:
    """The metadata of a 2026-07-28 request, or why it is refused. The shape of each part is looked at later."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        both = f"{VERSION_KEY!r} and {CAPABILITIES_KEY!r}"
        raise RpcError(INVALID_PARAMS, f"params._meta must be an object carrying the required {both} envelope keys")
    fields = cast(Fields, meta)
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in fields]
    if missing:
        names = ", ".join(missing)
        raise RpcError(INVALID_PARAMS, f"params._meta is missing the required envelope key(s): {names}")
    version = fields[VERSION_KEY]
    if version != MODERN:
        if not isinstance(version, str):
            raise RpcError(INVALID_PARAMS, "the protocol-version envelope value must be a string")
        data = {"supported": [MODERN], "requested": version}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return fields


class Lane:
    """Answers requests for one app."""

    def __init__(self, app: App, ready: asyncio.Future[None] | None = None) -> None:
        """`ready` is done when the app is open; lists are answered before."""
        self.app, self._ready = app, ready
        tools = app.list_tools()
        info: Fields = {"name": app.name, "title": app.title, "version": app.version}
        fresh = {"cacheScope": "public", "resultType": "complete", "ttlMs": LIST_TTL_MS, "_meta": {SERVER_KEY: info}}
        capabilities = {"resources": {"listChanged": False, "subscribe": False}, "tools": {"listChanged": False}}
        library = app.library
        self._documents = [library_json.resource_fields(resource) for resource in library.fixed]
        about: Fields = {"capabilities": capabilities}
        if app.instructions is not None:
            about["instructions"] = app.instructions
        lists = {"tools/list": {"tools": [_tool(tool) for tool in tools]}}
        if not library.changes:
            lists["resources/list"] = {"resources": self._documents}
        templates = [library_json.template_fields(template) for template in library.templates]
        lists["resources/templates/list"] = {"resourceTemplates": templates}
        if library.prompts:
            capabilities["prompts"] = {"listChanged": False}
            lists["prompts/list"] = {"prompts": [library_json.prompt_fields(prompt) for prompt in library.prompts]}
        self.old, self.new = lane_shapes.served(prompts=bool(library.prompts))
        discover = {**about, "supportedVersions": [MODERN]}
        self._handshake: Fields = {**about, "serverInfo": info}
        self._fixed = {method: json_text.to_text(result) for method, result in lists.items()} | {"ping": "{}"}
        self._fixed_modern = {
            method: json_text.to_text({**result, **fresh})
            for method, result in (*lists.items(), ("server/discover", discover))
        }
        self._fresh = fresh
        self._stamp = f'"resultType":"complete","_meta":{{{quoted(SERVER_KEY)}:{json_text.to_text(info)}'
        self._asking = {app.registry.final_name(s) for s in app.registry.get_all() if s.declaration.confirm is not None}

    @property
    def asks(self) -> bool:
        """Whether any tool asks the person."""
        return bool(self._asking)

    def initialize(self, params: Fields) -> tuple[str, Fields]:
        """The answer to the handshake, and what the client said about itself."""
        required = (params.get("clientInfo"), params.get("capabilities"), version := params.get("protocolVersion"))
        if None in required or not fits(params, lane_shapes.INITIALIZE):
            raise invalid_params()
        chosen = version if version in HANDSHAKES else LATEST_HANDSHAKE
        return json_text.to_text({**self._handshake, "protocolVersion": chosen}), params | {"protocolVersion": chosen}

    async def answer(self, method: str, params: Fields, peer: Peer) -> str:
        """The result of a request as JSON text. Raises RpcError, or Unusual where it is not for this lane."""
        shape = (self.new if peer.modern else self.old).get(method)
        if shape is None:
            raise Unusual(method)
        if not fits(params, shape):
            raise invalid_params()
        if method == "tools/call":
            return await self._call(params, peer)
        fixed = (self._fixed_modern if peer.modern else self._fixed).get(method)
        return await self._from_library(method, params, peer) if fixed is None else fixed

    async def _call(self, params: Fields, peer: Peer) -> str:
        name, arguments = params.get("name"), params.get("arguments")
        if name is None:
            raise invalid_params()
        meta: Any = params.get("_meta") or {}
        asks = name in self._asking
        can_elicit = asks and peer.can_elicit
        request = Request(
            tool=name,
            arguments=cast(Fields, arguments or {}),
            caller=peer.caller,
            agent_id=peer.agent_id,
            agent_version=peer.agent_version,
            session_id=peer.session_id,
            meta={**peer.headers, **meta} if peer.headers else meta,
            progress=peer.progress,
            folders=peer.folders,
            ask=peer.ask if can_elicit and not peer.modern else None,
            can_return_questions=can_elicit and peer.modern,
            must_declare=peer.modern,
            reply=_reply(params) if asks and peer.modern else None,
        )
        if self._ready is not None and not self._ready.done():
            await asyncio.shield(self._ready)
        try:
            answer = await self.app.run(request)
        except (UnknownTool, ForgedReply, CannotAsk) as error:
            raise protocol_error(error) from None
        if isinstance(answer, Question):
            return self._question(answer)
        failed = "true" if answer.is_error else "false"
        text = f'{{"content":[{{"text":{quoted(answer.text)},"type":"text"}}],"isError":{failed}'
        if answer.structured is not None:
            text += f',"structuredContent":{json_text.to_text(answer.structured)}'
        own = json_text.to_text(dict(answer.meta))[1:-1] if answer.meta else ""
        if peer.modern:
            return f"{text},{self._stamp}{',' if own else ''}{own}}}}}"
        return f'{text},"_meta":{{{own}}}}}' if own else text + "}"

    def _question(self, question: Question) -> str:
        ask = {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": question.text, "requestedSchema": CONFIRM_SCHEMA},
        }
        result = {
            "inputRequests": {CONFIRM: ask},
            "requestState": question.state,
            "resultType": "input_required",
            "_meta": self._fresh["_meta"],
        }
        return json_text.to_text(result)

    async def _from_library(self, method: str, params: Fields, peer: Peer) -> str:
        """A prompt, a resource, or a list of resources that change."""
        name = method if method == "resources/list" else params.get("name" if method == "prompts/get" else "uri")
        if name is None:
            raise invalid_params()
        meta: Any = params.get("_meta") or {}
        request = Request(
            tool=name,
            arguments=cast(Fields, params.get("arguments") or {}),
            caller=peer.caller,
            agent_id=peer.agent_id,
            agent_version=peer.agent_version,
            session_id=peer.session_id,
            meta={**peer.headers, **meta} if peer.headers else meta,
            progress=peer.progress,
        )
        if self._ready is not None and not self._ready.done():
            await asyncio.shield(self._ready)
        try:
            result, fresh = await library_json.answer(self.app.library, method, params.get("cursor"), request)
        except Refused as refused:
            raise RpcError(library_json.error_code(refused), str(refused), refused.data or None) from None
        if method == "resources/list" and params.get("cursor") is None:
            result["resources"] = self._documents + result["resources"]
        if peer.modern:
            result = {**result, **fresh, "resultType": "complete", "_meta": self._fresh["_meta"]}
        return json_text.to_text(result)


def _reply(params: Fields) -> Reply | None:
    """The person's answer that came back with a call."""
    state, responses = params.get("requestState"), cast(Fields, params.get("inputResponses") or {})
    return None if state is None else Reply(state, agreed(responses.get(CONFIRM)))


def _tool(tool: ListedTool) -> Fields:
    meta = {"_meta": dict(tool.meta)} if tool.meta else {}
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": dict(tool.input_schema),
        "annotations": dict(tool.annotations),
        **meta,
    }


def progress_token(params: Fields) -> str | int | None:
    """The token under which the client wants to hear about progress."""
    meta = params.get("_meta")
    token = cast(Fields, meta).get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def progress_message(token: str | int, done: float, total: float | None, message: str | None) -> str:
    """A progress notification as JSON."""
    params: Fields = {"progressToken": token, "progress": done}
    if total is not None:
        params["total"] = total
    if message is not None:
        params["message"] = message
    return json_text.to_text({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


@asynccontextmanager
async def kept_open(app: App) -> AsyncGenerator[asyncio.Future[None]]:
    """Open an app in the background, and close it at the end, in one and the same task.

    Gives a future that is done when the app is open. An app that cannot be opened ends the whole.
    """
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()
    user = asyncio.current_task()

    async def keep() -> None:
        try:
            async with app:
                ready.set_result(None)
                await done.wait()
        except BaseException:
            if not ready.done() and user is not None:
                ready.cancel()
                user.cancel()
            raise

    keeper = asyncio.ensure_future(keep())
    try:
        yield ready
    except asyncio.CancelledError:
        if keeper.done() and not keeper.cancelled() and keeper.exception() is not None and user is not None:
            user.uncancel()
        else:
            raise
    finally:
        done.set()
        await keeper
