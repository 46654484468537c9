"""Requests of the protocol without sessions: each says in its `_meta` who sends it."""

import json
from typing import Any

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.hosts.fast_path import shapes
from mcp_core.hosts.fast_path.jsonrpc import RpcRequest
from mcp_core.hosts.fast_path.methods import NotHandled
from mcp_core.hosts.fast_path.request_head import RequestHead
from mcp_core.hosts.names import CAPABILITIES_KEY, CLIENT_KEY, MODERN, TASK_METHODS, VERSION_KEY
from mcp_core.hosts.protocol import Peer, client_identity, supports_forms, supports_tasks, supports_urls
from mcp_core.text.json_text import JsonObject

_NAME_PARAMETER = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"} | dict.fromkeys(
    TASK_METHODS, "taskId"
)
_CLIENT_KEYS = frozenset({VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY})
_MAX_KEPT_BYTES = 4096
"""In bytes: the body of a request whose envelope is kept."""


class ModernPeers:
    """Finds out who sends a request to one app."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._find_header_tools()

    def _find_header_tools(self) -> None:
        """Find the tools with arguments that must be repeated in headers, which the SDK compares."""
        self._tools_version, listed = self._app.tools_version, self._app.list_tools()
        self._header_tools = {tool.name for tool in listed if "x-mcp-header" in json.dumps(tool.input_schema)}

    def peer(self, head: RequestHead, request: RpcRequest, caller: Caller, size: int) -> Peer:
        """The client that a request of that size says it comes from. Raises NotHandled where its headers differ."""
        _, method, params = request
        envelope: Any = params.get("_meta")
        if type(envelope) is not dict:
            raise NotHandled("no envelope")
        if self._tools_version != self._app.tools_version:
            self._find_header_tools()
        parameter = _NAME_PARAMETER.get(method)
        if (
            head.method != method
            or (parameter is not None and (head.name is None or head.name != params.get(parameter)))
            or head.name in self._header_tools
        ):
            raise NotHandled("headers and body differ")
        known = head.last.find(caller, envelope) or _read_envelope(head, caller, envelope, size)  # pyright: ignore[reportUnknownArgumentType]
        return known if head.is_plain else head.complete(known)


def _read_envelope(head: RequestHead, caller: Caller, envelope: JsonObject, size: int) -> Peer:
    if envelope.get(VERSION_KEY) != MODERN or CAPABILITIES_KEY not in envelope:
        raise NotHandled("envelope")
    agent_id, agent_version = client_identity(envelope.get(CLIENT_KEY))
    is_valid = shapes.is_modern_meta(envelope)
    peer = Peer(
        caller,
        modern=True,
        agent_id=agent_id,
        agent_version=agent_version,
        can_elicit=supports_forms(envelope[CAPABILITIES_KEY]),
        can_open_urls=supports_urls(envelope[CAPABILITIES_KEY]),
        has_valid_meta=is_valid,
        takes_tasks=supports_tasks(envelope[CAPABILITIES_KEY]),
    )
    if is_valid and size <= _MAX_KEPT_BYTES and _may_be_kept(envelope):
        head.last.keep(caller, envelope, peer)
    return peer


def _may_be_kept(envelope: JsonObject) -> bool:
    """Whether an envelope holds nothing but what a client says of itself, and will come again."""
    # Python's 1 equals True and 1.0, so that an envelope with numbers says nothing about an equal one.
    return _CLIENT_KEYS.issuperset(envelope) and shapes.is_without_numbers(envelope)
