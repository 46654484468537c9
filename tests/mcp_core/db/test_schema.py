"""A database has the schema that the code expects, or no server starts with it."""

import re
import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
import sqlalchemy as sa

from mcp_core.audit.sql import MIGRATIONS as AUDIT
from mcp_core.db import Migrations, address, open_database
from mcp_core.db.migrations import FRAMEWORK
from mcp_core.errors import Unavailable
from mcp_core.files import table_schema
from mcp_core.process.start_errors import CannotStart
from mcp_todo.store import MIGRATIONS as TODO
from toolcharter.call_log.database import open_call_database
from toolcharter.call_log.store import FOLDER as CALLS
from toolcharter.call_log.store import CallStore, RetentionLimits, make_schema

SOURCES = Path(__file__).parents[3] / "src"
FILLED = Path(__file__).parents[2] / "data" / "databases"
FOLDERS = sorted({file.parent for file in SOURCES.glob("*/**/[0-9][0-9][0-9][0-9]_*.py")})
RELEASED = {
    "0001_tasks": "329fda08bcc1269643c4b53198fd4148daae1691259e3fb4b6f17190f3b50ed6",
    "0001_idempotency": "4c70a9ce9cc67b8105a080edd55adba375ae059b4719727cd079ece7d2812146",
    "0001_records": "514a34b4a354338436cfc5cc99145a325a5238e29343cd411cdc6a0969c325dc",
}
"""The first migrations. schema.json has the hash of every migration; these are here too, so that both would differ."""


def rows(connection: sa.Connection, table: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in connection.exec_driver_sql(f"SELECT * FROM {table}")]


# ---- migrations are append-only ------------------------------------------------------------------


@pytest.mark.requirement("FAR-4")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(SOURCES).as_posix())
async def test_a_migration_is_never_edited_and_all_of_them_make_the_recorded_schema(folder, postgres_url, tmp_path):
    migrations = Migrations("recorded", folder)
    assert migrations.hashes() == migrations.recorded(), "run tools/record_schemas.py; it refuses edited migrations"
    copied = Migrations("recorded", tmp_path)
    for file in folder.glob("[0-9]*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    async with open_database(address("sqlite://", "x")) as one, open_database(address(postgres_url, "x")) as other:
        await copied.record(one, other)
    assert (tmp_path / table_schema.FILE).read_text() == (folder / table_schema.FILE).read_text()


def test_the_first_migrations_are_those_that_were_released():
    for migrations in (TODO, FRAMEWORK, AUDIT):
        first = migrations.folder / f"{migrations.names[0]}.py"
        assert sha256(first.read_bytes()).hexdigest() == RELEASED[first.stem]


async def test_an_edited_migration_is_not_recorded(tmp_path):
    for file in TODO.folder.glob("*.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "0001_tasks.py").open("a") as file:
        file.write("# a thought\n")
    with pytest.raises(ValueError, match="0001_tasks: edited after release"):
        await Migrations("todo", tmp_path).record()


async def test_the_tables_of_recent_calls_are_as_recorded(db_url):
    if db_url.startswith("sqlite"):
        db_url = "sqlite://"
    async with open_call_database(db_url) as database:
        made = await database.write(make_schema)
    assert made == table_schema.expected_lines(CALLS, postgres=db_url.startswith("postgres"))


# ---- what is not expected does not start ---------------------------------------------------------

CHANGES = {
    "ALTER TABLE todo_tasks DROP COLUMN description": "missing: column todo_tasks.description text",
    "ALTER TABLE todo_tasks ADD COLUMN due TEXT": "not expected: column todo_tasks.due text",
    "DROP INDEX todo_tasks_by_status": "missing: index",
    "CREATE UNIQUE INDEX extra ON todo_tasks (user_id)": "not expected:",
    "DROP TABLE todo_tasks": "missing: column todo_tasks.created_at",
}
TRIGGERS = {
    "sqlite": ("CREATE TRIGGER gone AFTER INSERT ON todo_tasks BEGIN DELETE FROM todo_tasks; END",),
    "postgresql": (
        "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER gone BEFORE INSERT ON todo_tasks FOR EACH ROW EXECUTE FUNCTION nothing()",
    ),
}


@pytest.mark.requirement("FAR-4")
async def test_a_changed_schema_does_not_start_and_the_error_names_the_change(db_url):
    async with open_database(address(db_url, "todo")) as database:
        await TODO.apply(database)
        kind = db_url.partition(":")[0]
        for statements, named in [
            *(((change,), named) for change, named in CHANGES.items()),
            (TRIGGERS[kind], "not expected: trigger CREATE TRIGGER gone"),
        ]:
            async with database.transaction(lambda _: None):
                for statement in statements:
                    await database.write(lambda c, sql=statement: c.exec_driver_sql(sql))
                with pytest.raises(CannotStart) as refused:
                    await TODO.apply(database)
            words = str(refused.value)
            assert words.startswith(
                "The tables of todo, at '0002_tasks_by_status', written by toolcharter 0.1.0, are not as this version "
                f"expects ('0002_tasks_by_status'): {named}"
            )
            assert "Nothing was changed. Start the version that wrote them, or restore a copy" in words
        await TODO.apply(database)


async def test_other_tables_of_a_database_may_be_anything(db_url):
    async with open_database(address(db_url, "todo")) as database:
        await database.write(lambda c: c.exec_driver_sql("CREATE TABLE mine (n INTEGER)"))
        await TODO.apply(database)
        await database.write(lambda c: c.exec_driver_sql("DROP TABLE mine"))
        await TODO.apply(database)


async def test_tables_of_somebody_else_with_the_same_name_are_refused(db_url):
    async with open_database(address(db_url, "todo")) as database:
        await database.write(lambda c: c.exec_driver_sql("CREATE TABLE todo_tasks (n INTEGER)"))
        with pytest.raises(CannotStart, match="The tables of todo, without a version, are not as this version expects"):
            await TODO.apply(database)
        assert await database.read(lambda c: sorted(sa.inspect(c).get_table_names())) == ["todo_tasks"]


# ---- every schema that was released is upgraded --------------------------------------------------


def load(name: str, file: Path) -> dict[str, list[tuple[object, ...]]]:
    """Make the file that an earlier version made. Returns its rows, by table."""
    with sqlite3.connect(file) as connection:
        connection.executescript((FILLED / f"{name}.sql").read_text())
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names if "_" in name}


@pytest.mark.requirement("FAR-4")
@pytest.mark.parametrize(
    ("name", "migrations"), [("todo-1", TODO), ("idempotency-1", FRAMEWORK), ("audit-1", AUDIT)], ids=str
)
async def test_a_filled_file_of_each_released_schema_is_upgraded_without_loss(name, migrations, tmp_path):
    before = load(name, file := tmp_path / "x.db")
    async with open_database(address(f"sqlite:///{file}", "x")) as database:
        await migrations.apply(database)
        assert not (await migrations.state(database)).difference
        for table, kept in before.items():
            if not table.endswith("_version"):
                assert await database.read(rows, table) == kept


@pytest.mark.requirement("FAR-4")
@pytest.mark.parametrize("name", ["calls-1", "calls-2"])
async def test_recent_calls_of_each_released_schema_can_be_read(name, tmp_path):
    load(name, tmp_path / "calls.db")
    store = await CallStore.open(f"sqlite:///{tmp_path}/todo.db", RetentionLimits(60, 10_000))
    assert await store.last_id() == 7
    await store.close()


async def test_postgresql_is_upgraded_without_loss_from_each_migration(postgres_url, tmp_path):
    """The files of PostgreSQL are made by the migrations, which are append-only."""
    (tmp_path / "0001_tasks.py").write_bytes((TODO.folder / "0001_tasks.py").read_bytes())
    insert = "INSERT INTO todo_tasks VALUES (gen_random_uuid(), 'ana', 'Buy milk', NULL, false, now())"
    async with open_database(address(postgres_url, "todo")) as database:
        await Migrations("todo", tmp_path).apply(database)
        await database.write(lambda c: c.exec_driver_sql(insert))
        before = await database.read(rows, "todo_tasks")
        await TODO.apply(database)
        assert await database.read(rows, "todo_tasks") == before


EARLIER = """
from mcp_core.db.migrations import EarlierSchema

def upgrade(connection):
    connection.exec_driver_sql("ALTER TABLE a_things RENAME COLUMN nr TO n")

EARLIER = {{{digest!r}: EarlierSchema("toolcharter of 17 November 2026", "0001_things", upgrade)}}
"""
STEP = """
from alembic import op
revision, down_revision = {name!r}, {before!r}
def upgrade():
    op.execute({sql!r})
"""


@pytest.mark.requirement("FAR-4")
async def test_a_schema_that_was_released_without_a_migration_waits_for_an_upgrade_that_is_asked_for(db_url, tmp_path):
    first = STEP.format(name="0001_things", before=None, sql="CREATE TABLE a_things (n INTEGER)")
    second = STEP.format(name="0002_more", before="0001_things", sql="CREATE INDEX a_by_n ON a_things (n)")
    (tmp_path / "0001_things.py").write_text(first.replace("(n ", "(nr "))
    migrations = Migrations("a", tmp_path)
    async with open_database(address(db_url, "a")) as database:
        await migrations.apply(database)
        await database.write(lambda c: c.exec_driver_sql("INSERT INTO a_things VALUES (5)"))

        (tmp_path / "0001_things.py").write_text(first)
        (tmp_path / "0002_more.py").write_text(second)
        migrations = Migrations("a", tmp_path)
        async with open_database(address("sqlite://", "a")) as scratch:
            await migrations.record(scratch)
        if db_url.startswith("postgres"):
            schema = (tmp_path / table_schema.FILE).read_text()
            lines = (
                '"postgresql": ["column a_things.n integer", "index CREATE INDEX a_by_n ON a_things USING btree (n)"]'
            )
            (tmp_path / table_schema.FILE).write_text(re.sub(r'"sqlite": \[[^]]*\]', lines, schema))
        state = await migrations.state(database)
        (tmp_path / "__init__.py").write_text(EARLIER.format(digest=table_schema.digest(state.lines)))

        with pytest.raises(CannotStart) as refused:
            await migrations.apply(database)
        assert str(refused.value) == (
            "The tables of a were made by toolcharter of 17 November 2026; this version does not start with them "
            "as they are. Run `toolcharter db upgrade a` with the same --db; it makes a copy."
        )
        await migrations.upgrade(database)
        await migrations.apply(database)
        assert await database.read(rows, "a_things") == [(5,)]
        assert await database.read(rows, "a_version") == [("0002_more", "toolcharter 0.1.0")]


async def test_recent_calls_in_tables_of_another_schema_are_not_kept_and_the_error_says_what_to_do(db_url):
    async with open_call_database(db_url) as database:
        await database.write(make_schema)
        await database.write(lambda session: session.run("ALTER TABLE toolcharter_calls ADD COLUMN later TEXT"))
    store = await CallStore.open(db_url, RetentionLimits(60, 10_000))
    with pytest.raises(Unavailable) as refused:
        await store.last_id()
    await store.close()
    assert str(refused.value) == (
        "its tables are not as this version expects: not expected: column toolcharter_calls.later text. They hold "
        "recent calls only: drop toolcharter_calls and toolcharter_call_counts, or start the version that made them."
    )
