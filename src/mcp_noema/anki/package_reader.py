"""An .apkg or .colpkg file -> a Package. The file may come from anywhere: a bad one is an error, and no more."""

import sqlite3
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from mcp_noema.anki import schema11, schema15
from mcp_noema.anki.archive import AGAIN, Limits, unpack
from mcp_noema.anki.cards import CARDS, LOG, AnkiCard, Cards, card, log_by_card, made_at, reviews, whole
from mcp_noema.anki.collection import AnkiDeck, Described, moment
from mcp_noema.anki.database import check, opened, rows
from mcp_noema.anki.deck_options import Options
from mcp_noema.anki.package import BadPackage, Package, PackedDeck, PackedNote
from mcp_noema.model import NoteType

_IN_JSON = 11
_IN_TABLES = range(15, 19)
_COLLECTION = "ver crt mod conf models decks dconf"
_NOTES = "id guid mid mod tags flds"
_BETWEEN_FIELDS = "\x1f"
_LONGEST_GUID = 255
_DEFAULT = 1
"""The deck that every collection has, wanted or not."""
_HOMELESS = AnkiDeck(PackedDeck("Default"), Options())


def read_package(path: Path, limits: Limits | None = None) -> Package:
    """What is in the file."""
    limits = limits or Limits()
    with tempfile.TemporaryDirectory(prefix="anki-") as folder:
        collection = Path(folder) / "collection"
        media = unpack(path, collection, limits)
        with opened(collection) as connection:
            return _package(connection, media, limits)


def _package(connection: sqlite3.Connection, media: tuple[str, ...], limits: Limits) -> Package:
    described, written_at = _described(connection, limits)
    check(connection, {"notes": _NOTES, "cards": CARDS, "revlog": LOG})
    notes = _notes(rows(connection, "notes", _NOTES, limits), described.types, written_at)
    log = log_by_card(rows(connection, "revlog", LOG, limits))
    cards = [card(row) for row in rows(connection, "cards", CARDS, limits)]
    decks, deck_places = _decks(described.decks, cards)
    reader = Cards(described, {number: place for place, number in enumerate(notes)}, deck_places, log)
    return Package(
        decks=decks,
        notes=tuple(notes.values()),
        cards=tuple(reader.packed(each, written_at) for each in cards),
        reviews=tuple(reviews(log, {each.id: place for place, each in enumerate(cards)})),
        written_at=written_at,
        media=media,
        zone=described.days.zone,
        day_start_hour=described.days.hour,
    )


def _described(connection: sqlite3.Connection, limits: Limits) -> tuple[Described, datetime]:
    check(connection, {"col": _COLLECTION})
    found = next(rows(connection, "col", _COLLECTION, limits), None)
    if found is None:
        raise BadPackage(f"The collection in the file says nothing about itself. {AGAIN}")
    version, created, modified = whole("collection of schema", found[:3])
    written_at = moment(modified / 1000)
    if version == _IN_JSON:
        return schema11.describe(created, *found[3:]), written_at
    if version in _IN_TABLES:
        return schema15.describe(connection, created, limits), written_at
    raise BadPackage(
        f"The collection has schema {version}, and {_IN_JSON} and {_IN_TABLES[0]} to {_IN_TABLES[-1]} are known. "
        "Export it again from Anki, with 'Support older Anki versions'."
    )


def _notes(
    found: Iterable[Sequence[Any]], types: Mapping[int, NoteType], written_at: datetime
) -> dict[int, PackedNote]:
    notes: dict[int, PackedNote] = {}
    for row in found:
        number, kind, modified = whole("note", (row[0], row[2], row[3]))
        guid, tags, values = map(str, (row[1], row[4], row[5]))
        of = types.get(kind)
        if of is None or not of.fields or not of.templates:
            raise BadPackage(f"The note {number} is of the type {kind}, which is not in the file, or empty. {AGAIN}")
        if not 0 < len(guid) <= _LONGEST_GUID:
            raise BadPackage(f"The note {number} has a guid of {len(guid)} characters. {AGAIN}")
        times = made_at(number, written_at), moment(modified)
        notes[number] = PackedNote(guid, of, _values(values, of), tuple(tags.split()), *times)
    return notes


def _values(text: str, type: NoteType) -> tuple[str, ...]:
    """One for each field. What is too much is added to the last, and what is missing is empty."""
    values = text.split(_BETWEEN_FIELDS, max(len(type.fields) - 1, 0))
    values[-1] = values[-1].replace(_BETWEEN_FIELDS, "; ")
    return tuple(values + [""] * (len(type.fields) - len(values)))


def _decks(decks: Mapping[int, AnkiDeck], cards: Sequence[AnkiCard]) -> tuple[tuple[PackedDeck, ...], dict[int, int]]:
    """The decks by name, and the place of each among them. Two of one name are one."""
    homes = {each.home for each in cards}
    # Anki moves cards whose deck is gone to the deck that is always there.
    decks = {**dict.fromkeys(homes, _HOMELESS), **decks}
    kept = {key: deck for key, deck in decks.items() if key in homes or not (deck.is_filtered or key == _DEFAULT)}
    named: dict[str, PackedDeck] = {}
    for deck in kept.values():
        named.setdefault(deck.packed.name.casefold(), deck.packed)
    order = {name: place for place, name in enumerate(sorted(named))}
    return (
        tuple(named[name] for name in order),
        {key: order[deck.packed.name.casefold()] for key, deck in kept.items()},
    )
