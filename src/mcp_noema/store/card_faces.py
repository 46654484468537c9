"""Cards with the text on their two sides."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.model import CardFace, NoteType
from mcp_noema.store.row_mapping import CARD_COLUMNS, NOTE_TYPE_COLUMNS, parse_tags, to_card, to_note_type
from mcp_noema.store.tables import cards, decks, note_types, notes
from mcp_noema.text.templates import render


def load(connection: Connection, user_id: int, card_ids: Sequence[int]) -> list[CardFace]:
    """The faces of these cards in the same order, without cards of other users."""
    query = (
        sa.select(*CARD_COLUMNS, notes.c.type_id, notes.c.field_values, notes.c.tags, decks.c.name)
        .select_from(
            cards.join(notes, notes.c.id == cards.c.note_id).join(decks, decks.c.id == cards.c.deck_id),
        )
        .where(cards.c.user_id == user_id, cards.c.id.in_(card_ids))
    )
    rows: dict[int, Any] = {row[0]: row for row in connection.execute(query)} if card_ids else {}
    types = _note_types(connection, {row.type_id for row in rows.values()})
    return [_face(rows[card_id], types) for card_id in card_ids if card_id in rows]


def _note_types(connection: Connection, ids: set[int]) -> dict[int, NoteType]:
    if not ids:
        return {}
    rows = connection.execute(sa.select(*NOTE_TYPE_COLUMNS).where(note_types.c.id.in_(ids)))
    return {note_type.id: note_type for note_type in map(to_note_type, rows)}


def _face(row: Any, types: dict[int, NoteType]) -> CardFace:
    card, note_type, tags = to_card(row[: len(CARD_COLUMNS)]), types[row.type_id], parse_tags(row.tags)
    sides = render(note_type, tuple(row.field_values), card.ordinal, deck=row.name, tags=tags)
    return CardFace(card, sides.front, sides.back, row.name, note_type.name, tags, sides.media)
