"""A database on a PostgreSQL server. Loaded only where one is named."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import unquote

import asyncpg  # pyright: ignore[reportMissingTypeStubs] - it has none
from sqlalchemy import event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from mcp_core.db.database import PATIENCE, P, T, Work
from mcp_core.errors import Unavailable

CONNECTIONS = 16
"""At most: half of them read, half write."""
_connect = cast(Any, asyncpg).connect
_UNREACHABLE = "The database cannot be reached at the moment. Try again shortly."


class Postgres:
    """A server elsewhere."""

    def __init__(self, url: URL) -> None:
        # Options may hold a password too; the folder of a socket is the only one that says where.
        shown = url.set(drivername="postgresql", query={k: v for k, v in url.query.items() if k == "host"})
        self.where = unquote(shown.render_as_string(hide_password=True))
        self._writes = _pool(url)
        # One statement is one round trip, without a transaction around it; the server refuses any change.
        self._reads = _pool(url, isolation_level="AUTOCOMMIT", default_transaction_read_only="on")

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        async with _reached(), self._reads.connect() as connection:
            return await connection.run_sync(work, *args, **kwargs)

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        async with _reached(), self._writes.begin() as connection:
            return await connection.run_sync(work, *args, **kwargs)

    async def close(self) -> None:
        await self._writes.dispose()
        await self._reads.dispose()


def _pool(url: URL, isolation_level: Any = None, **server_settings: str) -> AsyncEngine:
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)

    async def connect() -> Any:
        try:
            # asyncpg reads the whole URL, with all that libpq knows: sslmode, sockets, a service's own settings.
            return await _connect(dsn, timeout=PATIENCE, server_settings=server_settings)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise Unavailable(_UNREACHABLE) from error

    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        isolation_level=isolation_level,
        pool_size=CONNECTIONS // 2,
        max_overflow=0,
        pool_timeout=PATIENCE,
        pool_reset_on_return=None,
    )
    event.listen(engine.sync_engine, "checkout", _not_a_closed_one)
    return engine


def _not_a_closed_one(connection: Any, *_: Any) -> None:
    """After a restart of the database the pool is full of dead connections, which the driver knows without asking."""
    if connection.driver_connection.is_closed():
        raise DisconnectionError


@asynccontextmanager
async def _reached() -> AsyncGenerator[None]:
    try:
        yield
    except (OSError, TimeoutError, OperationalError, InterfaceError) as error:
        raise Unavailable(_UNREACHABLE) from error
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        raise Unavailable("The connection to the database was lost. Try again shortly.") from error
