"""Opens the database of the server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from toolcharter.db import Database, Migrations, address, open_database

MIGRATIONS = Migrations("noema", Path(__file__).parent.parent / "migrations")


@asynccontextmanager
async def open_migrated(url: str | None) -> AsyncGenerator[Database]:
    """The database at that URL, migrated to the newest schema."""
    async with open_database(address(url, "noema")) as database:
        await MIGRATIONS.apply(database)
        yield database
