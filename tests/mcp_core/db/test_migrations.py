"""From an empty database to the newest tables, on real databases of both kinds."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

from mcp_core.db import Migrations, address, migrations, open_database
from mcp_core.process.start_errors import CannotStart
from mcp_todo import store

STEP = """
from alembic import op
revision, down_revision = {name!r}, {before!r}
def upgrade():
    op.execute({sql!r})
    {then}
"""


def write_steps(folder: Path, *steps: str, then: str = "pass") -> Path:
    """A folder with one migration for each piece of SQL. `then` stands at the end of the last."""
    folder.mkdir(exist_ok=True)
    names: list[Any] = [None, *(f"{number:04}_step" for number in range(1, len(steps) + 1))]
    for number, sql in enumerate(steps, start=1):
        last = then if number == len(steps) else "pass"
        text = STEP.format(name=names[number], before=names[number - 1], sql=sql, then=last)
        (folder / f"{names[number]}.py").write_text(text)
    return folder


def tables(connection: sa.Connection) -> list[str]:
    return sorted(sa.inspect(connection).get_table_names())


def version(connection: sa.Connection, table: str) -> list[str]:
    return list(connection.exec_driver_sql(f"SELECT version_num FROM {table}").scalars())


@pytest.mark.requirement("TOD-6")
async def test_an_empty_database_gets_the_tables_that_the_store_reads(db_url):
    async with open_database(address(db_url, "todo")) as database:
        await store.MIGRATIONS.apply(database)
        assert await database.read(tables) == ["todo_tasks", "todo_version"]
        assert await database.read(version, "todo_version") == [store.MIGRATIONS.names[-1]]
        made = await database.read(lambda c: (sa.inspect(c).get_columns("todo_tasks"), c.dialect))
    columns, dialect = made
    migrated = {column["name"]: column["type"].compile(dialect) for column in columns}
    assert list(migrated) == [column.name for column in store.tasks.c]
    # What is written as a UUID, a text or a moment is kept in a column for just that.
    wide = {"user_id": "VARCHAR(255)", "title": "VARCHAR(255)"}
    assert migrated == {c.name: wide.get(c.name) or c.type.compile(dialect) for c in store.tasks.c}


async def test_applying_them_again_changes_nothing(db_url):
    async with open_database(address(db_url, "todo")) as database:
        await store.MIGRATIONS.apply(database)
        await database.write(lambda c: c.exec_driver_sql("CREATE TABLE mine (n INTEGER)"))
        await store.MIGRATIONS.apply(database)
        assert await database.read(tables) == ["mine", "todo_tasks", "todo_version"]


START = """
import asyncio, sys
from mcp_todo.store import open_repository

async def main():
    async with open_repository(sys.argv[1]):
        print("alembic" in sys.modules)

sys.stdin.readline()
asyncio.run(main())
"""


def starting(db_url: str) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", START, db_url], **pipes)


def test_two_that_start_at_once_both_start_and_the_next_one_does_not_load_alembic(db_url):
    both = [starting(db_url), starting(db_url)]
    for one in both:
        one.stdin.write("go\n")
        one.stdin.flush()
    ended = [one.communicate(timeout=60) for one in both]
    assert [(errors, one.returncode) for one, (_, errors) in zip(both, ended, strict=True)] == [("", 0)] * 2
    assert "True\n" in [output for output, _ in ended]
    assert starting(db_url).communicate("go\n", timeout=60) == ("False\n", "")


async def test_two_that_both_find_nothing_take_the_steps_one_after_the_other(db_url):
    async with open_database(address(db_url, "todo")) as one, open_database(address(db_url, "todo")) as other:
        assert await one.read(tables) == await other.read(tables) == []
        # Both look before either writes: neither of them waits for anything until then.
        await asyncio.gather(store.MIGRATIONS.apply(one), store.MIGRATIONS.apply(other))
        assert await one.read(version, "todo_version") == [store.MIGRATIONS.names[-1]]


async def test_further_steps_are_taken_from_where_the_database_stands(db_url, tmp_path):
    first, second = "CREATE TABLE one (n INTEGER)", "CREATE TABLE two (n INTEGER)"
    async with open_database(address(db_url, "a")) as database:
        await Migrations("a", write_steps(tmp_path / "v1", first)).apply(database)
        assert await database.read(tables) == ["a_version", "one"]
        await Migrations("a", write_steps(tmp_path / "v2", first, second)).apply(database)
        assert await database.read(tables) == ["a_version", "one", "two"]


async def test_a_migration_that_fails_rolls_back_those_before_it(db_url, tmp_path):
    steps = write_steps(tmp_path / "a", "CREATE TABLE one (n INTEGER)", "CREATE TABLE two (n INTEGER)", then="1 / 0")
    async with open_database(address(db_url, "a")) as database:
        with pytest.raises(ZeroDivisionError):
            await Migrations("a", steps).apply(database)
        assert await database.read(tables) == []


async def test_a_migration_that_the_database_refuses_is_reported_with_its_message(db_url, tmp_path):
    steps = Migrations("a", write_steps(tmp_path / "a", "CREATE TABEL one (n INTEGER)"))
    async with open_database(address(db_url, "a")) as database:
        with pytest.raises(CannotStart) as refused:
            await steps.apply(database)
        words = str(refused.value)
    assert words.startswith(f"{database.location} cannot be opened: ")
    assert "syntax error" in words
    assert words.endswith(". Choose another with --db.")


async def test_a_database_that_does_not_exist_is_reported_without_the_password(postgres_server):
    url = postgres_server.url("nowhere").replace("postgres:@", "postgres:secret@")
    async with open_database(address(url, "todo")) as database:
        with pytest.raises(CannotStart) as refused:
            await store.MIGRATIONS.apply(database)
    where = url.replace("secret", "***")
    assert (
        str(refused.value) == f'{where} cannot be opened: database "nowhere" does not exist. Choose another with --db.'
    )


async def test_a_file_that_is_not_a_database_is_reported(tmp_path):
    (tmp_path / "todo.db").write_text("Dear diary, this is no database, however long I write. " * 20)
    async with open_database(address(f"sqlite:///{tmp_path / 'todo.db'}", "todo")) as database:
        with pytest.raises(CannotStart) as refused:
            await store.MIGRATIONS.apply(database)
    where = f"sqlite:///{tmp_path / 'todo.db'}"
    assert str(refused.value) == f"{where} cannot be opened: file is not a database. Choose another with --db."


async def test_a_database_newer_than_the_program_is_refused_and_left_alone(db_url):
    async with open_database(address(db_url, "todo")) as database:
        await store.MIGRATIONS.apply(database)
        await database.write(lambda c: c.exec_driver_sql("UPDATE todo_version SET version_num = '9999_later'"))
        with pytest.raises(CannotStart) as refused:
            await store.MIGRATIONS.apply(database)
        assert await database.read(version, "todo_version") == ["9999_later"]
    newest = store.MIGRATIONS.names[-1]
    assert str(refused.value) == (
        "The database is at '9999_later', written by toolcharter 0.1.0, which is newer than this server knows "
        f"({newest!r}). Update the server."
    )


async def test_several_servers_share_one_database(db_url, tmp_path):
    one = Migrations("one", write_steps(tmp_path / "one", "CREATE TABLE one_things (n INTEGER)"))
    two = Migrations("two", write_steps(tmp_path / "two 100%", "CREATE TABLE two_things (n INTEGER)", "SELECT 1"))
    async with open_database(address(db_url, "one")) as database:
        await one.apply(database)
        await two.apply(database)
        assert await database.read(tables) == ["one_things", "one_version", "two_things", "two_version"]
        assert await database.read(version, "one_version") == ["0001_step"]
        assert await database.read(version, "two_version") == ["0002_step"]


def test_the_newest_step_by_its_file_is_the_newest_by_alembic():
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("version_locations", str(store.MIGRATIONS.folder))
    config.set_main_option("path_separator", "newline")
    steps = ScriptDirectory.from_config(config)
    assert steps.get_heads() == [store.MIGRATIONS.names[-1]]
    assert [step.revision for step in steps.walk_revisions()][::-1] == store.MIGRATIONS.names
