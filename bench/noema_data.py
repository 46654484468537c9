"""Collections to measure the learning server with, from ten thousand cards to a million.

The histories of one block of cards are made card by card with FSRS. A larger collection has that block many times,
each copy at other hours, made by the database itself: ten million reviews take it less than a minute.
"""

import asyncio
import json
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import asyncpg
import sqlalchemy as sa

from mcp_core.db import address, open_database
from mcp_noema.model import BUILT_IN, NoteKind, Preferences, Preset, Schedule, State
from mcp_noema.schedule import answer
from mcp_noema.store import tables
from mcp_noema.store.opening import MIGRATIONS
from mcp_noema.store.rows import note_type_values, schedule_values

BLOCK = 10_000
"""Cards that are made one by one."""
DECKS = 20
IN_A_TREE = 5
"""A deck with four inside it."""
BYTES_A_CARD = 5_000
"""What a card takes with its note, its ten reviews and all indexes, on either database, while it is made."""
TWO_YEARS = timedelta(days=730)
TODAY = 120
"""Cards that the user has answered today, in a collection of any size: a day is not longer for who has more cards."""
LEARNING = 50
"""Cards that the user is learning at the moment, the same."""
NEW_CARD = Schedule()
TYPES: tuple[NoteKind, ...] = ("basic", "basic-reversed")


@dataclass(frozen=True)
class Collection:
    """How much there is of what, and whose it is."""

    title: str
    copies: int = 1
    """Of the block of cards."""
    users: int = 1
    """One, who has all copies; or as many as there are copies, who have one each."""

    @property
    def cards(self) -> int:
        return BLOCK * self.copies


def user(number: int) -> str:
    return f"user{number}"


# --- one block of cards ------------------------------------------------------------------------------------

Answer = tuple[Any, ...]
"""A review as a row: rating, time, duration, state, both intervals, stability, difficulty."""
_WORDS = [a + b + c for a in "bdfklmnprst" for b in ("a", "e", "ing", "or", "us") for c in ("", "r", "tion", "ly", "m")]


@dataclass(frozen=True)
class Block:
    """Rows as both databases take them: times are seconds since 1970, numbers begin at 0."""

    notes: list[tuple[Any, ...]]
    cards: list[tuple[Any, ...]]
    reviews: list[tuple[Any, ...]]


@dataclass(frozen=True)
class _Card:
    """A card, and its answers so far."""

    number: int
    place: tuple[int, int, int]
    """Note, deck and ordinal."""
    made: datetime
    suspended: bool
    schedule: Schedule = NEW_CARD
    answers: tuple[Answer, ...] = ()

    def answered(self, rating: int, at: datetime, dice: random.Random) -> "_Card":
        before, after = self.schedule, answer(self.schedule, rating, at, Preset(), dice.random)
        spans = [round(span.total_seconds()) if span else 0 for span in (after.interval, before.interval)]
        row = (rating, _seconds(at), round(dice.lognormvariate(8.9, 0.5)), int(before.state), *spans)
        return replace(self, schedule=after, answers=(*self.answers, (*row, after.stability, after.difficulty)))

    def row(self) -> tuple[Any, ...]:
        schedule = self.schedule
        kept = schedule_values(schedule, suspended=self.suspended and schedule.state is State.REVIEW)
        lapses = sum(row[0] == 1 and row[3] == State.REVIEW for row in self.answers)
        of_memory = (kept[name] for name in ("queue", "state", "step", "stability", "difficulty"))
        times = (_seconds(schedule.due), _seconds(schedule.last_review))
        return (self.number, *self.place, *of_memory, *times, len(self.answers), lapses, _seconds(self.made))


@cache
def blocks(now: datetime) -> tuple[Block, Block]:
    """A block of somebody who is at it today, and one of cards that wait: about 70 % review cards, one in twelve of
    them due, new and suspended ones, and some that are being learned."""
    dice = random.Random(20)
    notes: list[tuple[Any, ...]] = []
    cards: list[_Card] = []
    while len(cards) < BLOCK:
        number = len(notes)
        # Every tenth note has two cards.
        kind = 1 if number % 10 == 0 and len(cards) < BLOCK - 1 else 0
        deck, since = dice.randrange(DECKS), now - TWO_YEARS * dice.random() - timedelta(days=3)
        words = " ".join(dice.choices(_WORDS, k=6))
        values = [f"What is {words} #{number}?", f"It is {words[::-1]} #{number}."]
        tags = f" {dice.choice(_WORDS)} " if dice.random() < 0.3 else ""
        notes.append((number, kind, json.dumps(values), tags, " ".join(values), _seconds(since)))
        for ordinal in range(kind + 1):
            share = dice.random()
            new = _Card(len(cards), (number, deck, ordinal), since, share > 0.95)
            cards.append(_learned(new, now, dice) if share > 0.24 else new)
    active = [_at_it(card, now, dice) for card in cards]
    resting = [_broken_off(card, now, dice) for card in cards]
    return _block(notes, active), _block(notes, resting)


def _learned(card: _Card, now: datetime, dice: random.Random) -> _Card:
    """Answered whenever it was due, on the day or some days late, until yesterday."""
    at, until = card.made, Preferences().day_of(now).begins - timedelta(hours=12)
    while at < until:
        card = card.answered(dice.choices((1, 2, 3, 4), (13, 12, 65, 10))[0], at, dice)
        assert card.schedule.due is not None
        late = dice.random() * (25 if dice.random() < 0.2 else 1) if card.schedule.state is State.REVIEW else 0
        at = card.schedule.due + timedelta(days=late)
    return card


def _at_it(card: _Card, now: datetime, dice: random.Random) -> _Card:
    """With today's answers: some cards are answered, some are being learned."""
    begins = max(Preferences().day_of(now).begins, now - timedelta(hours=1))
    if card.number % (BLOCK // TODAY) == 0:
        return card.answered(
            4 if card.schedule.state is State.NEW else 3, begins + (now - begins) * dice.random(), dice
        )
    if card.number % (BLOCK // LEARNING) == 1:
        return replace(card, schedule=NEW_CARD, answers=()).answered(3, begins + (now - begins) * dice.random(), dice)
    return card


def _broken_off(card: _Card, now: datetime, dice: random.Random) -> _Card:
    """A few cards were begun some day and left."""
    if card.number % (BLOCK // 10) != 1:
        return card
    return replace(card, schedule=NEW_CARD, answers=()).answered(3, now - timedelta(days=1 + dice.randrange(20)), dice)


def _block(notes: list[tuple[Any, ...]], cards: Sequence[_Card]) -> Block:
    answers = sorted(((card.number, *row) for card in cards for row in card.answers), key=lambda row: row[2])
    return Block(notes, [card.row() for card in cards], [(number, *row) for number, row in enumerate(answers)])


def _seconds(moment: datetime | None) -> int | None:
    return round(moment.timestamp()) if moment else None


# --- into a database ---------------------------------------------------------------------------------------

PARTS = {
    "notes": "number, type, field_values, tags, text, created_at",
    "cards": (
        "number, note, deck, ordinal, queue, state, step, stability, difficulty, due, last_review, reps, lapses, "
        "created_at"
    ),
    "reviews": (
        "number, card, rating, reviewed_at, duration_ms, state, interval_s, last_interval_s, stability, difficulty"
    ),
}
"""The columns of a block, as it is handed to a database."""


@dataclass(frozen=True)
class Segment:
    """Copies of a block, one after the other in each of its rows; and the ids that came before."""

    block: Block
    copies: range
    before: dict[str, int]
    shared: bool
    """Whether one user has all copies, or each their own."""

    def ids(self, table: str, number: str) -> str:
        """The id of a row of a block in copy `c`."""
        return f"({self.before[table]} + {number} * {len(self.copies)} + c - {self.copies.start} + 1)"

    def statements(self, moment: Callable[[str], str], json_type: str) -> Iterator[tuple[str, str]]:
        """What fills each table from the block's rows `b` and the numbers of the copies `c`."""
        user = "1" if self.shared else "(c + 1)"
        deck = "b.deck + 1" if self.shared else f"c * {DECKS} + b.deck + 1"
        type_id = "b.type + 1" if self.shared else f"c * {len(TYPES)} + b.type + 1"
        # Other hours for each copy, so that not all of them come back at once.
        times = {
            name: moment(f"b.{name} - c * 433 % 43200") for name in ("created_at", "due", "last_review", "reviewed_at")
        }
        number = self.ids("notes", "b.number")
        yield (
            "notes",
            f"""INSERT INTO noema_notes (id, user_id, type_id, field_values, tags, guid, text, first_key, created_at,
                modified_at) SELECT {number}, {user}, {type_id}, CAST(replace(b.field_values, '#', '#' || c || '-') AS
                {json_type}), b.tags, 'guid' || {number}, lower(replace(b.text, '#', '#' || c || '-')), {number},
                {times["created_at"]}, {times["created_at"]}""",
        )
        number = self.ids("cards", "b.number")
        yield (
            "cards",
            f"""INSERT INTO noema_cards (id, user_id, note_id, deck_id, ordinal, position, queue, state, step,
                stability, difficulty, due, last_review, reps, lapses, buried_until, created_at) SELECT {number},
                {user}, {self.ids("notes", "b.note")}, {deck}, b.ordinal, {number}, b.queue, b.state, b.step,
                b.stability, b.difficulty, {times["due"]}, {times["last_review"]}, b.reps, b.lapses, NULL,
                {times["created_at"]}""",
        )
        yield (
            "reviews",
            f"""INSERT INTO noema_reviews (id, user_id, card_id, rating, reviewed_at, duration_ms, state, interval_s,
                last_interval_s, stability, difficulty) SELECT {self.ids("reviews", "b.number")}, {user},
                {self.ids("cards", "b.card")}, b.rating, {times["reviewed_at"]}, b.duration_ms, b.state, b.interval_s,
                b.last_interval_s, b.stability, b.difficulty""",
        )


def segments(collection: Collection, now: datetime) -> list[Segment]:
    """One user is at it today, whatever else they have; of many users, everybody is."""
    active, resting = blocks(now)
    shared = collection.users == 1
    parts = [(active, range(collection.copies))]
    if shared and collection.copies > 1:
        parts = [(resting, range(1, collection.copies)), (active, range(1))]
    made: list[Segment] = []
    before = dict.fromkeys(PARTS, 0)
    for rows, copies in parts:
        made.append(Segment(rows, copies, dict(before), shared))
        for table in PARTS:
            before[table] += len(getattr(rows, table)) * len(copies)
    return made


def beginnings(collection: Collection, now: datetime) -> dict[str, list[dict[str, Any]]]:
    """Users with their decks and note types. A deck that has others inside leaves the limits to them."""
    rows: dict[str, list[dict[str, Any]]] = {"users": [], "decks": [], "note_types": []}
    for number in range(1, collection.users + 1):
        rows["users"].append({"id": number, "name": user(number), "preferences": {}, "created_at": now})
        for deck in range(DECKS):
            name = f"Subject {deck // IN_A_TREE}" + (f"::Part {deck}" if deck % IN_A_TREE else "")
            preset = {} if deck % IN_A_TREE else {"reviews_per_day": 9999}
            own = {"name": name, "name_key": name.casefold(), "description": "", "preset": preset}
            rows["decks"].append({"id": len(rows["decks"]) + 1, "user_id": number, **own, "created_at": now})
        for kind in TYPES:
            own = note_type_values(BUILT_IN[kind])
            rows["note_types"].append({"id": len(rows["note_types"]) + 1, "user_id": number, **own})
    return rows


async def fill(url: str, collection: Collection, now: datetime) -> None:
    """Put a collection into an empty database, indexed and analysed."""
    async with open_database(address(url, "noema")) as database:
        await MIGRATIONS.apply(database)
        rows = beginnings(collection, now)

        def begin(connection: sa.Connection) -> None:
            for table in (tables.users, tables.decks, tables.note_types):
                connection.execute(sa.insert(table), rows[table.name.removeprefix("noema_")])

        await database.write(begin)
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
            for table, columns in PARTS.items():
                db.execute(f"CREATE TEMP TABLE {table} ({columns})")
                marks = ", ".join("?" for _ in columns.split(","))
                db.executemany(f"INSERT INTO {table} VALUES ({marks})", getattr(part.block, table))
            db.execute("CREATE TEMP TABLE copies (c)")
            db.executemany("INSERT INTO copies VALUES (?)", [(c,) for c in part.copies])
            for table, insert in part.statements(_sqlite_moment, "TEXT"):
                db.execute(f"{insert} FROM temp.{table} b CROSS JOIN copies")
            for table in (*PARTS, "copies"):
                db.execute(f"DROP TABLE temp.{table}")
        for _, sql in indexes:
            db.execute(sql)
        db.execute("COMMIT")
        db.execute("ANALYZE")


def _sqlite_moment(seconds: str) -> str:
    return f"strftime('%Y-%m-%d %H:%M:%S.000000', {seconds}, 'unixepoch')"


async def _fill_postgres(url: str, parts: Sequence[Segment]) -> None:
    db = await asyncpg.connect(url)
    try:
        # Neither keys are looked up nor is the disk waited for, until all is there.
        await db.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        await db.execute("SET maintenance_work_mem = '512MB'; SET work_mem = '128MB'")
        indexes = await db.fetch(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('noema_notes', 'noema_cards', "
            "'noema_reviews') AND indexname LIKE '%_by_%'"
        )
        for name, _ in indexes:
            await db.execute(f"DROP INDEX {name}")
        for part in parts:
            for table, columns in PARTS.items():
                await db.execute(f"CREATE TEMP TABLE {table} ({_typed(columns)})")
                names = [name.strip() for name in columns.split(",")]
                await db.copy_records_to_table(table, records=getattr(part.block, table), columns=names)
            copies = f"{part.copies.start}, {part.copies.stop - 1}"
            for table, insert in part.statements(lambda seconds: f"to_timestamp({seconds})", "JSON"):
                # The copies depend on the row in name only: so they follow each other, row by row.
                await db.execute(f"{insert} FROM {table} b, LATERAL generate_series({copies} + 0 * b.number) AS c")
            await db.execute(f"DROP TABLE {', '.join(f'pg_temp.{table}' for table in PARTS)}")
        for _, sql in indexes:
            await db.execute(sql)
        for table in PARTS:
            await db.execute(f"SELECT setval('noema_{table}_id_seq', (SELECT max(id) FROM noema_{table}))")
        for table in ("users", "decks", "note_types"):
            await db.execute(f"SELECT setval('noema_{table}_id_seq', (SELECT max(id) FROM noema_{table}))")
        await db.execute("VACUUM ANALYZE")
    finally:
        await db.close()


_TEXTS, _REALS = {"field_values", "tags", "text"}, {"stability", "difficulty"}


def _typed(columns: str) -> str:
    names = [name.strip() for name in columns.split(",")]
    kinds = ["text" if name in _TEXTS else "float8" if name in _REALS else "int8" for name in names]
    return ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
