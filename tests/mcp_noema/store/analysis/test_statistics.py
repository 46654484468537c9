"""How the statistics read the log: not once for each day."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from mcp_core.db import address, open_database
from mcp_noema.model import DeckId
from mcp_noema.store.analysis import statistics
from mcp_noema.store.decks import create_missing
from mcp_noema.store.users import lock
from tests.mcp_noema.learner import MONDAY


async def test_the_progress_of_a_deck_lists_its_cards_for_no_day(sqlite_collection: Path):
    """A list of all cards of the deck for each of 150 days took 17 s in a collection of 200,000 cards."""
    statements: list[tuple[str, Any]] = []

    def progress(connection: sa.Connection) -> list[str]:
        user = lock(connection, "ana", MONDAY)
        create_missing(connection, user.id, ["French"], MONDAY)
        sa.event.listen(connection, "before_cursor_execute", lambda *args: statements.append((args[2], args[3])))
        now = MONDAY + timedelta(days=90)
        statistics.progress(connection, "ana", DeckId("deck_1"), now, days=366, forecast_days=30)
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values).all() for sql, values in [*statements]]
        connection.rollback()
        return [row.detail for plan in plans for row in plan]

    async with open_database(address(f"sqlite:///{sqlite_collection}", "noema")) as database:
        details = await database.write(progress)
    assert any("noema_reviews_by_time" in detail for detail in details)
    assert [detail for detail in details if "LIST SUBQUERY" in detail] == []
