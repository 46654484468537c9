"""Imports: an Anki package is added to the collection. New items are added, and newer ones replace existing ones.

A note is recognized by its guid, a card by its note and ordinal, and a review by its card and second, because nobody
answers one card twice in a second. A second import of the same file therefore changes nothing.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection, TableClause

from mcp_core import InvalidArguments
from mcp_noema.anki.package import Package, PackageCard, PackageLogEntry, PackageNote, PackageReview
from mcp_noema.model import (
    ANKI_ONLY,
    LONGEST_FIELD,
    LONGEST_NAME,
    LONGEST_TAG,
    SEPARATOR,
    Deck,
    DeckId,
    Note,
    Preset,
    preset_of,
)
from mcp_noema.repositories import ImportSummary, Tally, User
from mcp_noema.store import decks, users
from mcp_noema.store.notes import get_or_create_type, note_values
from mcp_noema.store.row_mapping import schedule_values
from mcp_noema.store.tables import anki_log, cards, notes, reviews
from mcp_noema.store.tables import decks as deck_table

CHUNK = 1000
"""How many rows one statement writes. Other users get turns between statements."""

NO_CARD = "notes that make no card"
DUPLICATE = "notes and cards that are in the file twice"
TOO_LONG = f"notes with a field of more than {LONGEST_FIELD:,} characters"
OTHER_TYPE = "notes that exist with another note type"
NO_TEMPLATE = "cards without a template in their note type"
SKIPPED_NOTE = "cards of skipped notes"
FUTURE = "reviews dated in the future"
LONG_TAG = f"tags of more than {LONGEST_TAG} characters"

T = TypeVar("T")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """The notes or cards of a package after they were written."""

    ids: Sequence[int | None]
    """Their ids in the database, by their index in the package; None for skipped ones."""
    tally: Tally
    existing_ids: Collection[int]
    """Those that existed before, and perhaps some more."""


@dataclass(slots=True)
class PreparedImport:
    """A package as rows, as far as possible without the database. A skipped note or card is None."""

    package: Package
    notes: list[Row | None] = field(default_factory=list[Row | None])
    cards: list[Row | None] = field(default_factory=list[Row | None])
    reviews: list[PackageReview] = field(default_factory=list[PackageReview])
    skipped: Counter[str] = field(default_factory=Counter[str])

    def skip(self, reason: str) -> None:
        """Count a skipped item. Returns the None that stands for its row."""
        self.skipped[reason] += 1


def prepare(package: Package, now: datetime) -> PreparedImport:
    """The long part of the work, which needs no database."""
    prepared = PreparedImport(package)
    with_cards = {card.note for card in package.cards if _has_template(card, package)}
    guids: set[str] = set()
    for index, note in enumerate(package.notes):
        reason = _reason_to_skip_note(note, guids, has_card=index in with_cards)
        prepared.notes.append(prepared.skip(reason) if reason else _note_row(note, prepared.skipped))
    ordinals: set[tuple[int, int]] = set()
    for card in package.cards:
        reason = _reason_to_skip_card(card, prepared, ordinals)
        prepared.cards.append(prepared.skip(reason) if reason else _card_row(card, now))
    prepared.reviews = [review for review in package.reviews if review.reviewed_at <= now]
    prepared.skipped[FUTURE] += len(package.reviews) - len(prepared.reviews)
    return prepared


def _reason_to_skip_note(note: PackageNote, guids: set[str], *, has_card: bool) -> str | None:
    if note.guid in guids:
        return DUPLICATE
    guids.add(note.guid)
    if not has_card:
        return NO_CARD
    return TOO_LONG if any(len(value) > LONGEST_FIELD for value in note.values) else None


def _note_row(note: PackageNote, skipped: Counter[str]) -> Row:
    tags = tuple(tag for tag in note.tags if len(tag) <= LONGEST_TAG)
    if len(tags) < len(note.tags):
        skipped[LONG_TAG] += len(note.tags) - len(tags)
    return note_values(Note(0, note.type, note.values, tags, note.guid, note.created_at, note.modified_at), 0)


def _has_template(card: PackageCard, package: Package) -> bool:
    """A cloze note type has one template for all cards."""
    note_type = package.notes[card.note].type
    return note_type.is_cloze or card.ordinal < len(note_type.templates)


def _reason_to_skip_card(card: PackageCard, prepared: PreparedImport, ordinals: set[tuple[int, int]]) -> str | None:
    if not _has_template(card, prepared.package):
        return NO_TEMPLATE
    if prepared.notes[card.note] is None:
        return SKIPPED_NOTE
    if (card.note, card.ordinal) in ordinals:
        return DUPLICATE
    ordinals.add((card.note, card.ordinal))
    return None


def _card_row(card: PackageCard, now: datetime) -> Row:
    schedule = card.schedule
    if schedule.last_review is not None and schedule.last_review > now:
        # From a clock that was ahead. Unchanged, the card could not be answered until then.
        schedule = replace(schedule, last_review=now)
    return {
        **schedule_values(schedule, suspended=card.suspended),
        "ordinal": card.ordinal,
        "position": card.position,
        "reps": card.reps,
        "lapses": card.lapses,
        "buried_until": None,
        "created_at": card.created_at,
        "flag": card.flag,
        "ease": card.ease,
    }


# --- write -------------------------------------------------------------------------------------------------


def write_package(
    connection: Connection, owner: str, prepared: PreparedImport, deck_id: DeckId | None, now: datetime
) -> ImportSummary:
    """Write all of it, in the transaction of the connection."""
    user = users.lock(connection, owner, now)
    package = prepared.package
    package_decks, decks_added = _write_decks(connection, user, package, deck_id, now)
    written_notes = _write_notes(connection, user, prepared)
    written_cards = _write_cards(connection, user, prepared, written_notes, package_decks)
    review_tally = _write_reviews(connection, user, prepared, written_cards)
    _write_log_entries(connection, package.log_entries, written_cards)
    used = {card.deck for card, card_id in zip(package.cards, written_cards.ids, strict=True) if card_id is not None}
    return ImportSummary(
        decks=tuple(package_decks[index] for index in sorted(used)),
        decks_added=decks_added,
        notes=written_notes.tally,
        cards=written_cards.tally,
        reviews=review_tally,
        skipped=dict(+prepared.skipped),
        media=len(package.media),
    )


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def _update(connection: Connection, table: TableClause, columns: Sequence[str], changes: dict[int, Row]) -> None:
    """Set these columns of some rows, given by id."""
    values = {name: sa.bindparam(f"new_{name}", type_=table.c[name].type) for name in columns}
    statement = sa.update(table).where(table.c.id == sa.bindparam("updated_id")).values(values)
    for ids in _chunks(list(changes)):
        rows = [{"updated_id": id_, **{f"new_{name}": changes[id_][name] for name in columns}} for id_ in ids]
        connection.execute(statement, rows)


# --- decks -------------------------------------------------------------------------------------------------


def _write_decks(
    connection: Connection, user: User, package: Package, deck_id: DeckId | None, now: datetime
) -> tuple[list[Deck], int]:
    """The decks of the package, and how many were created. The options of existing decks do not change."""
    existing = decks.by_name(connection, user.id)
    prefix = f"{decks.find(existing, deck_id).name}{SEPARATOR}" if deck_id is not None else ""
    names = [prefix + deck.name for deck in package.decks]
    for name in names:
        if len(name) > LONGEST_NAME:
            raise InvalidArguments(
                f"The deck {name!r} would have a name of {len(name)} characters; at most {LONGEST_NAME} are allowed. "
                "Import it without deckId.",
                fields=("deckId",),
            )
    all_decks = decks.create_missing(connection, user.id, names, now)
    # Parents first: what a deck has to set itself depends on them.
    for name, deck in sorted(zip(names, package.decks, strict=True), key=lambda pair: pair[0].count(SEPARATOR)):
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


def _write_notes(connection: Connection, user: User, prepared: PreparedImport) -> WrittenRows:
    note_types = {note.type for note in prepared.package.notes}
    type_ids = {note_type: get_or_create_type(connection, user.id, note_type).id for note_type in note_types}
    existing = _existing_notes(connection, user.id, [row["guid"] for row in prepared.notes if row is not None])
    new: list[Row] = []
    newer: dict[int, Row] = {}
    ids: dict[str, int] = {}
    for note, row in zip(prepared.package.notes, prepared.notes, strict=True):
        if row is None:
            continue
        row |= {"user_id": user.id, "type_id": type_ids[note.type]}
        old = existing.get(note.guid)
        if old is None:
            new.append(row)
        elif old.type_id != row["type_id"]:
            prepared.skipped[OTHER_TYPE] += 1
        else:
            ids[note.guid] = old.id
            is_different = (row["field_values"], row["tags"]) != (old.field_values, old.tags)
            if is_different and note.modified_at > old.modified_at:
                newer[old.id] = row
    ids |= _insert_notes(connection, new)
    _update(connection, notes, _NOTE_CHANGES, newer)
    return WrittenRows(
        ids=[None if row is None else ids.get(row["guid"]) for row in prepared.notes],
        tally=Tally(len(new), len(newer), len(ids) - len(new) - len(newer)),
        existing_ids={old.id for old in existing.values()},
    )


def _existing_notes(connection: Connection, user_id: int, guids: Sequence[str]) -> dict[str, Any]:
    existing: dict[str, Any] = {}
    columns = (notes.c.guid, notes.c.id, notes.c.type_id, notes.c.field_values, notes.c.tags, notes.c.modified_at)
    for chunk in _chunks(guids):
        query = sa.select(*columns).where(notes.c.user_id == user_id, notes.c.guid.in_(chunk))
        existing |= {row.guid: row for row in connection.execute(query)}
    return existing


def _insert_notes(connection: Connection, rows: Sequence[Row]) -> dict[str, int]:
    """The id of each new note by its guid."""
    ids: dict[str, int] = {}
    for chunk in _chunks(rows):
        inserted = connection.execute(sa.insert(notes).returning(notes.c.guid, notes.c.id), list(chunk))
        ids |= {row.guid: row.id for row in inserted}
    return ids


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


def _write_cards(
    connection: Connection,
    user: User,
    prepared: PreparedImport,
    written_notes: WrittenRows,
    package_decks: Sequence[Deck],
) -> WrittenRows:
    """The schedule with the later answer is kept; an existing card stays in its deck."""
    last_answers = _last_answers(prepared.reviews)
    existing = _existing_cards(connection, sorted(written_notes.existing_ids))
    bury_until = user.preferences.day_of(prepared.package.written_at).ends
    new: list[Row] = []
    newer: dict[int, Row] = {}
    for index, (card, row) in enumerate(zip(prepared.package.cards, prepared.cards, strict=True)):
        note_id = written_notes.ids[card.note]
        if row is None or note_id is None:
            prepared.skipped[SKIPPED_NOTE] += row is not None
            continue
        row |= {"user_id": user.id, "note_id": note_id, "deck_id": package_decks[card.deck].id}
        row["buried_until"] = bury_until if card.buried else None
        old = existing.get((note_id, card.ordinal))
        if old is None:
            new.append(row)
        elif _is_later(row["last_review"], last_answers.get(index), old.last_review):
            newer[old.id] = row
    ids_by_ordinal = {key: old.id for key, old in existing.items()} | _insert_cards(connection, new)
    _update(connection, cards, _CARD_CHANGES, newer)
    ids = [
        None if row is None else ids_by_ordinal.get((row.get("note_id", 0), row["ordinal"])) for row in prepared.cards
    ]
    written = len([card_id for card_id in ids if card_id is not None])
    return WrittenRows(
        ids=ids,
        tally=Tally(len(new), len(newer), written - len(new) - len(newer)),
        existing_ids={old.id for old in existing.values()},
    )


def _last_answers(package_reviews: Sequence[PackageReview]) -> dict[int, datetime]:
    """When each card of a package was last answered. The last review of a card without a log is only estimated."""
    # In the order of time.
    return {review.card: review.reviewed_at for review in package_reviews}


def _is_later(last_review: datetime | None, logged: datetime | None, last_review_here: datetime | None) -> bool:
    """Whether the last review of a card in a file is later than the one here, and the file's log proves it."""
    if last_review is None or last_review_here is None:
        return last_review is not None
    return logged is not None and min(last_review, logged) > last_review_here


def _existing_cards(connection: Connection, note_ids: Sequence[int]) -> dict[tuple[int, int], Any]:
    """The cards of these notes, by note and ordinal."""
    existing: dict[tuple[int, int], Any] = {}
    columns = (cards.c.id, cards.c.note_id, cards.c.ordinal, cards.c.last_review)
    for chunk in _chunks(note_ids):
        rows = connection.execute(sa.select(*columns).where(cards.c.note_id.in_(chunk)))
        existing |= {(row.note_id, row.ordinal): row for row in rows}
    return existing


def _insert_cards(connection: Connection, rows: Sequence[Row]) -> dict[tuple[int, int], int]:
    """The id of each new card by its note and ordinal."""
    ids: dict[tuple[int, int], int] = {}
    insert = sa.insert(cards).returning(cards.c.note_id, cards.c.ordinal, cards.c.id)
    for chunk in _chunks(rows):
        inserted = connection.execute(insert, list(chunk))
        ids |= {(row.note_id, row.ordinal): row.id for row in inserted}
    return ids


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


def _write_reviews(connection: Connection, user: User, prepared: PreparedImport, written_cards: WrittenRows) -> Tally:
    existing = _existing_reviews(connection, sorted(written_cards.existing_ids))
    new: list[tuple[int, PackageReview]] = []
    unchanged = 0
    for review in prepared.reviews:
        card_id = written_cards.ids[review.card]
        if card_id is None:
            continue
        if existing and (card_id, int(review.reviewed_at.timestamp())) in existing:
            unchanged += 1
        else:
            new.append((card_id, review))
    _insert_reviews(connection, user.id, new)
    return Tally(added=len(new), unchanged=unchanged)


def _insert_reviews(connection: Connection, user_id: int, new: Sequence[tuple[int, PackageReview]]) -> None:
    """Reviews are the most numerous rows, so each database gets them in its fastest way."""
    on_sqlite = connection.dialect.name == "sqlite"
    arrays = ", ".join(f"${number}::{type_}[]" for number, type_ in enumerate(_REVIEW_TYPES.values(), start=1))
    source = f"VALUES ({', '.join('?' * len(_REVIEW_TYPES))})" if on_sqlite else f"SELECT * FROM unnest({arrays})"  # noqa: S608 - no values
    insert = f"INSERT INTO {reviews.name} ({', '.join(_REVIEW_TYPES)}) {source}"
    for chunk in _chunks(new):
        rows = [
            (user_id, card_id, rating, _sqlite_time(at) if on_sqlite else at, duration, int(state), *rest)
            for card_id, (_, rating, at, duration, state, *rest) in chunk
        ]
        connection.exec_driver_sql(insert, rows if on_sqlite else tuple(map(list, zip(*rows, strict=True))))


def _write_log_entries(connection: Connection, entries: Sequence[PackageLogEntry], written_cards: WrittenRows) -> None:
    """The entries of Anki's log that are not answers, without those that are stored already."""
    rows = {
        (card_id, entry.at): {"card_id": card_id, **entry._asdict()}
        for entry in entries
        if (card_id := written_cards.ids[entry.card]) is not None
    }
    for chunk in _chunks(sorted({card_id for card_id, _ in rows})):
        stored = sa.select(anki_log.c.card_id, anki_log.c.at).where(anki_log.c.card_id.in_(chunk))
        for row in connection.execute(stored):
            rows.pop((row.card_id, row.at), None)
    for chunk in _chunks(list(rows.values())):
        connection.execute(sa.insert(anki_log), [{k: v for k, v in row.items() if k != "card"} for row in chunk])


def _sqlite_time(at: datetime) -> str:
    """A time as SQLAlchemy stores it in SQLite: UTC, without the offset."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def _existing_reviews(connection: Connection, card_ids: Sequence[int]) -> set[tuple[int, int]]:
    """The cards and seconds of the reviews of these cards."""
    existing: set[tuple[int, int]] = set()
    for chunk in _chunks(card_ids):
        query = sa.select(reviews.c.card_id, reviews.c.reviewed_at).where(reviews.c.card_id.in_(chunk))
        existing |= {(row.card_id, int(row.reviewed_at.timestamp())) for row in connection.execute(query)}
    return existing
