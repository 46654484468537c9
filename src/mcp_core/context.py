"""`ToolContext`: who calls, through which agent, as part of which trace."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, TypeVar

ListFolders = Callable[[], Awaitable[tuple[str, ...]]]
ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]

T = TypeVar("T")


class NeedMarker:
    """Marks a handler parameter that the app provides and no agent sees."""


Need = Annotated[T, NeedMarker()]
"""`notes: Need[Notes]` in a handler's signature: the `Notes` that the app provides."""


class RequestHeaders(dict[str, str]):
    """Headers of an HTTP request, by their names in lower case. They may be credentials: the repr has only names."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"RequestHeaders({', '.join(self)})"


NO_HEADERS = RequestHeaders()


class ToolContext(NamedTuple):
    """What a handler can know about the call."""

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
    is_confirmed: bool = False
    """Whether the person was asked about this call, and agreed."""
    headers: Mapping[str, str] = NO_HEADERS
    """The headers of the HTTP request that the app declared with `request_headers`."""

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
