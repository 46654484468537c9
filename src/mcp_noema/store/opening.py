"""The collection opened: all that tools need, over one database."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp_core.db import Database, Migrations, address, open_database
from mcp_noema.repositories import Cards, Decks, Notes, Packages, People, Scheduling, Statistics, Studies
from mcp_noema.store.cards import SqlCards
from mcp_noema.store.decks import SqlDecks
from mcp_noema.store.notes import SqlNotes
from mcp_noema.store.packages import SqlPackages
from mcp_noema.store.people import SqlPeople
from mcp_noema.store.scheduling import SqlScheduling
from mcp_noema.store.statistics import SqlStatistics
from mcp_noema.store.studies import SqlStudies

MIGRATIONS = Migrations("noema", Path(__file__).parent.parent / "migrations")


@asynccontextmanager
async def open_store(url: str | None) -> AsyncGenerator[dict[type[Any], Any]]:
    """What `app.provide` takes, by type, from the database of that URL, brought to the newest schema."""
    async with open_database(address(url, "noema")) as database:
        await MIGRATIONS.apply(database)
        yield kept_in(database)


def kept_in(database: Database) -> dict[type[Any], Any]:
    """Everything that is kept in a database, by the type that tools ask for, and the database itself."""
    return {
        Database: database,
        Decks: SqlDecks(database),
        Notes: SqlNotes(database),
        Cards: SqlCards(database),
        Studies: SqlStudies(database),
        Statistics: SqlStatistics(database),
        Scheduling: SqlScheduling(database),
        People: SqlPeople(database),
        Packages: SqlPackages(database),
    }
