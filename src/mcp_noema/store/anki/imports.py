"""Imports: an Anki package is added to the collection. New items are added, and newer ones replace existing ones.

A note is recognized by its guid, a card by its note and ordinal, and a review by its card and second, because nobody
answers one card twice in a second. A second import of the same file therefore changes nothing.

All of it is one transaction. The rows wait for it in temporary files, so that a large package needs little memory.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, TableClause

from mcp_noema.anki.package import PackageDeck, PackageLogEntry
from mcp_noema.model import (
    ANKI_ONLY,
    MAX_NAME_LENGTH,
    SEPARATOR,
    Deck,
    DeckId,
    Preset,
    preset_of,
)
from mcp_noema.records import ImportSummary, ImportTally, Owner
from mcp_noema.store import decks, tags, users
from mcp_noema.store.anki.prepared_import import (
    SKIPPED_NOTE,
    CardEntry,
    NoteEntry,
    PreparedImport,
    ReportRows,
    ReviewEntry,
    Row,
    ignore_progress,
)
from mcp_noema.store.notes import get_or_create_type
from mcp_noema.store.tables import anki_log, cards, notes, reviews
from mcp_noema.store.tables import decks as deck_table
from toolcharter import InvalidArguments

OTHER_TYPE = "notes that exist with another note type"


class WrittenRows:
    """The notes or cards of a package as they are written."""

    def __init__(self, count: int) -> None:
        self.ids = array("q", bytes(8 * count))
        """Their ids in the database, by their index in the package; 0 for skipped ones."""
        self.existed = bytearray(count)
        """Whether they existed before, by their index in the package."""
        self.added = self.updated = 0

    def tally(self) -> ImportTally:
        written = len(self.ids) - self.ids.count(0)
        return ImportTally(self.added, self.updated, written - self.added - self.updated)


def write_package(
    connection: Connection,
    owner: str,
    prepared: PreparedImport,
    deck_id: DeckId | None,
    now: datetime,
    *,
    report_rows: ReportRows = ignore_progress,
) -> ImportSummary:
    """Write all of it, in the transaction of the connection."""
    user = users.lock(connection, owner, now)
    skipped = prepared.skipped.copy()
    package_decks, decks_added = _write_decks(connection, user, prepared.decks, deck_id, now)
    written_notes = _write_notes(connection, user, prepared, skipped, report_rows)
    written_cards = WrittenRows(len(prepared.last_answers))
    bury_until = user.preferences.day_of(prepared.written_at).ends
    used_decks: set[int] = set()
    for page in prepared.cards.pages():
        kept = [entry for entry in page if written_notes.ids[entry.note]]
        skipped[SKIPPED_NOTE] += len(page) - len(kept)
        for entry in kept:
            entry.row["user_id"] = user.id
            entry.row["note_id"] = written_notes.ids[entry.note]
            entry.row["deck_id"] = package_decks[entry.deck].id
            entry.row["buried_until"] = bury_until if entry.buried else None
            used_decks.add(entry.deck)
        _write_card_page(connection, kept, written_notes, prepared.last_answers, written_cards)
        report_rows(len(page))
    review_tally = _write_reviews(connection, user, prepared, written_cards, report_rows)
    for log_page in prepared.log_entries.pages():
        _write_log_entries(connection, log_page, written_cards)
        report_rows(len(log_page))
    return ImportSummary(
        decks=tuple(package_decks[index] for index in sorted(used_decks)),
        decks_added=decks_added,
        notes=written_notes.tally(),
        cards=written_cards.tally(),
        reviews=review_tally,
        skipped=dict(+skipped),
        media=prepared.media,
    )


def _update(connection: Connection, table: TableClause, columns: Sequence[str], changes: dict[int, Row]) -> None:
    """Set these columns of some rows, given by id."""
    if not changes:
        return
    values = {name: sa.bindparam(f"new_{name}", type_=table.c[name].type) for name in columns}
    statement = sa.update(table).where(table.c.id == sa.bindparam("updated_id")).values(values)
    rows = [{"updated_id": id_, **{f"new_{name}": row[name] for name in columns}} for id_, row in changes.items()]
    connection.execute(statement, rows)


# --- decks -------------------------------------------------------------------------------------------------


def _write_decks(
    connection: Connection,
    user: Owner,
    package_decks: Sequence[PackageDeck],
    deck_id: DeckId | None,
    now: datetime,
) -> tuple[list[Deck], int]:
    """The decks of the package, and how many were created. The options of existing decks do not change."""
    existing = decks.by_name(connection, user.id)
    prefix = f"{decks.find(existing, deck_id).name}{SEPARATOR}" if deck_id is not None else ""
    names = [prefix + deck.name for deck in package_decks]
    for name in names:
        if len(name) > MAX_NAME_LENGTH:
            raise InvalidArguments(
                f"The deck {name!r} would have a name of {len(name)} characters; at most {MAX_NAME_LENGTH} are "
                "allowed. Import it without deckId.",
                fields=("deckId",),
            )
    all_decks = decks.create_missing(connection, user.id, names, now)
    # Parents first: what a deck has to set itself depends on them.
    for name, deck in sorted(zip(names, package_decks, strict=True), key=lambda pair: pair[0].count(SEPARATOR)):
        key = name.casefold()
        if key in existing:
            continue
        preset = _preset_changes(deck.preset, preset_of(all_decks[key], all_decks)) if deck.preset else {}
        if anki_only := deck.anki_only.changes():
            preset[ANKI_ONLY] = anki_only
        all_decks[key] = replace(all_decks[key], description=deck.description, preset=preset)
        values = {"description": deck.description, "preset": preset}
        connection.execute(sa.update(deck_table).where(deck_table.c.id == all_decks[key].id).values(values))
    return [all_decks[name.casefold()] for name in names], len(all_decks) - len(existing)


def _preset_changes(preset: Preset, inherited: Preset) -> dict[str, Any]:
    """The values that a deck must set so that `preset` applies to it."""
    pairs = ((each.name, getattr(preset, each.name), getattr(inherited, each.name)) for each in fields(Preset))
    return {name: value for name, value, other in pairs if value != other}


# --- notes -------------------------------------------------------------------------------------------------

_NOTE_CHANGES = ("field_values", "tags", "text", "first_key", "modified_at")


def _write_notes(
    connection: Connection, user: Owner, prepared: PreparedImport, skipped: Counter[str], report_rows: ReportRows
) -> WrittenRows:
    types = {number: get_or_create_type(connection, user.id, each).id for each, number in prepared.note_types.items()}
    written = WrittenRows(len(prepared.has_card))
    for page in prepared.notes.pages():
        kept = [entry for entry in page if prepared.has_card[entry.note]]
        for entry in kept:
            entry.row["user_id"] = user.id
            entry.row["type_id"] = types[entry.type]
        skipped[OTHER_TYPE] += _write_note_page(connection, user, kept, written)
        report_rows(len(page))
    return written


def _write_note_page(connection: Connection, user: Owner, page: Sequence[NoteEntry], written: WrittenRows) -> int:
    """Returns how many exist with another note type."""
    existing = _existing_notes(connection, user.id, [entry.row["guid"] for entry in page])
    new: dict[str, NoteEntry] = {}
    newer: dict[int, Row] = {}
    other_type = 0
    for entry in page:
        row = entry.row
        old = existing.get(row["guid"])
        if old is None:
            new[row["guid"]] = entry
        elif old.type_id != row["type_id"]:
            other_type += 1
        else:
            written.ids[entry.note], written.existed[entry.note] = old.id, True
            is_different = (row["field_values"], row["tags"]) != (old.field_values, old.tags)
            if is_different and row["modified_at"] > old.modified_at:
                newer[old.id] = row
    if new:
        insert = sa.insert(notes).returning(notes.c.guid, notes.c.id)
        for guid, note_id in connection.execute(insert, [entry.row for entry in new.values()]):
            written.ids[new[guid].note] = note_id
        tags.add(connection, user.id, {written.ids[entry.note]: entry.row["tags"] for entry in new.values()})
    _update(connection, notes, _NOTE_CHANGES, newer)
    tags.replace(connection, user.id, {note_id: row["tags"] for note_id, row in newer.items()})
    written.added += len(new)
    written.updated += len(newer)
    return other_type


def _existing_notes(connection: Connection, user_id: int, guids: Sequence[str]) -> dict[str, Any]:
    columns = (notes.c.guid, notes.c.id, notes.c.type_id, notes.c.field_values, notes.c.tags, notes.c.modified_at)
    query = sa.select(*columns).where(notes.c.user_id == user_id, notes.c.guid.in_(guids))
    return {row.guid: row for row in connection.execute(query)}


# --- cards -------------------------------------------------------------------------------------------------

_CARD_CHANGES = (
    "queue",
    "state",
    "step",
    "stability",
    "difficulty",
    "due",
    "last_review",
    "reps",
    "lapses",
    "buried_until",
    "flag",
    "ease",
)


def _write_card_page(
    connection: Connection,
    page: Sequence[CardEntry],
    written_notes: WrittenRows,
    last_answers: Sequence[datetime | None],
    written: WrittenRows,
) -> None:
    """The schedule with the later answer is kept; an existing card stays in its deck."""
    old_notes = {written_notes.ids[entry.note] for entry in page if written_notes.existed[entry.note]}
    existing = _existing_cards(connection, sorted(old_notes))
    new: dict[tuple[int, int], CardEntry] = {}
    newer: dict[int, Row] = {}
    for entry in page:
        row = entry.row
        key = row["note_id"], row["ordinal"]
        old = existing.get(key)
        if old is None:
            new[key] = entry
            continue
        written.ids[entry.card], written.existed[entry.card] = old.id, True
        if _is_later(row["last_review"], last_answers[entry.card], old.last_review):
            newer[old.id] = row
    if new:
        insert = sa.insert(cards).returning(cards.c.note_id, cards.c.ordinal, cards.c.id)
        for note_id, ordinal, card_id in connection.execute(insert, [entry.row for entry in new.values()]):
            written.ids[new[note_id, ordinal].card] = card_id
    _update(connection, cards, _CARD_CHANGES, newer)
    written.added += len(new)
    written.updated += len(newer)


def _is_later(last_review: datetime | None, logged: datetime | None, last_review_here: datetime | None) -> bool:
    """Whether the last review of a card in a file is later than the one here, and the file's log proves it."""
    if last_review is None or last_review_here is None:
        return last_review is not None
    return logged is not None and min(last_review, logged) > last_review_here


def _existing_cards(connection: Connection, note_ids: Sequence[int]) -> dict[tuple[int, int], Any]:
    """The cards of these notes, by note and ordinal."""
    if not note_ids:
        return {}
    columns = (cards.c.id, cards.c.note_id, cards.c.ordinal, cards.c.last_review)
    rows = connection.execute(sa.select(*columns).where(cards.c.note_id.in_(note_ids)))
    return {(row.note_id, row.ordinal): row for row in rows}


# --- reviews -----------------------------------------------------------------------------------------------

_REVIEW_TYPES = {
    "user_id": "bigint",
    "card_id": "bigint",
    "rating": "smallint",
    "reviewed_at": "timestamptz",
    "duration_ms": "integer",
    "state": "smallint",
    "interval_s": "bigint",
    "last_interval_s": "bigint",
    "difficulty": "double precision",
    "ease": "integer",
}
"""The columns of an imported review, with their PostgreSQL types."""


_SECOND = timedelta(seconds=1)


def _card_index(review: ReviewEntry) -> int:
    return review[0]


def _reviewed_at(review: ReviewEntry) -> datetime:
    return review[2]


def _write_reviews(
    connection: Connection, user: Owner, prepared: PreparedImport, written_cards: WrittenRows, report_rows: ReportRows
) -> ImportTally:
    ids, existed = written_cards.ids, written_cards.existed
    last_id = connection.execute(sa.select(sa.func.max(reviews.c.id))).scalar() or 0
    added = unchanged = 0
    for page in prepared.reviews.pages():
        kept = [review for review in page if ids[_card_index(review)]]
        known = [review for review in kept if existed[_card_index(review)]]
        existing = _existing_reviews(connection, known, ids, last_id)
        new = [review for review in kept if _key(review, ids) not in existing] if existing else kept
        _insert_reviews(connection, user.id, new, ids)
        added += len(new)
        unchanged += len(kept) - len(new)
        report_rows(len(page))
    return ImportTally(added=added, unchanged=unchanged)


def _key(review: ReviewEntry, ids: Sequence[int]) -> tuple[int, int]:
    """The identity of a review: its card and second."""
    return ids[_card_index(review)], int(_reviewed_at(review).timestamp())


def _existing_reviews(
    connection: Connection, page: Sequence[ReviewEntry], ids: Sequence[int], last_id: int
) -> set[tuple[int, int]]:
    """The keys of the reviews that these cards had in this time before the import."""
    if not page:
        return set()
    times = [_reviewed_at(review) for review in page]
    query = sa.select(reviews.c.card_id, reviews.c.reviewed_at).where(
        reviews.c.card_id.in_({ids[_card_index(review)] for review in page}),
        reviews.c.reviewed_at >= min(times).replace(microsecond=0),
        reviews.c.reviewed_at < max(times) + _SECOND,
        reviews.c.id <= last_id,
    )
    return {(row.card_id, int(row.reviewed_at.timestamp())) for row in connection.execute(query)}


def _insert_reviews(connection: Connection, user_id: int, new: Sequence[ReviewEntry], ids: Sequence[int]) -> None:
    """Reviews are the most numerous rows, so each database gets them in its fastest way."""
    if not new:
        return
    on_sqlite = connection.dialect.name == "sqlite"
    arrays = ", ".join(f"${number}::{type_}[]" for number, type_ in enumerate(_REVIEW_TYPES.values(), start=1))
    source = f"VALUES ({', '.join('?' * len(_REVIEW_TYPES))})" if on_sqlite else f"SELECT * FROM unnest({arrays})"  # noqa: S608 - no values
    insert = f"INSERT INTO {reviews.name} ({', '.join(_REVIEW_TYPES)}) {source}"
    rows: list[ReviewEntry] = []
    for review in new:
        at = _reviewed_at(review)
        rows.append((user_id, ids[_card_index(review)], review[1], _sqlite_time(at) if on_sqlite else at, *review[3:]))
    connection.exec_driver_sql(insert, rows if on_sqlite else tuple(map(list, zip(*rows, strict=True))))


def _write_log_entries(connection: Connection, page: Sequence[PackageLogEntry], written_cards: WrittenRows) -> None:
    """The entries of Anki's log that are not answers, without those that are stored already."""
    rows = {
        (card_id, entry.at): {"card_id": card_id, **entry._asdict()}
        for entry in page
        if (card_id := written_cards.ids[entry.card])
    }
    card_ids = sorted({card_id for card_id, _ in rows})
    stored = sa.select(anki_log.c.card_id, anki_log.c.at).where(anki_log.c.card_id.in_(card_ids))
    for row in connection.execute(stored):
        rows.pop((row.card_id, row.at), None)
    if rows:
        connection.execute(
            sa.insert(anki_log), [{k: v for k, v in row.items() if k != "card"} for row in rows.values()]
        )


def _sqlite_time(at: datetime) -> str:
    """A time as SQLAlchemy stores it in SQLite: UTC, without the offset."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")
