"""The tables, for queries. migrations/ creates them."""

import sqlalchemy as sa

from toolcharter.db import UtcTime

users = sa.table(
    "noema_users",
    sa.column("id", sa.BigInteger),
    sa.column("name", sa.String),
    sa.column("preferences", sa.JSON),
    sa.column("created_at", UtcTime),
)

decks = sa.table(
    "noema_decks",
    sa.column("id", sa.BigInteger),
    sa.column("user_id", sa.BigInteger),
    sa.column("name", sa.String),
    sa.column("name_key", sa.String),
    sa.column("description", sa.Text),
    sa.column("preset", sa.JSON),
    sa.column("created_at", UtcTime),
)
"""`name_key` is the case-folded name, unique for each user."""

note_types = sa.table(
    "noema_note_types",
    sa.column("id", sa.BigInteger),
    sa.column("user_id", sa.BigInteger),
    sa.column("name", sa.String),
    sa.column("is_cloze", sa.Boolean),
    sa.column("fields", sa.JSON),
    sa.column("templates", sa.JSON),
    sa.column("css", sa.Text),
)

notes = sa.table(
    "noema_notes",
    sa.column("id", sa.BigInteger),
    sa.column("user_id", sa.BigInteger),
    sa.column("type_id", sa.BigInteger),
    sa.column("field_values", sa.JSON),
    sa.column("tags", sa.Text),
    sa.column("guid", sa.String),
    sa.column("text", sa.Text),
    sa.column("first_key", sa.BigInteger),
    sa.column("created_at", UtcTime),
    sa.column("modified_at", UtcTime),
)
"""`tags` has a space before and after each tag. `text` is all fields as plain text in lower case, one a line, for
searching. `first_key` is a short hash of the first field, for finding duplicates."""

tags = sa.table(
    "noema_tags",
    sa.column("id", sa.BigInteger),
    sa.column("user_id", sa.BigInteger),
    sa.column("name", sa.Text),
)
"""The different tags of a user, also those that no note has any more."""

note_tags = sa.table(
    "noema_note_tags",
    sa.column("tag_id", sa.BigInteger),
    sa.column("note_id", sa.BigInteger),
)

cards = sa.table(
    "noema_cards",
    sa.column("id", sa.BigInteger),
    sa.column("user_id", sa.BigInteger),
    sa.column("note_id", sa.BigInteger),
    sa.column("deck_id", sa.BigInteger),
    sa.column("ordinal", sa.Integer),
    sa.column("position", sa.BigInteger),
    sa.column("queue", sa.SmallInteger),
    sa.column("state", sa.SmallInteger),
    sa.column("step", sa.SmallInteger),
    sa.column("stability", sa.Double),
    sa.column("difficulty", sa.Double),
    sa.column("due", UtcTime),
    sa.column("last_review", UtcTime),
    sa.column("reps", sa.Integer),
    sa.column("lapses", sa.Integer),
    sa.column("buried_until", UtcTime),
    sa.column("created_at", UtcTime),
    sa.column("flag", sa.SmallInteger),
    sa.column("ease", sa.Integer),
)
"""`queue` is one of the four below. `flag` and `ease` are Anki's, and kept for an export."""

NEW, LEARNING, REVIEW, SUSPENDED = 0, 1, 2, 3
"""The queues. Learning and relearning cards share one."""

reviews = sa.table(
    "noema_reviews",
    sa.column("id", sa.BigInteger),
    sa.column("user_id", sa.BigInteger),
    sa.column("card_id", sa.BigInteger),
    sa.column("rating", sa.SmallInteger),
    sa.column("reviewed_at", UtcTime),
    sa.column("duration_ms", sa.Integer),
    sa.column("state", sa.SmallInteger),
    sa.column("interval_s", sa.BigInteger),
    sa.column("last_interval_s", sa.BigInteger),
    sa.column("stability", sa.Double),
    sa.column("difficulty", sa.Double),
    sa.column("ease", sa.Integer),
    sa.column("key", sa.String),
    sa.column("before", sa.JSON(none_as_null=True)),
)
"""A log: rows are never changed or deleted, even if their card is. `state` is the card's before the answer; `stability`
and `difficulty` are the card's after it. `before` is what undo-review restores; imported reviews have none."""

anki_log = sa.table(
    "noema_anki_log",
    sa.column("card_id", sa.BigInteger),
    sa.column("at", UtcTime),
    sa.column("rating", sa.SmallInteger),
    sa.column("interval", sa.BigInteger),
    sa.column("last_interval", sa.BigInteger),
    sa.column("ease", sa.Integer),
    sa.column("duration_ms", sa.Integer),
    sa.column("kind", sa.Integer),
)
"""Entries of Anki's log that are not answers, such as manual changes and cramming. They are kept for an export."""

undone = sa.table(
    "noema_undone",
    sa.column("review_id", sa.BigInteger),
    sa.column("undone_at", UtcTime),
)
"""The undone reviews, so that the log itself need not change."""
