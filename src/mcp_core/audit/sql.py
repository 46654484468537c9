"""Audit records in a table of a SQLite or PostgreSQL database."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Text,
    column,
    delete,
    func,
    inspect,
    or_,
    select,
    table,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from mcp_core.audit.reader import RecordFilter
from mcp_core.audit.trail import Row
from mcp_core.db import Database, Migrations, address, open_database
from mcp_core.errors import Unavailable
from mcp_core.process.start_errors import CannotStart, InvalidSetting

_RETENTION_SECONDS = 3600.0
"""How often old records are deleted."""
_PAGE = 1000

MIGRATIONS = Migrations("toolcharter_audit", Path(__file__).parent / "migrations", "--audit")
_RECORDS = table(
    "toolcharter_audit",
    column("chain", Text),
    column("seq", BigInteger),
    column("time", Text),
    column("tool", Text),
    column("caller", Text),
    column("outcome", Text),
    column("record", Text),
)


class DatabaseSink:
    """Stores records, and deletes those that are older than `keep_seconds`."""

    def __init__(self, database: Database, stack: AsyncExitStack, keep_seconds: float | None) -> None:
        self.location, self._database, self._stack = database.location, database, stack
        self._keep_seconds, self._cleaned = keep_seconds, -_RETENTION_SECONDS

    @classmethod
    async def open(cls, url: str, keep_seconds: float | None = None) -> "DatabaseSink":
        """Open a database, and create the table if it does not exist."""
        async with AsyncExitStack() as stack:
            database = await stack.enter_async_context(open_database(address(url, "audit")))
            await MIGRATIONS.apply(database)
            return cls(database, stack.pop_all(), keep_seconds)

    @classmethod
    async def open_existing(cls, url: str) -> "DatabaseSink":
        """Open a database to read it. Nothing is created."""
        parsed = address(url, "audit")
        if parsed.get_backend_name() == "sqlite" and not await asyncio.to_thread(Path(parsed.database or "").exists):
            raise InvalidSetting(f"The audit database {parsed.database!r} does not exist.")
        stack = AsyncExitStack()
        database = await stack.enter_async_context(open_database(parsed))
        try:
            exists = await database.read(lambda connection: inspect(connection).has_table(_RECORDS.name))
        except (Unavailable, DBAPIError) as error:
            await stack.aclose()
            raise CannotStart(f"The audit database {database.location} cannot be read: {error}") from error
        if not exists:
            await stack.aclose()
            raise InvalidSetting(f"The database {database.location} has no audit trail.")
        return cls(database, stack, None)

    async def write(self, rows: Sequence[Row]) -> None:
        """Store rows. Those that already exist are left unchanged."""
        await self._database.write(_insert, [_values(row) for row in rows])
        if self._keep_seconds is not None and time.monotonic() - self._cleaned >= _RETENTION_SECONDS:
            self._cleaned = time.monotonic()
            oldest = datetime.fromtimestamp(time.time() - self._keep_seconds, UTC)
            await self._database.write(_delete_before, oldest.isoformat(timespec="milliseconds"))

    async def close(self) -> None:
        """Close the database."""
        await self._stack.aclose()

    # --- reading ---------------------------------------------------------------------------------------

    async def chains(self) -> list[str]:
        """The chains in the table, in the order of their ids."""
        return await self._database.read(_chains)

    async def heads(self) -> dict[str, int]:
        """The number of the last record of each chain."""
        return await self._database.read(_heads)

    async def find(self, wanted: RecordFilter) -> AsyncIterator[bytes]:
        """The records that are wanted as lines, by time."""
        after: tuple[str, str, int] | None = None
        while True:
            page = await self._database.read(_find, wanted, after)
            for *_, line in page:
                yield line.encode()
            if len(page) < _PAGE:
                return
            after = page[-1][:3]

    async def lines(self, chain: str, after: int = -1) -> AsyncIterator[bytes]:
        """The records of a chain as lines, in their order."""
        while True:
            page = await self._database.read(_page, chain, after)
            for seq, line in page:
                yield line.encode()
                after = seq
            if len(page) < _PAGE:
                return


def _values(row: Row) -> dict[str, Any]:
    return {"chain": row.chain, "seq": row.seq, **row.columns._asdict(), "record": row.line}


def _insert(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    insert: Callable[..., Any] = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    connection.execute(insert(_RECORDS).on_conflict_do_nothing(), rows)


def _delete_before(connection: Connection, oldest: str) -> None:
    connection.execute(delete(_RECORDS).where(_RECORDS.c.time < oldest))


def _chains(connection: Connection) -> list[str]:
    return list(connection.execute(select(_RECORDS.c.chain).distinct().order_by(_RECORDS.c.chain)).scalars())


def _heads(connection: Connection) -> dict[str, int]:
    query = select(_RECORDS.c.chain, func.max(_RECORDS.c.seq)).group_by(_RECORDS.c.chain)
    return {row[0]: row[1] for row in connection.execute(query)}


def _find(
    connection: Connection, wanted: RecordFilter, after: tuple[str, str, int] | None
) -> list[tuple[str, str, int, str]]:
    columns = _RECORDS.c
    query = select(columns.time, columns.chain, columns.seq, columns.record)
    if wanted.tool is not None:
        query = query.where(columns.tool == wanted.tool)
    if wanted.caller is not None:
        query = query.where(
            or_(columns.caller == wanted.caller, columns.caller.endswith(f":{wanted.caller}", autoescape=True))
        )
    if wanted.outcome is not None:
        query = query.where(columns.outcome == wanted.outcome)
    if wanted.since is not None:
        query = query.where(columns.time >= wanted.since)
    if after is not None:
        query = query.where(tuple_(columns.time, columns.chain, columns.seq) > after)
    query = query.order_by(columns.time, columns.chain, columns.seq).limit(_PAGE)
    return [(row[0], row[1], row[2], row[3]) for row in connection.execute(query)]


def _page(connection: Connection, chain: str, after: int) -> list[tuple[int, str]]:
    columns = select(_RECORDS.c.seq, _RECORDS.c.record)
    query = columns.where(_RECORDS.c.chain == chain, _RECORDS.c.seq > after).order_by(_RECORDS.c.seq).limit(_PAGE)
    return [(row[0], row[1]) for row in connection.execute(query)]
