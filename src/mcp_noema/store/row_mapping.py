"""Rows converted to records of the model, and back."""

from collections.abc import Mapping
from typing import Any

from mcp_noema.model import Card, CardState, CardTemplate, Deck, Note, NoteType, Review, Schedule
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, SUSPENDED, cards, decks, note_types, notes, reviews

DECK_COLUMNS = (decks.c.id, decks.c.name, decks.c.description, decks.c.preset, decks.c.created_at)
NOTE_TYPE_COLUMNS = (
    note_types.c.name,
    note_types.c.fields,
    note_types.c.templates,
    note_types.c.is_cloze,
    note_types.c.css,
    note_types.c.id,
)
NOTE_COLUMNS = (
    notes.c.id,
    notes.c.field_values,
    notes.c.tags,
    notes.c.guid,
    notes.c.created_at,
    notes.c.modified_at,
)
CARD_COLUMNS = (
    cards.c.id,
    cards.c.note_id,
    cards.c.deck_id,
    cards.c.ordinal,
    cards.c.position,
    cards.c.state,
    cards.c.step,
    cards.c.stability,
    cards.c.difficulty,
    cards.c.due,
    cards.c.last_review,
    cards.c.reps,
    cards.c.lapses,
    cards.c.queue,
    cards.c.buried_until,
    cards.c.created_at,
    cards.c.flag,
    cards.c.ease,
)
REVIEW_COLUMNS = (
    reviews.c.id,
    reviews.c.card_id,
    reviews.c.rating,
    reviews.c.reviewed_at,
    reviews.c.duration_ms,
    reviews.c.state,
    reviews.c.interval_s,
    reviews.c.last_interval_s,
    reviews.c.stability,
    reviews.c.difficulty,
)

Row = Any
"""A row of the columns above. With SQLAlchemy's own type, every value would be of an unknown type."""

QUEUE_OF_STATE = {
    CardState.NEW: NEW,
    CardState.LEARNING: LEARNING,
    CardState.RELEARNING: LEARNING,
    CardState.REVIEW: REVIEW,
}
"""The queue of a card that is not suspended."""


def to_deck(row: Row) -> Deck:
    return Deck(*row)


def to_note_type(row: Row) -> NoteType:
    name, fields, templates, is_cloze, css, type_id = row
    return NoteType(name, tuple(fields), tuple(CardTemplate(*each) for each in templates), is_cloze, css, type_id)


def note_type_values(note_type: NoteType) -> dict[str, Any]:
    """All columns except the user and the id."""
    return {
        "name": note_type.name,
        "is_cloze": note_type.is_cloze,
        "fields": list(note_type.fields),
        "templates": [[template.name, template.front, template.back] for template in note_type.templates],
        "css": note_type.css,
    }


def to_note(row: Row, note_type: NoteType) -> Note:
    note_id, values, tags, guid, created_at, modified_at = row
    return Note(note_id, note_type, tuple(values), parse_tags(tags), guid, created_at, modified_at)


def parse_tags(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def format_tags(tags: tuple[str, ...]) -> str:
    """With a space before and after each tag, so that LIKE can find a whole tag."""
    return f" {' '.join(tags)} " if tags else ""


def to_card(row: Row) -> Card:
    card_id, note_id, deck_id, ordinal, position, state, step, stability, difficulty, due, last_review = row[:11]
    reps, lapses, queue, buried_until, created_at, flag, ease = row[11:]
    return Card(
        id=card_id,
        note_id=note_id,
        deck_id=deck_id,
        ordinal=ordinal,
        position=position,
        schedule=Schedule(CardState(state), step, stability, difficulty, due, last_review),
        reps=reps,
        lapses=lapses,
        suspended=queue == SUSPENDED,
        buried_until=buried_until,
        created_at=created_at,
        flag=flag,
        ease=ease,
    )


def schedule_values(schedule: Schedule, *, suspended: bool = False) -> dict[str, Any]:
    """The columns of a card that depend on its schedule, including the queue."""
    return {
        "queue": SUSPENDED if suspended else QUEUE_OF_STATE[schedule.state],
        "state": int(schedule.state),
        "step": schedule.step,
        "stability": schedule.stability,
        "difficulty": schedule.difficulty,
        "due": schedule.due,
        "last_review": schedule.last_review,
    }


def to_review(row: Row) -> Review:
    review_id, card_id, rating, reviewed_at, duration_ms, state, *rest = row
    return Review(review_id, card_id, rating, reviewed_at, duration_ms, CardState(state), *rest)


def without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are given: None means that a column is left as it is."""
    return {name: value for name, value in values.items() if value is not None}
