"""The parts of MCP that all hosts share: errors, results, and the client.

A host makes a `Peer` of what it knows about its client. The peer makes the `Request` that the pipeline takes.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.records import Ask, Reply, Request
from mcp_core.context import NO_HEADERS, Elicit, ListFolders, NotifyComplete, ReportProgress, RequestHeaders
from mcp_core.errors import (
    ElicitationUnsupported,
    ForgedReply,
    Refused,
    TasksUnsupported,
    UnknownTool,
    UrlElicitationRequired,
)
from mcp_core.hosts.names import (
    CONFIRM,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    SKILLS,
    TASKS,
    URL_ELICITATION_REQUIRED,
)
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject

_FILE_SCHEME = "file://"


# --- errors ------------------------------------------------------------------------------------------------


class RpcError(Exception):
    """A protocol error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def to_text(self) -> str:
        """The error object as JSON."""
        fields: JsonObject = {"code": self.code, "message": self.message}
        return json_text.to_text(fields if self.data is None else fields | {"data": self.data})


def invalid_params() -> RpcError:
    """The error for parameters of the wrong shape, worded as the SDK words it."""
    return RpcError(INVALID_PARAMS, "Invalid request parameters", "")


def method_not_found(method: str) -> RpcError:
    """The error for a method that is not served, worded as the SDK words it."""
    return RpcError(METHOD_NOT_FOUND, "Method not found", method)


def server_stopping() -> RpcError:
    """The error for a request that arrives while the server stops."""
    return RpcError(INTERNAL_ERROR, "The server is stopping. Try again.", {"reason": "draining", "retryable": True})


ReportedError = UnknownTool | ForgedReply | ElicitationUnsupported | TasksUnsupported | Refused
"""The errors that an app leaves to its host to answer."""


def needs_tasks(message: str) -> RpcError:
    """The error for a client that has not declared that it follows tasks."""
    return RpcError(MISSING_CAPABILITY, message, {"requiredCapabilities": {"extensions": {TASKS: {}}}})


def protocol_error(error: ReportedError) -> RpcError:
    """The error for a request that the app left to its host to answer."""
    if isinstance(error, UnknownTool):
        return RpcError(INVALID_PARAMS, str(error), {"nearest": list(error.nearest)})
    if isinstance(error, ForgedReply):
        # Worded as the SDK words it. A client may read the reason; an agent can do nothing about it.
        return RpcError(INVALID_PARAMS, "Invalid or expired requestState", {"reason": "invalid_request_state"})
    if isinstance(error, UrlElicitationRequired):
        return RpcError(URL_ELICITATION_REQUIRED, str(error), {"elicitations": error.elicitations})
    if isinstance(error, ElicitationUnsupported):
        return RpcError(MISSING_CAPABILITY, str(error), {"requiredCapabilities": {"elicitation": {error.mode: {}}}})
    if isinstance(error, TasksUnsupported):
        return needs_tasks(str(error))
    code = INTERNAL_ERROR if error.kind == "system" else INVALID_PARAMS
    return RpcError(code, str(error), error.data or None)


# --- the client --------------------------------------------------------------------------------------------


_NO_MODES: frozenset[str] = frozenset()
_MODES: Mapping[tuple[bool, bool], frozenset[str]] = {
    (False, False): _NO_MODES,
    (True, False): frozenset({"form"}),
    (False, True): frozenset({"url"}),
    (True, True): frozenset({"form", "url"}),
}
"""By whether a client shows forms, and whether it opens addresses."""


class Peer(NamedTuple):
    """The client that sends a request, as a host knows it."""

    caller: Caller
    modern: bool
    """Whether it speaks the stateless protocol, not one with a handshake."""
    agent_id: str = "unknown"
    agent_version: str = "unknown"
    session_id: str | None = None
    can_elicit: bool = False
    can_open_urls: bool = False
    ask: Ask | None = None
    elicit: Elicit | None = None
    progress: ReportProgress | None = None
    folders: ListFolders | None = None
    trace_ids: Mapping[str, str] | None = None
    """Trace and correlation ids, where the transport carries them outside the message."""
    headers: RequestHeaders = NO_HEADERS
    """The headers that the app declared."""
    path: str = ""
    """The path of an HTTP request, where an answer may need it."""
    has_valid_meta: bool = False
    """Whether the shape of the `_meta` of its request has been checked."""
    notify_complete: NotifyComplete | None = None
    takes_tasks: bool = False
    """Whether it declares that it follows tasks."""

    def request(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        meta: Mapping[str, Any],
        *,
        asks: bool = False,
        reply: Reply | None = None,
    ) -> Request:
        """The request for a tool, prompt or resource. `asks` says whether the tool asks the person, or confirms."""
        can_elicit = asks and self.can_elicit
        modes = _MODES[self.can_elicit, self.can_open_urls] if asks else _NO_MODES
        # In order and without names, which would take twice as long.
        return Request(
            name,
            arguments or {},
            self.caller,
            self.agent_id,
            self.agent_version,
            self.session_id,
            {**self.trace_ids, **meta} if self.trace_ids else meta,
            self.progress,
            self.folders,
            self.ask if can_elicit and not self.modern else None,
            can_elicit and self.modern,  # can_return_questions
            self.modern,  # must_declare
            reply,
            self.headers,
            modes,
            self.elicit if modes and not self.modern else None,
            self.notify_complete,
        )


def extensions_of(app: App) -> JsonObject:
    """The extensions that a server offers, with their settings."""
    skills = {SKILLS: {"directoryRead": True}} if app.library.skills is not None else {}
    return skills | ({TASKS: {}} if app.has_tasks else {})


def supports_forms(capabilities: Any) -> bool:
    """Whether a client shows forms. One that names no mode does; one that names only URLs does not."""
    elicitation = capabilities.get("elicitation") if isinstance(capabilities, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(elicitation, dict):
        return False
    modes = cast(JsonObject, elicitation)
    return modes.get("form") is not None or modes.get("url") is None


def supports_urls(capabilities: Any) -> bool:
    """Whether a client opens addresses for the person."""
    elicitation = capabilities.get("elicitation") if isinstance(capabilities, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return isinstance(elicitation, dict) and cast(JsonObject, elicitation).get("url") is not None


def supports_tasks(capabilities: Any) -> bool:
    """Whether a client follows calls that outlive their request."""
    extensions: Any = cast(JsonObject, capabilities).get("extensions") if isinstance(capabilities, dict) else None
    return isinstance(extensions, dict) and TASKS in extensions


def supports_roots(capabilities: Any) -> bool:
    """Whether a client can list the folders that it works in."""
    return isinstance(capabilities, dict) and cast(JsonObject, capabilities).get("roots") is not None


def local_folders(root_uris: Iterable[str]) -> tuple[str, ...]:
    """The folders of this machine among a client's roots."""
    return tuple(unquote(uri.removeprefix(_FILE_SCHEME)) for uri in root_uris if uri.startswith(f"{_FILE_SCHEME}/"))


def client_identity(client_info: Any) -> tuple[str, str]:
    """The name and version of a client."""
    fields = cast(JsonObject, client_info) if isinstance(client_info, dict) else {}
    return fields.get("name", "unknown"), fields.get("version", "unknown")


def is_accepted(elicit_result: Any) -> bool:
    """Whether the person agreed: to accept is the consent, unless the form holds another value than true."""
    fields = cast(JsonObject, elicit_result) if isinstance(elicit_result, dict) else {}
    content: Any = fields.get("content") or {}
    return fields.get("action") == "accept" and isinstance(content, dict) and content.get(CONFIRM, True) is True  # pyright: ignore[reportUnknownMemberType]
