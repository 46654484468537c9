"""Notes in SQL, and the cards made from them."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.errors import note_not_found
from mcp_noema.model import BUILT_IN, Card, Deck, DeckId, Note, NoteId, NoteKind, NoteType, Schedule
from mcp_noema.records import ChangedNote, DraftOutcome, NoteChange, NoteDraft, NoteView
from mcp_noema.store import decks, tags, users
from mcp_noema.store.row_mapping import (
    CARD_COLUMNS,
    DECK_COLUMNS,
    NOTE_COLUMNS,
    NOTE_TYPE_COLUMNS,
    format_tags,
    note_type_values,
    schedule_values,
    to_card,
    to_deck,
    to_note,
    to_note_type,
)
from mcp_noema.store.tables import NEW, SUSPENDED, cards, note_types, notes
from mcp_noema.store.tables import decks as deck_table
from mcp_noema.text.templates import first_key, ordinals, plain_text, searchable
from toolcharter import InvalidArguments

_NO_GAP = "the text has no gap; write {{c1::answer}} around the part to ask for"
_NO_FRONT = "the front is empty, so there is nothing to ask"


# --- note types --------------------------------------------------------------------------------------------


def get_or_create_type(connection: Connection, user_id: int, note_type: NoteType) -> NoteType:
    """The user's note type with this name and form, created if it does not exist."""
    query = sa.select(*NOTE_TYPE_COLUMNS).where(note_types.c.user_id == user_id, note_types.c.name == note_type.name)
    for existing in map(to_note_type, connection.execute(query)):
        if _form(existing) == _form(note_type):
            return existing
    connection.execute(sa.insert(note_types), {"user_id": user_id, **note_type_values(note_type)})
    newest = query.order_by(note_types.c.id.desc()).limit(1)
    return to_note_type(connection.execute(newest).one())


def _form(note_type: NoteType) -> tuple[tuple[str, ...], bool, int]:
    return note_type.fields, note_type.is_cloze, len(note_type.templates)


# --- add ---------------------------------------------------------------------------------------------------


def add(
    connection: Connection, owner: str, deck_id: DeckId, drafts: Sequence[NoteDraft], now: datetime, *, duplicates: bool
) -> list[DraftOutcome]:
    """Create all notes that are valid. `duplicates`: also where a note with that first field exists."""
    user = users.lock(connection, owner, now)
    deck = decks.find(decks.by_name(connection, user.id), deck_id)
    keys = [first_key(draft.values[0]) for draft in drafts]
    note_ids = {} if duplicates else _notes_by_key(connection, user.id, keys)
    kinds: set[NoteKind] = {draft.kind for draft in drafts}
    types = {kind: get_or_create_type(connection, user.id, BUILT_IN[kind]) for kind in kinds}
    errors: dict[int, str] = {}
    new_notes: dict[int, Note] = {}
    for index, (draft, key) in enumerate(zip(drafts, keys, strict=True)):
        if not plain_text(draft.values[0]) or not ordinals(BUILT_IN[draft.kind], draft.values):
            errors[index] = _NO_GAP if draft.kind == "cloze" else _NO_FRONT
        elif duplicates or key not in note_ids:
            new_notes[index] = Note(0, types[draft.kind], draft.values, draft.tags, secrets.token_urlsafe(9), now, now)
            # A later draft with this key is a duplicate. The id is set below.
            note_ids[key] = 0
    views = dict(zip(new_notes, _insert(connection, user.id, deck, list(new_notes.values()), now), strict=True))
    note_ids |= {keys[index]: view.note.id for index, view in views.items()}
    return [
        DraftOutcome(views.get(index), None if index in views or index in errors else note_ids[key], errors.get(index))
        for index, key in enumerate(keys)
    ]


def _notes_by_key(connection: Connection, user_id: int, keys: Iterable[int]) -> dict[int, int]:
    """The ids of the notes whose first field has one of these keys."""
    query = sa.select(notes.c.first_key, notes.c.id).where(notes.c.user_id == user_id, notes.c.first_key.in_(set(keys)))
    return {row.first_key: row.id for row in connection.execute(query)}


def _insert(
    connection: Connection, user_id: int, deck: Deck, new_notes: Sequence[Note], now: datetime
) -> list[NoteView]:
    if not new_notes:
        return []
    connection.execute(sa.insert(notes), [note_values(note, user_id) for note in new_notes])
    query = sa.select(notes.c.guid, notes.c.id).where(
        notes.c.user_id == user_id, notes.c.guid.in_([note.guid for note in new_notes])
    )
    ids: dict[str, int] = {row.guid: row.id for row in connection.execute(query)}
    tags.add(connection, user_id, {ids[note.guid]: format_tags(note.tags) for note in new_notes})
    new_cards = [(ids[note.guid], ordinal) for note in new_notes for ordinal in ordinals(note.type, note.values)]
    _add_cards(connection, user_id, deck.id, new_cards, now)
    cards_by_note = _cards_by_note(connection, ids.values())
    with_ids = [replace(note, id=ids[note.guid]) for note in new_notes]
    return [NoteView(note, tuple(cards_by_note[note.id]), deck) for note in with_ids]


def note_values(note: Note, user_id: int) -> dict[str, Any]:
    """All columns except the id."""
    return {
        "user_id": user_id,
        "type_id": note.type.id,
        "field_values": list(note.values),
        "tags": format_tags(note.tags),
        "guid": note.guid,
        "text": searchable(note.values),
        "first_key": first_key(note.values[0]),
        "created_at": note.created_at,
        "modified_at": note.modified_at,
    }


def _add_cards(
    connection: Connection, user_id: int, deck_id: int, new_cards: Sequence[tuple[int, int]], now: datetime
) -> None:
    """Add new cards, given as note id and ordinal, after the deck's other new cards."""
    if not new_cards:
        return
    last = sa.select(sa.func.max(cards.c.position)).where(cards.c.deck_id == deck_id, cards.c.queue == NEW)
    position = connection.execute(last).scalar() or 0
    values = schedule_values(Schedule()) | {"user_id": user_id, "deck_id": deck_id, "reps": 0, "lapses": 0}
    values |= {"buried_until": None, "created_at": now}
    rows = [
        values | {"note_id": note_id, "ordinal": ordinal, "position": position + index}
        for index, (note_id, ordinal) in enumerate(new_cards, start=1)
    ]
    connection.execute(sa.insert(cards), rows)


def _cards_by_note(connection: Connection, note_ids: Iterable[int]) -> dict[int, list[Card]]:
    by_note: dict[int, list[Card]] = {note_id: [] for note_id in note_ids}
    query = sa.select(*CARD_COLUMNS).where(cards.c.note_id.in_(list(by_note)))
    for card in map(to_card, connection.execute(query.order_by(cards.c.note_id, cards.c.ordinal))):
        by_note[card.note_id].append(card)
    return by_note


# --- one note ----------------------------------------------------------------------------------------------


def get(connection: Connection, user_id: int, note_id: NoteId) -> NoteView:
    """A note with its cards; its deck is the deck of its first card."""
    query = (
        sa.select(*NOTE_COLUMNS, *NOTE_TYPE_COLUMNS)
        .select_from(notes.join(note_types, note_types.c.id == notes.c.type_id))
        .where(notes.c.user_id == user_id, notes.c.id == note_id.number)
    )
    row: Any = connection.execute(query).one_or_none()
    if row is None:
        raise note_not_found(note_id)
    note = to_note(row[: len(NOTE_COLUMNS)], to_note_type(row[len(NOTE_COLUMNS) :]))
    note_cards = tuple(_cards_by_note(connection, [note.id])[note.id])
    deck_query = sa.select(*DECK_COLUMNS).where(deck_table.c.id == note_cards[0].deck_id)
    return NoteView(note, note_cards, to_deck(connection.execute(deck_query).one()))


def change(connection: Connection, owner: str, note_id: NoteId, changed: NoteChange, now: datetime) -> ChangedNote:
    """Change what is given; cards are added and removed to match the text."""
    user = users.lock(connection, owner, now)
    before = get(connection, user.id, note_id)
    values = _changed_values(before.note, changed)
    new_ordinals = ordinals(before.note.type, values)
    if not new_ordinals:
        reason = _NO_GAP if before.note.type.is_cloze else _NO_FRONT
        raise InvalidArguments(f"Nothing was changed: {reason}.", fields=("front",))
    new_tags = before.note.tags if changed.tags is None else changed.tags
    after = replace(before.note, values=values, tags=new_tags, modified_at=now)
    connection.execute(sa.update(notes).where(notes.c.id == after.id).values(note_values(after, user.id)))
    if after.tags != before.note.tags:
        tags.replace(connection, user.id, {after.id: format_tags(after.tags)})
    deck_id = before.deck.id
    if changed.deck_id is not None:
        deck_id = decks.find(decks.by_name(connection, user.id), changed.deck_id).id
        connection.execute(sa.update(cards).where(cards.c.note_id == after.id).values(deck_id=deck_id))
    # Added before others are removed: a note without a card could not be found any more.
    missing = set(new_ordinals) - {card.ordinal for card in before.cards}
    _add_cards(connection, user.id, deck_id, [(after.id, ordinal) for ordinal in sorted(missing)], now)
    surplus = [card for card in before.cards if card.ordinal not in new_ordinals]
    removed, suspended = _remove_cards(connection, surplus)
    view = get(connection, user.id, note_id)
    added = tuple(card.id for card in view.cards if card.ordinal in missing)
    return ChangedNote(view, added, removed, suspended)


def _changed_values(note: Note, change: NoteChange) -> tuple[str, ...]:
    values = dict(zip(note.type.fields, note.values, strict=True))
    names = {name.casefold(): name for name in values}
    for name, value in (change.fields or {}).items():
        if name.casefold() not in names:
            raise InvalidArguments(
                f"The note has no field {name!r}; its fields are {', '.join(note.type.fields)}.", fields=("fields",)
            )
        values[names[name.casefold()]] = value
    for index, value in enumerate((change.front, change.back)):
        if value is not None:
            if index >= len(note.type.fields):
                raise InvalidArguments("The note has one field only: use front.", fields=("back",))
            values[note.type.fields[index]] = value
    return tuple(values.values())


def _remove_cards(connection: Connection, surplus: Sequence[Card]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Remove cards that the note no longer makes. A card that was answered before is suspended instead."""
    removed = tuple(card.id for card in surplus if not card.reps)
    suspended = tuple(card.id for card in surplus if card.reps)
    connection.execute(sa.delete(cards).where(cards.c.id.in_(removed)))
    connection.execute(sa.update(cards).where(cards.c.id.in_(suspended)).values(queue=SUSPENDED))
    return removed, suspended


def remove(connection: Connection, owner: str, note_id: NoteId, now: datetime) -> NoteView:
    """Delete a note with its cards; the review log stays."""
    user = users.lock(connection, owner, now)
    view = get(connection, user.id, note_id)
    connection.execute(sa.delete(notes).where(notes.c.id == view.note.id))
    return view
