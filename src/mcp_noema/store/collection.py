"""Opens the collection: all repositories over one database."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp_noema.model import Dice
from mcp_noema.repositories import AnkiPackages, Cards, Collection, Decks, Notes, Reviews, Scheduling, Statistics, Users
from mcp_noema.store.anki_packages import SqlAnkiPackages
from mcp_noema.store.cards import SqlCards
from mcp_noema.store.decks import SqlDecks
from mcp_noema.store.notes import SqlNotes
from mcp_noema.store.reviews import SqlReviews
from mcp_noema.store.scheduling import SqlScheduling
from mcp_noema.store.statistics import SqlStatistics
from mcp_noema.store.users import SqlUsers
from toolcharter.db import Migrations, address, open_database

MIGRATIONS = Migrations("noema", Path(__file__).parent.parent / "migrations")


@asynccontextmanager
async def open_collection(url: str | None, dice: Dice | None) -> AsyncGenerator[Collection]:
    """Open the database at that URL, migrated to the newest schema."""
    async with open_database(address(url, "noema")) as database:
        await MIGRATIONS.apply(database)
        repositories: dict[type[Any], Any] = {
            Decks: SqlDecks(database),
            Notes: SqlNotes(database),
            Cards: SqlCards(database),
            Reviews: SqlReviews(database, dice),
            Statistics: SqlStatistics(database),
            Scheduling: SqlScheduling(database, dice),
            Users: SqlUsers(database),
            AnkiPackages: SqlAnkiPackages(database),
        }
        yield Collection(database, repositories)
