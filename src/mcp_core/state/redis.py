"""The shared store in Redis: several processes behind one address behave as one."""

import asyncio
import hashlib
import math
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from redis.exceptions import NoScriptError, RedisError

from mcp_core.declare.spec import RateLimit
from mcp_core.mcp_log import get_logger
from mcp_core.result import Body
from mcp_core.state.interface import MAX_ENTRY_LENGTH, DependencyHealth, Lookup, StateUnavailable
from mcp_core.state.memory import MemoryState
from mcp_core.state.redis_connection import RETRY_SECONDS, Connection, RedisConnection
from mcp_core.state.redis_scripts import HIT, LOOKUP

logger = get_logger(__name__)


class _Script:
    """A script in Lua, and the digest by which Redis knows it."""

    def __init__(self, text: str) -> None:
        self.text, self.digest = text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


_HIT, _LOOKUP = _Script(HIT), _Script(LOOKUP)
_KEYS = "idempotency keys"
_MESSAGES_KEPT = 10_000
_MESSAGES_MS = 3_600_000
_WATCH_SECONDS = 10.0
_LISTEN_SECONDS = 10.0
"""How long one look for messages waits."""


class RedisState:
    """The shared store of several processes, in Redis.

    All its keys begin with `toolcharter:<server>:`. Answers, limits, marks, messages and used confirmations expire;
    one generation for each tag and one key for sealing stay.
    """

    def __init__(self, url: str, server: str, timeout: float = 0.1, processes: int = 1) -> None:
        """`timeout` is how long Redis may be silent, in seconds, before calls go on without it.

        While Redis is away, a process may use its share of a limit among so many.
        """
        self._here, self._processes = MemoryState(), processes
        """Counts what this process lets pass, also while Redis counts: it may be away with the next call."""
        self._prefix = f"toolcharter:{server}:"
        self._connection = RedisConnection(url, timeout=timeout, prepare=self._prepare)
        self._seal_key: str | None = None
        self._stale_tags: set[str] = set()
        """Tags that could not be invalidated while Redis was away."""
        self._watcher: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None
        self._receivers: list[Callable[[str], None]] = []

    async def open(self) -> None:
        await self._connection.open()
        self._watcher = asyncio.ensure_future(self._watch())

    async def _watch(self) -> None:
        """Notice without a call when Redis is away, and when it has lost the sealing key."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            await self.check_health()

    async def _prepare(self, connection: Connection) -> None:
        """Bring a new connection, and a Redis that may have been away or be new, to where this process is."""
        tags = tuple(self._stale_tags)
        commands: list[tuple[Any, ...]] = [
            ("SCRIPT LOAD", HIT),
            ("SCRIPT LOAD", LOOKUP),
            ("SET", f"{self._prefix}probe", "1", "PX", 1000),  # fails where Redis takes no writes
            *self._seal_key_commands(),
        ]
        if tags:
            commands.append(self._invalidate_command(tags))
        await connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        replies = [await connection.read_response(timeout=math.inf) for _ in commands]
        self._seal_key = cast(str, replies[4])
        self._stale_tags.difference_update(tags)

    def _seal_key_commands(self) -> list[tuple[str, ...]]:
        """Put back the key where Redis has lost it, or make the first one; then read it."""
        name = f"{self._prefix}seal-key"
        return [("SET", name, self._seal_key or secrets.token_hex(32), "NX"), ("GET", name)]

    # --- limits and cache ------------------------------------------------------------------------------

    async def hit(self, key: str, limit: RateLimit) -> float:
        keys, limits = (f"{self._prefix}limit:{key}",), (limit.max_calls, limit.window_ms * 1000)
        wait = cast(int, await self._run_script("rate limits", _HIT, keys, limits)) / 1e6
        if wait > 0:
            return wait
        wait_here = await self.hit_here(key, limit)
        # After Redis was away, it does not know of the calls that passed meanwhile.
        return wait_here if self._processes == 1 else 0.0

    async def hit_here(self, key: str, limit: RateLimit) -> float:
        share = RateLimit(max(1, limit.max_calls // self._processes), limit.window_ms)
        return await self._here.hit(f"{limit} {key}", share)  # a limit may be changed while the server runs

    async def lookup(self, key: str, tags: Sequence[str]) -> Lookup:
        keys = (self._answer_key(key), *(self._tag_key(tag) for tag in tags))
        reply = await self._run_script("cache", _LOOKUP, keys, (secrets.token_hex(6),))
        return _lookup(*cast(list[Any], reply))

    async def _run_script(self, purpose: str, script: "_Script", keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        command = (len(keys), *keys, *arguments)
        try:
            return await self._connection.execute(purpose, "EVALSHA", script.digest, *command)
        except NoScriptError:  # somebody flushed the scripts
            return await self._connection.execute(purpose, "EVAL", script.text, *command)

    async def store(self, key: str, generation: str, answer: Body, ttl: float) -> None:
        text = answer.to_text()
        if len(text) <= MAX_ENTRY_LENGTH and not self._connection.is_congested:
            # Nobody has to wait: a look-up of this process comes after it, and one of another may miss it.
            milliseconds = max(1, int(ttl * 1000))
            self._connection.send("cache", "SET", self._answer_key(key), f"{generation}\n{text}", "PX", milliseconds)

    async def invalidate(self, tags: Sequence[str]) -> None:
        if tags:
            # Shielded: a call that is being cancelled may be cancelled again at each await.
            await asyncio.shield(self._invalidate(tags))

    async def _invalidate(self, tags: Sequence[str]) -> None:
        try:
            await self._connection.execute("invalidation", *self._invalidate_command(tags))
        except StateUnavailable:
            self._stale_tags.update(tags)
            raise

    def _invalidate_command(self, tags: Sequence[str]) -> tuple[str, ...]:
        generation = secrets.token_hex(6)
        return ("MSET", *(part for tag in tags for part in (self._tag_key(tag), generation)))

    def _answer_key(self, key: str) -> str:
        # A cache key holds the arguments, which may be secret or long.
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self._prefix}answer:{digest}"

    def _tag_key(self, tag: str) -> str:
        return f"{self._prefix}tag:{tag}"

    # --- confirmations ---------------------------------------------------------------------------------

    async def claim(self, nonce: str, ttl: float) -> bool:
        command = ("SET", f"{self._prefix}used:{nonce}", "1", "NX", "PX", max(1, int(ttl * 1000)))
        return await self._connection.execute("confirmations", *command) is not None

    async def seal_key(self) -> bytes:
        """The first process makes it; the others read it. It is read again with each connection and now and then."""
        if self._seal_key is None:
            await self._connection.execute("confirmations", "PING")
        return bytes.fromhex(cast(str, self._seal_key))

    # --- idempotency keys ------------------------------------------------------------------------------

    async def reserve(self, key: str, text: str, ttl: float) -> str | None:
        name = f"{self._prefix}reserved:{key}"
        while await self._connection.execute(_KEYS, "SET", name, text, "NX", "PX", max(1, int(ttl * 1000))) is None:
            if kept := await self.reserved(key):
                return kept  # otherwise it has expired between the two commands
        return None

    async def replace(self, key: str, text: str, ttl: float) -> None:
        name = f"{self._prefix}reserved:{key}"
        await self._connection.execute(_KEYS, "SET", name, text, "PX", max(1, int(ttl * 1000)))

    async def reserved(self, key: str) -> str | None:
        return cast(str | None, await self._connection.execute(_KEYS, "GET", f"{self._prefix}reserved:{key}"))

    # --- between processes -----------------------------------------------------------------------------

    async def mark(self, name: str, ttl: float) -> None:
        await self._connection.execute("sessions", "SET", f"{self._prefix}mark:{name}", "1", "PX", int(ttl * 1000))

    async def is_marked(self, name: str) -> bool:
        return bool(await self._connection.execute("sessions", "EXISTS", f"{self._prefix}mark:{name}"))

    async def take_mark(self, name: str) -> bool:
        return bool(await self._connection.execute("sessions", "DEL", f"{self._prefix}mark:{name}"))

    async def add_member(self, name: str, member: str, ttl: float) -> None:
        await self._connection.execute("sessions", "SADD", f"{self._prefix}set:{name}", member)
        self._connection.send("sessions", "PEXPIRE", f"{self._prefix}set:{name}", int(ttl * 1000))

    async def remove_member(self, name: str, member: str) -> None:
        await self._connection.execute("sessions", "SREM", f"{self._prefix}set:{name}", member)

    async def members(self, name: str) -> frozenset[str]:
        found: Any = await self._connection.execute("sessions", "SMEMBERS", f"{self._prefix}set:{name}")
        return frozenset(found)

    async def announce(self, message: str) -> None:
        stream = f"{self._prefix}messages"
        await self._connection.execute("sessions", "XADD", stream, "MAXLEN", "~", _MESSAGES_KEPT, "*", "m", message)
        self._connection.send("sessions", "PEXPIRE", stream, _MESSAGES_MS)

    async def listen(self, receive: Callable[[str], None]) -> None:
        if self._listener is None:
            stream = f"{self._prefix}messages"
            last = await self._connection.execute("sessions", "XREVRANGE", stream, "+", "-", "COUNT", 1)
            if self._listener is None:
                self._listener = asyncio.ensure_future(self._receive_messages(stream, last[0][0] if last else "0-0"))
        self._receivers.append(receive)

    async def _receive_messages(self, stream: str, last: str) -> None:
        """Read the stream from `last` on. After a failure it goes on where it was, so that no message is lost."""
        while True:
            connection = self._connection.make_connection()
            try:
                while True:
                    async with asyncio.timeout(2 * _LISTEN_SECONDS):
                        block = int(_LISTEN_SECONDS * 1000)
                        await connection.send_command("XREAD", "BLOCK", block, "STREAMS", stream, last)
                        reply: Any = await connection.read_response(timeout=math.inf)
                    for number, fields in reply[0][1] if reply else ():
                        last = number
                        self._deliver(fields[1])
            except (RedisError, OSError) as error:
                logger.debug("Messages of other processes cannot be read: %s", error)
            finally:
                with suppress(RedisError, OSError):
                    await connection.disconnect(nowait=True)
            await asyncio.sleep(RETRY_SECONDS)

    def _deliver(self, message: str) -> None:
        for receive in self._receivers:
            try:
                receive(message)
            except Exception:
                logger.exception("A message of another process could not be handled")

    # --- health ----------------------------------------------------------------------------------------

    def health(self) -> DependencyHealth:
        return self._connection.health()

    async def check_health(self) -> DependencyHealth:
        for _ in range(2):  # the first may find that the connection was lost, the second opens a new one
            try:
                replies = [await self._connection.execute("health", *each) for each in self._seal_key_commands()]
                self._seal_key = cast(str, replies[1])
                break
            except StateUnavailable:
                pass
        return self._connection.health()

    async def close(self) -> None:
        for task in (self._watcher, self._listener):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await self._connection.close()


def _lookup(generation: str = "", entry: str | None = None) -> Lookup:
    try:
        answer = None if entry is None else Body.from_text(entry[len(generation) + 1 :])
    except (ValueError, TypeError, KeyError):
        answer = None  # written by another release
    return Lookup(generation, answer)
