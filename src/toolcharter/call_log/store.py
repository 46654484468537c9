"""The tables of recent calls: each call in full, and how many there were by the minute and quarter of an hour."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

from mcp_core.errors import Unavailable
from mcp_core.files import table_schema
from toolcharter.call_log.counts import MINUTE, QUARTER, CountKey
from toolcharter.call_log.database import CallDatabase, LogTransaction, open_call_database
from toolcharter.call_log.entry import CallEntry, CallFilter

_DELETED_AT_ONCE = 5000
_ROW_SIZE = 300
"""About what a row takes besides its texts."""
STEPS = (1, QUARTER)
"""Calls are counted by the minute for the last hours, and by the quarter of an hour for as long as calls are kept."""
_MINUTES_KEPT = 120

FOLDER = Path(__file__).parent
"""The folder with the expected schema."""
TABLES = ("toolcharter_calls", "toolcharter_call_counts")
_CREATE = (
    """CREATE TABLE toolcharter_calls (
        id {key},
        time DOUBLE PRECISION NOT NULL,
        server TEXT NOT NULL,
        tool TEXT NOT NULL,
        caller TEXT NOT NULL,
        agent TEXT NOT NULL,
        outcome TEXT NOT NULL,
        ms DOUBLE PRECISION NOT NULL,
        tokens BIGINT NOT NULL,
        cached BOOLEAN NOT NULL,
        trace_id TEXT NOT NULL,
        correlation_id TEXT NOT NULL,
        error_type TEXT,
        error TEXT,
        error_id TEXT,
        details TEXT NOT NULL,
        size INTEGER NOT NULL
    )""",
    "CREATE INDEX toolcharter_calls_time ON toolcharter_calls (time, size)",
    "CREATE INDEX toolcharter_calls_caller ON toolcharter_calls (caller, id)",
    """CREATE TABLE toolcharter_call_counts (
        step INTEGER NOT NULL,
        slot INTEGER NOT NULL,
        server TEXT NOT NULL,
        tool TEXT NOT NULL,
        caller TEXT NOT NULL,
        agent TEXT NOT NULL,
        outcome TEXT NOT NULL,
        cached BOOLEAN NOT NULL,
        bucket INTEGER NOT NULL,
        calls BIGINT NOT NULL,
        tokens BIGINT NOT NULL,
        PRIMARY KEY (step, slot, server, tool, caller, agent, outcome, cached, bucket)
    )""",
)
# An id is never used again: a page asks for the calls after the last that it has.
_SQLITE_KEY, _POSTGRES_KEY = "INTEGER PRIMARY KEY AUTOINCREMENT", "BIGSERIAL PRIMARY KEY"
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('toolcharter_calls'))"
_INSERT_CALL = """INSERT INTO toolcharter_calls
    (time, server, tool, caller, agent, outcome, ms, tokens, cached,
    trace_id, correlation_id, error_type, error, error_id, details, size)
    VALUES (:time, :server, :tool, :caller, :agent, :outcome, :ms, :tokens, :cached,
    :trace_id, :correlation_id, :error_type, :error, :error_id, :details, :size)"""
_ADD_COUNT = """INSERT INTO toolcharter_call_counts AS kept
    (step, slot, server, tool, caller, agent, outcome, cached, bucket, calls, tokens)
    VALUES (:step, :slot, :server, :tool, :caller, :agent, :outcome, :cached, :bucket, :calls, :tokens)
    ON CONFLICT (step, slot, server, tool, caller, agent, outcome, cached, bucket)
    DO UPDATE SET calls = kept.calls + excluded.calls, tokens = kept.tokens + excluded.tokens"""
_SELECT = f"SELECT {', '.join(CallEntry._fields)} FROM toolcharter_calls"  # noqa: S608 - the names of our columns
_TEXT_IDS = ("trace_id", "correlation_id", "error_id")
_TEXTS = ("tool", "caller", "agent", "error_type", "error", "details")
_CONTAINS = " OR ".join(
    (
        *(f"{name} = :text" for name in _TEXT_IDS),
        *(f"lower({name}) LIKE lower(:pattern) ESCAPE '/'" for name in _TEXTS),
    )
)


class RetentionLimits(NamedTuple):
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


class CallStore:
    """Recent calls in a database."""

    def __init__(self, database: CallDatabase, stack: AsyncExitStack, limits: RetentionLimits) -> None:
        self.location, self._database, self._stack, self._limits = database.location, database, stack, limits
        self._exists = False

    @classmethod
    async def open(cls, db: str | None, limits: RetentionLimits) -> "CallStore":
        """Open the database. Its tables are created with the first write, so that a server starts without it too."""
        stack = AsyncExitStack()
        database = await stack.enter_async_context(open_call_database(db))
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


def _create_tables(session: LogTransaction) -> None:
    if session.is_postgres:  # two processes may start at the same time
        session.rows(_LOCK)
    expected = table_schema.expected_lines(FOLDER, postgres=session.is_postgres) or []
    found = _read_schema(session) or make_schema(session)
    if difference := table_schema.differences(expected, found):
        raise Unavailable(
            f"its tables are not as this version expects: {difference}. They hold recent calls only: drop "
            f"{' and '.join(TABLES)}, or start the version that made them."
        )


def make_schema(session: LogTransaction) -> list[str]:
    """Create the tables, and return their schema."""
    for statement in _CREATE:
        session.run(statement.format(key=_POSTGRES_KEY if session.is_postgres else _SQLITE_KEY))
    return _read_schema(session)


def _read_schema(session: LogTransaction) -> list[str]:
    return table_schema.read_lines(session.rows, TABLES, postgres=session.is_postgres)


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


def _write(
    session: LogTransaction, rows: Sequence[Mapping[str, Any]], counts: Mapping[CountKey, Sequence[int]]
) -> None:
    if session.is_postgres:
        # Ids must become visible in their order, or a reader would miss some.
        session.rows(_LOCK)
    if rows:
        session.run_many(_INSERT_CALL, rows)
    values = [
        {"step": step, "slot": key.minute // step, "calls": number, "tokens": tokens}
        | {name: _storable(value) for name, value in key._asdict().items() if name != "minute"}
        for step in STEPS
        for key, (number, tokens) in counts.items()
    ]
    session.run_many(_ADD_COUNT, values)


def _delete_old(session: LogTransaction, oldest: float) -> bool:
    """Delete some of what is older; returns whether there may be more. In parts, so that no write waits for long."""
    deleted = session.run(
        "DELETE FROM toolcharter_calls WHERE id IN (SELECT id FROM toolcharter_calls WHERE time < :oldest LIMIT :most)",
        {"oldest": oldest, "most": _DELETED_AT_ONCE},
    )
    first = int(oldest) // MINUTE
    for step in STEPS:
        kept = max(first, int(time.time()) // MINUTE - _MINUTES_KEPT) if step == 1 else first
        session.run(
            "DELETE FROM toolcharter_call_counts WHERE step = :step AND slot < :slot",
            {"step": step, "slot": kept // step},
        )
    return deleted == _DELETED_AT_ONCE


def _delete_more(session: LogTransaction, most: int) -> None:
    """Delete the oldest calls if all take more room than `most`."""
    ((total,),) = session.rows("SELECT coalesce(sum(size), 0) FROM toolcharter_calls")
    if total <= most:
        return
    # To delete a tenth more than necessary saves doing so again in a minute.
    session.run(
        "DELETE FROM toolcharter_calls WHERE id <= (SELECT max(id) FROM "
        "(SELECT id, sum(size) OVER (ORDER BY id DESC) AS newer FROM toolcharter_calls) AS sums WHERE newer > :most)",
        {"most": most * 9 // 10},
    )


# --- reading ---------------------------------------------------------------------------------------------------


def _entry(row: Sequence[Any]) -> CallEntry:
    entry = CallEntry(*row)
    return entry._replace(cached=bool(entry.cached), details=json.loads(str(entry.details)))


def _last_id(session: LogTransaction) -> int:
    return session.rows("SELECT coalesce(max(id), 0) FROM toolcharter_calls")[0][0]


def _after(session: LogTransaction, last: int, most: int) -> list[CallEntry]:
    rows = session.rows(f"{_SELECT} WHERE id > :last ORDER BY id LIMIT :most", {"last": last, "most": most})
    return [_entry(row) for row in rows]


def _get(session: LogTransaction, number: int) -> CallEntry | None:
    rows = session.rows(f"{_SELECT} WHERE id = :id", {"id": number})
    return _entry(rows[0]) if rows else None


def _find(session: LogTransaction, wanted: CallFilter, before: int | None, most: int) -> list[CallEntry]:
    condition, values = _condition(wanted)
    if wanted.text:
        condition += f" AND ({_CONTAINS})"
        values |= {"text": wanted.text, "pattern": f"%{_escaped(wanted.text)}%"}
    if before is not None:
        condition += " AND id < :before"
        values["before"] = before
    rows = session.rows(f"{_SELECT} WHERE {condition} ORDER BY id DESC LIMIT :most", values | {"most": most})
    return [_entry(row) for row in rows]


def _escaped(words: str) -> str:
    """A text in which LIKE finds no wildcards."""
    return words.replace("/", "//").replace("%", "/%").replace("_", "/_")


def _condition(wanted: CallFilter) -> tuple[str, dict[str, Any]]:
    """The condition of a search in both tables, and its values."""
    parts: list[str] = ["TRUE"]
    values: dict[str, Any] = {}

    def value(given: str) -> str:
        values[f"v{len(values)}"] = given
        return f":v{len(values) - 1}"

    for name, chosen in (("server", wanted.server), ("tool", wanted.tool), ("caller", wanted.caller)):
        if chosen is not None:
            parts.append(f"{name} = {value(chosen)}")
    if wanted.outcomes is not None:
        parts.append(f"outcome IN ({', '.join(value(one) for one in wanted.outcomes)})")
    if wanted.visible is not None:
        seen = [
            f"server = {value(server)}" + ("" if caller is None else f" AND caller = {value(caller)}")
            for server, caller in wanted.visible
        ]
        parts.append(f"({' OR '.join(['FALSE', *seen])})")
    return " AND ".join(parts), values


def _since(wanted: CallFilter, since: float, step: int) -> tuple[str, dict[str, Any]]:
    condition, values = _condition(wanted)
    values |= {"step": step, "slot": int(since) // MINUTE // step}
    return f"step = :step AND slot >= :slot AND {condition}", values


def _slots(session: LogTransaction, wanted: CallFilter, since: float, step: int) -> list[Slot]:
    condition, values = _since(wanted, since, step)
    rows = session.rows(
        # The condition has names of columns and of values, and no value.
        f"SELECT slot, outcome, cached, bucket, sum(calls) FROM toolcharter_call_counts WHERE {condition} "  # noqa: S608
        "GROUP BY slot, outcome, cached, bucket",
        values,
    )
    return [Slot(slot, outcome, bool(cached), bucket, int(calls)) for slot, outcome, cached, bucket, calls in rows]


def _totals(session: LogTransaction, wanted: CallFilter, since: float, step: int, by: str, *, most: int) -> list[Total]:
    condition, values = _since(wanted, since, step)
    rows = session.rows(
        f"SELECT {by}, sum(calls), sum(tokens) FROM toolcharter_call_counts WHERE {condition} "  # noqa: S608 - the same
        f"GROUP BY {by} ORDER BY sum(tokens) DESC, {by} LIMIT :most",
        values | {"most": most},
    )
    return [Total(name, int(calls), int(tokens)) for name, calls, tokens in rows]
