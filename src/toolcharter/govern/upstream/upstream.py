"""One governed server: started with the first call, ended when idle, and started again, with pauses, when it fails."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakValueDictionary

from mcp_core.auth.caller import LOCAL
from mcp_core.context import NotifyComplete, ToolContext
from mcp_core.declare.listed import ListedTool
from mcp_core.errors import SignInRequired, ToolError, Unavailable
from mcp_core.hosts.names import METHOD_NOT_FOUND
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.charter import UpstreamTable
from toolcharter.govern.secrets import read_secrets
from toolcharter.govern.upstream.breaker import Breaker
from toolcharter.govern.upstream.completions import Completions
from toolcharter.govern.upstream.errors import NotStreamable, TokenRequired, UpstreamRefused, UpstreamUnavailable
from toolcharter.govern.upstream.http import HttpTransport
from toolcharter.govern.upstream.person import NOBODY, Person
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.session import Listed, ServerIdentity, UpstreamSession
from toolcharter.govern.upstream.stdio import StdioTransport, needed_environment
from toolcharter.govern.upstream.transport import OnProgress, Transport
from toolcharter.govern.upstream.watches import OnUpdated, SessionWatch, Watchers

if TYPE_CHECKING:
    from toolcharter.govern.oauth.signing import Signing

logger = logging.getLogger(__name__)

OnTools = Callable[[Sequence[ListedTool]], None]
_MAX_FAILURES = 3
"""After this number of calls without an answer in a row, the upstream is asked whether it still answers."""
FRESH_SECONDS = 5.0
"""How old a list of prompts or resources may be. A burst of requests must not become a burst of lists."""
LIST_AGAIN_SECONDS = 60.0
"""How old the list of tools may be when a call arrives. It is read again beside the call."""
_LISTEN_PAUSE, _MAX_LISTEN_PAUSE = 1.0, 60.0
_SHARED = ""
"""The key of the connection that all callers share."""


class UpstreamHealth(NamedTuple):
    """How an upstream is."""

    is_ok: bool
    connections: int
    problem: str | None = None
    since: float = 0.0
    """When it became so, in seconds since the epoch."""
    failures: int = 0
    """How often it became unreachable."""


class _SharedSession:
    """A session, and what is known of its use."""

    def __init__(self, session: UpstreamSession, now: float) -> None:
        self.session, self.used_at, self.listed_at = session, now, now
        self.running = 0
        self.failures = 0
        self.is_listing = self.must_list_again = False
        self.listening: asyncio.Task[None] | None = None
        self.lists: dict[Listed, tuple[float, list[JsonObject]]] = {}
        """Prompts and resources, each with the time at which they were listed."""
        self.watch: SessionWatch | None = None


class _Use:
    """Keeps a connection from being closed as idle, and counts whether it answers. Raises Unavailable.

    A class: an asynchronous context manager made of a function would take 1.3 µs more of each call.
    """

    __slots__ = ("_connection", "_key", "_upstream")

    def __init__(self, upstream: "Upstream", key: str, connection: _SharedSession) -> None:
        self._upstream, self._key, self._connection = upstream, key, connection

    def __enter__(self) -> None:
        self._connection.running += 1

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        connection = self._connection
        connection.running -= 1
        connection.used_at = time.monotonic()
        if error is None:
            self._upstream.count_success(self._key, connection)
        elif isinstance(error, UpstreamUnavailable):
            raise self._upstream.count_failure(self._key, connection, error) from None
        elif isinstance(error, asyncio.CancelledError):
            self._upstream.count_failure(self._key, connection)


class Upstream:
    """Opens connections as they are needed."""

    def __init__(
        self,
        name: str,
        table: UpstreamTable,
        groups: ProcessGroups,
        folder: Path,
        on_tools: OnTools | None = None,
        *,
        on_connected: Callable[[], None] = lambda: None,
        on_changed: Callable[[str], None] = lambda _: None,
        signing: "Signing | None" = None,
    ) -> None:
        """`folder` is that of the charter. `on_tools` is called with each list of tools before a call goes on.

        `signing` gives each caller the credentials of their own; without it, all share the secrets of the charter.
        """
        self._on_connected, self._on_changed, self._signing = on_connected, on_changed, signing
        self.name, self._table, self._groups, self._folder, self._on_tools = name, table, groups, folder, on_tools
        self._is_sse = table.transport == "sse"
        self._connections: dict[str, _SharedSession] = {}
        # A lock is needed only while somebody connects; callers come and go.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
        self._breakers: dict[str, Breaker] = {}
        """Of the connections that failed since they last answered, by the same keys."""
        self._watchers = Watchers()
        self._completions = Completions()
        self._restoring: dict[str, asyncio.Task[None]] = {}
        """Subscribes again to what is watched after a connection has ended, by the same keys."""
        self._health = UpstreamHealth(is_ok=True, connections=0, since=time.time())
        self.last_lines: Sequence[str] = ()
        """The last lines that a process wrote to stderr which could not be connected to. No agent sees it."""
        self.server = ServerIdentity("", "", {})
        self.capabilities: frozenset[str] | None = None
        """Its offers, such as prompts; None if that is not known yet."""

    async def list_tools(self) -> list[ListedTool]:
        """The tools that the upstream shows now. Raises Unavailable."""
        try:
            connection = await self._connected(self._key(LOCAL) if self._signing is not None else _SHARED)
            return await connection.session.list_tools()
        except (UpstreamUnavailable, ValueError) as error:
            raise self._unavailable(error) from None

    async def connect(self, caller: str) -> _SharedSession:
        """The connection for a caller, opened if there is none. Raises Unavailable."""
        try:
            return await self._connected(self._key(caller))
        except (UpstreamUnavailable, ValueError) as error:
            raise self._unavailable(error) from None

    def take_token(self, context: ToolContext) -> object:
        """Take the token of a caller, if the charter names this upstream for it. Keep the result until the answer."""
        return None if self._signing is None else self._signing.take(context.caller_key, context.headers)

    def _key(self, caller: str) -> str:
        """Callers with the same key share a connection. One is signed with the credentials of one owner only."""
        if self._signing is None:
            return caller if self._table.per == "caller" else _SHARED
        owner = self._signing.owner(caller)
        return caller if self._table.per == "caller" else owner

    async def call_tool(
        self,
        caller: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        meta: Mapping[str, Any],
        on_progress: OnProgress | None = None,
        person: Person = NOBODY,
    ) -> JsonObject:
        """The result of a call. Raises Unavailable, or UpstreamRefused for a protocol error."""
        connection = await self.connect(caller)
        with _Use(self, self._key(caller), connection):
            return await connection.session.call_tool(
                tool, arguments, seconds=seconds, meta=meta, on_progress=on_progress, person=person
            )

    async def list_items(self, caller: str, listed: Listed) -> list[JsonObject]:
        """Its prompts, resources or templates, as a caller sees them. Raises Unavailable."""
        if self.capabilities is not None and listed.capability not in self.capabilities:
            return []
        connection = await self.connect(caller)
        now = time.monotonic()
        known = connection.lists.get(listed)
        if known is not None and now - known[0] < FRESH_SECONDS:
            return known[1]
        with _Use(self, self._key(caller), connection):
            items = await connection.session.list_items(listed)
        connection.lists[listed] = (now, items)
        return items

    async def request(
        self,
        caller: str,
        method: str,
        params: JsonObject,
        *,
        seconds: float,
        meta: Mapping[str, Any],
        person: Person | None = None,
    ) -> JsonObject:
        """The result of a request that is not a call. Raises Unavailable, or UpstreamRefused for a protocol error."""
        connection = await self.connect(caller)
        with _Use(self, self._key(caller), connection):
            return await connection.session.request(method, params, seconds=seconds, meta=meta, person=person)

    async def watch(self, caller: str, uri: str, on_updated: OnUpdated) -> Callable[[], None]:
        """Call a function when a resource changes, until the function that is returned is called.

        Raises Unavailable, or UpstreamRefused.
        """
        connection, key = await self.connect(caller), self._key(caller)
        if connection.watch is None:
            raise UpstreamRefused(METHOD_NOT_FOUND, "it does not tell when resources change")
        self._watchers.add(key, uri, on_updated)
        try:
            with _Use(self, key, connection):
                await connection.watch.add(uri)
        except BaseException:
            self._watchers.remove(key, uri, on_updated)
            raise
        return partial(self._unwatch, key, uri, on_updated)

    def expect_completion(self, caller: str, number: str, notify: NotifyComplete) -> None:
        """Notify the client of a caller when the person has finished at the address with this id."""
        self._completions.add(self._key(caller), number, notify)

    def _complete(self, key: str, number: str) -> None:
        for notify in self._completions.take(key, number):
            self._start(notify(number))

    def _unwatch(self, key: str, uri: str, on_updated: OnUpdated) -> None:
        if self._watchers.remove(key, uri, on_updated) and (connection := self._connections.get(key)):
            self._start(self._stop_watching(key, connection, uri))

    async def _stop_watching(self, key: str, connection: _SharedSession, uri: str) -> None:
        if connection.watch is not None and uri not in self._watchers.uris(key):
            with suppress(UpstreamRefused, UpstreamUnavailable, ToolError):
                await connection.watch.remove(uri)

    def _restore_watches(self, key: str) -> None:
        if self._watchers.uris(key) and key not in self._restoring:
            task = self._restoring[key] = asyncio.ensure_future(self._watch_again(key))
            task.add_done_callback(lambda _: self._restoring.pop(key, None))

    async def _watch_again(self, key: str) -> None:
        """Subscribe to everything once more. Changes in between are not known, so everything counts as changed."""
        pause = _LISTEN_PAUSE
        while uris := self._watchers.uris(key):
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_LISTEN_PAUSE)
            with suppress(UpstreamRefused, UpstreamUnavailable, ToolError, ValueError):
                connection = await self._connected(key)
                for uri in uris if connection.watch is not None else ():
                    await cast(SessionWatch, connection.watch).add(uri)
                for uri in uris:
                    self._watchers.notify(key, uri)
                return

    async def close_idle(self) -> None:
        """Close the connections that nobody has used for a while."""
        now = time.monotonic()
        for key, connection in list(self._connections.items()):
            is_idle = not connection.running and now - connection.used_at > self._table.idle_seconds
            if is_idle and not self._watchers.uris(key):
                await self._give_up(key, connection)

    async def close(self) -> None:
        """Close all connections."""
        self._watchers.clear()
        for task in list(self._restoring.values()):
            task.cancel()
        for key, connection in list(self._connections.items()):
            await self._give_up(key, connection)
        for task in list(self._tasks):
            await task

    def health(self) -> UpstreamHealth:
        """How the upstream is. One that has not been needed yet is fine."""
        return self._health._replace(connections=len(self._connections))

    def _update_health(self) -> None:
        problem = next((one.problem for one in self._breakers.values() if one.problem is not None), None)
        known = self._health
        if known.is_ok == (problem is None):
            self._health = known._replace(problem=problem)
        else:
            failures = known.failures + known.is_ok
            self._health = UpstreamHealth(problem is None, 0, problem, time.time(), failures)

    def _fail(self, key: str, problem: str, *, tolerated: int = 0) -> None:
        self._breakers.setdefault(key, Breaker()).fail(problem, tolerated=tolerated)
        self._update_health()

    async def _connected(self, key: str) -> _SharedSession:
        known = self._connections.get(key)
        now = time.monotonic()
        if known is not None and not known.session.is_open:
            # It ended while nobody called it.
            await self._give_up(key, known)
            known = self._connections.get(key)
        if known is not None:
            if now - known.listed_at > LIST_AGAIN_SECONDS:
                known.listed_at = now
                self._start(self._list_again(known))
            return known
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            known = self._connections.get(key)
            if known is not None:
                return known
            if breaker := self._breakers.get(key):
                breaker.check()
            return await self._connect(key)

    async def _connect(self, key: str) -> _SharedSession:
        session = None
        try:
            session = UpstreamSession(self._transport(key), handshake=self._table.handshake or self._is_sse)
            try:
                await session.open()
            except NotStreamable as error:
                await session.close()
                session = await self._open_older(key, error)
            if self._on_tools is not None:
                self._on_tools(await session.list_tools())
        except TokenRequired:
            await cast(UpstreamSession, session).close()
            raise
        except (UpstreamUnavailable, ValueError) as error:
            if session is not None:
                await session.close()
                self.last_lines = session.last_lines
            self._fail(key, str(error))
            raise
        except BaseException:
            if session is not None:
                await session.close()
            raise
        if breaker := self._breakers.get(key):
            # Its failures count until a call is answered: it may start well, and end with each call.
            breaker.problem = None
            self._update_health()
        self.server, self.capabilities = session.server, frozenset(session.server.capabilities)
        self._on_connected()
        connection = self._connections[key] = _SharedSession(session, time.monotonic())
        session.on_list_changed = partial(self._list_changed, connection)
        session.on_updated = partial(self._watchers.notify, key)
        session.on_complete = partial(self._complete, key)
        if session.announces_updates:
            connection.watch = SessionWatch(session, partial(self._restore_watches, key))
        connection.listening = asyncio.ensure_future(self._listen(connection))
        return connection

    async def _listen(self, connection: _SharedSession) -> None:
        """Receive changes as long as the connection is open. What was missed between two streams is listed again."""
        pause = _LISTEN_PAUSE
        while connection.session.is_open:
            started = time.monotonic()
            has_listened = True
            try:
                await connection.session.listen()
            except ToolError:
                has_listened = False  # the caller must sign in again: their next call says so
            lasted = time.monotonic() - started
            if has_listened and lasted < _LISTEN_PAUSE:
                return  # it has nothing to say
            pause = _LISTEN_PAUSE if lasted > _MAX_LISTEN_PAUSE else pause
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_LISTEN_PAUSE)
            for capability in ("tools", "prompts", "resources") if has_listened else ():
                self._list_changed(connection, capability)

    def _list_changed(self, connection: _SharedSession, capability: str) -> None:
        if capability == "tools":
            self._start(self._list_again(connection))
        for listed in [listed for listed in connection.lists if listed.capability == capability]:
            del connection.lists[listed]
        if capability != "tools":
            self._on_changed(capability)

    async def _list_again(self, connection: _SharedSession) -> None:
        """Read the list of tools once more. Changes that are announced meanwhile are read together, after that."""
        connection.must_list_again = True
        if self._on_tools is None or connection.is_listing:
            return
        connection.is_listing = True
        try:
            while connection.must_list_again:
                connection.must_list_again = False
                self._on_tools(await connection.session.list_tools())
        except (UpstreamUnavailable, ValueError) as error:
            logger.warning("%s: the list of tools could not be read again: it %s", self.name, error)
        except ToolError:
            pass  # a caller must sign in again: their next call says so
        finally:
            connection.is_listing = False

    def count_success(self, key: str, connection: _SharedSession) -> None:
        """A call was answered."""
        connection.failures = 0
        if self._breakers.pop(key, None) is not None:
            self._update_health()

    def count_failure(self, key: str, connection: _SharedSession, error: Exception | None = None) -> ToolError:
        """The error for a caller who got no answer.

        One call that fails costs the others nothing, unless the connection is gone, or nothing is answered.
        """
        problem = error or UpstreamUnavailable("ended.")
        connection.failures += 1
        if not connection.session.is_open:
            self._start(self._give_up(key, connection, str(problem)))
        elif connection.failures == _MAX_FAILURES:
            self._start(self._give_up_unless_it_answers(key, connection))
        return self._unavailable(problem)

    async def _give_up_unless_it_answers(self, key: str, connection: _SharedSession) -> None:
        """Callers may have cancelled their calls, while others wait for theirs."""
        try:
            answers = await connection.session.answers()
        except ToolError:
            answers = True  # and says that the caller must sign in again
        if answers:
            connection.failures = 0
        else:
            await self._give_up(key, connection, "did not answer any more.")

    async def _give_up(self, key: str, connection: _SharedSession, problem: str | None = None) -> None:
        """Close a connection. The next call opens another: after a pause, if this is the second to fail in a row."""
        if self._connections.get(key) is connection:
            del self._connections[key]
            if problem is not None:
                self._fail(key, problem, tolerated=1)
        if connection.watch is not None:
            connection.watch.close()
        self._restore_watches(key)
        if connection.listening is not None:
            connection.listening.cancel()
        await connection.session.close()

    async def _open_older(self, key: str, error: NotStreamable) -> UpstreamSession:
        """A session over the older transport, at an address that has no other. It is kept in mind."""
        session, self._is_sse = UpstreamSession(self._transport(key, is_sse=True), handshake=True), True
        try:
            await session.open()
        except UpstreamUnavailable:
            self._is_sse = False
            await session.close()
            raise error from None
        return session

    def _transport(self, key: str, *, is_sse: bool = False) -> Transport:
        table = self._table
        secrets = read_secrets(table.secrets, self._folder)
        if table.command is not None:
            folder = self._folder / table.folder if table.folder else None
            environment = {**needed_environment(), **table.env, **secrets}
            return StdioTransport(self.name, table.command, environment, self._groups, folder)
        credentials = None if self._signing is None else self._signing.credentials(self._signing.owner(key))
        if is_sse or self._is_sse:
            from toolcharter.govern.upstream.sse import SseTransport  # noqa: PLC0415 - few servers need it

            return SseTransport(str(table.url), secrets, credentials)
        return HttpTransport(str(table.url), secrets, credentials)

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _unavailable(self, error: Exception) -> ToolError:
        if isinstance(error, TokenRequired) and not self._table.secrets:
            return SignInRequired(
                f"The server {self.name!r} requires a token. If people sign in to it, sign in with the command "
                f"`toolcharter govern login {self.name}`. If you have a token, name it in the charter: "
                'secrets = { Authorization = "env:NAME" }, with "Bearer TOKEN" in the variable.'
            )
        return Unavailable(f"The server {self.name!r} {error}")
