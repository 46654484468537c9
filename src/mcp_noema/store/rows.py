"""From rows to the model and back."""

from collections.abc import Mapping
from typing import Any

from mcp_noema.model import Card, Deck, Note, NoteType, Review, Schedule, State, Template
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, SUSPENDED, cards, decks, note_types, notes, reviews

DECK = (decks.c.id, decks.c.name, decks.c.description, decks.c.preset, decks.c.created_at)
NOTE_TYPE = (
    note_types.c.name,
    note_types.c.fields,
    note_types.c.templates,
    note_types.c.is_cloze,
    note_types.c.css,
    note_types.c.id,
)
NOTE = (
    notes.c.id,
    notes.c.field_values,
    notes.c.tags,
    notes.c.guid,
    notes.c.created_at,
    notes.c.modified_at,
)
CARD = (
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
)
REVIEW_ROW = (
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
"""A row of the columns above. SQLAlchemy's own type would make every value unknown."""

QUEUES = {State.NEW: NEW, State.LEARNING: LEARNING, State.RELEARNING: LEARNING, State.REVIEW: REVIEW}
"""Where a card of that state waits, unless it is suspended."""


def deck_of(row: Row) -> Deck:
    return Deck(*row)


def note_type_of(row: Row) -> NoteType:
    name, fields, templates, is_cloze, css, number = row
    return NoteType(name, tuple(fields), tuple(Template(*each) for each in templates), is_cloze, css, number)


def note_type_values(type: NoteType) -> dict[str, Any]:
    """All columns but the owner and the id."""
    templates = [[each.name, each.front, each.back] for each in type.templates]
    return {
        "name": type.name,
        "is_cloze": type.is_cloze,
        "fields": list(type.fields),
        "templates": templates,
        "css": type.css,
    }


def note_of(row: Row, type: NoteType) -> Note:
    number, values, tags, guid, created_at, modified_at = row
    return Note(number, type, tuple(values), tags_of(tags), guid, created_at, modified_at)


def tags_of(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def tags_text(tags: tuple[str, ...]) -> str:
    """With a space before and after each, so that one can be looked for."""
    return f" {' '.join(tags)} " if tags else ""


def card_of(row: Row) -> Card:
    number, note_id, deck_id, ordinal, position, state, step, stability, difficulty, due, last_review = row[:11]
    reps, lapses, queue, buried_until, created_at = row[11:]
    return Card(
        id=number,
        note_id=note_id,
        deck_id=deck_id,
        ordinal=ordinal,
        position=position,
        schedule=Schedule(State(state), step, stability, difficulty, due, last_review),
        reps=reps,
        lapses=lapses,
        suspended=queue == SUSPENDED,
        buried_until=buried_until,
        created_at=created_at,
    )


def schedule_values(schedule: Schedule, *, suspended: bool = False) -> dict[str, Any]:
    """The columns of a card that its schedule fills, the queue among them."""
    queue = SUSPENDED if suspended else QUEUES[schedule.state]
    return {
        "queue": queue,
        "state": int(schedule.state),
        "step": schedule.step,
        "stability": schedule.stability,
        "difficulty": schedule.difficulty,
        "due": schedule.due,
        "last_review": schedule.last_review,
    }


def review_of(row: Row) -> Review:
    number, card_id, rating, reviewed_at, duration_ms, state, interval_s, last_interval_s, stability, difficulty = row
    return Review(
        number,
        card_id,
        rating,
        reviewed_at,
        duration_ms,
        State(state),
        interval_s,
        last_interval_s,
        stability,
        difficulty,
    )


def changed(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was given: None means left as it is."""
    return {name: value for name, value in values.items() if value is not None}
