"""The data that the examples of the tools refer to."""

from dataclasses import replace
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.model import CardId, ClockAndRandom, DeckId
from mcp_noema.records import NewReview, NoteDraft
from mcp_noema.store import Store, users
from mcp_noema.store.tables import reviews
from mcp_noema.tools.vocabulary import LOCAL
from toolcharter import App
from toolcharter.files import Folder


async def create_example_data(app: App) -> None:
    """Create a deck inside another (deck_1, deck_2) with three cards (card_1 to card_3), of which card_3 is answered.

    The inner deck is exported to french.apkg. It is noon, so that no step of ten minutes ends on another day.
    """
    clock = _at_noon(app.provided(ClockAndRandom))
    app.provide(ClockAndRandom, clock)
    now, store = clock.now(), app.provided(Store)
    await store.write(store.decks.add, LOCAL, "Languages::French", "", now)
    drafts = [
        NoteDraft("basic-reversed", ("the cheese", "le fromage"), ("food",)),
        NoteDraft("basic", ("the dog", "le chien")),
    ]
    await store.write(store.notes.add, LOCAL, DeckId("deck_2"), drafts, now, duplicates=False)
    await store.write(store.reviews.record, LOCAL, NewReview(CardId("card_3"), 3, 4_000), now, clock.dice)
    await store.write(_insert_old_reviews, now)
    folder = app.provided(Folder)
    folder.use_temporary_folder()
    file = folder.file_to_write("french.apkg", ".apkg")
    await store.anki_packages.export_file(
        store.database,
        LOCAL,
        file,
        DeckId("deck_2"),
        now,
        report_progress=_ignore_progress,
        scheduling=True,
        overwrite=False,
    )


def _at_noon(clock: ClockAndRandom) -> ClockAndRandom:
    started = clock.now()
    difference = started.replace(hour=12, minute=0) - started
    return replace(clock, now=lambda: clock.now() + difference)


async def _ignore_progress(_done: int, _total: int, _message: str) -> None: ...


def _insert_old_reviews(connection: Connection, now: datetime) -> None:
    """A year of reviews of deleted cards: enough to fit FSRS to."""
    start, user_id = now - timedelta(days=365), users.get(connection, LOCAL).id
    common = {"user_id": user_id, "duration_ms": 3_000, "interval_s": 0, "last_interval_s": 0}
    rows = [
        {
            "card_id": 1_000_000 + card,
            "rating": 1 if day and (card + day) % 6 == 0 else 3,
            "reviewed_at": start + timedelta(days=day, minutes=card),
            "state": 2 if day else 0,
            **common,
        }
        for card in range(25)
        for day in (0, 2, 8, 30)
    ]
    connection.execute(sa.insert(reviews), rows)
