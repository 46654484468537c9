import time
from datetime import UTC, datetime

from mcp_core.db import address, open_database
from mcp_noema.store import decks, users
from mcp_noema.store.opening import MIGRATIONS

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)


async def test_thousands_of_decks_are_listed_in_linear_time(db_url: str):
    async with open_database(address(db_url, "noema")) as database:
        await MIGRATIONS.apply(database)
        user = await database.write(users.lock, "ana", NOW)
        await database.write(decks.create_missing, user.id, [f"Top {n % 7}::Sub {n}" for n in range(3_000)], NOW)
        before = time.process_time()
        views = await database.read(decks.list_all, "ana", NOW)
        assert (len(views), time.process_time() - before < 2) == (3_007, True)
