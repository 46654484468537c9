"""The decks, notes, cards and reviews in SQL, as plain functions over a connection.

`owner` is the name of the user whose collection is used. What does not exist, or belongs to someone else, is NotFound.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcharter.db import Database


class Store:
    """The open database, and the SQL for it by subject: `await store.read(store.decks.get, owner, deck_id, now)`."""

    def __init__(self, database: "Database") -> None:
        # 211 ms, most of it SQLAlchemy
        from mcp_noema.store import cards, decks, notes, users  # noqa: PLC0415 - as above
        from mcp_noema.store.analysis import review_history, scheduling, statistics  # noqa: PLC0415 - as above
        from mcp_noema.store.anki import anki_packages  # noqa: PLC0415 - as above
        from mcp_noema.store.study import custom_queue, reviews, study_queue  # noqa: PLC0415 - as above

        self.database, self.read, self.write = database, database.read, database.write
        self.anki_packages, self.cards, self.decks, self.notes = anki_packages, cards, decks, notes
        self.review_history, self.reviews, self.study_queue = review_history, reviews, study_queue
        self.custom_queue = custom_queue
        self.scheduling, self.statistics, self.users = scheduling, statistics, users
