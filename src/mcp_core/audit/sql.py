"""Audit records in a table of a SQLite or PostgreSQL database."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Index, MetaData, Table, Text, delete, inspect, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from mcp_core.audit.trail import Row
from mcp_core.db import Database, address, open_database
from mcp_core.errors import Unavailable
from mcp_core.start_errors import CannotStart

_RETENTION_SECONDS = 3600.0
"""How often old records are deleted."""
_PAGE = 1000

_tables = MetaData()
_RECORDS = Table(
    "toolcharter_audit",
    _tables,
    Column("chain", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Text, nullable=False),
    Column("tool", Text),
    Column("caller", Text),
    Column("outcome", Text, nullable=False),
    Column("record", Text, nullable=False),
    Index("toolcharter_audit_time", "time"),
)


class DatabaseSink:
    """Stores records, and deletes those that are older than `keep_seconds`."""

    def __init__(self, database: Database, stack: AsyncExitStack, keep_seconds: float | None) -> None:
        self.location, self._database, self._stack = database.location, database, stack
        self._keep_seconds, self._cleaned = keep_seconds, -_RETENTION_SECONDS

    @classmethod
    async def open(cls, url: str, keep_seconds: float | None = None) -> "DatabaseSink":
        """Open a database, and create the table if it does not exist."""
        stack = AsyncExitStack()
        database = await stack.enter_async_context(open_database(address(url, "audit")))
        try:
            await database.write(_create_table)
        except (Unavailable, DBAPIError) as error:
            await stack.aclose()
            reason = str(error.__cause__ or error).splitlines()[0]
            raise CannotStart(
                f"The audit database {database.location} cannot be opened: {reason}. Choose another with --audit."
            ) from error
        return cls(database, stack, keep_seconds)

    async def write(self, rows: Sequence[Row]) -> None:
        """Store rows. One that is stored already stays as it is."""
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


def _create_table(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # two processes may start at the same time
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('toolcharter_audit'))"))
    if not inspect(connection).has_table(_RECORDS.name):
        _tables.create_all(connection)


def _insert(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    insert: Callable[..., Any] = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    connection.execute(insert(_RECORDS).on_conflict_do_nothing(), rows)


def _delete_before(connection: Connection, oldest: str) -> None:
    connection.execute(delete(_RECORDS).where(_RECORDS.c.time < oldest))


def _chains(connection: Connection) -> list[str]:
    return list(connection.execute(select(_RECORDS.c.chain).distinct().order_by(_RECORDS.c.chain)).scalars())


def _page(connection: Connection, chain: str, after: int) -> list[tuple[int, str]]:
    columns = select(_RECORDS.c.seq, _RECORDS.c.record)
    query = columns.where(_RECORDS.c.chain == chain, _RECORDS.c.seq > after).order_by(_RECORDS.c.seq).limit(_PAGE)
    return [(row[0], row[1]) for row in connection.execute(query)]
