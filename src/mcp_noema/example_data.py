"""What the examples of the tools speak of."""

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core import App
from mcp_core.db.database import Database
from mcp_noema.folder import Folder
from mcp_noema.model import CardId, DeckId, World
from mcp_noema.repositories import Decks, Draft, NewReview, Notes, Packages, Studies
from mcp_noema.store import people
from mcp_noema.store.tables import reviews
from mcp_noema.tools.vocabulary import LOCAL


async def put_in_place(app: App) -> None:
    """A deck inside another (deck_1, deck_2), with three cards (card_1 to card_3), the last of them answered once.

    The inner deck has been exported to french.apkg.
    """
    now = app.provided(World).now()
    await app.provided(Decks).add(LOCAL, "Languages::French", "", now)
    drafts = [Draft("basic-reversed", ("the cheese", "le fromage"), ("food",)), Draft("basic", ("the dog", "le chien"))]
    await app.provided(Notes).add(LOCAL, DeckId("deck_2"), drafts, now, duplicates=False)
    await app.provided(Studies).record(LOCAL, NewReview(CardId("card_3"), 3, 4_000), now, None)
    database: Database = app.provided(Database)
    await database.write(_log_of_last_year, now)
    folder, packages = app.provided(Folder), app.provided(Packages)
    folder.move_to_a_temporary_folder()
    file = folder.to_write("french.apkg", ".apkg")
    await packages.export_file(LOCAL, file, DeckId("deck_2"), now, _nobody_waits, scheduling=True, overwrite=False)


async def _nobody_waits(_done: int, _total: int, _words: str) -> None: ...


def _log_of_last_year(connection: Connection, now: datetime) -> None:
    """Answers to cards that were deleted since: enough of them to fit FSRS to."""
    begun, of_whom = now - timedelta(days=365), people.find(connection, LOCAL).id
    kept = {"user_id": of_whom, "duration_ms": 3_000, "interval_s": 0, "last_interval_s": 0}
    rows = [
        {
            "card_id": 1_000_000 + card,
            "rating": 1 if day and (card + day) % 6 == 0 else 3,
            "reviewed_at": begun + timedelta(days=day, minutes=card),
            "state": 2 if day else 0,
            **kept,
        }
        for card in range(25)
        for day in (0, 2, 8, 30)
    ]
    connection.execute(sa.insert(reviews), rows)
