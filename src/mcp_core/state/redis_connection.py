"""One connection to Redis for all calls of a process, and the breaker that opens when Redis does not answer.

Commands that are sent at the same time share one write, and their replies come in order, so a burst of calls needs
no pool of connections. At most `MAX_IN_FLIGHT` commands are with Redis; further ones wait for their turn.

The breaker opens when no reply has come for the timeout, when Redis refuses a command, or when it cannot be
connected to. Then all commands that wait fail, and each further one fails at once, until a new connection works.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, cast

from redis.asyncio.connection import ConnectionPool
from redis.exceptions import NoScriptError, RedisError, ResponseError

from mcp_core.mcp_log import get_logger
from mcp_core.process.start_errors import InvalidSetting
from mcp_core.state.interface import DependencyHealth, StateUnavailable
from mcp_core.text.plurals import count

logger = get_logger(__name__)

MAX_IN_FLIGHT = 256
CONNECT_SECONDS = 2.0
RETRY_SECONDS = 0.25
"""How long to wait between two attempts to connect."""
REMIND_SECONDS = 60.0
"""How often the log repeats that Redis is away."""

Connection = Any
"""An AbstractConnection of the Redis client, which has only a part of the types."""
Command = tuple[Any, ...]
Prepare = Callable[[Connection], Awaitable[None]]


class RedisConnection:
    """Sends commands to Redis, or says at once that it is away."""

    def __init__(self, url: str, *, timeout: float, prepare: Prepare) -> None:
        """`prepare` is called with each new connection, before any command is sent."""
        self._timeout, self._prepare = timeout, prepare
        try:
            self._pool = cast(Any, ConnectionPool).from_url(
                url, decode_responses=True, protocol=2, socket_timeout=None, socket_connect_timeout=CONNECT_SECONDS
            )
        except ValueError:
            raise InvalidSetting("--redis is not a Redis URL; write redis://host:6379/0.") from None
        self._waiting: deque[tuple[Command, asyncio.Future[Any]]] = deque()
        self._sent: deque[asyncio.Future[Any]] = deque()
        self._wake = asyncio.Event()
        self._last_reply = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = 0.0
        self._task: asyncio.Task[None] | None = None
        self._tried = asyncio.Event()
        """Set after the first attempt to connect."""
        self._interrupt: asyncio.Future[None] | None = None
        """Ends the connection that is open."""
        self._failure: Exception | None = None
        self._failures = 0
        self._since = time.time()
        self._reminded = 0.0
        self._reported: set[str] = set()

    # --- commands --------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Connect. Returns after the first attempt, whatever its result."""
        self._start()
        await self._tried.wait()

    async def execute(self, purpose: str, *command: Any) -> Any:
        """The reply to a command. Raises StateUnavailable."""
        reply = self._enqueue(purpose, command)
        try:
            return await reply
        except NoScriptError:
            raise
        except (RedisError, OSError) as error:
            raise self._unavailable(purpose) from error

    def send(self, purpose: str, *command: Any) -> None:
        """Send a command without waiting for its reply. Raises StateUnavailable where Redis is known to be away."""
        self._enqueue(purpose, command).add_done_callback(_retrieve)

    def _enqueue(self, purpose: str, command: Command) -> "asyncio.Future[Any]":
        if self._failure is not None:
            raise self._unavailable(purpose) from self._failure
        self._start()
        loop = asyncio.get_running_loop()
        if not self._sent and not self._waiting:
            self._last_reply = loop.time()
        reply: asyncio.Future[Any] = loop.create_future()
        # A text that cannot be encoded, such as the name of a caller, must not end the connection of all.
        encoded = tuple(part.encode("utf-8", "surrogatepass") if type(part) is str else part for part in command)
        self._waiting.append((encoded, reply))
        self._wake.set()
        if self._timer is None:
            self._set_timer(self._timeout)
        return reply

    def _unavailable(self, purpose: str) -> StateUnavailable:
        error = StateUnavailable(purpose)
        error.is_known = purpose in self._reported
        self._reported.add(purpose)
        return error

    @property
    def is_congested(self) -> bool:
        """Whether commands wait for their turn, because Redis is slower than its callers."""
        return len(self._waiting) > MAX_IN_FLIGHT

    # --- the breaker -----------------------------------------------------------------------------------

    def health(self) -> DependencyHealth:
        """Whether the breaker is closed, and since when it is as it is."""
        detail = "" if self._failure is None else str(self._failure)
        return DependencyHealth("redis", self._failure is None, self._since, detail, self._failures)

    def _close_breaker(self) -> None:
        if self._failure is not None:
            logger.warning("Redis can be used again, after %.1f seconds", time.time() - self._since)
            self._since, self._failure = time.time(), None
        self._reported.clear()
        self._tried.set()

    def _open_breaker(self, failure: Exception) -> None:
        now = time.monotonic()
        if self._failure is None:
            self._since, self._failure = time.time(), failure
            self._failures += 1
            self._reminded = now
            logger.error("Redis cannot be used: %s", failure)
        elif now - self._reminded >= REMIND_SECONDS:
            self._reminded = now
            logger.error("Redis has not been usable for %.0f seconds: %s", time.time() - self._since, failure)
        self._fail(self._sent, failure)
        self._fail((reply for _, reply in self._waiting), failure)
        self._waiting.clear()
        self._tried.set()

    def _fail(self, replies: "Iterable[asyncio.Future[Any]]", failure: Exception) -> None:
        for reply in replies:
            if not reply.done():
                reply.set_exception(failure)

    def _set_timer(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._timer_due = loop.time() + seconds
        self._timer = loop.call_at(self._timer_due, self._check_progress)

    def _check_progress(self) -> None:
        """Open the breaker if commands wait and no reply has come for the timeout. One timer serves all commands."""
        self._timer = None
        if not self._sent and not self._waiting:
            return
        now = asyncio.get_running_loop().time()
        left = self._last_reply + self._timeout - now
        if now - self._timer_due > self._timeout / 2:
            left = self._timeout  # this process was held up, and could not have seen a reply
        if left > 0:
            self._set_timer(left)
            return
        self._open_breaker(TimeoutError(f"no reply for {count(self._timeout, 'second')}"))
        if self._interrupt is not None and not self._interrupt.done():
            self._interrupt.set_result(None)

    # --- the connection --------------------------------------------------------------------------------

    def make_connection(self) -> Connection:
        """A further connection, for a command that blocks."""
        return self._pool.make_connection()

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        """Keep a connection open, and connect again when it is lost."""
        while True:
            connection = self.make_connection()
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await connection.connect()
                    await self._prepare(connection)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next attempt may work
                no_text = ConnectionError(f"no connection in {count(CONNECT_SECONDS, 'second')}")
                self._open_breaker(error if str(error) else no_text)
                await _disconnect(connection)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            except BaseException:
                await _disconnect(connection)
                raise
            self._close_breaker()
            opened = time.monotonic()
            await self._serve(connection)
            if time.monotonic() - opened < RETRY_SECONDS:
                await asyncio.sleep(RETRY_SECONDS)

    async def _serve(self, connection: Connection) -> None:
        """Exchange commands and replies until the connection is lost."""
        self._interrupt = asyncio.get_running_loop().create_future()
        self._wake.set()
        tasks = [asyncio.ensure_future(self._write(connection)), asyncio.ensure_future(self._read(connection))]
        try:
            await asyncio.wait({*tasks, self._interrupt}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            failure = ConnectionError("the connection was lost")
            self._fail(self._sent, failure)
            self._sent.clear()
            await _disconnect(connection)

    async def _write(self, connection: Connection) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            commands: list[Command] = []
            while self._waiting and len(self._sent) < MAX_IN_FLIGHT:
                command, reply = self._waiting.popleft()
                if not reply.done():  # its call may have been cancelled
                    commands.append(command)
                    self._sent.append(reply)
            if commands:
                await connection.send_packed_command(connection.pack_commands(commands), check_health=False)

    async def _read(self, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                value, failure = await connection.read_response(timeout=math.inf), None
            except ResponseError as error:
                value, failure = None, error
            self._last_reply = loop.time()
            reply = self._sent.popleft()
            if failure is not None:
                self._fail([reply], failure)
                if not isinstance(failure, NoScriptError):
                    self._open_breaker(failure)
                    return
            elif not reply.done():
                reply.set_result(value)
            if self._waiting:
                self._wake.set()

    async def close(self) -> None:
        """Close the connection."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._fail((reply for _, reply in self._waiting), ConnectionError("closed"))


def _retrieve(reply: "asyncio.Future[Any]") -> None:
    """A failure that nobody waits for is in the log already."""
    if not reply.cancelled():
        reply.exception()


async def _disconnect(connection: Connection) -> None:
    with suppress(RedisError, OSError):
        await connection.disconnect(nowait=True)
