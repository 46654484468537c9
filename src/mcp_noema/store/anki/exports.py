"""Exports: the collection, or a deck with its subdecks, as an Anki package.

It is read and written in pages, so that others get turns, and a large collection needs little memory.
"""

import asyncio
from array import array
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.anki.deck_options import AnkiOnlyOptions
from mcp_noema.anki.package import PackageCard, PackageDeck, PackageLogEntry, PackageNote, PackageReview
from mcp_noema.anki.package_writer import PackageOutline, PackageWriter, milliseconds
from mcp_noema.errors import alternative, conflict
from mcp_noema.model import ANKI_ONLY, LEECH, Card, CardState, Deck, DeckId, Note, NoteType, Schedule, preset_of
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
from toolcharter.db import Database

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


_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Export:
    """The keys of what is exported, small enough for memory, and what all of it refers to."""

    selection: DeckSelection
    note_types: Mapping[int, NoteType]
    now: datetime
    scheduling: bool
    card_ids: "array[int]" = field(default_factory=lambda: array("q"))
    card_times: "array[int]" = field(default_factory=lambda: array("q"))
    note_indexes: dict[int, int] = field(default_factory=dict[int, int])
    """The index of each note, by its id."""
    note_times: "array[int]" = field(default_factory=lambda: array("q"))
    used_types: dict[int, None] = field(default_factory=dict[int, None])
    earliest: datetime = _LATEST
    last_position: int = 0
    review_count: int = 0
    log_size: int = 0

    def add_card_keys(self, page: Rows) -> None:
        """Take what must be known of each card before the first row is written."""
        for row in page:
            self.card_ids.append(row.id)
            self.card_times.append(milliseconds(row.created_at))
            self.note_indexes.setdefault(row.note_id, 0)
            self.last_position = max(self.last_position, row.position)
            if self.scheduling:
                self.earliest = min(self.earliest, *(at for at in (row.due, row.last_review) if at), self.now)

    def add_note_keys(self, page: Rows) -> None:
        """Take what must be known of each note."""
        for row in page:
            self.note_indexes[row.id] = len(self.note_times)
            self.note_times.append(milliseconds(row.created_at))
            self.used_types.setdefault(row.type_id)
            self.earliest = min(self.earliest, row.created_at)

    def outline(self) -> PackageOutline:
        """The outline for the writer."""
        selection, preferences = self.selection, self.selection.user.preferences
        return PackageOutline(
            decks=tuple(
                _package_deck(deck, selection.all_decks, scheduling=self.scheduling) for deck in selection.decks
            ),
            note_types=list(dict.fromkeys(self.note_types[type_id] for type_id in self.used_types)),
            note_times=self.note_times,
            card_times=self.card_times,
            log_size=self.log_size,
            earliest=min(self.earliest, self.now),
            last_position=self.last_position,
            written_at=self.now,
            zone=ZoneInfo(preferences.timezone),
            day_start_hour=preferences.day_start_hour,
        )


class Indexes(NamedTuple):
    """The index of each card and deck, by its id."""

    cards: Mapping[int, int]
    decks: Mapping[int, int]


async def start(database: Database, owner: str, deck_id: DeckId | None, now: datetime, *, scheduling: bool) -> Export:
    """The keys of a deck with its subdecks, or of all decks; the log only with `scheduling`."""
    export = await database.read(_start, owner, deck_id, now, scheduling=scheduling)
    while page := await database.read(_card_keys, export):
        export.add_card_keys(page)
    if not export.card_ids:
        raise conflict(
            "There are no cards to export. list-decks shows which decks have cards.",
            alternative("list-decks", "Shows the decks with the number of their cards."),
        )
    for note_ids in _pages(sorted(export.note_indexes)):
        export.add_note_keys(await database.read(_note_keys, note_ids))
    if scheduling:
        await database.read(_measure_log, export)
    return export


async def write(
    database: Database, export: Export, writer: PackageWriter, report_progress: Callable[[int], Awaitable[None]]
) -> None:
    """Read the rows page by page, and write each page before the next is read. Progress is in cards."""
    for note_ids in _pages(list(export.note_indexes)):
        rows = await database.read(_read_notes, note_ids)
        await asyncio.to_thread(_write_notes, export, writer, rows)
    indexes = Indexes(
        cards={card_id: index for index, card_id in enumerate(export.card_ids)},
        decks={deck.id: index for index, deck in enumerate(export.selection.decks)},
    )
    done = 0
    for card_ids in _pages(export.card_ids):
        rows = await database.read(_read_cards, card_ids)
        await asyncio.to_thread(_write_cards, export, writer, rows, indexes)
        if export.scheduling:
            reviewed, entries = await database.read(_read_log, card_ids)
            await asyncio.to_thread(_write_log, writer, reviewed, entries, indexes.cards)
        done += len(card_ids)
        await report_progress(done)


def _pages(ids: Sequence[int]) -> Iterator[list[int]]:
    for start in range(0, len(ids), PAGE):
        yield list(ids[start : start + PAGE])


# --- read --------------------------------------------------------------------------------------------------


def _start(connection: Connection, owner: str, deck_id: DeckId | None, now: datetime, *, scheduling: bool) -> Export:
    selection = select_decks(connection, owner, deck_id)
    query = sa.select(*NOTE_TYPE_COLUMNS).where(note_types.c.user_id == selection.user.id)
    types = [to_note_type(row) for row in connection.execute(query)]
    return Export(selection, {note_type.id: replace(note_type, id=0) for note_type in types}, now, scheduling)


def _card_keys(connection: Connection, export: Export) -> Rows:
    """The next page."""
    columns = (cards.c.id, cards.c.note_id, cards.c.created_at, cards.c.position, cards.c.due, cards.c.last_review)
    last_id = export.card_ids[-1] if export.card_ids else 0
    page = sa.select(*columns).where(
        cards.c.user_id == export.selection.user.id,
        cards.c.id > last_id,
        export.selection.of_cards,
    )
    return list(connection.execute(page.order_by(cards.c.id).limit(PAGE)))


def _note_keys(connection: Connection, ids: Sequence[int]) -> Rows:
    query = sa.select(notes.c.id, notes.c.created_at, notes.c.type_id).where(notes.c.id.in_(ids))
    return list(connection.execute(query.order_by(notes.c.id)))


def _measure_log(connection: Connection, export: Export) -> None:
    """Count the log, and find its earliest review."""
    of_cards = sa.select(cards.c.id).where(export.selection.of_cards)
    counted = sa.select(sa.func.count(), sa.func.min(reviews.c.reviewed_at))
    row = connection.execute(counted.where(reviews.c.card_id.in_(of_cards), NOT_UNDONE)).one()
    others = sa.select(sa.func.count()).select_from(anki_log).where(anki_log.c.card_id.in_(of_cards))
    export.review_count = row[0]
    export.log_size = row[0] + connection.execute(others).scalar_one()
    export.earliest = min(export.earliest, row[1] or export.now)


def _read_notes(connection: Connection, ids: Sequence[int]) -> Rows:
    query = sa.select(*NOTE_COLUMNS, notes.c.type_id).where(notes.c.id.in_(ids))
    return list(connection.execute(query.order_by(notes.c.id)))


def _read_cards(connection: Connection, ids: Sequence[int]) -> Rows:
    return list(connection.execute(sa.select(*CARD_COLUMNS).where(cards.c.id.in_(ids)).order_by(cards.c.id)))


def _read_log(connection: Connection, card_ids: Sequence[int]) -> tuple[Rows, Rows]:
    """The reviews, and the other entries."""
    reviewed = sa.select(*_REVIEW_COLUMNS).where(reviews.c.card_id.in_(card_ids), NOT_UNDONE)
    entries = sa.select(*_LOG_COLUMNS).where(anki_log.c.card_id.in_(card_ids))
    by_time = (reviewed.order_by(reviews.c.reviewed_at, reviews.c.id), entries.order_by(anki_log.c.at))
    return list(connection.execute(by_time[0])), list(connection.execute(by_time[1]))


# --- write -------------------------------------------------------------------------------------------------


def _write_notes(export: Export, writer: PackageWriter, rows: Rows) -> None:
    writer.add_notes(
        (
            export.note_indexes[row.id],
            _package_note(
                to_note(row[: len(NOTE_COLUMNS)], export.note_types[row.type_id]), scheduling=export.scheduling
            ),
        )
        for row in rows
    )


def _write_cards(export: Export, writer: PackageWriter, rows: Rows, indexes: Indexes) -> None:
    writer.add_cards(
        (
            indexes.cards[card.id],
            _package_card(
                card,
                export.note_indexes[card.note_id],
                indexes.decks[card.deck_id],
                export.now,
                scheduling=export.scheduling,
            ),
        )
        for card in map(to_card, rows)
        # A card may have been moved to another deck since its key was read.
        if card.deck_id in indexes.decks
    )


def _write_log(writer: PackageWriter, reviewed: Rows, entries: Rows, indexes: Mapping[int, int]) -> None:
    writer.add_reviews(
        PackageReview(indexes[card_id], rating, reviewed_at, duration_ms, CardState(state), *rest)
        for card_id, rating, reviewed_at, duration_ms, state, *rest in reviewed
    )
    writer.add_log_entries(PackageLogEntry(indexes[card_id], *rest) for card_id, *rest in entries)


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
