"""What sessions ask of a transport."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol, cast

from mcp_core.json_text import JsonObject

MAX_MESSAGE = 32_000_000
"""The largest message of an upstream, in bytes. A longer one ends the request, or the process that sent it."""

OnNotification = Callable[[str, JsonObject], None]
"""Takes the method and the parameters of a notification that belongs to no request."""
OnProgress = Callable[[JsonObject], Awaitable[None]]


class Outgoing(NamedTuple):
    """A request to an upstream."""

    method: str
    params: JsonObject
    headers: Mapping[str, str] = {}
    """Headers that HTTP needs besides; other transports ignore them."""
    on_progress: OnProgress | None = None
    seconds: float = 60.0
    """How long the answer may take."""


class Transport(Protocol):
    """Carries messages to one upstream and back."""

    on_notification: OnNotification

    async def open(self) -> None:
        """Start the process, or prepare the connections. Raises UpstreamUnavailable."""
        ...

    async def request(self, outgoing: Outgoing) -> JsonObject:
        """Send a request and wait for its result. Raises UpstreamUnavailable or UpstreamRefused.

        If the waiting task is cancelled, the upstream is told so.
        """
        ...

    async def notify(self, method: str, params: JsonObject, headers: Mapping[str, str]) -> None:
        """Send a notification."""
        ...

    async def close(self) -> None:
        """End the process or the connections, and everything that waits for them."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        ...


def ignore_notification(_method: str, _params: JsonObject) -> None:
    """What is done with notifications before anybody wants them."""


def as_object(value: Any) -> JsonObject:
    """A value that should be an object, but comes from somebody else; empty if it is something else."""
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def progress_token(params: JsonObject) -> Any:
    """The token under which the progress of a request is reported."""
    return as_object(params.get("_meta")).get("progressToken")
