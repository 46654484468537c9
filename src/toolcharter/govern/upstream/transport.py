"""The interface of a transport for sessions."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast

from pydantic_core import from_json

from mcp_core.hosts.names import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.upstream.errors import UpstreamRefused, UpstreamUnavailable

logger = logging.getLogger(__name__)

MAX_MESSAGE = 32_000_000
"""The largest message of an upstream, in bytes. A longer one ends the request, or the process that sent it."""

OnNotification = Callable[[str, JsonObject], None]
"""Takes the method and the parameters of a notification that belongs to no request."""
OnProgress = Callable[[JsonObject], Awaitable[None]]


OnRequest = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Answers a request that an upstream makes during a call. Raises UpstreamRefused for an error."""


Reply = Callable[[JsonObject], Awaitable[None]]
"""Sends a response to the upstream."""


class Outgoing(NamedTuple):
    """A request to an upstream."""

    method: str
    params: JsonObject
    headers: Mapping[str, str] = {}
    """Headers that HTTP needs besides; other transports ignore them."""
    on_progress: OnProgress | None = None
    seconds: float = 60.0
    """How long the answer may take. While the upstream waits for an answer of ours, the time stands still."""
    on_request: OnRequest | None = None
    owner: str = ""
    """On whose behalf it is sent: only they may be asked what the upstream asks meanwhile."""


class Transport(Protocol):
    """Carries messages to one upstream and back."""

    on_notification: OnNotification

    async def open(self) -> None:
        """Start the process, or prepare the connections. Raises UpstreamUnavailable."""
        ...

    async def request(self, outgoing: Outgoing) -> JsonObject:
        """Send a request and wait for its result. Raises UpstreamUnavailable or UpstreamRefused.

        If the waiting task is cancelled, a cancellation is sent to the upstream.
        """
        ...

    async def notify(self, method: str, params: JsonObject, headers: Mapping[str, str]) -> None:
        """Send a notification."""
        ...

    async def listen(self, headers: Mapping[str, str]) -> None:
        """Receive what an upstream of the older protocol sends outside of requests, until it ends that."""
        ...

    @property
    def last_lines(self) -> Sequence[str]:
        """The last lines of a process on stderr. For a person, never for an agent: nobody has examined them."""
        ...

    async def close(self) -> None:
        """End the process or the connections, and everything that waits for them."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        ...


class PendingRequest:
    """A request that waits for its answer, and the requests of the upstream that it answers meanwhile."""

    def __init__(self, outgoing: Outgoing, limit: asyncio.Timeout) -> None:
        self.outgoing, self._limit = outgoing, limit
        self._tasks: set[asyncio.Future[None]] = set()

    def answer(self, message: JsonObject, reply: Reply) -> None:
        """Answer a request of the upstream, without making it wait for others."""
        if not self._tasks:
            self._limit.reschedule(None)
        task = asyncio.ensure_future(reply_to(message, self.outgoing.on_request, reply))
        self._tasks.add(task)
        task.add_done_callback(self._answered)

    def _answered(self, task: "asyncio.Future[None]") -> None:
        self._tasks.discard(task)
        if not self._tasks and not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time() + self.outgoing.seconds)

    def end(self) -> None:
        """Nobody waits for the answers any more."""
        for task in tuple(self._tasks):
            task.remove_done_callback(self._answered)
            task.cancel()


async def answer_unrelated(message: JsonObject, exchanges: Iterable[PendingRequest], reply: Reply, name: str) -> None:
    """Answer a request that names no call: the caller must be clear."""
    open_calls = [each for each in exchanges if each.outgoing.on_request is not None]
    if message.get("method") == "ping" or not open_calls:
        await reply_to(message, None, reply)
    elif len({each.outgoing.owner for each in open_calls}) == 1:
        open_calls[-1].answer(message, reply)
    else:
        logger.warning(
            '%s asks a question while several callers use it. Set per = "caller" for it in the charter.', name
        )
        await reply_to(message, _refuse_ambiguous, reply)


async def _refuse_ambiguous(_method: str, _params: JsonObject) -> JsonObject:
    raise UpstreamRefused(INVALID_REQUEST, "Several users use this server at once; it is not clear whom to ask.")


async def reply_to(message: JsonObject, handle: OnRequest | None, reply: Reply) -> None:
    """Answer a request of an upstream."""
    method = str(message.get("method"))
    content: JsonObject
    try:
        if method == "ping":
            content = {"result": {}}
        elif handle is None:
            raise UpstreamRefused(METHOD_NOT_FOUND, "Method not found", method)
        else:
            content = {"result": await handle(method, as_object(message.get("params")))}
    except UpstreamRefused as error:
        data = {} if error.data is None else {"data": error.data}
        content = {"error": {"code": error.code, "message": error.message, **data}}
    with contextlib.suppress(UpstreamUnavailable):
        await reply({"jsonrpc": "2.0", "id": message.get("id"), **content})


def ignore_notification(_method: str, _params: JsonObject) -> None:
    """Ignore a notification that nobody wants yet."""


def read_message(data: bytes | str) -> Any:
    """A message of an upstream. Raises ValueError if it is not JSON.

    An answer with NaN or an infinite number, which JSON does not have, is read as an error of the upstream.
    """
    try:
        return from_json(data, allow_inf_nan=False)
    except ValueError:
        message: Any = from_json(data)
        fields = as_object(message) if isinstance(message, dict) else {}
        if "id" not in fields or "method" in fields:
            raise
        error = {"code": INTERNAL_ERROR, "message": "its answer has NaN or an infinite number, which is not JSON"}
        return {"jsonrpc": "2.0", "id": fields["id"], "error": error}


def as_object(value: Any) -> JsonObject:
    """A value that should be an object, but comes from somebody else; empty if it is something else."""
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def progress_token(params: JsonObject) -> Any:
    """The token under which the progress of a request is reported."""
    return as_object(params.get("_meta")).get("progressToken")
