"""The fast path: the hot methods of MCP, answered without the SDK and its types.

It works with plain dicts and JSON text, and serves both transports. Lists are written once, that of the tools once
for all callers with the same permissions; a call goes straight to the pipeline. For anything else it raises
`NotHandled`: over HTTP the SDK then answers. docs/adr/0018 lists what is handled here.
"""

from functools import partial
from typing import TYPE_CHECKING, cast

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.library import CHANGING_LIST_TTL_MS, LIST_TTL_MS
from mcp_core.calling.live_library import LiveLibrary
from mcp_core.calling.records import Answer, Question, Reply
from mcp_core.calling.requests import Sender
from mcp_core.errors import ElicitationUnsupported, ForgedReply, Refused, TasksUnsupported, UnknownTool
from mcp_core.hosts import library_json
from mcp_core.hosts.callers import ByGrants, may_ask
from mcp_core.hosts.fast_path import shapes
from mcp_core.hosts.list_pages import Pages, list_pages, page_at
from mcp_core.hosts.names import (
    CAPABILITIES_KEY,
    CONFIRM,
    CONFIRM_SCHEMA,
    HANDSHAKES,
    INVALID_PARAMS,
    LATEST_HANDSHAKE,
    MODERN,
    SERVER_KEY,
    TASK_METHODS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
)
from mcp_core.hosts.protocol import (
    Peer,
    RpcError,
    client_identity,
    extensions_of,
    invalid_params,
    is_accepted,
    protocol_error,
)
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject, quoted

if TYPE_CHECKING:
    from mcp_core.hosts.fast_path.opening import Opening
    from mcp_core.tasks.record import TaskRecord


WrittenPages = Pages[tuple[str, str]]
"""The pages of a list as text: with a handshake, and in the modern protocol."""


class NotHandled(Exception):
    """A request that the fast path does not answer."""


def read_envelope(params: JsonObject) -> JsonObject:
    """The metadata of a 2026-07-28 request. Raises RpcError where a required key is missing.

    The shape of each part is checked later, with the rest of the parameters.
    """
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        both = f"{VERSION_KEY!r} and {CAPABILITIES_KEY!r}"
        raise RpcError(INVALID_PARAMS, f"params._meta must be an object carrying the required {both} envelope keys")
    fields = cast(JsonObject, meta)
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


class FastPath:
    """Answers requests for one app."""

    def __init__(self, app: App, opening: "Opening | None" = None) -> None:
        """`opening` opens the app later. Calls wait for it; lists do not."""
        self.app, self._opening = app, opening
        library = app.library
        info: JsonObject = {"name": app.name, "title": app.title, "version": app.version}
        self.is_live = isinstance(library, LiveLibrary)
        """Whether prompts and resources may change too."""
        has_prompts = self.is_live or bool(library.prompts)
        about: JsonObject = {"capabilities": _capabilities(app, prompts=has_prompts)}
        if app.instructions is not None:
            about["instructions"] = app.instructions
        self._fixed_resources = ByGrants[list[JsonObject]](self._find_fixed_resources)
        self._resource_lists = ByGrants[WrittenPages](self._write_resources)
        self._initialize_result: JsonObject = {**about, "serverInfo": info}
        self._server_meta = {SERVER_KEY: info}
        discover = {**about, "supportedVersions": [MODERN]}
        if extensions := extensions_of(app):
            discover["capabilities"] = {**about["capabilities"], "extensions": extensions}
        self._tool_lists = ByGrants[WrittenPages](self._write_tools)
        self._lists = self._write_lists()
        self._handshake_results = {"ping": "{}"}
        self._modern_results = {"server/discover": json_text.to_text({**discover, **self._caching("public")})}
        # How the result of a modern call ends, up to the members that `_meta` gets from the app.
        self._modern_end = f'"resultType":"complete","_meta":{{{quoted(SERVER_KEY)}:{json_text.to_text(info)}'
        self.checks = shapes.method_checks(
            prompts=has_prompts,
            completions=self.is_live or library.has_completions,
            extensions=frozenset(extensions),
        )
        self._tools_version = app.tools_version
        self._find_long_tools()

    def _find_long_tools(self) -> None:
        registry = self.app.registry
        names = {registry.final_name(spec): spec for spec in registry.get_all()}
        self._asking_tools = frozenset(name for name, spec in names.items() if may_ask(spec))
        self._task_tools = frozenset(name for name, spec in names.items() if spec.declaration.task != "never")

    def _reload_tools(self) -> None:
        """Read the tools, and the resources that document them, again after they have changed."""
        self._tools_version = self.app.tools_version
        self._tool_lists = ByGrants[WrittenPages](self._write_tools)
        self._fixed_resources = ByGrants[list[JsonObject]](self._find_fixed_resources)
        self._resource_lists = ByGrants[WrittenPages](self._write_resources)
        self._find_long_tools()

    def _caching(self, scope: str) -> JsonObject:
        """The caching fields of a list of the modern protocol."""
        ttl = CHANGING_LIST_TTL_MS if self.is_live else LIST_TTL_MS
        return {"cacheScope": scope, "resultType": "complete", "ttlMs": ttl, "_meta": self._server_meta}

    def _write_pages(self, member: str, items: list[JsonObject], scope: str) -> WrittenPages:
        caching = self._caching(scope)
        return {
            cursor: (json_text.to_text(page), json_text.to_text({**page, **caching}))
            for cursor, page in list_pages(member, items).items()
        }

    def _write_tools(self, caller: Caller) -> WrittenPages:
        """The list of the tools that a caller may use."""
        tools = [tool.to_wire() for tool in self.app.list_tools(caller)]
        return self._write_pages("tools", tools, self.app.list_scope)

    def _find_fixed_resources(self, caller: Caller) -> list[JsonObject]:
        fixed = () if self.is_live else self.app.library.fixed_for(caller)
        return [library_json.resource_fields(resource) for resource in fixed]

    def _write_resources(self, caller: Caller) -> WrittenPages:
        """The list of the resources of a server where none changes."""
        return self._write_pages("resources", self._fixed_resources.get(caller), self.app.list_scope)

    def _write_lists(self) -> dict[str, WrittenPages]:
        """The lists that never change while the server runs, by method."""
        library = self.app.library
        if self.is_live:
            return {}
        templates = [library_json.template_fields(template) for template in library.templates]
        lists = {"resources/templates/list": self._write_pages("resourceTemplates", templates, "public")}
        if library.prompts:
            prompts = [library_json.prompt_fields(prompt) for prompt in library.prompts]
            lists["prompts/list"] = self._write_pages("prompts", prompts, "public")
        return lists

    def initialize(self, params: JsonObject) -> tuple[str, JsonObject]:
        """The result of the handshake, and its parameters with the version that was chosen."""
        required = (params.get("clientInfo"), params.get("capabilities"), version := params.get("protocolVersion"))
        if None in required or not shapes.is_initialize(params):
            raise invalid_params()
        chosen = version if version in HANDSHAKES else LATEST_HANDSHAKE
        result = {**self._initialize_result, "protocolVersion": chosen}
        return json_text.to_text(result), params | {"protocolVersion": chosen}

    async def answer(self, method: str, params: JsonObject, peer: Peer) -> str:
        """The result of a request as JSON text. Raises RpcError, or NotHandled for a method of the SDK's."""
        checks = self.checks.modern if peer.modern else self.checks.handshake
        is_valid = (self.checks.modern_but_meta if peer.has_valid_meta else checks).get(method)
        if is_valid is None:
            raise NotHandled(method)
        if self._tools_version != self.app.tools_version:
            self._reload_tools()
        if not is_valid(params):
            raise self.refuse(method, invalid_params(), peer)
        if method != "tools/call":
            return await self._read(method, params, peer)
        name = params.get("name")
        if name is None:
            raise self.refuse("tools/call", invalid_params(), peer)
        asks = name in self._asking_tools
        reply = _reply(params) if asks and peer.modern else None
        request = peer.request(name, params.get("arguments"), params.get("_meta") or {}, asks=asks, reply=reply)
        if name in self._task_tools:
            request = request._replace(takes_tasks=peer.takes_tasks)
        if self._opening is not None:
            await self.wait_until_open()
        try:
            answer = await self.app.answer(request)
        except (UnknownTool, ForgedReply, ElicitationUnsupported, TasksUnsupported) as error:
            raise protocol_error(error) from None
        return self._call_result(answer, peer) if isinstance(answer, Answer) else self._unfinished(answer)

    def _unfinished(self, answer: "Question | TaskRecord") -> str:
        """The result of a call that goes on: a question to the person, or a task."""
        if isinstance(answer, Question):
            return self._input_required(answer)
        from mcp_core.hosts import task_methods  # noqa: PLC0415 - most servers have no tasks

        return json_text.to_text({**task_methods.created(answer), "_meta": self._server_meta})

    async def _read(self, method: str, params: JsonObject, peer: Peer) -> str:
        """The result of a request that calls no tool."""
        pages = self._lists.get(method)
        if method == "tools/list":
            pages = self._tool_lists.get(peer.caller, self.app.disabled_for(peer.caller))
            if self._opening is not None:
                self._opening.begin_soon()
        elif method == "resources/list" and not self.is_live and not self.app.library.has_changing_resources:
            pages = self._resource_lists.get(peer.caller)
        if pages is None:
            result = (self._modern_results if peer.modern else self._handshake_results).get(method)
        else:
            try:
                result = page_at(pages, params.get("cursor"))[peer.modern]
            except RpcError as error:
                raise self.refuse(method, error, peer) from None
        if result is None and method in TASK_METHODS:
            return await self._answer_task(method, params, peer)
        if result is None:
            return await self._from_library(method, params, peer)
        self.app.requests.record(method, "ok", _sender(peer), size=len(result), meta=peer.trace_ids or {})
        return result

    def record(self, method: str, peer: Peer) -> None:
        """Record a request that is answered by what carries the messages."""
        self.app.requests.record(method, "ok", _sender(peer), meta=peer.trace_ids or {})

    def refuse(self, method: str, error: RpcError, peer: Peer | None = None) -> RpcError:
        """Record a request that is answered with an error before anything is done, and return the error."""
        sender = Sender() if peer is None else _sender(peer)
        self.app.requests.record(method, "validation", sender, error=error.message)
        return error

    def record_handshake(self, caller: Caller, params: JsonObject) -> None:
        """Record a successful `initialize`."""
        name, version = client_identity(params.get("clientInfo"))
        self.app.requests.record("initialize", "ok", Sender(caller.key, f"{name} {version}"))

    def _call_result(self, answer: Answer, peer: Peer) -> str:
        failed = "true" if answer.is_error else "false"
        blocks = f'{{"text":{quoted(answer.text)},"type":"text"}}' if answer.text else ""
        if answer.blocks:
            blocks = f"{blocks},{answer.blocks}" if blocks else answer.blocks
        text = f'{{"content":[{blocks}],"isError":{failed}'
        if answer.structured_json is not None:
            text += f',"structuredContent":{answer.structured_json}'
        meta = json_text.to_text(dict(answer.meta))[1:-1] if answer.meta else ""
        if peer.modern:
            return f"{text},{self._modern_end}{',' if meta else ''}{meta}}}}}"
        return f'{text},"_meta":{{{meta}}}}}' if meta else text + "}"

    def _input_required(self, question: Question) -> str:
        confirm = {CONFIRM: {"mode": "form", "message": question.text, "requestedSchema": CONFIRM_SCHEMA}}
        asked = (question.requests or confirm).items()
        result = {
            "inputRequests": {name: {"method": "elicitation/create", "params": params} for name, params in asked},
            "requestState": question.state,
            "resultType": "input_required",
            "_meta": self._server_meta,
        }
        return json_text.to_text(result)

    @property
    def start_failure(self) -> RpcError | None:
        """The answer to each request to an app that cannot be opened."""
        return None if self._opening is None else self._opening.failure

    async def wait_until_open(self) -> None:
        """Return when the app is open."""
        if self._opening is not None and not self._opening.is_done:
            await self._opening.wait()

    async def _answer_task(self, method: str, params: JsonObject, peer: Peer) -> str:
        """A request about a call that has become a task."""
        from mcp_core.hosts import task_methods  # noqa: PLC0415 - most servers have no tasks

        await self.wait_until_open()
        result = await task_methods.answer(self.app, method, params, peer)
        return json_text.to_text({**result, "_meta": {**result.get("_meta", {}), **self._server_meta}})

    async def _from_library(self, method: str, params: JsonObject, peer: Peer) -> str:
        """A prompt, a resource, a completion, or a list that changes."""
        name = _subject(method, params)
        if name is None:
            raise self.refuse(method, invalid_params(), peer)
        asks = self.app.library.may_ask(method, name)
        reply = _reply(params) if asks and peer.modern else None
        request = peer.request(name, params.get("arguments"), params.get("_meta") or {}, asks=asks, reply=reply)
        await self.wait_until_open()
        answer = partial(library_json.answer, self.app.library, method, params)
        try:
            answered = await self.app.ask_library(method, request, answer)
        except (Refused, ForgedReply, ElicitationUnsupported) as refused:
            raise protocol_error(refused) from None
        if isinstance(answered, Question):
            return self._input_required(answered)
        result, caching = answered
        if method == "resources/list" and "nextCursor" not in result:
            result["resources"] = result["resources"] + self._fixed_resources.get(peer.caller)
        if peer.modern:
            meta = {**result.get("_meta", {}), **self._server_meta}
            result = {**result, **caching, "resultType": "complete", "_meta": meta}
        return json_text.to_text(result)


def _capabilities(app: App, *, prompts: bool) -> JsonObject:
    live = isinstance(app.library, LiveLibrary)
    capabilities: JsonObject = {
        "resources": {"listChanged": app.library.is_subscribable, "subscribe": app.library.is_subscribable},
        "tools": {"listChanged": app.lists_change},
    }
    if prompts:
        capabilities["prompts"] = {"listChanged": live}
    if live or app.library.has_completions:
        capabilities["completions"] = {}
    return capabilities


def _subject(method: str, params: JsonObject) -> str | None:
    """The prompt, the address or the list that a request is about. None where it is missing."""
    if method == "prompts/get":
        return params.get("name")
    if method == "resources/read":
        return params.get("uri")
    if method == "completion/complete":
        ref, argument = cast(JsonObject, params.get("ref") or {}), cast(JsonObject, params.get("argument") or {})
        if argument.get("name") is None or argument.get("value") is None:
            return None
        return ref.get("name" if ref.get("type") == "ref/prompt" else "uri")
    if method in ("skills/get", "resources/directory/read"):
        return params.get("uri")
    return method


def _reply(params: JsonObject) -> Reply | None:
    """The person's answer that came with a call."""
    state, responses = params.get("requestState"), cast(JsonObject, params.get("inputResponses") or {})
    return None if state is None else Reply(state, is_accepted(responses.get(CONFIRM)), responses)


def _sender(peer: Peer) -> Sender:
    return Sender(peer.caller.key, f"{peer.agent_id} {peer.agent_version}")
