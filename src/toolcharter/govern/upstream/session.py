"""A session with an upstream: which protocol it speaks, what it offers, and requests to it."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from mcp_core.declare.listed import ListedTool
from mcp_core.errors import ToolError
from mcp_core.hosts.names import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKES,
    LATEST_HANDSHAKE,
    METHOD_NOT_FOUND,
    MODERN,
    SERVER_KEY,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
)
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.upstream.errors import HttpRefused, NotStreamable, UpstreamRefused, UpstreamUnavailable
from toolcharter.govern.upstream.mirrored import MarkedArguments, argument_headers, header_value, marked_arguments
from toolcharter.govern.upstream.person import NOBODY, Person
from toolcharter.govern.upstream.transport import OnProgress, Outgoing, Transport, as_object

CLIENT: JsonObject = {"name": "toolcharter", "version": "1"}
CAPABILITIES: JsonObject = {"elicitation": {"form": {}, "url": {}}}
"""Our abilities for an upstream. Whether the client behind a call can do it, is known only then."""
MAX_QUESTIONS = 20
_OLDER_TRANSPORT = (400, 404, 405)
"""The status of a POST at the address of its stream."""
_LISTEN_SECONDS = 7 * 86_400.0
START_SECONDS = 60.0
"""How long an upstream may take to start, and to list what it offers. `npx` may have to install it first."""
PROBE_SECONDS = 30.0
ANSWER_SECONDS = 5.0
"""How long an upstream may take to answer when nothing is asked of it."""
MAX_PAGES = 200
MAX_ITEMS = 20_000
MAX_LIST_SIZE = 64_000_000
"""How much an upstream may list; the size is in characters of JSON."""


class Listed(NamedTuple):
    """A list that an upstream may have."""

    method: str
    member: str
    """Of the result, which has the items."""
    capability: str


TOOLS = Listed("tools/list", "tools", "tools")
PROMPTS = Listed("prompts/list", "prompts", "prompts")
RESOURCES = Listed("resources/list", "resources", "resources")
TEMPLATES = Listed("resources/templates/list", "resourceTemplates", "resources")

_CHANGED = {f"notifications/{kind}/list_changed": kind for kind in ("tools", "prompts", "resources")}
_NAME_PARAMETER = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class ServerIdentity(NamedTuple):
    """The identity of an upstream."""

    name: str
    version: str
    capabilities: Mapping[str, Any]
    instructions: str | None = None


class UpstreamSession:
    """Requests to one upstream, in the protocol that it speaks."""

    def __init__(self, transport: Transport, *, handshake: bool = False) -> None:
        """With `handshake`, the newer protocol is not tried."""
        self._transport, self._handshake = transport, handshake
        self._version: str | None = None
        self._tokens = 0
        self._marked: Mapping[str, MarkedArguments] = {}
        """The arguments of tools that go into headers too, by tool."""
        self.server = ServerIdentity("", "", {})
        self.on_list_changed: Callable[[str], None] = lambda _: None
        """Takes the capability whose list has changed: tools, prompts or resources."""
        self.on_updated: Callable[[str], None] = lambda _: None
        """Takes the address of a resource that has changed."""
        self.on_complete: Callable[[str], None] = lambda _: None
        """Takes the id of a question whose address the person has finished with."""
        self.on_acknowledged: Callable[[frozenset[str]], None] = lambda _: None
        """Takes the resources of a stream, when it begins."""
        transport.on_notification = self._notified

    @property
    def is_modern(self) -> bool:
        """Whether the upstream speaks the stateless protocol."""
        return self._version == MODERN

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self._transport.is_open

    @property
    def last_lines(self) -> Sequence[str]:
        """The last lines of its process on stderr."""
        return self._transport.last_lines

    async def open(self) -> None:
        """Connect: with `server/discover`, or with a handshake if the upstream does not know that."""
        await self._transport.open()
        if self._handshake:
            await self._initialize()
            return
        self._version = MODERN
        try:
            discovered = await self._request("server/discover", {}, seconds=PROBE_SECONDS)
        except UpstreamRefused as error:
            if error.code == UNSUPPORTED_VERSION and not _shares_version(error.data):
                raise UpstreamUnavailable(f"speaks none of our protocol versions: {error.message}") from None
            await self._initialize()
            return
        versions = discovered.get("supportedVersions")
        if not isinstance(versions, list) or MODERN not in versions:
            await self._initialize()
            return
        self.server = _identity(as_object(discovered.get("_meta")).get(SERVER_KEY), discovered)

    def _notified(self, method: str, params: JsonObject) -> None:
        if capability := _CHANGED.get(method):
            self.on_list_changed(capability)
        elif method == "notifications/resources/updated" and isinstance(uri := params.get("uri"), str):
            self.on_updated(uri)
        elif method == "notifications/elicitation/complete" and isinstance(number := params.get("elicitationId"), str):
            self.on_complete(number)
        elif method == "notifications/subscriptions/acknowledged":
            uris: Any = as_object(params.get("notifications")).get("resourceSubscriptions")
            if isinstance(uris, list):
                self.on_acknowledged(frozenset(map(str, cast(list[Any], uris))))

    @property
    def announces_updates(self) -> bool:
        """Whether the upstream declares that it notifies of changes of resources."""
        return as_object(self.server.capabilities.get("resources")).get("subscribe") is True

    async def listen_to(self, uris: Sequence[str]) -> None:
        """Receive changes of these resources until the upstream ends that: for one without sessions."""
        wanted = {"notifications": {"resourceSubscriptions": list(uris)}}
        with contextlib.suppress(UpstreamRefused, UpstreamUnavailable, ToolError):
            await self._request("subscriptions/listen", wanted, seconds=_LISTEN_SECONDS)

    async def _initialize(self) -> None:
        self._version = LATEST_HANDSHAKE
        params: JsonObject = {"protocolVersion": LATEST_HANDSHAKE, "capabilities": CAPABILITIES, "clientInfo": CLIENT}
        try:
            result = await self._request("initialize", params, seconds=START_SECONDS)
        except UpstreamRefused as error:
            is_older = isinstance(error, HttpRefused) and error.status in _OLDER_TRANSPORT
            problem = NotStreamable if is_older else UpstreamUnavailable
            raise problem(f"refused the handshake: {error.message}") from None
        version = result.get("protocolVersion")
        if version not in HANDSHAKES:
            raise UpstreamUnavailable(f"speaks protocol version {version!r}, which is not known.")
        self._version = version
        self.server = _identity(result.get("serverInfo"), result)
        await self._transport.notify("notifications/initialized", {}, self._headers("notifications/initialized", {}))

    async def listen(self) -> None:
        """Receive changes of lists until the upstream ends that, or at once if it announces none."""
        if not self.is_modern:
            await self._transport.listen(self._headers("", {}))
            return
        announced = [
            kind for kind in _CHANGED.values() if as_object(self.server.capabilities.get(kind)).get("listChanged")
        ]
        if announced:
            wanted = {f"{kind}ListChanged": True for kind in announced}
            with contextlib.suppress(UpstreamRefused, UpstreamUnavailable):
                await self._request("subscriptions/listen", {"notifications": wanted}, seconds=_LISTEN_SECONDS)

    async def answers(self) -> bool:
        """Whether the upstream still answers, were it with an error."""
        try:
            await self._request("server/discover" if self.is_modern else "ping", {}, seconds=ANSWER_SECONDS)
        except UpstreamUnavailable:
            return False
        except UpstreamRefused:
            return True
        return True

    async def close(self) -> None:
        """Close the connection."""
        await self._transport.close()

    async def list_tools(self) -> list[ListedTool]:
        """All tools that can be called, in the order of the upstream. Those that run only as tasks are left out."""
        tools = [ListedTool.from_wire(tool) for tool in await self.list_items(TOOLS) if not _needs_task(tool)]
        self._marked = {tool.name: marked for tool in tools if (marked := marked_arguments(tool))}
        return tools

    async def list_items(self, listed: Listed) -> list[JsonObject]:
        """All items of a list as they are on the wire; none if the upstream has no such list."""
        if listed.capability not in self.server.capabilities:
            return []
        try:
            return [as_object(item) async for item in self._list(listed)]
        except UpstreamRefused as error:
            if error.code == METHOD_NOT_FOUND and listed is TEMPLATES:
                return []  # many servers have resources, but no templates
            raise UpstreamUnavailable(f"refused to list its {listed.member}: {error.message}") from None

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        meta: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        person: Person = NOBODY,
    ) -> JsonObject:
        """The result of a call, as the upstream sent it. `person` answers what the upstream asks meanwhile."""
        params: JsonObject = {"name": name, "arguments": dict(arguments)}
        return await self.request(
            "tools/call", params, seconds=seconds, meta=meta, on_progress=on_progress, person=person
        )

    async def request(
        self,
        method: str,
        params: JsonObject,
        *,
        seconds: float,
        meta: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        person: Person | None = None,
    ) -> JsonObject:
        """The result of any request, after the questions that the upstream asks meanwhile."""

        async def send(more: JsonObject) -> JsonObject:
            return await self._request(
                method, {**params, **more}, seconds=seconds, meta=meta, on_progress=on_progress, person=person
            )

        result = await send({})
        for _ in range(MAX_QUESTIONS):
            if result.get("resultType") != "input_required":
                return result
            # The call goes on with the answers, and with what the upstream wants to be reminded of.
            responses = await (person or NOBODY).answer_all(as_object(result.get("inputRequests")))
            state = {"requestState": result["requestState"]} if "requestState" in result else {}
            result = await send({"inputResponses": responses, **state})
        raise UpstreamUnavailable(f"asked the user more than {MAX_QUESTIONS} times during one call.")

    async def _list(self, listed: Listed) -> AsyncIterator[Any]:
        method, member, _ = listed
        cursor: Any = None
        count = size = 0
        for _ in range(MAX_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = await self._request(method, params, seconds=START_SECONDS)
            items = page.get(member)
            for item in cast(list[Any], items) if isinstance(items, list) else []:
                count += 1
                if count > MAX_ITEMS:
                    raise UpstreamUnavailable(f"lists more than {MAX_ITEMS:,} {member}.")
                yield item
            cursor = page.get("nextCursor")
            if cursor is None:
                return
            # Each message is limited by its transport, but not all of them together.
            size += len(json.dumps(page))
            if size > MAX_LIST_SIZE:
                raise UpstreamUnavailable(f"lists its {member} with more than {MAX_LIST_SIZE:,} characters.")
        raise UpstreamUnavailable(f"lists its {member} on more than {MAX_PAGES} pages.")

    async def _request(
        self,
        method: str,
        params: JsonObject,
        *,
        seconds: float,
        meta: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        person: Person | None = None,
    ) -> JsonObject:
        envelope = dict(meta or {})
        if self.is_modern:
            capabilities = CAPABILITIES if person is None else person.capabilities
            envelope |= {VERSION_KEY: MODERN, CAPABILITIES_KEY: capabilities, CLIENT_KEY: CLIENT}
        if on_progress is not None:
            self._tokens += 1
            envelope["progressToken"] = self._tokens
        if envelope:
            params = {**params, "_meta": envelope}
        return await self._transport.request(
            Outgoing(
                method,
                params,
                self._headers(method, params),
                on_progress,
                seconds,
                None if person is None else person.answer,
                "" if person is None else person.owner,
            )
        )

    def _headers(self, method: str, params: JsonObject) -> dict[str, str]:
        if not self.is_modern:
            return {} if method == "initialize" else {"MCP-Protocol-Version": str(self._version)}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if parameter := _NAME_PARAMETER.get(method):
            name = str(params.get(parameter))
            headers["Mcp-Name"] = header_value(name)
            if method == "tools/call" and (marked := self._marked.get(name)):
                headers |= argument_headers(marked, as_object(params.get("arguments")))
        return headers


def _needs_task(tool: Any) -> bool:
    return as_object(as_object(tool).get("execution")).get("taskSupport") == "required"


def _shares_version(data: Any) -> bool:
    supported = as_object(data).get("supported")
    if not isinstance(supported, list):
        return True
    return any(version == MODERN or version in HANDSHAKES for version in cast(list[Any], supported))


def _identity(info: Any, result: JsonObject) -> ServerIdentity:
    about = as_object(info)
    instructions = result.get("instructions")
    return ServerIdentity(
        str(about.get("name", "")),
        str(about.get("version", "")),
        as_object(result.get("capabilities")),
        instructions if isinstance(instructions, str) else None,
    )
