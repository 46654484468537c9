"""A database on a PostgreSQL server."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, cast
from urllib.parse import unquote

import asyncpg  # pyright: ignore[reportMissingTypeStubs] - it has none
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.util import greenlet_spawn

from mcp_core.db.database import WAIT_SECONDS, P, T, Work, unit_span
from mcp_core.db.transaction import Transaction, Unit, current, one_transaction
from mcp_core.errors import Unavailable
from mcp_core.logs.telemetry import Waits
from mcp_core.mcp_log import current_log_context
from mcp_core.process.shares import Shares

MAX_CONNECTIONS = 16
"""Half of them for reads, half for writes."""
CLOSE_SECONDS = 2.0
"""How long a rollback may take before the connection is cut instead."""
_connect = cast(Any, asyncpg).connect
_CONFLICTS = frozenset({"40001", "40P01"})
"""The codes of a serialization failure and of a deadlock, in which PostgreSQL ends one of two transactions."""
_SILENT = "The database does not answer at the moment. Try again shortly."
_UNREACHABLE = "The database cannot be reached at the moment. Try again shortly."


class _Turns:
    """The turns of callers at the connections of a pool: a caller waits for their own, and never has all."""

    def __init__(self, size: int) -> None:
        self._shares = Shares(size)
        self._turns: dict[str, asyncio.Semaphore] = {}

    async def take(self) -> str:
        """Wait for a turn. Returns the caller, who has it."""
        caller = log.caller if (log := current_log_context()) is not None else ""
        turns = self._turns.setdefault(caller, asyncio.Semaphore(self._shares.most))
        self._shares.take(caller)
        try:
            async with asyncio.timeout(WAIT_SECONDS if turns.locked() else None):
                await turns.acquire()
        except BaseException as error:
            self._forget(caller)
            if isinstance(error, TimeoutError):
                raise Unavailable(_SILENT) from error
            raise
        return caller

    def give_back(self, caller: str) -> None:
        """End a turn."""
        self._turns[caller].release()
        self._forget(caller)

    def _forget(self, caller: str) -> None:
        self._shares.give_back(caller)
        if caller not in self._shares.held:
            del self._turns[caller]


class Postgres:
    """A PostgreSQL server, over one pool of connections for reads and one for writes."""

    def __init__(self, url: URL) -> None:
        # Options may hold a password too. Only `host`, the folder of a socket, is part of the location.
        public = url.set(drivername="postgresql", query={k: v for k, v in url.query.items() if k == "host"})
        self.waits = Waits()
        self.location = unquote(public.render_as_string(hide_password=True))
        self._write_engine = _engine(url)
        # Each statement is one round trip, without a transaction around it; the server refuses changes.
        self._read_engine = _engine(url, isolation_level="AUTOCOMMIT", default_transaction_read_only="on")
        self._writers, self._readers = (_Turns(MAX_CONNECTIONS // 2) for _ in range(2))

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        unit = self._timed(work)
        with unit_span("read", "postgresql", work):
            if (transaction := current(self)) is not None and transaction.is_begun:
                return await transaction.run(lambda connection: unit(connection, *args, **kwargs))
            caller = await self._readers.take()
            try:
                async with _connection_errors():
                    return await greenlet_spawn(_run_read, self._read_engine.sync_engine, unit, *args, **kwargs)
            finally:
                self._readers.give_back(caller)

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        unit = self._timed(work)
        with unit_span("write", "postgresql", work):
            if (transaction := current(self)) is not None:
                return await transaction.run(lambda connection: unit(connection, *args, **kwargs))
            caller = await self._writers.take()
            try:
                async with _connection_errors():
                    return await greenlet_spawn(_run_write, self._write_engine.sync_engine, unit, *args, **kwargs)
            finally:
                self._writers.give_back(caller)

    def _timed(self, work: Work[P, T]) -> Work[P, T]:
        """A unit of work that counts how long it waited for its connection."""
        began = time.perf_counter()

        def run(connection: Connection, *args: P.args, **kwargs: P.kwargs) -> T:
            self.waits.add(time.perf_counter() - began)
            return work(connection, *args, **kwargs)

        return run

    def transaction(self, first: Unit[None]) -> AbstractAsyncContextManager[Transaction]:
        return one_transaction(self, partial(_PostgresTransaction.open, self._write_engine, self._writers), first)

    async def close(self) -> None:
        await self._write_engine.dispose()
        await self._read_engine.dispose()


# The connection is taken, used and given back in one greenlet. With the methods of `AsyncConnection`, which make one
# for each step, a write of one statement takes 380 µs of CPU time instead of 284.


def _run_read(engine: Engine, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    with engine.connect() as connection:
        return work(connection, *args, **kwargs)


def _run_write(engine: Engine, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    with engine.begin() as connection:
        return work(connection, *args, **kwargs)


class _PostgresTransaction:
    """A transaction on a connection of its own."""

    def __init__(self, connection: AsyncConnection, end_turn: Callable[[], None]) -> None:
        self._connection, self._end_turn = connection, end_turn

    @classmethod
    async def open(cls, engine: AsyncEngine, turns: _Turns) -> "_PostgresTransaction":
        end_turn = partial(turns.give_back, await turns.take())
        try:
            async with _connection_errors():
                return cls(await engine.connect(), end_turn)
        except BaseException:
            end_turn()
            raise

    async def run(self, unit: Unit[T], *, short: bool) -> T:  # noqa: ARG002 - for SQLite
        async with _connection_errors():
            return await self._connection.run_sync(unit)

    async def close(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._connection.close()
        except TimeoutError:
            await self._connection.invalidate()
            await self._connection.close()
        finally:
            self._end_turn()


def _engine(url: URL, isolation_level: Any = None, **server_settings: str) -> AsyncEngine:
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)

    async def connect() -> Any:
        try:
            # asyncpg reads the whole URL, with all that libpq knows: sslmode, sockets, service settings.
            return await _connect(dsn, timeout=WAIT_SECONDS, server_settings=server_settings)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise Unavailable(_UNREACHABLE) from error

    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        isolation_level=isolation_level,
        pool_size=MAX_CONNECTIONS // 2,
        max_overflow=0,
        pool_timeout=WAIT_SECONDS,
        pool_reset_on_return=None,
    )
    event.listen(engine.sync_engine, "checkout", _refuse_closed_connection)
    return engine


def _refuse_closed_connection(connection: Any, *_: Any) -> None:
    """After a restart of the database the pool is full of closed connections; the driver knows without a round trip."""
    if connection.driver_connection.is_closed():
        raise DisconnectionError


@asynccontextmanager
async def _connection_errors() -> AsyncGenerator[None]:
    """Turns the errors of a lost or refused connection into Unavailable."""
    try:
        yield
    except (OSError, TimeoutError, OperationalError, InterfaceError) as error:
        raise Unavailable(_UNREACHABLE) from error
    except PoolTimeout as error:  # all connections wait for a database that hangs
        raise Unavailable(_SILENT) from error
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) in _CONFLICTS:
            raise Unavailable("The database was busy with a change that conflicts with this one. Try again.") from error
        if not error.connection_invalidated:
            raise
        raise Unavailable("The connection to the database was lost. Try again shortly.") from error
