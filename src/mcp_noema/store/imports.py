"""A package put into the database: what is new is added, what is newer replaces what is there.

Notes are known again by their guid, cards by their note and place in it, reviews by their card and second: nobody
answers one card twice in a second. So a second import of the same file changes nothing.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core import InvalidArguments
from mcp_noema.anki.package import Package, PackageCard, PackageNote, PackageReview
from mcp_noema.model import LONGEST_FIELD, LONGEST_NAME, LONGEST_TAG, SEPARATOR, Deck, DeckId, Note, Preset, preset_of
from mcp_noema.repositories import ImportSummary, Person, Tally
from mcp_noema.store import decks, people
from mcp_noema.store.notes import note_values, type_of
from mcp_noema.store.rows import schedule_values
from mcp_noema.store.tables import cards, notes, reviews
from mcp_noema.store.tables import decks as deck_table

CHUNK = 1000
"""Rows of one statement. Between statements others get their turn."""

NO_CARD = "notes that make no card"
TWICE = "notes and cards that the file has twice"
TOO_LONG = f"notes with a field of more than {LONGEST_FIELD:,} characters"
OTHER_TYPE = "notes that have another note type here"
NO_TEMPLATE = "cards that their note type does not make"
OF_SKIPPED = "cards of those notes"
FUTURE = "reviews dated in the future"
LONG_TAGS = f"tags of more than {LONGEST_TAG} characters"

T = TypeVar("T")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Placed:
    """Where notes or cards of a package are in the database now."""

    ids: Sequence[int | None]
    """By their places in the package; None for those that are left out."""
    tally: Tally
    old: Collection[int]
    """Those of them that were there before, and perhaps some more."""


@dataclass(slots=True)
class Prepared:
    """A package as rows, as far as they can be made without the database. A row is None where it is left out."""

    package: Package
    notes: list[Row | None] = field(default_factory=list[Row | None])
    cards: list[Row | None] = field(default_factory=list[Row | None])
    reviews: list[PackageReview] = field(default_factory=list[PackageReview])
    skipped: Counter[str] = field(default_factory=Counter[str])

    def without(self, reason: str) -> None:
        """Count what is left out; in its place there is no row."""
        self.skipped[reason] += 1


def prepare(package: Package, now: datetime) -> Prepared:
    """The long part of the work, to be done in a thread."""
    prepared = Prepared(package)
    with_cards = {card.note for card in package.cards if _is_made(card, package)}
    seen: set[str] = set()
    for place, note in enumerate(package.notes):
        reason = _unfit_note(note, seen, has_card=place in with_cards)
        prepared.notes.append(prepared.without(reason) if reason else _note_row(note, prepared.skipped))
    pairs: set[tuple[int, int]] = set()
    for card in package.cards:
        reason = _unfit_card(card, prepared, pairs)
        prepared.cards.append(prepared.without(reason) if reason else _card_row(card, now))
    prepared.reviews = [review for review in package.reviews if review.reviewed_at <= now]
    prepared.skipped[FUTURE] += len(package.reviews) - len(prepared.reviews)
    return prepared


def _unfit_note(note: PackageNote, seen: set[str], *, has_card: bool) -> str | None:
    if note.guid in seen:
        return TWICE
    seen.add(note.guid)
    if not has_card:
        return NO_CARD
    return TOO_LONG if any(len(value) > LONGEST_FIELD for value in note.values) else None


def _note_row(note: PackageNote, skipped: Counter[str]) -> Row:
    tags = tuple(tag for tag in note.tags if len(tag) <= LONGEST_TAG)
    if len(tags) < len(note.tags):
        skipped[LONG_TAGS] += len(note.tags) - len(tags)
    return note_values(Note(0, note.type, note.values, tags, note.guid, note.created_at, note.modified_at), 0)


def _is_made(card: PackageCard, package: Package) -> bool:
    """Whether its note type has a template for it; one is for all gaps."""
    note_type = package.notes[card.note].type
    return note_type.is_cloze or card.ordinal < len(note_type.templates)


def _unfit_card(card: PackageCard, prepared: Prepared, pairs: set[tuple[int, int]]) -> str | None:
    if not _is_made(card, prepared.package):
        return NO_TEMPLATE
    if prepared.notes[card.note] is None:
        return OF_SKIPPED
    if (card.note, card.ordinal) in pairs:
        return TWICE
    pairs.add((card.note, card.ordinal))
    return None


def _card_row(card: PackageCard, now: datetime) -> Row:
    schedule = card.schedule
    if schedule.last_review is not None and schedule.last_review > now:
        # Of a clock that is ahead: else the card could not be answered until then.
        schedule = replace(schedule, last_review=now)
    return {
        **schedule_values(schedule, suspended=card.suspended),
        "ordinal": card.ordinal,
        "position": card.position,
        "reps": card.reps,
        "lapses": card.lapses,
        "buried_until": None,
        "created_at": card.created_at,
    }


# --- into the database -------------------------------------------------------------------------------------


def put(connection: Connection, owner: str, prepared: Prepared, deck_id: DeckId | None, now: datetime) -> ImportSummary:
    """All of it, in the transaction that the connection is in."""
    person = people.writing(connection, owner, now)
    package = prepared.package
    places, decks_added = _put_decks(connection, person, package, deck_id, now)
    placed_notes = _put_notes(connection, person, prepared)
    placed_cards = _put_cards(connection, person, prepared, placed_notes, places)
    review_tally = _put_reviews(connection, person, prepared, placed_cards)
    used = {card.deck for card, number in zip(package.cards, placed_cards.ids, strict=True) if number is not None}
    return ImportSummary(
        decks=tuple(places[place] for place in sorted(used)),
        decks_added=decks_added,
        notes=placed_notes.tally,
        cards=placed_cards.tally,
        reviews=review_tally,
        skipped=dict(+prepared.skipped),
        media=len(package.media),
    )


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def _put_decks(
    connection: Connection, person: Person, package: Package, deck_id: DeckId | None, now: datetime
) -> tuple[list[Deck], int]:
    """The deck at each place of the package, and how many were made. What a deck that was there sets, stays."""
    before = decks.by_name(connection, person.id)
    outer = f"{decks.find(before, deck_id).name}{SEPARATOR}" if deck_id is not None else ""
    names = [outer + deck.name for deck in package.decks]
    for name in names:
        if len(name) > LONGEST_NAME:
            raise InvalidArguments(
                f"The deck {name!r} would have a name of {len(name)} characters, and {LONGEST_NAME} are the most. "
                "Import it without deckId.",
                fields=("deckId",),
            )
    known = decks.add_missing(connection, person.id, names, now)
    # The outer ones first: what a deck has to set itself depends on them.
    for name, packed in sorted(zip(names, package.decks, strict=True), key=lambda pair: pair[0].count(SEPARATOR)):
        key = name.casefold()
        if key in before:
            continue
        changes = _own(packed.preset, preset_of(known[key], known)) if packed.preset else {}
        known[key] = replace(known[key], description=packed.description, preset=changes)
        values = {"description": packed.description, "preset": changes}
        connection.execute(sa.update(deck_table).where(deck_table.c.id == known[key].id).values(values))
    return [known[name.casefold()] for name in names], len(known) - len(before)


def _own(wanted: Preset, inherited: Preset) -> dict[str, Any]:
    """What a deck must set, so that `wanted` holds for it."""
    pairs = ((each.name, getattr(wanted, each.name), getattr(inherited, each.name)) for each in fields(Preset))
    return {name: value for name, value, other in pairs if value != other}


def _put_notes(connection: Connection, person: Person, prepared: Prepared) -> Placed:
    types = {each: type_of(connection, person.id, each).id for each in {note.type for note in prepared.package.notes}}
    rows = [row for row in prepared.notes if row is not None]
    there = _notes_there(connection, person.id, [row["guid"] for row in rows])
    fresh: list[Row] = []
    newer: list[Row] = []
    numbers: dict[str, int] = {}
    for note, row in zip(prepared.package.notes, prepared.notes, strict=True):
        if row is None:
            continue
        row |= {"user_id": person.id, "type_id": types[note.type]}
        old = there.get(note.guid)
        if old is None:
            fresh.append(row)
        elif old.type_id != row["type_id"]:
            prepared.skipped[OTHER_TYPE] += 1
        else:
            numbers[note.guid] = old.id
            is_other = (row["field_values"], row["tags"]) != (old.field_values, old.tags)
            if is_other and note.modified_at > old.modified_at:
                newer.append({"number": old.id, **{f"new_{name}": row[name] for name in _REPLACED}})
    numbers |= _insert_notes(connection, fresh)
    replaced = {name: sa.bindparam(f"new_{name}", type_=notes.c[name].type) for name in _REPLACED}
    _update(connection, sa.update(notes).where(notes.c.id == sa.bindparam("number")).values(replaced), newer)
    ids = [None if row is None else numbers.get(row["guid"]) for row in prepared.notes]
    old_ones = {old.id for old in there.values()}
    return Placed(ids, Tally(len(fresh), len(newer), len(numbers) - len(fresh) - len(newer)), old_ones)


_REPLACED = ("field_values", "tags", "text", "first_key", "modified_at")


def _notes_there(connection: Connection, user_id: int, guids: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    columns = (notes.c.guid, notes.c.id, notes.c.type_id, notes.c.field_values, notes.c.tags, notes.c.modified_at)
    for some in _chunks(guids):
        mine = sa.select(*columns).where(notes.c.user_id == user_id, notes.c.guid.in_(some))
        found |= {row.guid: row for row in connection.execute(mine)}
    return found


def _insert_notes(connection: Connection, rows: Sequence[Row]) -> dict[str, int]:
    """The number of each new note by its guid."""
    numbers: dict[str, int] = {}
    for some in _chunks(rows):
        made = connection.execute(sa.insert(notes).returning(notes.c.guid, notes.c.id), list(some))
        numbers |= {row.guid: row.id for row in made}
    return numbers


def _update(connection: Connection, change: sa.Update, rows: Sequence[Row]) -> None:
    for some in _chunks(rows):
        connection.execute(change, list(some))


# --- cards -------------------------------------------------------------------------------------------------

_RESCHEDULED = (
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
)


def _put_cards(
    connection: Connection, person: Person, prepared: Prepared, placed: Placed, places: Sequence[Deck]
) -> Placed:
    """The schedule of the later last review wins; a card that is there stays in its deck."""
    there = _cards_there(connection, sorted(placed.old))
    until = person.preferences.day_of(prepared.package.written_at).ends
    fresh: list[Row] = []
    newer: list[Row] = []
    for card, row in zip(prepared.package.cards, prepared.cards, strict=True):
        note_id = placed.ids[card.note]
        if row is None or note_id is None:
            prepared.skipped[OF_SKIPPED] += row is not None
            continue
        row |= {"user_id": person.id, "note_id": note_id, "deck_id": places[card.deck].id}
        row["buried_until"] = until if card.buried else None
        old = there.get((note_id, card.ordinal))
        if old is None:
            fresh.append(row)
        elif _is_later(row["last_review"], old.last_review):
            newer.append({"number": old.id, **{f"new_{name}": row[name] for name in _RESCHEDULED}})
    numbers = {pair: old.id for pair, old in there.items()} | _insert_cards(connection, fresh)
    replaced = {name: sa.bindparam(f"new_{name}", type_=cards.c[name].type) for name in _RESCHEDULED}
    _update(connection, sa.update(cards).where(cards.c.id == sa.bindparam("number")).values(replaced), newer)
    ids = [None if row is None else numbers.get((row.get("note_id", 0), row["ordinal"])) for row in prepared.cards]
    met = len([number for number in ids if number is not None])
    return Placed(ids, Tally(len(fresh), len(newer), met - len(fresh) - len(newer)), {old.id for old in there.values()})


def _is_later(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and (other is None or one > other)


def _cards_there(connection: Connection, note_ids: Sequence[int]) -> dict[tuple[int, int], Any]:
    found: dict[tuple[int, int], Any] = {}
    columns = (cards.c.id, cards.c.note_id, cards.c.ordinal, cards.c.last_review)
    for some in _chunks(note_ids):
        rows = connection.execute(sa.select(*columns).where(cards.c.note_id.in_(some)))
        found |= {(row.note_id, row.ordinal): row for row in rows}
    return found


def _insert_cards(connection: Connection, rows: Sequence[Row]) -> dict[tuple[int, int], int]:
    numbers: dict[tuple[int, int], int] = {}
    for some in _chunks(rows):
        made = connection.execute(sa.insert(cards).returning(cards.c.note_id, cards.c.ordinal, cards.c.id), list(some))
        numbers |= {(row.note_id, row.ordinal): row.id for row in made}
    return numbers


# --- reviews -----------------------------------------------------------------------------------------------


_LOGGED = {
    "user_id": "bigint",
    "card_id": "bigint",
    "rating": "smallint",
    "reviewed_at": "timestamptz",
    "duration_ms": "integer",
    "state": "smallint",
    "interval_s": "bigint",
    "last_interval_s": "bigint",
    "difficulty": "double precision",
}
"""What is kept of a review that was imported, and as what PostgreSQL keeps it."""


def _put_reviews(connection: Connection, person: Person, prepared: Prepared, placed: Placed) -> Tally:
    there = _reviews_there(connection, sorted(placed.old))
    fresh: list[tuple[int, PackageReview]] = []
    known = 0
    for review in prepared.reviews:
        card_id = placed.ids[review.card]
        if card_id is None:
            continue
        if there and (card_id, int(review.reviewed_at.timestamp())) in there:
            known += 1
        else:
            fresh.append((card_id, review))
    _append_reviews(connection, person.id, fresh)
    return Tally(added=len(fresh), unchanged=known)


def _append_reviews(connection: Connection, user_id: int, fresh: Sequence[tuple[int, PackageReview]]) -> None:
    """There are more of them than of anything else, so each database gets them the way it takes them fastest."""
    on_sqlite = connection.dialect.name == "sqlite"
    arrays = ", ".join(f"${number}::{kind}[]" for number, kind in enumerate(_LOGGED.values(), start=1))
    given = f"VALUES ({', '.join('?' * len(_LOGGED))})" if on_sqlite else f"SELECT * FROM unnest({arrays})"  # noqa: S608 - no values
    insert = f"INSERT INTO {reviews.name} ({', '.join(_LOGGED)}) {given}"
    for some in _chunks(fresh):
        rows = [
            (user_id, card_id, rating, _as_text(at) if on_sqlite else at, duration, int(state), *rest)
            for card_id, (_, rating, at, duration, state, *rest) in some
        ]
        connection.exec_driver_sql(insert, rows if on_sqlite else tuple(map(list, zip(*rows, strict=True))))


def _as_text(moment: datetime) -> str:
    """As SQLAlchemy writes moments into SQLite: UTC, without saying so."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def _reviews_there(connection: Connection, card_ids: Sequence[int]) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for some in _chunks(card_ids):
        rows = connection.execute(
            sa.select(reviews.c.card_id, reviews.c.reviewed_at).where(reviews.c.card_id.in_(some))
        )
        found |= {(row.card_id, int(row.reviewed_at.timestamp())) for row in rows}
    return found
