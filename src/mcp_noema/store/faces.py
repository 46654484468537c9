"""Cards with what is on them."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.model import CardFace, NoteType
from mcp_noema.store.rows import CARD, NOTE_TYPE, card_of, note_type_of, tags_of
from mcp_noema.store.tables import cards, decks, note_types, notes
from mcp_noema.templates import render


def load(connection: Connection, user_id: int, card_ids: Sequence[int]) -> list[CardFace]:
    """The faces of a user's cards, in the order they are asked for. A card that is not theirs is not there."""
    mine = (
        sa.select(*CARD, notes.c.type_id, notes.c.field_values, notes.c.tags, decks.c.name)
        .select_from(
            cards.join(notes, notes.c.id == cards.c.note_id).join(decks, decks.c.id == cards.c.deck_id),
        )
        .where(cards.c.user_id == user_id, cards.c.id.in_(card_ids))
    )
    rows: dict[int, Any] = {row[0]: row for row in connection.execute(mine)} if card_ids else {}
    types = types_by_id(connection, {row.type_id for row in rows.values()})
    return [_face(rows[number], types) for number in card_ids if number in rows]


def types_by_id(connection: Connection, ids: set[int]) -> dict[int, NoteType]:
    """Note types by their id."""
    if not ids:
        return {}
    found = connection.execute(sa.select(*NOTE_TYPE).where(note_types.c.id.in_(ids)))
    return {each.id: each for each in map(note_type_of, found)}


def _face(row: Any, types: dict[int, NoteType]) -> CardFace:
    card, made_by, tags = card_of(row[: len(CARD)]), types[row.type_id], tags_of(row.tags)
    shown = render(made_by, tuple(row.field_values), card.ordinal, deck=row.name, tags=tags)
    return CardFace(card, shown.front, shown.back, row.name, made_by.name, tags, shown.media)
