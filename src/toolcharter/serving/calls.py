"""The calls in flight, and the responses to requests that a limit refuses.

To drain a server: set `Calls.draining`, which refuses new calls with a retryable error and closes their connections,
and wait until `Calls.running` is 0. The task of each running call is in uvicorn's `server_state.tasks`.
"""

from collections.abc import Iterator

from mcp_core.calling.shares import CallShares
from mcp_core.hosts.fast_path.asgi import HttpResponse
from mcp_core.hosts.fast_path.jsonrpc import error_message
from mcp_core.hosts.names import INTERNAL_ERROR, INVALID_REQUEST
from mcp_core.hosts.protocol import RpcError
from mcp_core.logs.telemetry import HTTP_CONNECTIONS, HTTP_REFUSALS, HTTP_SERVER, Sample, Telemetry
from mcp_core.text.plurals import count

REASONS = (
    *("head_too_large", "too_many_headers", "head_timeout"),
    *("body_too_large", "body_timeout", "body_too_slow", "send_timeout", "too_much_unread"),
    *("too_many_connections", "too_many_calls", "too_many_pipelined", "draining"),
)
_RETRY_SECONDS = b"1"
_UNAVAILABLE = 503


class HttpCounts:
    """The figures of one site: they are taken before it is known who calls what."""

    def __init__(self) -> None:
        self.telemetry = Telemetry(HTTP_SERVER)
        self.telemetry.add_source(self._samples)
        self.connections = 0
        self.refusals = dict.fromkeys(REASONS, 0)

    def _samples(self) -> Iterator[Sample]:
        yield Sample(HTTP_CONNECTIONS, (), self.connections)
        for reason, number in self.refusals.items():
            yield Sample(HTTP_REFUSALS, (reason,), number)


class Calls:
    """Counts the requests in progress, and says which new ones are refused."""

    def __init__(self, limit: int, counts: HttpCounts) -> None:
        self._limit, self._counts, self._telemetry = limit, counts, counts.telemetry
        self.shares = CallShares(limit, self._telemetry)
        """The calls of each caller, at all apps."""
        self.draining = False
        """Whether new calls are refused."""
        self.closing = False
        """Whether each response closes its connection, because another worker takes over."""

    @property
    def running(self) -> int:
        """How many are in progress."""
        return self._telemetry.in_flight

    def refusal(self) -> HttpResponse:
        """The response to a call that is not accepted."""
        if self.draining:
            return refusal(_UNAVAILABLE, "draining", "The server is stopping. Try again.", self._counts)
        words = f"The limit of {count(self._limit, 'request')} in progress is reached. Try again later."
        return refusal(_UNAVAILABLE, "too_many_calls", words, self._counts)

    def begin(self) -> bool:
        """Count a call that begins. Returns whether it is accepted; otherwise it is not counted."""
        telemetry = self._telemetry
        if self.draining or telemetry.in_flight >= self._limit:
            return False
        telemetry.in_flight += 1
        return True

    def end(self) -> int:
        """Count a call that has ended. Returns how many are still in progress."""
        self._telemetry.in_flight -= 1
        return self._telemetry.in_flight


def refusal(status: int, reason: str, message: str, counts: HttpCounts) -> HttpResponse:
    """The response to a request that a limit refuses, counted. The client may repeat one that is refused with 503."""
    counts.refusals[reason] += 1
    retryable = status == _UNAVAILABLE
    data = {"reason": reason, "retryable": retryable}
    error = RpcError(INTERNAL_ERROR if retryable else INVALID_REQUEST, message, data)
    response = HttpResponse(status, error_message(None, error))
    if not retryable:
        return response  # the client still sends: to close now could take the response from it
    return response.with_header(b"connection", b"close").with_header(b"retry-after", _RETRY_SECONDS)
