"""The migrations, one file each, and the schemas that were made before the first one was final."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection

from mcp_noema.store import tags
from mcp_noema.store.tables import notes
from toolcharter.db import EarlierSchema

_FIRST = "0001_collection"
_TABLES = ("users", "decks", "note_types", "notes", "cards", "reviews", "anki_log", "undone")
"""A table comes after those that it refers to."""


def _upgrade(connection: Connection) -> None:
    """Make the tables again, with the rows that they have and an index of their tags."""
    inspector = sa.inspect(connection)
    names = [name for name in _TABLES if inspector.has_table(f"noema_{name}")]
    columns_before = {name: {one["name"] for one in inspector.get_columns(f"noema_{name}")} for name in names}
    last_ids = _last_ids(connection, names)
    for name in names:
        connection.execute(sa.text(f"CREATE TEMPORARY TABLE old_{name} AS SELECT * FROM noema_{name}"))  # noqa: S608 - our own names
    for name in reversed(names):
        connection.execute(sa.text(f"DROP TABLE noema_{name}"))
    with Operations.context(MigrationContext.configure(connection)):
        make_tables: Callable[[], None] = runpy.run_path(str(Path(__file__).parent / f"{_FIRST}.py"))["upgrade"]
        make_tables()
    after = sa.inspect(connection)
    for name in names:
        kept = [one["name"] for one in after.get_columns(f"noema_{name}") if one["name"] in columns_before[name]]
        columns = ", ".join(f'"{column}"' for column in kept)
        connection.execute(sa.text(f"INSERT INTO noema_{name} ({columns}) SELECT {columns} FROM old_{name}"))  # noqa: S608 - as above
        connection.execute(sa.text(f"DROP TABLE old_{name}"))
    _set_last_ids(connection, last_ids)
    _index_tags(connection)


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


def _last_ids(connection: Connection, names: list[str]) -> dict[str, int]:
    """The last id that was used in each table, also by rows that were deleted."""
    if _is_sqlite(connection):
        rows = connection.execute(sa.text("SELECT name, seq FROM sqlite_sequence WHERE name LIKE 'noema_%'"))
        return {row.name: row.seq for row in rows}
    last_ids: dict[str, int] = {}
    for table in (f"noema_{name}" for name in names if name not in ("anki_log", "undone")):
        row: Any = connection.execute(sa.text(f"SELECT last_value, is_called FROM {table}_id_seq")).one()  # noqa: S608 - as above
        last_ids[table] = row.last_value if row.is_called else 0
    return last_ids


def _set_last_ids(connection: Connection, last_ids: dict[str, int]) -> None:
    for table, number in last_ids.items():
        parameters = {"name": table, "number": number}
        if _is_sqlite(connection):
            connection.execute(sa.text("DELETE FROM sqlite_sequence WHERE name = :name"), parameters)
            connection.execute(sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :number)"), parameters)
        elif number:
            connection.execute(sa.text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :number)"), parameters)


def _index_tags(connection: Connection) -> None:
    by_user: dict[int, dict[int, str]] = {}
    tagged = sa.select(notes.c.user_id, notes.c.id, notes.c.tags).where(notes.c.tags != "")
    for user_id, note_id, text in connection.execute(tagged):
        by_user.setdefault(user_id, {})[note_id] = text
    for user_id, texts in by_user.items():
        tags.add(connection, user_id, texts)


def _made_on(day: str) -> EarlierSchema:
    return EarlierSchema(f"a version of {day}", _FIRST, _upgrade)


EARLIER = {
    **dict.fromkeys(("733d26b3139b", "6f20ff79b7cc", "f71e1c61a2e6"), _made_on("16 November 2026")),
    **dict.fromkeys(("ed8dc22db12c", "dc996a53069f", "24878713f944"), _made_on("16 November 2026")),
    **dict.fromkeys(("474c7792e96b", "c892d30438e8"), _made_on("17 November 2026")),
}
"""By the digest of the schema: in SQLite, then in PostgreSQL, for the last one both."""
