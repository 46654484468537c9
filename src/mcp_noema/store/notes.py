"""Notes in SQL, and the cards that are made of them."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core import InvalidArguments
from mcp_core.db import Database
from mcp_noema.errors import note_not_found
from mcp_noema.model import BUILT_IN, Card, Deck, DeckId, Note, NoteId, NoteKind, NoteType, Schedule
from mcp_noema.repositories import ChangedNote, Draft, DraftOutcome, NoteChange, NoteView
from mcp_noema.store import decks, people
from mcp_noema.store.rows import (
    CARD,
    DECK,
    NOTE,
    NOTE_TYPE,
    card_of,
    deck_of,
    note_of,
    note_type_of,
    note_type_values,
    schedule_values,
    tags_text,
)
from mcp_noema.store.tables import NEW, SUSPENDED, cards, note_types, notes
from mcp_noema.store.tables import decks as deck_table
from mcp_noema.templates import first_key, ordinals, plain_text, searchable

NO_CARD = {
    True: "the text has no gap; write {{c1::answer}} around what shall be asked",
    False: "the front is empty, so there is nothing to ask",
}


class SqlNotes:
    """The notes of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, owner: str, deck_id: DeckId, drafts: Sequence[Draft], now: datetime, *, duplicates: bool
    ) -> list[DraftOutcome]:
        return await self._database.write(_add, owner, deck_id, drafts, now, duplicates=duplicates)

    async def change(self, owner: str, note_id: NoteId, change: NoteChange, now: datetime) -> ChangedNote:
        return await self._database.write(_change, owner, note_id, change, now)

    async def remove(self, owner: str, note_id: NoteId, now: datetime) -> NoteView:
        return await self._database.write(_remove, owner, note_id, now)


# --- note types --------------------------------------------------------------------------------------------


def type_of(connection: Connection, user_id: int, wanted: NoteType) -> NoteType:
    """The user's own note type of this form, made where it is missing."""
    mine = sa.select(*NOTE_TYPE).where(note_types.c.user_id == user_id, note_types.c.name == wanted.name)
    for row in connection.execute(mine):
        found = note_type_of(row)
        if (found.fields, found.is_cloze, len(found.templates)) == (
            wanted.fields,
            wanted.is_cloze,
            len(wanted.templates),
        ):
            return found
    connection.execute(sa.insert(note_types), {"user_id": user_id, **note_type_values(wanted)})
    newest = mine.order_by(note_types.c.id.desc()).limit(1)
    return note_type_of(connection.execute(newest).one())


# --- adding ------------------------------------------------------------------------------------------------


def _add(
    connection: Connection, owner: str, deck_id: DeckId, drafts: Sequence[Draft], now: datetime, *, duplicates: bool
) -> list[DraftOutcome]:
    person = people.writing(connection, owner, now)
    deck = decks.find(decks.by_name(connection, person.id), deck_id)
    keys = [first_key(draft.values[0]) for draft in drafts]
    known = {} if duplicates else _there(connection, person.id, keys)
    kinds: set[NoteKind] = {draft.kind for draft in drafts}
    types = {kind: type_of(connection, person.id, BUILT_IN[kind]) for kind in kinds}
    errors: dict[int, str] = {}
    fresh: dict[int, Note] = {}
    for index, (draft, key) in enumerate(zip(drafts, keys, strict=True)):
        if not plain_text(draft.values[0]) or not ordinals(BUILT_IN[draft.kind], draft.values):
            errors[index] = NO_CARD[draft.kind == "cloze"]
        elif duplicates or key not in known:
            fresh[index] = Note(0, types[draft.kind], draft.values, draft.tags, secrets.token_urlsafe(9), now, now)
            # Known from here on, under a number that it does not have yet.
            known[key] = 0
    views = dict(zip(fresh, _insert(connection, person.id, deck, list(fresh.values()), now), strict=True))
    known |= {keys[index]: view.note.id for index, view in views.items()}
    return [
        DraftOutcome(views.get(index), None if index in views or index in errors else known[key], errors.get(index))
        for index, key in enumerate(keys)
    ]


def _there(connection: Connection, user_id: int, keys: Iterable[int]) -> dict[int, int]:
    """The notes whose first field is one of these, by its key."""
    same = sa.select(notes.c.first_key, notes.c.id).where(notes.c.user_id == user_id, notes.c.first_key.in_(set(keys)))
    return {row.first_key: row.id for row in connection.execute(same)}


def _insert(connection: Connection, user_id: int, deck: Deck, fresh: Sequence[Note], now: datetime) -> list[NoteView]:
    if not fresh:
        return []
    connection.execute(sa.insert(notes), [note_values(note, user_id) for note in fresh])
    guids = sa.select(notes.c.guid, notes.c.id).where(
        notes.c.user_id == user_id, notes.c.guid.in_([note.guid for note in fresh])
    )
    numbers: dict[str, int] = {row.guid: row.id for row in connection.execute(guids)}
    wanted = [(numbers[note.guid], ordinal) for note in fresh for ordinal in ordinals(note.type, note.values)]
    add_cards(connection, user_id, deck.id, wanted, now)
    made = of_notes(connection, numbers.values())
    with_ids = [replace(note, id=numbers[note.guid]) for note in fresh]
    return [NoteView(note, tuple(made[note.id]), deck) for note in with_ids]


def note_values(note: Note, user_id: int) -> dict[str, Any]:
    """All columns but the id."""
    return {
        "user_id": user_id,
        "type_id": note.type.id,
        "field_values": list(note.values),
        "tags": tags_text(note.tags),
        "guid": note.guid,
        "text": searchable(note.values),
        "first_key": first_key(note.values[0]),
        "created_at": note.created_at,
        "modified_at": note.modified_at,
    }


def add_cards(
    connection: Connection, user_id: int, deck_id: int, wanted: Sequence[tuple[int, int]], now: datetime
) -> None:
    """New cards at the end of a deck's new ones, for pairs of note and ordinal."""
    if not wanted:
        return
    last = sa.select(sa.func.max(cards.c.position)).where(cards.c.deck_id == deck_id, cards.c.queue == NEW)
    position = connection.execute(last).scalar() or 0
    fresh = schedule_values(Schedule()) | {"user_id": user_id, "deck_id": deck_id, "reps": 0, "lapses": 0}
    fresh |= {"buried_until": None, "created_at": now}
    rows = [
        fresh | {"note_id": note_id, "ordinal": ordinal, "position": position + index}
        for index, (note_id, ordinal) in enumerate(wanted, start=1)
    ]
    connection.execute(sa.insert(cards), rows)


def of_notes(connection: Connection, note_ids: Iterable[int]) -> dict[int, list[Card]]:
    """The cards of some notes, by note."""
    found: dict[int, list[Card]] = {number: [] for number in note_ids}
    mine = sa.select(*CARD).where(cards.c.note_id.in_(list(found))).order_by(cards.c.note_id, cards.c.ordinal)
    for row in connection.execute(mine):
        card = card_of(row)
        found[card.note_id].append(card)
    return found


# --- one note ----------------------------------------------------------------------------------------------


def get(connection: Connection, user_id: int, note_id: NoteId) -> NoteView:
    """A note with its cards; its deck is that of the first of them."""
    mine = (
        sa.select(*NOTE, *NOTE_TYPE)
        .select_from(notes.join(note_types, note_types.c.id == notes.c.type_id))
        .where(notes.c.user_id == user_id, notes.c.id == note_id.number)
    )
    row: Any = connection.execute(mine).one_or_none()
    if row is None:
        raise note_not_found(note_id)
    note = note_of(row[: len(NOTE)], note_type_of(row[len(NOTE) :]))
    made = tuple(of_notes(connection, [note.id])[note.id])
    deck = deck_of(connection.execute(sa.select(*DECK).where(deck_table.c.id == made[0].deck_id)).one())
    return NoteView(note, made, deck)


def _change(connection: Connection, owner: str, note_id: NoteId, change: NoteChange, now: datetime) -> ChangedNote:
    person = people.writing(connection, owner, now)
    before = get(connection, person.id, note_id)
    values = _changed_values(before.note, change)
    wanted = ordinals(before.note.type, values)
    if not wanted:
        raise InvalidArguments(f"Nothing was changed: {NO_CARD[before.note.type.is_cloze]}.", fields=("front",))
    tags = before.note.tags if change.tags is None else change.tags
    after = replace(before.note, values=values, tags=tags, modified_at=now)
    row = note_values(after, person.id)
    connection.execute(sa.update(notes).where(notes.c.id == after.id).values(row))
    deck_id = before.deck.id
    if change.deck_id is not None:
        deck_id = decks.find(decks.by_name(connection, person.id), change.deck_id).id
        connection.execute(sa.update(cards).where(cards.c.note_id == after.id).values(deck_id=deck_id))
    # Added before others go: a note without a card would be out of reach.
    missing = set(wanted) - {card.ordinal for card in before.cards}
    add_cards(connection, person.id, deck_id, [(after.id, ordinal) for ordinal in sorted(missing)], now)
    gone, kept = _without(connection, [card for card in before.cards if card.ordinal not in wanted])
    view = get(connection, person.id, note_id)
    added = tuple(card.id for card in view.cards if card.ordinal in missing)
    return ChangedNote(view, added, gone, kept)


def _changed_values(note: Note, change: NoteChange) -> tuple[str, ...]:
    values = dict(zip(note.type.fields, note.values, strict=True))
    known = {name.casefold(): name for name in values}
    for name, value in (change.fields or {}).items():
        if name.casefold() not in known:
            raise InvalidArguments(
                f"The note has no field {name!r}; it has {', '.join(note.type.fields)}.", fields=("fields",)
            )
        values[known[name.casefold()]] = value
    for index, value in enumerate((change.front, change.back)):
        if value is not None:
            if index >= len(note.type.fields):
                raise InvalidArguments("The note has one field only: give front.", fields=("back",))
            values[note.type.fields[index]] = value
    return tuple(values.values())


def _without(connection: Connection, left: Sequence[Card]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Take cards away that the text no longer asks. One that was answered before is suspended rather than lost."""
    gone = tuple(card.id for card in left if not card.reps)
    kept = tuple(card.id for card in left if card.reps)
    connection.execute(sa.delete(cards).where(cards.c.id.in_(gone)))
    connection.execute(sa.update(cards).where(cards.c.id.in_(kept)).values(queue=SUSPENDED))
    return gone, kept


def _remove(connection: Connection, owner: str, note_id: NoteId, now: datetime) -> NoteView:
    person = people.writing(connection, owner, now)
    view = get(connection, person.id, note_id)
    connection.execute(sa.delete(notes).where(notes.c.id == view.note.id))
    return view
