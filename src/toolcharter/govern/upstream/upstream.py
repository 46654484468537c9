"""One governed server: started with the first call, ended when idle, and started again, with pauses, when it fails."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from mcp_core.declare.listed import ListedTool
from mcp_core.errors import Unavailable
from mcp_core.json_text import JsonObject
from mcp_core.plurals import count
from toolcharter.govern.charter import UpstreamTable
from toolcharter.govern.secrets import read_secrets
from toolcharter.govern.upstream.errors import UpstreamUnavailable
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.session import ServerIdentity, UpstreamSession
from toolcharter.govern.upstream.stdio import StdioTransport, needed_environment
from toolcharter.govern.upstream.transport import OnProgress, Transport

OnTools = Callable[[Sequence[ListedTool]], None]
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_MAX_FAILURES = 3
"""After this number of calls without an answer in a row, the upstream is asked whether it still answers."""
LIST_AGAIN_SECONDS = 60.0
"""How old the list of tools may be when a call arrives. It is read again beside the call."""
_SHARED = ""
"""The key of the connection that all callers share."""


class UpstreamHealth(NamedTuple):
    """How an upstream is."""

    is_ok: bool
    connections: int
    problem: str | None = None


class _Connection:
    """A session, and what is known of its use."""

    def __init__(self, session: UpstreamSession, now: float) -> None:
        self.session, self.used_at, self.listed_at = session, now, now
        self.running = 0
        self.failures = 0
        self.is_listing = self.must_list_again = False


class Upstream:
    """Opens connections as they are needed."""

    def __init__(
        self, name: str, table: UpstreamTable, groups: ProcessGroups, folder: Path, on_tools: OnTools | None = None
    ) -> None:
        """`folder` is that of the charter. `on_tools` is called with each list of tools before a call goes on."""
        self.name, self._table, self._groups, self._folder, self._on_tools = name, table, groups, folder, on_tools
        self._connections: dict[str, _Connection] = {}
        # A lock is needed only while somebody connects; callers come and go.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures, self._retry_at = 0, 0.0
        self._problem: str | None = None
        self.server = ServerIdentity("", "", {})

    async def list_tools(self) -> list[ListedTool]:
        """What the upstream shows now. Raises Unavailable."""
        try:
            connection = await self._connected(_SHARED)
            return await connection.session.list_tools()
        except (UpstreamUnavailable, ValueError) as error:
            raise self._unavailable(error) from None

    async def connect(self, caller: str) -> _Connection:
        """The connection for a caller, opened if there is none. Raises Unavailable."""
        try:
            return await self._connected(self._key(caller))
        except (UpstreamUnavailable, ValueError) as error:
            raise self._unavailable(error) from None

    def _key(self, caller: str) -> str:
        return caller if self._table.per == "caller" else _SHARED

    async def call_tool(
        self,
        caller: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        meta: Mapping[str, Any],
        on_progress: OnProgress | None = None,
    ) -> JsonObject:
        """The result of a call. Raises Unavailable, or UpstreamRefused for a protocol error."""
        key, connection = self._key(caller), await self.connect(caller)
        connection.running += 1
        try:
            result = await connection.session.call_tool(
                tool, arguments, seconds=seconds, meta=meta, on_progress=on_progress
            )
        except UpstreamUnavailable as error:
            self._count_failure(key, connection)
            raise self._unavailable(error) from None
        except asyncio.CancelledError:
            self._count_failure(key, connection)
            raise
        else:
            connection.failures = 0
            return result
        finally:
            connection.running -= 1
            connection.used_at = time.monotonic()

    async def close_idle(self) -> None:
        """Close the connections that nobody has used for a while."""
        now = time.monotonic()
        for key, connection in list(self._connections.items()):
            if not connection.running and now - connection.used_at > self._table.idle_seconds:
                await self._give_up(key, connection)

    async def close(self) -> None:
        """Close all connections."""
        for key, connection in list(self._connections.items()):
            await self._give_up(key, connection)
        for task in list(self._tasks):
            await task

    def health(self) -> UpstreamHealth:
        """How the upstream is. One that has not been needed yet is fine."""
        return UpstreamHealth(self._problem is None, len(self._connections), self._problem)

    async def _connected(self, key: str) -> _Connection:
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
            if now < self._retry_at:
                pause = count(max(1, round(self._retry_at - now)), "second")
                raise UpstreamUnavailable(f"{self._problem} It is tried again in {pause}.")
            return await self._connect(key)

    async def _connect(self, key: str) -> _Connection:
        session = None
        try:
            session = UpstreamSession(self._transport(), handshake=self._table.handshake)
            await session.open()
            if self._on_tools is not None:
                self._on_tools(await session.list_tools())
        except (UpstreamUnavailable, ValueError) as error:
            if session is not None:
                await session.close()
            self._failures += 1
            self._problem = str(error)
            pause = min(_FIRST_PAUSE * 2 ** (self._failures - 1), _LONGEST_PAUSE)
            self._retry_at = time.monotonic() + pause
            raise
        except BaseException:
            if session is not None:
                await session.close()
            raise
        self._failures, self._problem = 0, None
        self.server = session.server
        connection = self._connections[key] = _Connection(session, time.monotonic())
        session.on_tools_changed = lambda: self._start(self._list_again(connection))
        return connection

    async def _list_again(self, connection: _Connection) -> None:
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
            self._problem = str(error)
        finally:
            connection.is_listing = False

    def _count_failure(self, key: str, connection: _Connection) -> None:
        """One call that fails costs the others nothing, unless the connection is gone, or nothing is answered."""
        connection.failures += 1
        if not connection.session.is_open:
            self._start(self._give_up(key, connection))
        elif connection.failures == _MAX_FAILURES:
            self._start(self._give_up_unless_it_answers(key, connection))

    async def _give_up_unless_it_answers(self, key: str, connection: _Connection) -> None:
        """Callers may have cancelled their calls, while others wait for theirs."""
        if await connection.session.answers():
            connection.failures = 0
        else:
            await self._give_up(key, connection)

    async def _give_up(self, key: str, connection: _Connection) -> None:
        """Close a connection. The next call opens another."""
        if self._connections.get(key) is connection:
            del self._connections[key]
        await connection.session.close()

    def _transport(self) -> Transport:
        table = self._table
        secrets = read_secrets(table.secrets, self._folder)
        if table.command is not None:
            folder = self._folder / table.folder if table.folder else None
            environment = {**needed_environment(), **table.env, **secrets}
            return StdioTransport(self.name, table.command, environment, self._groups, folder)
        from toolcharter.govern.upstream.http import HttpTransport  # noqa: PLC0415 - 160 ms, and many have no address

        return HttpTransport(str(table.url), secrets)

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _unavailable(self, error: Exception) -> Unavailable:
        return Unavailable(f"The server {self.name!r} {error}")
