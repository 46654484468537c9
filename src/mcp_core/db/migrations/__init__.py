"""Brings a server's tables from an empty database to the newest schema, with Alembic, and sees that they have it.

A folder of migrations has these files:

    0001_tasks.py    one migration each, never edited after it was released
    schema.json      the hash of each migration, and the schema that all of them make; written by `record`
    __init__.py      where needed: EARLIER, schemas that were released without a migration, by their digest
"""

import json
import re
import runpy
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from mcp_core.db.database import Database
from mcp_core.errors import Unavailable
from mcp_core.files import table_schema
from mcp_core.process.start_errors import CannotStart

WRITER_COLUMN = "written_by"
"""The column beside Alembic's: which version of the program brought the tables to this schema."""
EARLIER_FILE = "__init__.py"


class EarlierSchema(NamedTuple):
    """A schema that a released version made without a migration of its own."""

    written_by: str
    """For people: the version, or when it was made."""
    migration: str
    """The migration whose schema the tables have after `upgrade`. Those after it are then applied."""
    upgrade: Callable[[Connection], None]


class SchemaState(NamedTuple):
    """A database as it was found."""

    migration: str | None
    """The last migration applied; None if there are no tables yet."""
    writer: str | None
    lines: list[str]
    """The schema, as far as the program knows its tables."""
    expected: list[str] | None
    """None if the folder has no expected schema for this kind of database."""

    @property
    def difference(self) -> str:
        """How the schema differs from the expected one. Empty if it does not."""
        return "" if self.expected is None else table_schema.differences(self.expected, self.lines)


@dataclass(frozen=True)
class Migrations:
    """A server's migrations: a folder with one file each, `0001_tasks.py` and so on.

    Each server has its own version table, so that several can share one database.
    """

    server: str
    folder: Path
    option: str = "--db"
    """The option that names the database."""

    @cached_property
    def names(self) -> list[str]:
        """The names of all migrations, in order."""
        return sorted(file.stem for file in self.folder.glob("[0-9]*.py"))

    @property
    def version_table(self) -> str:
        """The table that holds the name of the last migration applied."""
        return f"{self.server}_version"

    async def apply(self, database: Database) -> None:
        """Bring a database to the newest schema. Two processes may do so at the same time.

        A database with a schema that is not the expected one is refused, and left as it is.
        """
        await self._run(database, self._upgrade)

    async def upgrade(self, database: Database) -> None:
        """The same, also for a schema that a released version made in another way."""
        await self._run(database, partial(self._upgrade, earlier=True))

    async def state(self, database: Database) -> SchemaState:
        """The schema of a database. Raises CannotStart if it cannot be opened."""
        with _opening(database, self.option):
            return await database.read(self._state)

    async def _run(self, database: Database, upgrade: Callable[[Connection], None]) -> None:
        with _opening(database, self.option):
            state = await database.read(self._state)
            if state.migration != self.names[-1] or state.difference:
                await database.write(upgrade)

    def _state(self, connection: Connection) -> SchemaState:
        expected = table_schema.expected_lines(self.folder, postgres=_is_postgres(connection))
        lines = _read_lines(connection, table_schema.tables_of(expected or ()))
        if not inspect(connection).has_table(self.version_table):
            return SchemaState(None, None, lines, expected)
        # Each column by its name: PostgreSQL refuses a prepared `SELECT *` after a column was added.
        version_lines = _read_lines(connection, {self.version_table})
        signed = any(line.startswith(f"column {self.version_table}.{WRITER_COLUMN} ") for line in version_lines)
        names = f"version_num, {WRITER_COLUMN}" if signed else "version_num"
        row = connection.execute(text(f"SELECT {names} FROM {self.version_table}")).mappings().first()  # noqa: S608 - our own names
        version: dict[str, Any] = {} if row is None else {**row}
        return SchemaState(version.get("version_num"), version.get(WRITER_COLUMN), lines, expected)

    def _upgrade(self, connection: Connection, *, earlier: bool = False) -> None:
        if _is_postgres(connection):
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": self.version_table})
        state = self._state(connection)
        made = self.earlier(state)
        if (refusal := self.refusal(state)) is not None and not (earlier and made):
            raise CannotStart(refusal)
        if made is not None:
            made.upgrade(connection)
            self._alembic(connection, "stamp", made.migration)
        elif state.migration is None and state.lines:
            # Tables as expected, from before they had a version.
            self._alembic(connection, "stamp", "head")
        self._alembic(connection, "upgrade", "head")
        self._sign(connection)
        if (ended := self._state(connection)).difference:
            raise CannotStart(self._different(ended))

    def earlier(self, state: SchemaState) -> EarlierSchema | None:
        """The released version that made a schema in another way, if one did."""
        if not state.lines or not (self.folder / EARLIER_FILE).exists():
            return None
        known: Mapping[str, EarlierSchema] = runpy.run_path(str(self.folder / EARLIER_FILE)).get("EARLIER", {})
        return known.get(table_schema.digest(state.lines))

    def refusal(self, state: SchemaState) -> str | None:
        """Why no server starts with a database, and what to do. None if one does."""
        if state.migration is not None and state.migration not in self.names:
            return (
                f"The database is at {state.migration!r}{_written_by(state.writer)}, which is newer than this server "
                f"knows ({self.names[-1]!r}). Update the server."
            )
        if (made := self.earlier(state)) is not None:
            return (
                f"The tables of {self.server} were made by {made.written_by}; this version does not start with them as "
                f"they are. Run `toolcharter db upgrade {self.server}` with the same {self.option}; it makes a copy."
            )
        was_made = bool(state.lines) if state.migration is None else state.migration == self.names[-1]
        return self._different(state) if was_made and state.difference else None

    def _different(self, state: SchemaState) -> str:
        at = f"at {state.migration!r}" if state.migration else "without a version"
        return (
            f"The tables of {self.server}, {at}{_written_by(state.writer)}, are not as this version expects "
            f"({self.names[-1]!r}): {state.difference}. Nothing was changed. Start the version that wrote them, or "
            "restore a copy; `toolcharter db check` compares again."
        )

    def _alembic(self, connection: Connection, verb: Literal["stamp", "upgrade"], migration: str) -> None:
        from alembic import command  # noqa: PLC0415 - 100 ms, and a database is up to date at most starts
        from alembic.config import Config  # noqa: PLC0415 - as above

        config = Config()
        for option, folder in (("script_location", Path(__file__).parent), ("version_locations", self.folder)):
            # A percent sign begins a placeholder in these options.
            config.set_main_option(option, str(folder).replace("%", "%%"))
        config.set_main_option("path_separator", "newline")
        config.attributes.update(connection=connection, table=self.version_table)
        getattr(command, verb)(config, migration)

    def _sign(self, connection: Connection) -> None:
        """Write down which version of the program made the schema."""
        from importlib.metadata import version  # noqa: PLC0415 - 20 ms, and a database is up to date at most starts

        columns = {column["name"] for column in inspect(connection).get_columns(self.version_table)}
        if WRITER_COLUMN not in columns:
            connection.execute(text(f"ALTER TABLE {self.version_table} ADD COLUMN {WRITER_COLUMN} VARCHAR(64)"))
        statement = text(f"UPDATE {self.version_table} SET {WRITER_COLUMN} = :writer")  # noqa: S608 - our own names
        connection.execute(statement, {"writer": f"toolcharter {version('toolcharter')}"})

    # --- the expected schema ---------------------------------------------------------------------------

    def hashes(self) -> dict[str, str]:
        """Each migration with the hash of its file."""
        return {name: sha256((self.folder / f"{name}.py").read_bytes()).hexdigest() for name in self.names}

    def recorded(self) -> dict[str, str]:
        """Each migration with the hash that was recorded of it."""
        file = self.folder / table_schema.FILE
        return json.loads(file.read_text(encoding="utf-8"))["migrations"] if file.exists() else {}

    async def record(self, *databases: Database) -> None:
        """Write the expected schema of the newest migration, from empty databases: one of each kind.

        Raises ValueError if a migration was edited after it was recorded.
        """
        hashes, recorded = self.hashes(), self.recorded()
        if edited := [name for name, known in recorded.items() if hashes.get(name) != known]:
            raise ValueError(f"{', '.join(edited)}: edited after release. Restore it, and add a migration instead.")
        schemas = dict([await self._made_in(database) for database in databases])
        table_schema.write(self.folder, {"migrations": hashes, **schemas})

    async def _made_in(self, database: Database) -> tuple[str, list[str]]:
        def make(connection: Connection) -> tuple[str, list[str]]:
            before = {*inspect(connection).get_table_names()}
            self._alembic(connection, "upgrade", "head")
            tables = {*inspect(connection).get_table_names()} - before - {self.version_table}
            kind, lines = connection.dialect.name, _read_lines(connection, tables)
            connection.rollback()
            return kind, lines

        return await database.write(make)


@contextmanager
def _opening(database: Database, option: str) -> Generator[None]:
    """Turn an error of the driver into one that a person can act on."""
    try:
        yield
    except (Unavailable, DBAPIError) as error:
        raise CannotStart(
            f"{database.location} cannot be opened: {_reason(error)}. Choose another with {option}."
        ) from error


def _is_postgres(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _read_lines(connection: Connection, tables: set[str]) -> list[str]:
    def rows(sql: str) -> Sequence[Sequence[object]]:
        return connection.exec_driver_sql(sql).all()

    return table_schema.read_lines(rows, tables, postgres=_is_postgres(connection))


def _written_by(writer: str | None) -> str:
    return f", written by {writer}" if writer else ""


def _reason(error: BaseException) -> str:
    """The driver's message, without what SQLAlchemy adds to it."""
    cause = error.__cause__ or error
    message = str(getattr(cause, "orig", None) or cause)
    return re.sub(r"^<class '[^']*'>: ", "", message.splitlines()[0] if message else type(cause).__name__).rstrip(".")


FRAMEWORK = Migrations("toolcharter", Path(__file__).parent / "versions")
"""The tables of the framework itself, in the database of any server."""
