"""Files of every schema that a version of the server made, brought to the newest one.

The first migration was edited until it was final. tests/data/databases has a filled file of each schema that it made,
and its tables for PostgreSQL.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mcp_core.process.start_errors import CannotStart
from mcp_noema.store.opening import MIGRATIONS
from tests.conftest import PostgresServer
from tests.mcp_noema.learner import Clock, Learner, open_app
from toolcharter.db import address, open_database

FILLED = Path(__file__).parents[2] / "data" / "databases"
VERSIONS = sorted(int(file.stem.rpartition("-")[2]) for file in FILLED.glob("noema-?.sql"))
PARENTS_FIRST = ("users", "decks", "note_types", "notes", "cards", "reviews", "anki_log", "undone", "version")
LAST_CARD_ID = 50
"""Cards with ids up to this one were deleted."""


def write_file(version: int, file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript((FILLED / f"noema-{version}.sql").read_text())


@pytest.fixture(params=["sqlite", "postgresql"])
def filled(request: pytest.FixtureRequest, tmp_path: Path, version: int) -> str:
    """The address of a filled database of that version."""
    file = tmp_path / "noema.db"
    write_file(version, file)
    if request.param == "sqlite":
        return f"sqlite:///{file}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = server.new_database()
    tables = (FILLED / f"noema-{version}-postgresql.sql").read_text()
    server.sql(f"{tables};\n{'; '.join(rows_of(file))}", name)
    return server.url(name)


def rows_of(file: Path) -> Iterator[str]:
    """The rows of a file, and the last ids that were used, as statements for PostgreSQL."""
    yield "CREATE TABLE noema_version (version_num VARCHAR(32) PRIMARY KEY)"
    with closing(sqlite3.connect(file)) as connection:
        existing = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        for table in (f"noema_{name}" for name in PARENTS_FIRST if f"noema_{name}" in existing):
            rows = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in rows.description]
            values = [f"({', '.join(map(literal, names, row))})" for row in rows]
            columns = ", ".join(f'"{name}"' for name in names)
            yield f"INSERT INTO {table} ({columns}) VALUES {', '.join(values)}"
        for table, last_id in connection.execute("SELECT name, seq FROM sqlite_sequence"):
            yield f"SELECT setval('{table}_id_seq', {last_id})"


def literal(name: str, value: object) -> str:
    if value is None:
        return "NULL"
    if name == "is_cloze":
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_filled_file_of_every_earlier_schema_is_upgraded(filled: str, version: int):
    async with open_database(address(filled, "noema")) as database:
        with pytest.raises(CannotStart, match="Run `toolcharter db upgrade noema`"):
            await MIGRATIONS.apply(database)
        await MIGRATIONS.upgrade(database)
        assert (await MIGRATIONS.state(database)).difference == ""
    clock = Clock()
    clock.now = clock.now.replace(day=15, hour=11)
    async with open_app(filled, clock) as app:
        learner = Learner(app, clock, "local")
        decks = (await learner("list-decks"))["decks"]
        assert [(deck["name"], deck["cards"], deck["due"]) for deck in decks] == [
            ("Languages", 3, 1),
            ("Languages::French", 3, 1),
        ]
        assert (await learner("get-preferences"))["preferences"]["timezone"] == "Europe/Paris"
        assert (await learner("get-deck", deckId="French"))["preset"]["newPerDay"] == 7
        assert [card["cardId"] for card in (await learner("search-cards", query="tag:food"))["cards"]] == ["card_1"]
        card = await learner("get-card", cardId="card_1")
        assert (card["front"], card["tags"], card["stability"], card["reps"]) == (
            "the cheese", ["food", "dairy"], 12.5, 2,
        )  # fmt: skip
        # The undone review does not count, that of a deleted card does.
        assert (await learner("get-review-history"))["total"] == 4
        assert (await learner("undo-review", reviewId="review_4"))["cardId"] == "card_2"
        made = await learner("create-note", deckId="French", front="the milk", back="le lait")
        assert made["cardIds"] == [f"card_{LAST_CARD_ID + 1}"]
        bob = Learner(app, clock, "bob")
        assert (await bob("search-cards", query="is:suspended tag:food"))["total"] == 1
