"""Users, decks, notes, cards and reviews."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001_collection"
down_revision = None

ID_TYPE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _time(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _id() -> sa.Column[Any]:
    return sa.Column("id", ID_TYPE, primary_key=True, autoincrement=True)


def _reference(table: str, column: str, *, cascade: bool = False) -> sa.Column[Any]:
    foreign_key = sa.ForeignKey(f"noema_{table}.id", ondelete="CASCADE" if cascade else None)
    return sa.Column(column, ID_TYPE, foreign_key, nullable=False)


def _table(name: str, *columns: sa.Column[Any]) -> None:
    # Ids are not reused, because the review log refers to deleted cards.
    op.create_table(f"noema_{name}", *columns, sqlite_autoincrement=True)


def upgrade() -> None:
    _table(
        "users",
        _id(),
        sa.Column("name", sa.String(255), nullable=False, unique=True),
        sa.Column("preferences", sa.JSON, nullable=False),
        _time("created_at"),
    )
    _table(
        "decks",
        _id(),
        _reference("users", "user_id"),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("name_key", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("preset", sa.JSON, nullable=False),
        _time("created_at"),
    )
    op.create_index("noema_decks_by_name", "noema_decks", ["user_id", "name_key"], unique=True)
    _table(
        "note_types",
        _id(),
        _reference("users", "user_id"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("is_cloze", sa.Boolean, nullable=False),
        sa.Column("fields", sa.JSON, nullable=False),
        sa.Column("templates", sa.JSON, nullable=False),
        sa.Column("css", sa.Text, nullable=False),
    )
    op.create_index("noema_note_types_by_name", "noema_note_types", ["user_id", "name"])
    _table(
        "notes",
        _id(),
        _reference("users", "user_id"),
        _reference("note_types", "type_id"),
        sa.Column("field_values", sa.JSON, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("guid", sa.String(255), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("first_key", sa.BigInteger, nullable=False),
        _time("created_at"),
        _time("modified_at"),
    )
    op.create_index("noema_notes_by_guid", "noema_notes", ["user_id", "guid"], unique=True)
    op.create_index("noema_notes_by_first", "noema_notes", ["user_id", "first_key"])
    _table("tags", _id(), _reference("users", "user_id"), sa.Column("name", sa.Text, nullable=False))
    op.create_index("noema_tags_by_name", "noema_tags", ["user_id", "name"], unique=True)
    op.create_table(
        "noema_note_tags",
        sa.Column("tag_id", ID_TYPE, sa.ForeignKey("noema_tags.id"), primary_key=True, autoincrement=False),
        sa.Column(
            "note_id",
            ID_TYPE,
            sa.ForeignKey("noema_notes.id", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
    )
    op.create_index("noema_note_tags_by_note", "noema_note_tags", ["note_id"])
    _table(
        "cards",
        _id(),
        _reference("users", "user_id"),
        _reference("notes", "note_id", cascade=True),
        _reference("decks", "deck_id"),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("queue", sa.SmallInteger, nullable=False),
        sa.Column("state", sa.SmallInteger, nullable=False),
        sa.Column("step", sa.SmallInteger),
        sa.Column("stability", sa.Double),
        sa.Column("difficulty", sa.Double),
        _time("due", nullable=True),
        _time("last_review", nullable=True),
        sa.Column("reps", sa.Integer, nullable=False),
        sa.Column("lapses", sa.Integer, nullable=False),
        _time("buried_until", nullable=True),
        _time("created_at"),
        sa.Column("flag", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("ease", sa.Integer, nullable=False, server_default="0"),
    )
    op.create_index("noema_cards_by_note", "noema_cards", ["note_id", "ordinal"], unique=True)
    # With all columns that the queue reads, so that only the cards that are shown are looked up in the table.
    for order in ("due", "position"):
        columns = ["deck_id", "queue", order, "id", "buried_until", "note_id"]
        op.create_index(f"noema_cards_by_{order}", "noema_cards", columns)
    op.create_index("noema_cards_by_user", "noema_cards", ["user_id", "id"])
    _table(
        "reviews",
        _id(),
        _reference("users", "user_id"),
        sa.Column("card_id", ID_TYPE, nullable=False),
        sa.Column("rating", sa.SmallInteger, nullable=False),
        _time("reviewed_at"),
        sa.Column("duration_ms", sa.Integer, nullable=False),
        sa.Column("state", sa.SmallInteger, nullable=False),
        sa.Column("interval_s", sa.BigInteger, nullable=False),
        sa.Column("last_interval_s", sa.BigInteger, nullable=False),
        sa.Column("stability", sa.Double),
        sa.Column("difficulty", sa.Double),
        sa.Column("ease", sa.Integer),
        sa.Column("key", sa.String(255)),
        sa.Column("before", sa.JSON(none_as_null=True)),
    )
    op.create_index("noema_reviews_by_time", "noema_reviews", ["user_id", "reviewed_at", "id"])
    op.create_index("noema_reviews_by_card", "noema_reviews", ["card_id", "reviewed_at"])
    with_key = sa.text("key IS NOT NULL")
    op.create_index(
        "noema_reviews_by_key",
        "noema_reviews",
        ["user_id", "key"],
        unique=True,
        sqlite_where=with_key,
        postgresql_where=with_key,
    )
    op.create_table(
        "noema_anki_log",
        sa.Column("card_id", ID_TYPE, sa.ForeignKey("noema_cards.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), primary_key=True),
        sa.Column("rating", sa.SmallInteger, nullable=False),
        sa.Column("interval", sa.BigInteger, nullable=False),
        sa.Column("last_interval", sa.BigInteger, nullable=False),
        sa.Column("ease", sa.Integer, nullable=False),
        sa.Column("duration_ms", sa.Integer, nullable=False),
        sa.Column("kind", sa.Integer, nullable=False),
    )
    op.create_table(
        "noema_undone",
        sa.Column("review_id", ID_TYPE, sa.ForeignKey("noema_reviews.id"), primary_key=True),
        _time("undone_at"),
    )


def downgrade() -> None:
    for name in (
        "undone",
        "anki_log",
        "reviews",
        "cards",
        "note_tags",
        "tags",
        "notes",
        "note_types",
        "decks",
        "users",
    ):
        op.drop_table(f"noema_{name}")
