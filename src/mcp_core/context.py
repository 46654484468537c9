"""`ToolContext`: who calls, through which agent, as part of which trace."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

ListFolders = Callable[[], Awaitable[tuple[str, ...]]]
Elicit = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Asks the person: takes the parameters of `elicitation/create`, and gives its result."""
NotifyComplete = Callable[[str], Awaitable[None]]
"""Tells the client of a session that the person has finished at an address: takes the `elicitationId`."""
ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]


class RequestHeaders(dict[str, str]):
    """Headers of an HTTP request, by their names in lower case. They may be credentials: the repr has only names."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"RequestHeaders({', '.join(self)})"


NO_HEADERS = RequestHeaders()


WaitForPerson = Callable[[Awaitable[Any]], Awaitable[Any]]
"""Waits for something that the person does. The time does not count toward the deadline of the call."""


class UserAnswer(NamedTuple):
    """The answer of a person to a question of a handler."""

    action: str
    """accept, decline or cancel."""
    content: Mapping[str, Any] = MappingProxyType({})
    """What they filled in, by field; empty unless they accepted."""

    @property
    def is_accepted(self) -> bool:
        """Whether they answered."""
        return self.action == "accept"


class ToolContext(NamedTuple):
    """The facts about a call that its handler can know."""

    correlation_id: str
    trace_id: str
    agent_id: str
    agent_version: str
    timestamp: str
    user_id: str | None = None
    session_id: str | None = None
    metadata: Mapping[str, Any] = MappingProxyType({})
    read_only: bool = False
    """Whether the tool declares that it changes nothing; a transaction can enforce that."""
    progress: ReportProgress | None = None
    folders: ListFolders | None = None
    caller_key: str = "local"
    """Identifies the caller also without a name. Keep what belongs to a session by this and `session_id` together."""
    headers: Mapping[str, str] = NO_HEADERS
    """The headers of the HTTP request that the app declared with `request_headers`."""
    is_confirmed: bool = False
    """Whether the person was asked about this call, and agreed."""

    elicit: Elicit | None = None
    """Asks the person, for tools that declare `asks`."""
    wait: WaitForPerson | None = None
    """Waits for what the person does besides, for the same tools."""
    modes: frozenset[str] = frozenset()
    """How the client can ask the person for such a tool: form, url, both, or not at all."""
    notify_complete: NotifyComplete | None = None
    """Tells the client that the person has finished at an address, also after the call; None without sessions."""

    async def ask_user(self, message: str, schema: Mapping[str, Any]) -> UserAnswer:
        """Ask the person to fill in a form, and wait. The time that they take does not count toward the deadline.

        `schema` is a flat JSON Schema of an object: texts, numbers, booleans and choices. The tool must declare
        `asks`. A client that cannot ask ends the call with an error; `modes` says so before.
        """
        if self.elicit is None:
            raise RuntimeError("a tool that asks the user declares it: asks=True")
        given = await self.elicit({"mode": "form", "message": message, "requestedSchema": dict(schema)})
        content: Any = given.get("content")
        return UserAnswer(str(given.get("action")), content if isinstance(content, dict) else {})

    async def ask_to_open(self, message: str, address: str, finished: Callable[[], Awaitable[object]]) -> UserAnswer:
        """Ask the person to open an address in a browser, and wait until `finished` returns, which tells that.

        The tool must declare `asks`, and `modes` must have `url`. What the person types there, no client sees.
        """
        if self.elicit is None or self.wait is None:
            raise RuntimeError("a tool that asks the user declares it: asks=True")
        number = secrets.token_hex(16)
        given = await self.elicit({"mode": "url", "message": message, "url": address, "elicitationId": number})
        answer = UserAnswer(str(given.get("action")))
        if answer.is_accepted:
            await self.wait(finished())
            if self.notify_complete is not None:
                await self.notify_complete(number)
        return answer

    async def client_folders(self) -> tuple[str, ...]:
        """The folders that the client works in; empty if it does not say, or its protocol cannot."""
        return () if self.folders is None else await self.folders()

    async def report_progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress to the client, if it asked for progress."""
        if self.progress is not None:
            await self.progress(done, total, message)

    def to_dict(self) -> dict[str, Any]:
        """The documented field names."""
        return {
            "userId": self.user_id,
            "sessionId": self.session_id,
            "correlationId": self.correlation_id,
            "traceId": self.trace_id,
            "agentId": self.agent_id,
            "agentVersion": self.agent_version,
            "timestamp": self.timestamp,
            "metadata": dict(self.metadata),
        }
