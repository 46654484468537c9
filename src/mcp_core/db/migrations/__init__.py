"""Brings a server's tables from an empty database to the newest schema, with Alembic."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from mcp_core.db.database import Database
from mcp_core.errors import Unavailable
from mcp_core.process.start_errors import CannotStart


@dataclass(frozen=True)
class Migrations:
    """A server's migrations: a folder with one file each, `0001_tasks.py` and so on.

    Each server has its own version table, so that several can share one database.
    """

    server: str
    folder: Path

    @cached_property
    def names(self) -> list[str]:
        """The names of all migrations, in order."""
        return sorted(file.stem for file in self.folder.glob("[0-9]*.py"))

    @property
    def version_table(self) -> str:
        """The table that holds the name of the last migration applied."""
        return f"{self.server}_version"

    async def apply(self, database: Database) -> None:
        """Bring a database to the newest schema. Two processes may do so at the same time."""
        try:
            if await database.read(self._current) != self.names[-1]:
                await database.write(self._upgrade)
        except (Unavailable, DBAPIError) as error:
            raise CannotStart(
                f"{database.location} cannot be opened: {_reason(error)}. Choose another with --db."
            ) from error

    def _current(self, connection: Connection) -> str | None:
        if not inspect(connection).has_table(self.version_table):
            return None
        query = text(f"SELECT version_num FROM {self.version_table}")  # noqa: S608 - our own name
        return connection.execute(query).scalar()

    def _upgrade(self, connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": self.version_table})
        current = self._current(connection)
        if current is not None and current not in self.names:
            raise CannotStart(
                f"The database is at {current!r}, which is newer than this server knows ({self.names[-1]!r}). "
                "Update the server."
            )
        from alembic import command  # noqa: PLC0415 - 100 ms, and a database is up to date at most starts
        from alembic.config import Config  # noqa: PLC0415 - as above

        config = Config()
        for option, folder in (("script_location", Path(__file__).parent), ("version_locations", self.folder)):
            # A percent sign begins a placeholder in these options.
            config.set_main_option(option, str(folder).replace("%", "%%"))
        config.set_main_option("path_separator", "newline")
        config.attributes.update(connection=connection, table=self.version_table)
        command.upgrade(config, "head")


def _reason(error: BaseException) -> str:
    """The driver's message, without what SQLAlchemy adds to it."""
    cause = error.__cause__ or error
    message = str(getattr(cause, "orig", None) or cause)
    return re.sub(r"^<class '[^']*'>: ", "", message.splitlines()[0] if message else type(cause).__name__).rstrip(".")
