"""The steps that lead from an empty database to the newest tables of a server, kept by Alembic."""

import importlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from mcp_core.db.database import Database
from mcp_core.errors import CannotStart, Unavailable


@dataclass(frozen=True)
class Migrations:
    """A folder with one file a step, `0001_tasks.py` and so on, and the table that remembers which were taken.

    Each server has its own, so that several can share one database.
    """

    server: str
    folder: Path

    @cached_property
    def known(self) -> list[str]:
        """The names of all steps, in order."""
        return sorted(file.stem for file in self.folder.glob("[0-9]*.py"))

    @property
    def table(self) -> str:
        """Where the last step taken stands."""
        return f"{self.server}_version"

    async def apply(self, database: Database) -> None:
        """Bring a database to the newest step. Two processes that start at once do not get in each other's way."""
        try:
            if await database.read(self._current) != self.known[-1]:
                await database.write(self._upgrade)
        except (Unavailable, DBAPIError) as error:
            raise CannotStart(
                f"{database.where} cannot be opened: {_reason(error)}. Choose another with --db."
            ) from error

    def _current(self, connection: Connection) -> str | None:
        if not inspect(connection).has_table(self.table):
            return None
        return connection.execute(text(f"SELECT version_num FROM {self.table}")).scalar()  # noqa: S608 - our own name

    def _upgrade(self, connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": self.table})
        current = self._current(connection)
        if current is not None and current not in self.known:
            newest = self.known[-1]
            raise CannotStart(
                f"The database is at {current!r}, newer than this server, which knows {newest!r}. Update it."
            )
        # Loaded only where there is something to do: Alembic costs 0.4 s.
        command: Any = importlib.import_module("alembic.command")
        config: Any = importlib.import_module("alembic.config").Config()
        for option, folder in (("script_location", Path(__file__).parent), ("version_locations", self.folder)):
            # A percent sign begins a placeholder in these files.
            config.set_main_option(option, str(folder).replace("%", "%%"))
        config.set_main_option("path_separator", "newline")
        config.attributes.update(connection=connection, table=self.table)
        command.upgrade(config, "head")


def _reason(error: BaseException) -> str:
    """What the driver says, without SQLAlchemy's frame around it."""
    cause = error.__cause__ or error
    words = str(getattr(cause, "orig", None) or cause)
    return re.sub(r"^<class '[^']*'>: ", "", words.splitlines()[0] if words else type(cause).__name__).rstrip(".")
