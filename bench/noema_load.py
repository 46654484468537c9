"""Fills databases with the collections of `noema_data`.

A larger collection has one block of cards many times. The database makes the copies itself: ten million reviews take
less than a minute.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg
import sqlalchemy as sa

from bench.noema_data import DECKS, DECKS_IN_TREE, TYPES, Block, Collection, blocks, first_cards, user_name
from mcp_core.db import address, open_database
from mcp_noema.model import BUILT_IN
from mcp_noema.store import tables
from mcp_noema.store.opening import MIGRATIONS
from mcp_noema.store.row_mapping import note_type_values

BYTES_A_CARD = {"SQLite": 2_200, "PostgreSQL": 4_000}
"""The disk space of a card with its note, its ten reviews and all indexes, while the database is filled."""

# --- databases ---------------------------------------------------------------------------------------------

# Loaded rows are not written twice; otherwise these are the default settings.
POSTGRES_OPTIONS = """
wal_level = minimal
max_wal_senders = 0
max_wal_size = 4GB
"""


# --- into a database ---------------------------------------------------------------------------------------

BLOCK_COLUMNS = {
    "notes": "number, type, field_values, tags, text, created_at",
    "cards": (
        "number, note, deck, ordinal, queue, state, step, stability, difficulty, due, last_review, reps, lapses, "
        "created_at"
    ),
    "reviews": (
        "number, card, rating, reviewed_at, duration_ms, state, interval_s, last_interval_s, stability, difficulty"
    ),
}
"""The columns of a block."""
USER_TABLES = ("users", "decks", "note_types")


@dataclass(frozen=True)
class Segment:
    """Copies of a block, and the ids before them."""

    block: Block
    copies: range
    before: dict[str, int]
    collection: Collection

    def ids(self, table: str, number: str) -> str:
        """The id of a row of a block in copy `c`."""
        return f"({self.before[table]} + {number} * {len(self.copies)} + c - {self.copies.start} + 1)"

    def statements(self, to_time: Callable[[str], str], json_type: str) -> Iterator[tuple[str, str]]:
        """The statements that fill each table from the rows `b` of the block and the numbers `c` of the copies."""
        decks = self.collection.decks
        user_index = "0" if self.collection.users == 1 else "c"
        user_id, type_id = f"({user_index} + 1)", f"({user_index} * {len(TYPES)} + b.type + 1)"
        deck = f"({user_index} * {decks} + b.number % {decks // DECKS} * {DECKS} + b.deck + 1)"
        # Different hours for each copy, so that not all of them are due at once.
        times = {
            name: to_time(f"b.{name} - c * 433 % 43200") for name in ("created_at", "due", "last_review", "reviewed_at")
        }
        number = self.ids("notes", "b.number")
        yield (
            "notes",
            f"""INSERT INTO noema_notes (id, user_id, type_id, field_values, tags, guid, text, first_key, created_at,
                modified_at) SELECT {number}, {user_id}, {type_id},
                CAST(replace(b.field_values, '#', '#' || c || '-') AS {json_type}), b.tags,
                'guid' || {number}, lower(replace(b.text, '#', '#' || c || '-')), {number},
                {times["created_at"]}, {times["created_at"]}""",
        )
        number = self.ids("cards", "b.number")
        yield (
            "cards",
            f"""INSERT INTO noema_cards (id, user_id, note_id, deck_id, ordinal, position, queue, state, step,
                stability, difficulty, due, last_review, reps, lapses, buried_until, created_at) SELECT {number},
                {user_id}, {self.ids("notes", "b.note")}, {deck}, b.ordinal, {number}, b.queue, b.state, b.step,
                b.stability, b.difficulty, {times["due"]}, {times["last_review"]}, b.reps, b.lapses, NULL,
                {times["created_at"]}""",
        )
        yield (
            "reviews",
            f"""INSERT INTO noema_reviews (id, user_id, card_id, rating, reviewed_at, duration_ms, state, interval_s,
                last_interval_s, stability, difficulty) SELECT {self.ids("reviews", "b.number")}, {user_id},
                {self.ids("cards", "b.card")}, b.rating, {times["reviewed_at"]}, b.duration_ms, b.state, b.interval_s,
                b.last_interval_s, b.stability, b.difficulty""",
        )


TAG_STATEMENTS = (
    "INSERT INTO noema_tags (user_id, name) SELECT DISTINCT user_id, trim(tags) FROM noema_notes WHERE tags <> ''",
    """INSERT INTO noema_note_tags (tag_id, note_id) SELECT t.id, n.id FROM noema_notes n
        JOIN noema_tags t ON t.user_id = n.user_id AND t.name = trim(n.tags)""",
)
"""They index the tags of all notes. A note has one tag at most."""


def segments(collection: Collection, now: datetime) -> list[Segment]:
    """A single user studies one block today; of many users, each one does."""
    active, resting = (first_cards(rows, collection.reviews) for rows in blocks(now, collection.block))
    parts = [(active, range(collection.copies))]
    if collection.copies > collection.users:
        parts = [(resting, range(1, collection.copies)), (active, range(1))]
    result: list[Segment] = []
    before = dict.fromkeys(BLOCK_COLUMNS, 0)
    for rows, copies in parts:
        result.append(Segment(rows, copies, dict(before), collection))
        for table in BLOCK_COLUMNS:
            before[table] += len(getattr(rows, table)) * len(copies)
    return result


def user_rows(collection: Collection, now: datetime) -> dict[str, list[dict[str, Any]]]:
    """Users with their decks and note types. Half of the decks have a limit that is never reached."""
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in USER_TABLES}
    for number in range(1, collection.users + 1):
        rows["users"].append({"id": number, "name": user_name(number), "preferences": {}, "created_at": now})
        for deck in range(collection.decks):
            name = f"Subject {deck // DECKS_IN_TREE}" + (f"::Part {deck}" if deck % DECKS_IN_TREE else "")
            preset = (
                {}
                if deck % DECKS_IN_TREE
                else {"new_per_day": 40, "reviews_per_day": (200, 9999)[deck // DECKS_IN_TREE % 2]}
            )
            values = {"name": name, "name_key": name.casefold(), "description": "", "preset": preset}
            rows["decks"].append({"id": len(rows["decks"]) + 1, "user_id": number, **values, "created_at": now})
        for kind in TYPES:
            values = note_type_values(BUILT_IN[kind])
            rows["note_types"].append({"id": len(rows["note_types"]) + 1, "user_id": number, **values})
    return rows


async def create_users(url: str, collection: Collection, now: datetime) -> None:
    """Make the tables of an empty database, and its users with their decks. Alembic does one at a time."""
    async with open_database(address(url, "noema")) as database:
        await MIGRATIONS.apply(database)
        rows = user_rows(collection, now)

        def insert(connection: sa.Connection) -> None:
            for table in USER_TABLES:
                connection.execute(sa.insert(getattr(tables, table)), rows[table])

        await database.write(insert)


async def fill(url: str, collection: Collection, now: datetime) -> None:
    """Add the notes, cards and reviews of a collection, indexed and analysed."""
    if url.startswith("sqlite"):
        await asyncio.to_thread(_fill_sqlite, address(url, "noema").database or "", segments(collection, now))
    else:
        await _fill_postgres(url, segments(collection, now))


def _fill_sqlite(file: str, parts: Sequence[Segment]) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "temp_store=MEMORY", "cache_size=-500000", "threads=2"):
            db.execute(f"PRAGMA {pragma}")
        indexes = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '%noema_%'"
        ).fetchall()
        for name, _ in indexes:
            db.execute(f"DROP INDEX {name}")
        db.execute("BEGIN")
        for part in parts:
            for table, columns in BLOCK_COLUMNS.items():
                db.execute(f"CREATE TEMP TABLE {table} ({columns})")
                marks = ", ".join("?" for _ in columns.split(","))
                db.executemany(f"INSERT INTO {table} VALUES ({marks})", getattr(part.block, table))
            db.execute("CREATE TEMP TABLE copies (c)")
            db.executemany("INSERT INTO copies VALUES (?)", [(c,) for c in part.copies])
            for table, insert in part.statements(_sqlite_time, "TEXT"):
                db.execute(f"{insert} FROM temp.{table} b CROSS JOIN copies")
            for table in (*BLOCK_COLUMNS, "copies"):
                db.execute(f"DROP TABLE temp.{table}")
        for sql in (*(sql for _, sql in indexes), *TAG_STATEMENTS):
            db.execute(sql)
        db.execute("COMMIT")
        db.execute("ANALYZE")


def _sqlite_time(seconds: str) -> str:
    return f"strftime('%Y-%m-%d %H:%M:%S.000000', {seconds}, 'unixepoch')"


async def _fill_postgres(url: str, parts: Sequence[Segment]) -> None:
    db = await asyncpg.connect(url)
    try:
        # Nothing else uses the database, and all keys are valid.
        await db.execute("SET session_replication_role = replica; SET maintenance_work_mem = '512MB'")
        async with db.transaction():
            tables = (*BLOCK_COLUMNS, "tags", "note_tags", "undone", "anki_log")
            await db.execute(f"TRUNCATE {', '.join(f'noema_{table}' for table in tables)}")
            indexes = await db.fetch(
                "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('noema_notes', 'noema_cards', "
                "'noema_reviews') AND indexname LIKE '%_by_%'"
            )
            for name, _ in indexes:
                await db.execute(f"DROP INDEX {name}")
            for part in parts:
                await _copy_postgres(db, part)
            for sql in (*(sql for _, sql in indexes), *TAG_STATEMENTS):
                await db.execute(sql)
        for table in (*BLOCK_COLUMNS, *USER_TABLES, "tags"):
            await db.execute(f"SELECT setval('noema_{table}_id_seq', (SELECT max(id) FROM noema_{table}))")
        await db.execute("VACUUM ANALYZE")
    finally:
        await db.close()


async def _copy_postgres(db: asyncpg.Connection, part: Segment) -> None:
    for table, columns in BLOCK_COLUMNS.items():
        await db.execute(f"CREATE TEMP TABLE {table} ({_typed(columns)})")
        names = [name.strip() for name in columns.split(",")]
        await db.copy_records_to_table(table, records=getattr(part.block, table), columns=names)
    copies = f"{part.copies.start}, {part.copies.stop - 1}"
    for table, insert in part.statements(lambda seconds: f"to_timestamp({seconds})", "JSON"):
        # `0 * b.number` makes the copies of a row follow each other.
        await db.execute(f"{insert} FROM {table} b, LATERAL generate_series({copies} + 0 * b.number) AS c")
    await db.execute(f"DROP TABLE {', '.join(f'pg_temp.{table}' for table in BLOCK_COLUMNS)}")


_TEXTS, _REALS = {"field_values", "tags", "text"}, {"stability", "difficulty"}


def _typed(columns: str) -> str:
    names = [name.strip() for name in columns.split(",")]
    kinds = ["text" if name in _TEXTS else "float8" if name in _REALS else "int8" for name in names]
    return ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
