"""Reads an .apkg or .colpkg file. The file is not trusted: whatever is wrong with it raises BadPackage."""

import sqlite3
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from mcp_noema.anki import schema11, schema15
from mcp_noema.anki.archive import EXPORT_FOR_OLDER, extract_collection
from mcp_noema.anki.cards import CARD_COLUMNS, CardConverter, creation_time, parse_card
from mcp_noema.anki.collection import AnkiCollection, AnkiDeck, parse_timestamp
from mcp_noema.anki.database import check_tables, open_read_only, parse_text, read_rows
from mcp_noema.anki.deck_options import DeckOptions
from mcp_noema.anki.integers import parse_integers
from mcp_noema.anki.limits import ReadLimits
from mcp_noema.anki.package import (
    BadPackage,
    Package,
    PackageCard,
    PackageDeck,
    PackageLogEntry,
    PackageNote,
    PackageReview,
    damaged,
)
from mcp_noema.anki.revlog import REVLOG_COLUMNS, LogsByCard, package_log
from mcp_noema.model import NoteType

_SCHEMA_11 = 11
_SCHEMAS_FROM_15 = range(15, 19)
_COL_COLUMNS = "ver crt mod conf models decks dconf"
_NOTE_COLUMNS = "id guid mid mod tags flds"
_FIELD_SEPARATOR = "\x1f"
_MAX_GUID_LENGTH = 255
_DEFAULT_DECK_ID = 1
"""A deck that exists in every collection, used or not."""
_DEFAULT_DECK = AnkiDeck(PackageDeck("Default"), DeckOptions())


def read_package(path: Path, limits: ReadLimits | None = None) -> Package:
    """All content of the file, in memory."""
    with open_package(path, limits) as file:
        notes, cards, log = tuple(file.notes), tuple(file.cards), list(file.log)
        return Package(
            decks=file.decks,
            notes=notes,
            cards=cards,
            reviews=tuple(entry for entry in log if isinstance(entry, PackageReview)),
            log_entries=tuple(entry for entry in log if isinstance(entry, PackageLogEntry)),
            written_at=file.written_at,
            media=file.media,
            zone=file.calendar.zone,
            day_start_hour=file.calendar.start_hour,
        )


@contextmanager
def open_package(path: Path, limits: ReadLimits | None = None) -> "Generator[PackageFile]":
    """The content of the file, read as it is needed."""
    limits = limits or ReadLimits()
    with tempfile.TemporaryDirectory(prefix="anki-") as folder:
        collection_file = Path(folder) / "collection"
        media = extract_collection(path, collection_file, limits)
        with open_read_only(collection_file) as connection:
            yield PackageFile(connection, media, limits)


class PackageFile:
    """An open package. Only the ids of its notes and cards are in memory; notes must be read before cards."""

    def __init__(self, connection: sqlite3.Connection, media: tuple[str, ...], limits: ReadLimits) -> None:
        self._connection, self._limits = connection, limits
        self._collection, self.written_at = _collection(connection, limits)
        check_tables(connection, {"notes": _NOTE_COLUMNS, "cards": CARD_COLUMNS, "revlog": REVLOG_COLUMNS})
        self._note_indexes: dict[int, int] = {}
        self._card_indexes: dict[int, int] = {}
        used_decks: set[int] = set()
        for index, row in enumerate(self._rows("cards", "id did odid")):
            card_id, deck_id, home_deck_id = parse_integers("card", row)
            if card_id in self._card_indexes:
                raise damaged(f"Two cards in the file have the id {card_id}.")
            self._card_indexes[card_id] = index
            used_decks.add(home_deck_id or deck_id)
        self.decks, self._deck_indexes = _decks(self._collection.decks, used_decks)
        self.media = media
        self.calendar = self._collection.calendar

    def count_rows(self) -> int:
        """How many notes, cards and log entries there are."""
        counts = (f"(SELECT count(*) FROM {table})" for table in ("notes", "cards", "revlog"))  # noqa: S608 - constants
        (total,) = self._connection.execute(f"SELECT {' + '.join(counts)}").fetchone()
        return total

    @property
    def notes(self) -> Iterator[PackageNote]:
        note_types = self._collection.note_types
        for note_id, note in _notes(self._rows("notes", _NOTE_COLUMNS), note_types, self.written_at):
            if note_id in self._note_indexes:
                raise damaged(f"Two notes in the file have the id {note_id}.")
            self._note_indexes[note_id] = len(self._note_indexes)
            yield note

    @property
    def cards(self) -> Iterator[PackageCard]:
        logs = LogsByCard(self._rows("revlog", REVLOG_COLUMNS, order="cid, id"))
        converter = CardConverter(self._collection, self._note_indexes, self._deck_indexes)
        for card in map(parse_card, self._rows("cards", CARD_COLUMNS)):
            yield converter.convert(card, logs.entries_of(card.id), self.written_at)

    @property
    def log(self) -> Iterator[PackageReview | PackageLogEntry]:
        return package_log(self._rows("revlog", REVLOG_COLUMNS), self._card_indexes)

    def _rows(self, table: str, columns: str, *, order: str = "1") -> Iterator[tuple[Any, ...]]:
        return read_rows(self._connection, table, columns, self._limits, order=order)


def _collection(connection: sqlite3.Connection, limits: ReadLimits) -> tuple[AnkiCollection, datetime]:
    """The collection, and when it was written."""
    check_tables(connection, {"col": _COL_COLUMNS})
    row = next(read_rows(connection, "col", _COL_COLUMNS, limits), None)
    if row is None:
        raise damaged("The table 'col' in the file has no row.")
    schema, created, modified = parse_integers("collection of schema", row[:3])
    written_at = parse_timestamp(modified / 1000)
    if schema == _SCHEMA_11:
        return schema11.read_collection(created, *row[3:]), written_at
    if schema in _SCHEMAS_FROM_15:
        return schema15.read_collection(connection, created, limits), written_at
    raise BadPackage(
        f"The collection has schema {schema}; schemas {_SCHEMA_11} and {_SCHEMAS_FROM_15[0]} to {_SCHEMAS_FROM_15[-1]} "
        f"are supported. {EXPORT_FOR_OLDER}"
    )


def _notes(
    rows: Iterable[Sequence[Any]], note_types: Mapping[int, NoteType], written_at: datetime
) -> Iterator[tuple[int, PackageNote]]:
    """Each note with Anki's id."""
    for row in rows:
        note_id, type_id, modified = parse_integers("note", (row[0], row[2], row[3]))
        guid, tags, values = map(parse_text, (row[1], row[4], row[5]))
        note_type = note_types.get(type_id)
        if note_type is None or not note_type.fields or not note_type.templates:
            raise damaged(f"The note {note_id} has the note type {type_id}, which is missing from the file or empty.")
        if not 0 < len(guid) <= _MAX_GUID_LENGTH:
            raise damaged(
                f"The note {note_id} has a guid of {len(guid)} characters; 1 to {_MAX_GUID_LENGTH} are allowed."
            )
        times = creation_time(note_id, written_at), parse_timestamp(modified)
        yield note_id, PackageNote(guid, note_type, _split_fields(values, note_type), tuple(tags.split()), *times)


def _split_fields(text: str, note_type: NoteType) -> tuple[str, ...]:
    """One value for each field. Surplus values are added to the last field; missing ones are empty."""
    values = text.split(_FIELD_SEPARATOR, max(len(note_type.fields) - 1, 0))
    values[-1] = values[-1].replace(_FIELD_SEPARATOR, "; ")
    return tuple(values + [""] * (len(note_type.fields) - len(values)))


def _decks(decks: Mapping[int, AnkiDeck], used: set[int]) -> tuple[tuple[PackageDeck, ...], dict[int, int]]:
    """The decks by name, and the index of each by Anki's id. Decks of the same name are merged."""
    # Anki moves cards whose deck was deleted to the default deck.
    decks = {**dict.fromkeys(used, _DEFAULT_DECK), **decks}
    kept = {
        deck_id: deck
        for deck_id, deck in decks.items()
        if deck_id in used or not (deck.is_filtered or deck_id == _DEFAULT_DECK_ID)
    }
    by_name: dict[str, PackageDeck] = {}
    for deck in kept.values():
        by_name.setdefault(deck.deck.name.casefold(), deck.deck)
    indexes = {name: index for index, name in enumerate(sorted(by_name))}
    return (
        tuple(by_name[name] for name in indexes),
        {deck_id: indexes[deck.deck.name.casefold()] for deck_id, deck in kept.items()},
    )
