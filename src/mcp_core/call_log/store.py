"""The tables of recent calls: each call in full, and how many there were by the minute and quarter of an hour."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    and_,
    delete,
    false,
    func,
    inspect,
    or_,
    select,
    text,
    true,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL

from mcp_core.call_log.counts import MINUTE, CountKey
from mcp_core.call_log.entry import CallEntry, CallFilter
from mcp_core.db import Database, address, open_database

FILE = "calls.db"
_DELETED_AT_ONCE = 5000

_tables = MetaData()
_ID = BigInteger().with_variant(Integer, "sqlite")  # only an INTEGER key counts up by itself in SQLite
_CALLS = Table(
    "toolcharter_calls",
    _tables,
    Column("id", _ID, primary_key=True, autoincrement=True),
    Column("time", Float(53), nullable=False),
    Column("server", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("ms", Float(53), nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("cached", Boolean, nullable=False),
    Column("trace_id", Text, nullable=False),
    Column("correlation_id", Text, nullable=False),
    Column("error_type", Text),
    Column("error", Text),
    Column("error_id", Text),
    Column("details", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Index("toolcharter_calls_time", "time", "size"),
    Index("toolcharter_calls_caller", "caller", "id"),
    sqlite_autoincrement=True,
)
_COLUMNS = [_CALLS.c[name] for name in CallEntry._fields]
_ROW_SIZE = 300
"""About what a row takes besides its texts."""

STEPS = (1, 15)
"""Calls are counted by the minute for the last hours, and by the quarter of an hour for as long as calls are kept."""
_MINUTES_KEPT = 120
_COUNTS = Table(
    "toolcharter_call_counts",
    _tables,
    Column("step", Integer, primary_key=True, autoincrement=False),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("server", Text, primary_key=True),
    Column("tool", Text, primary_key=True),
    Column("caller", Text, primary_key=True),
    Column("agent", Text, primary_key=True),
    Column("outcome", Text, primary_key=True),
    Column("cached", Boolean, primary_key=True),
    Column("bucket", Integer, primary_key=True, autoincrement=False),
    Column("calls", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
)
_COUNT_KEY = [column.name for column in _COUNTS.primary_key]


class Limits(NamedTuple):
    """How long calls are kept, and how much room the calls in full may take, in bytes."""

    seconds: float
    size: int


class Slot(NamedTuple):
    """The calls of a step of time with the same outcome and about the same duration."""

    slot: int
    outcome: str
    cached: bool
    bucket: int
    calls: int


class Total(NamedTuple):
    """The calls and tokens of one tool, caller or agent."""

    name: str
    calls: int
    tokens: int


def call_store_address(db: str | None) -> URL:
    """Where calls are kept: a file beside the data, or the same PostgreSQL database."""
    url = address(db, "calls")
    if url.get_backend_name() == "sqlite" and url.database != ":memory:":
        return url.set(database=str(Path(url.database or "").with_name(FILE)))
    return url


class CallStore:
    """Recent calls in a database."""

    def __init__(self, database: Database, stack: AsyncExitStack, limits: Limits) -> None:
        self.location, self._database, self._stack, self._limits = database.location, database, stack, limits
        self._exists = False

    @classmethod
    async def open(cls, db: str | None, limits: Limits) -> "CallStore":
        """Open the database. Its tables are created with the first write, so that a server starts without it too."""
        stack = AsyncExitStack()
        database = await stack.enter_async_context(open_database(call_store_address(db)))
        return cls(database, stack, limits)

    async def close(self) -> None:
        """Close the database."""
        await self._stack.aclose()

    async def write(self, entries: Sequence[CallEntry], counts: Mapping[CountKey, Sequence[int]]) -> None:
        """Store calls, and add counts to those that are stored."""
        await self._create_tables()
        await self._database.write(_write, [_row(entry) for entry in entries], counts)

    async def delete_old(self) -> None:
        """Delete what is older, and then the oldest calls, until the rest is within the limits."""
        await self._create_tables()
        while await self._database.write(_delete_old, time.time() - self._limits.seconds):
            pass
        await self._database.write(_delete_more, self._limits.size)

    async def _create_tables(self) -> None:
        if not self._exists:
            await self._database.write(_create_tables)
            self._exists = True

    # --- reading ---------------------------------------------------------------------------------------

    async def last_id(self) -> int:
        """The id of the newest call."""
        await self._create_tables()
        return await self._database.read(_last_id)

    async def after(self, last: int, most: int) -> list[CallEntry]:
        """The calls that were written after one, in their order."""
        return await self._database.read(_after, last, most)

    async def find(self, wanted: CallFilter, before: int | None = None, most: int = 100) -> list[CallEntry]:
        """The newest calls that are wanted, the newest first."""
        await self._create_tables()
        return await self._database.read(_find, wanted, before, most)

    async def get(self, number: int) -> CallEntry | None:
        """One call."""
        await self._create_tables()
        return await self._database.read(_get, number)

    async def slots(self, wanted: CallFilter, since: float, step: int) -> list[Slot]:
        """The counts since a time, by steps of so many minutes: one of `STEPS`."""
        await self._create_tables()
        return await self._database.read(_slots, wanted, since, step)

    async def totals(self, wanted: CallFilter, since: float, step: int, by: str, most: int = 10) -> list[Total]:
        """Who or what cost most tokens since a time: by `tool`, `caller` or `agent`."""
        await self._create_tables()
        return await self._database.read(_totals, wanted, since, step, by, most=most)


def _create_tables(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # two processes may start at the same time
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('toolcharter_calls'))"))
    if not inspect(connection).has_table(_COUNTS.name):
        _tables.create_all(connection)


# --- writing ---------------------------------------------------------------------------------------------------


def _row(entry: CallEntry) -> dict[str, Any]:
    details = json.dumps(entry.details, ensure_ascii=False)
    row = {**entry._asdict(), "details": details}
    del row["id"]
    size = _ROW_SIZE + len(details) + len(entry.error or "")
    return {name: _storable(value) for name, value in row.items()} | {"size": size}


def _storable(value: Any) -> Any:
    """A text without what a database refuses: lone surrogates, and for PostgreSQL the character 0."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _write(connection: Connection, rows: Sequence[Mapping[str, Any]], counts: Mapping[CountKey, Sequence[int]]) -> None:
    on_postgres = connection.dialect.name == "postgresql"
    if on_postgres:
        # Ids must become visible in their order, or a reader would miss some.
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('toolcharter_calls'))"))
    if rows:
        connection.execute(_CALLS.insert(), list(rows))
    insert: Any = (postgresql.insert if on_postgres else sqlite.insert)(_COUNTS)
    added = insert.on_conflict_do_update(
        index_elements=_COUNT_KEY,
        set_={name: _COUNTS.c[name] + insert.excluded[name] for name in ("calls", "tokens")},
    )
    values = [
        {"step": step, "slot": key.minute // step, "calls": number, "tokens": tokens}
        | {name: _storable(value) for name, value in key._asdict().items() if name != "minute"}
        for step in STEPS
        for key, (number, tokens) in counts.items()
    ]
    connection.execute(added, values)


def _delete_old(connection: Connection, oldest: float) -> bool:
    """Delete some of what is older; returns whether there may be more. In parts, so that no write waits for long."""
    old = select(_CALLS.c.id).where(_CALLS.c.time < oldest).limit(_DELETED_AT_ONCE)
    deleted = connection.execute(delete(_CALLS).where(_CALLS.c.id.in_(old.scalar_subquery()))).rowcount
    columns, first = _COUNTS.c, int(oldest) // MINUTE
    for step in STEPS:
        kept = max(first, int(time.time()) // MINUTE - _MINUTES_KEPT) if step == 1 else first
        connection.execute(delete(_COUNTS).where(columns.step == step, columns.slot < kept // step))
    return deleted == _DELETED_AT_ONCE


def _delete_more(connection: Connection, most: int) -> None:
    """Delete the oldest calls until the rest takes less room than `most`."""
    total = connection.execute(select(func.coalesce(func.sum(_CALLS.c.size), 0))).scalar_one()
    if total <= most:
        return
    # To delete a tenth more than necessary saves doing so again in a minute.
    excess, last = total - most * 9 // 10, 0
    for number, size in connection.execute(select(_CALLS.c.id, _CALLS.c.size).order_by(_CALLS.c.id)):
        excess -= size
        last = number
        if excess <= 0:
            break
    connection.execute(delete(_CALLS).where(_CALLS.c.id <= last))


# --- reading ---------------------------------------------------------------------------------------------------


def _entry(row: Any) -> CallEntry:
    entry = CallEntry(*row)
    return entry._replace(details=json.loads(str(entry.details)))


def _last_id(connection: Connection) -> int:
    return connection.execute(select(func.coalesce(func.max(_CALLS.c.id), 0))).scalar_one()


def _after(connection: Connection, last: int, most: int) -> list[CallEntry]:
    query = select(*_COLUMNS).where(_CALLS.c.id > last).order_by(_CALLS.c.id).limit(most)
    return [_entry(row) for row in connection.execute(query)]


def _get(connection: Connection, number: int) -> CallEntry | None:
    row = connection.execute(select(*_COLUMNS).where(_CALLS.c.id == number)).one_or_none()
    return None if row is None else _entry(row)


def _find(connection: Connection, wanted: CallFilter, before: int | None, most: int) -> list[CallEntry]:
    query = select(*_COLUMNS).where(_condition(_CALLS, wanted))
    if wanted.text:
        query = query.where(_contains(wanted.text))
    if before is not None:
        query = query.where(_CALLS.c.id < before)
    return [_entry(row) for row in connection.execute(query.order_by(_CALLS.c.id.desc()).limit(most))]


def _condition(table: Table, wanted: CallFilter) -> ColumnElement[bool]:
    columns = table.c
    parts: list[ColumnElement[bool]] = [
        columns[name] == value
        for name, value in (("server", wanted.server), ("tool", wanted.tool), ("caller", wanted.caller))
        if value is not None
    ]
    if wanted.outcomes is not None:
        parts.append(columns.outcome.in_(wanted.outcomes))
    if wanted.visible is not None:
        seen = [
            columns.server == server if caller is None else and_(columns.server == server, columns.caller == caller)
            for server, caller in wanted.visible
        ]
        parts.append(or_(false(), *seen))
    return and_(true(), *parts)


def _contains(words: str) -> ColumnElement[bool]:
    columns = _CALLS.c
    ids = [columns[name] == words for name in ("trace_id", "correlation_id", "error_id")]
    texts = [columns[name].icontains(words, autoescape=True) for name in ("tool", "caller", "agent", "error_type")]
    texts += [columns[name].icontains(words, autoescape=True) for name in ("error", "details")]
    return or_(*ids, *texts)


def _since(wanted: CallFilter, since: float, step: int) -> ColumnElement[bool]:
    columns = _COUNTS.c
    return and_(columns.step == step, columns.slot >= int(since) // MINUTE // step, _condition(_COUNTS, wanted))


def _slots(connection: Connection, wanted: CallFilter, since: float, step: int) -> list[Slot]:
    columns = _COUNTS.c
    parts = (columns.slot, columns.outcome, columns.cached, columns.bucket)
    query = select(*parts, func.sum(columns.calls)).where(_since(wanted, since, step)).group_by(*parts)
    return [Slot(*row[:4], int(row[4])) for row in connection.execute(query)]


def _totals(connection: Connection, wanted: CallFilter, since: float, step: int, by: str, *, most: int) -> list[Total]:
    columns = _COUNTS.c
    tokens, name = func.sum(columns.tokens), columns[by]
    query = select(name, func.sum(columns.calls), tokens).where(_since(wanted, since, step)).group_by(name)
    rows = connection.execute(query.order_by(tokens.desc(), name).limit(most))
    return [Total(row[0], int(row[1]), int(row[2])) for row in rows]
