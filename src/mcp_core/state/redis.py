"""The shared store in Redis: several processes behind one address behave as one."""

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from typing import Any, cast

from limits import RateLimitItemPerSecond
from limits.aio.storage import RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import StorageError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from mcp_core.declare.spec import RateLimit
from mcp_core.start_errors import InvalidSetting
from mcp_core.state.interface import LARGEST_ENTRY, CachedAnswer, DependencyHealth, StateUnavailable

_TIMEOUT = 2.0


class RedisState:
    """The shared store of several processes, in Redis.

    All its keys begin with `toolcharter:<server>:`. Answers, limits and used confirmations expire; one counter for
    each tag and one key for sealing stay.
    """

    def __init__(self, url: str, server: str) -> None:
        self._prefix = f"toolcharter:{server}:"
        try:
            self._redis: Any = cast(Any, Redis).from_url(
                url, decode_responses=True, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT
            )
        except ValueError:
            raise InvalidSetting("--redis is not a Redis URL; write redis://host:6379/0.") from None
        # On the same connections, which have a timeout and are closed together.
        storage = RedisStorage(
            f"async+{url}",
            implementation="redispy",
            key_prefix=self._prefix + "limit",
            wrap_exceptions=True,
            connection_pool=self._redis.connection_pool,
        )
        self._limiter = SlidingWindowCounterRateLimiter(storage)
        self._health = DependencyHealth("redis", ok=True, since=time.time())

    async def hit(self, key: str, limit: RateLimit) -> float:
        # `limits` counts whole seconds. A shorter window is rounded up, which is the stricter way.
        item = RateLimitItemPerSecond(limit.max_calls, max(1, -(-limit.window_ms // 1000)))
        try:
            if await self._limiter.hit(item, key):
                return 0.0
            stats = await self._limiter.get_window_stats(item, key)
        except StorageError as error:
            raise StateUnavailable("rate limits") from error
        return max(0.001, stats.reset_time - time.time())

    async def generation(self, tags: Sequence[str]) -> str:
        if not tags:
            return ""
        try:
            counters = await self._redis.mget([f"{self._prefix}tag:{tag}" for tag in tags])
        except (RedisError, OSError) as error:
            raise StateUnavailable("cache") from error
        return ".".join(value or "0" for value in cast(list[str | None], counters))

    async def forget(self, tags: Sequence[str]) -> None:
        # Shielded: a call that is being cancelled may be cancelled again at each await.
        await asyncio.shield(self._raise_generations(tags))

    async def _raise_generations(self, tags: Sequence[str]) -> None:
        try:
            async with self._redis.pipeline(transaction=True) as batch:
                for tag in tags:
                    batch.incr(f"{self._prefix}tag:{tag}")
                await batch.execute()
        except (RedisError, OSError) as error:
            raise StateUnavailable("cache") from error

    async def recall(self, key: str) -> CachedAnswer | None:
        try:
            text = cast(str | None, await self._redis.get(self._hashed(key)))
        except (RedisError, OSError) as error:
            raise StateUnavailable("cache") from error
        try:
            return CachedAnswer(**json.loads(text)) if text else None
        except (ValueError, TypeError):
            return None  # written by another release

    async def remember(self, key: str, answer: CachedAnswer, ttl: float) -> None:
        text = json.dumps(answer._asdict())
        if len(text) > LARGEST_ENTRY:
            return
        try:
            await self._redis.set(self._hashed(key), text, px=max(1, int(ttl * 1000)))
        except (RedisError, OSError) as error:
            raise StateUnavailable("cache") from error

    async def claim(self, nonce: str, ttl: float) -> bool:
        try:
            is_new = await self._redis.set(f"{self._prefix}used:{nonce}", "1", nx=True, px=max(1, int(ttl * 1000)))
        except (RedisError, OSError) as error:
            raise StateUnavailable("confirmations") from error
        return bool(is_new)

    async def seal_key(self) -> bytes:
        """The first process makes it; the others read it."""
        name = f"{self._prefix}seal-key"
        try:
            await self._redis.set(name, secrets.token_hex(32), nx=True)
            return bytes.fromhex(cast(str, await self._redis.get(name)))
        except (RedisError, OSError) as error:
            raise StateUnavailable("confirmations") from error

    def health(self) -> DependencyHealth:
        return self._health

    async def check_health(self) -> DependencyHealth:
        detail = ""
        try:
            await self._redis.ping()
        except (RedisError, OSError) as error:
            detail = str(error)
        if self._health.ok != (not detail):
            self._health = DependencyHealth("redis", ok=not detail, since=time.time(), detail=detail)
        return self._health

    async def close(self) -> None:
        await self._redis.aclose()

    def _hashed(self, key: str) -> str:
        # A cache key holds the arguments, which may be secret or long.
        return f"{self._prefix}answer:{hashlib.sha256(key.encode()).hexdigest()}"
