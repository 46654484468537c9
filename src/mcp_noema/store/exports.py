"""Exports: the collection, or a deck with its subdecks, as an Anki package. Read in pages, so that others get turns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core.db import Database
from mcp_noema.anki.deck_options import AnkiOnlyOptions
from mcp_noema.anki.package import Package, PackageCard, PackageDeck, PackageLogEntry, PackageNote, PackageReview
from mcp_noema.errors import alternative, conflict
from mcp_noema.model import ANKI_ONLY, LEECH, Card, Deck, DeckId, Note, NoteType, Schedule, State, preset_of
from mcp_noema.store.conditions import NOT_UNDONE
from mcp_noema.store.deck_selection import DeckSelection, select_decks
from mcp_noema.store.row_mapping import (
    CARD_COLUMNS,
    NOTE_COLUMNS,
    NOTE_TYPE_COLUMNS,
    to_card,
    to_note,
    to_note_type,
)
from mcp_noema.store.tables import anki_log, cards, note_types, notes, reviews

PAGE = 2000
"""How many rows one statement reads."""
_MARKED = "marked"
_REVIEW_COLUMNS = (
    reviews.c.card_id,
    reviews.c.rating,
    reviews.c.reviewed_at,
    reviews.c.duration_ms,
    reviews.c.state,
    reviews.c.interval_s,
    reviews.c.last_interval_s,
    reviews.c.difficulty,
    reviews.c.ease,
)
_LOG_COLUMNS = (
    anki_log.c.card_id,
    anki_log.c.at,
    anki_log.c.rating,
    anki_log.c.interval,
    anki_log.c.last_interval,
    anki_log.c.ease,
    anki_log.c.duration_ms,
    anki_log.c.kind,
)
Rows = list[Any]


@dataclass(frozen=True, slots=True)
class ExportRows:
    """The rows to export, and the decks and note types that they refer to."""

    selection: DeckSelection
    note_types: Mapping[int, NoteType]
    cards: Rows = field(default_factory=list[Any])
    notes: Rows = field(default_factory=list[Any])
    reviews: Rows = field(default_factory=list[Any])
    log_entries: Rows = field(default_factory=list[Any])


async def read_rows(database: Database, owner: str, deck_id: DeckId | None, *, scheduling: bool) -> ExportRows:
    """The rows of a deck with its subdecks, or of all decks; reviews only with `scheduling`."""
    rows = await database.read(_start, owner, deck_id)
    while page := await database.read(_cards_after, rows, rows.cards[-1].id if rows.cards else 0):
        rows.cards.extend(page)
    if not rows.cards:
        raise conflict(
            "There are no cards to export. list-decks shows which decks have cards.",
            alternative("list-decks", "Shows the decks with the number of their cards."),
        )
    for note_ids in _pages(sorted({row.note_id for row in rows.cards})):
        rows.notes.extend(await database.read(_read_notes, note_ids))
    for card_ids in _pages([row.id for row in rows.cards]) if scheduling else ():
        rows.reviews.extend(await database.read(_read_reviews, card_ids))
        rows.log_entries.extend(await database.read(_read_log_entries, card_ids))
    return rows


def _pages(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), PAGE):
        yield ids[start : start + PAGE]


def _start(connection: Connection, owner: str, deck_id: DeckId | None) -> ExportRows:
    selection = select_decks(connection, owner, deck_id)
    query = sa.select(*NOTE_TYPE_COLUMNS).where(note_types.c.user_id == selection.user.id)
    types = [to_note_type(row) for row in connection.execute(query)]
    return ExportRows(selection, {note_type.id: replace(note_type, id=0) for note_type in types})


def _cards_after(connection: Connection, rows: ExportRows, last_id: int) -> Rows:
    selection = rows.selection
    page = sa.select(*CARD_COLUMNS).where(
        cards.c.user_id == selection.user.id, cards.c.id > last_id, selection.of_cards
    )
    return list(connection.execute(page.order_by(cards.c.id).limit(PAGE)))


def _read_notes(connection: Connection, ids: Sequence[int]) -> Rows:
    query = sa.select(*NOTE_COLUMNS, notes.c.type_id).where(notes.c.id.in_(ids))
    return list(connection.execute(query.order_by(notes.c.id)))


def _read_reviews(connection: Connection, card_ids: Sequence[int]) -> Rows:
    return list(connection.execute(sa.select(*_REVIEW_COLUMNS).where(reviews.c.card_id.in_(card_ids), NOT_UNDONE)))


def _read_log_entries(connection: Connection, card_ids: Sequence[int]) -> Rows:
    return list(connection.execute(sa.select(*_LOG_COLUMNS).where(anki_log.c.card_id.in_(card_ids))))


# --- the package -------------------------------------------------------------------------------------------


def build_package(rows: ExportRows, now: datetime, *, scheduling: bool) -> Package:
    """The package; without `scheduling`, all cards are new. It takes long, and needs no database."""
    selection = rows.selection
    exported_notes = [to_note(row[: len(NOTE_COLUMNS)], rows.note_types[row.type_id]) for row in rows.notes]
    note_indexes = {note.id: index for index, note in enumerate(exported_notes)}
    deck_indexes = {deck.id: index for index, deck in enumerate(selection.decks)}
    # A card that was added while rows were read may have no note here.
    exported_cards = [card for card in map(to_card, rows.cards) if card.note_id in note_indexes]
    card_indexes = {card.id: index for index, card in enumerate(exported_cards)}
    preferences = selection.user.preferences
    return Package(
        decks=tuple(_package_deck(deck, selection.all_decks, scheduling=scheduling) for deck in selection.decks),
        notes=tuple(_package_note(note, scheduling=scheduling) for note in exported_notes),
        cards=tuple(
            _package_card(card, note_indexes[card.note_id], deck_indexes[card.deck_id], now, scheduling=scheduling)
            for card in exported_cards
        ),
        reviews=tuple(_package_reviews(rows.reviews, card_indexes)),
        log_entries=tuple(_package_log_entries(rows.log_entries, card_indexes)),
        written_at=now,
        zone=ZoneInfo(preferences.timezone),
        day_start_hour=preferences.day_start_hour,
    )


def _package_deck(deck: Deck, all_decks: Mapping[str, Deck], *, scheduling: bool) -> PackageDeck:
    if not scheduling:
        return PackageDeck(deck.name, deck.description)
    anki_only = AnkiOnlyOptions.from_changes(deck.preset.get(ANKI_ONLY, {}))
    return PackageDeck(deck.name, deck.description, preset_of(deck, all_decks), anki_only)


def _package_note(note: Note, *, scheduling: bool) -> PackageNote:
    tags = note.tags if scheduling else _without_progress(note.tags)
    return PackageNote(note.guid, note.type, note.values, tags, note.created_at, note.modified_at)


def _without_progress(tags: Iterable[str]) -> tuple[str, ...]:
    """Without the tags that show how learning went, as Anki exports them."""
    return tuple(tag for tag in tags if tag.casefold() not in (LEECH, _MARKED))


def _package_card(card: Card, note: int, deck: int, now: datetime, *, scheduling: bool) -> PackageCard:
    return PackageCard(
        note=note,
        deck=deck,
        ordinal=card.ordinal,
        position=card.position,
        schedule=card.schedule if scheduling else Schedule(),
        reps=card.reps if scheduling else 0,
        lapses=card.lapses if scheduling else 0,
        suspended=card.suspended and scheduling,
        buried=card.buried_until is not None and card.buried_until > now and scheduling,
        created_at=card.created_at,
        flag=card.flag if scheduling else 0,
        ease=card.ease if scheduling else 0,
    )


def _package_reviews(rows: Rows, card_indexes: Mapping[int, int]) -> list[PackageReview]:
    exported = [
        PackageReview(card_indexes[card_id], rating, reviewed_at, duration_ms, State(state), *rest)
        for card_id, rating, reviewed_at, duration_ms, state, *rest in rows
        if card_id in card_indexes
    ]
    return sorted(exported, key=lambda review: review.reviewed_at)


def _package_log_entries(rows: Rows, card_indexes: Mapping[int, int]) -> list[PackageLogEntry]:
    entries = [PackageLogEntry(card_indexes[card_id], *rest) for card_id, *rest in rows if card_id in card_indexes]
    return sorted(entries, key=lambda entry: entry.at)
