"""The collection, or a deck of it, as a package. Read in parts, so that others get their turn."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core.db import Database
from mcp_noema.anki.package import Package, PackageCard, PackageDeck, PackageNote, PackageReview
from mcp_noema.errors import alternative, conflict
from mcp_noema.model import LEECH, Deck, DeckId, NoteType, Schedule, State, preset_of
from mcp_noema.repositories import Person
from mcp_noema.store import decks, people
from mcp_noema.store.rows import CARD, NOTE, NOTE_TYPE, card_of, note_of, note_type_of
from mcp_noema.store.tables import cards, note_types, notes, reviews, undone

PAGE = 2000
"""Rows of one statement."""
_MARKED = "marked"
_REVIEW = (
    reviews.c.card_id,
    reviews.c.rating,
    reviews.c.reviewed_at,
    reviews.c.duration_ms,
    reviews.c.state,
    reviews.c.interval_s,
    reviews.c.last_interval_s,
    reviews.c.difficulty,
)
Rows = list[Any]


@dataclass(frozen=True, slots=True)
class Taken:
    """Rows out of the database, and what they refer to."""

    person: Person
    known: Mapping[str, Deck]
    chosen: Sequence[Deck]
    types: Mapping[int, NoteType]
    cards: Rows = field(default_factory=list[Any])
    notes: Rows = field(default_factory=list[Any])
    reviews: Rows = field(default_factory=list[Any])


async def take(database: Database, owner: str, deck_id: DeckId | None, *, scheduling: bool) -> Taken:
    """Everything there is about a deck and those in it, or about all."""
    taken = await database.read(_frame, owner, deck_id)
    while page := await database.read(_cards_after, taken, taken.cards[-1].id if taken.cards else 0):
        taken.cards.extend(page)
    if not taken.cards:
        raise conflict(
            "There are no cards to export. list-decks shows which decks have some.",
            alternative("list-decks", "Shows the decks with what is in them."),
        )
    for some in _pages(sorted({row.note_id for row in taken.cards})):
        taken.notes.extend(await database.read(_notes_of, some))
    for some in _pages([row.id for row in taken.cards]) if scheduling else ():
        taken.reviews.extend(await database.read(_reviews_of, some))
    return taken


def _pages(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), PAGE):
        yield ids[start : start + PAGE]


def _frame(connection: Connection, owner: str, deck_id: DeckId | None) -> Taken:
    person = people.find(connection, owner)
    known = decks.by_name(connection, person.id)
    chosen = list(known.values()) if deck_id is None else decks.below(known, decks.find(known, deck_id))
    mine = sa.select(*NOTE_TYPE).where(note_types.c.user_id == person.id)
    types = [note_type_of(row) for row in connection.execute(mine)]
    return Taken(person, known, chosen, {each.id: replace(each, id=0) for each in types})


def _cards_after(connection: Connection, taken: Taken, last: int) -> Rows:
    ids = [deck.id for deck in taken.chosen]
    mine = sa.select(*CARD).where(cards.c.user_id == taken.person.id, cards.c.id > last, cards.c.deck_id.in_(ids))
    return list(connection.execute(mine.order_by(cards.c.id).limit(PAGE)))


def _notes_of(connection: Connection, ids: Sequence[int]) -> Rows:
    mine = sa.select(*NOTE, notes.c.type_id).where(notes.c.id.in_(ids))
    return list(connection.execute(mine.order_by(notes.c.id)))


def _reviews_of(connection: Connection, card_ids: Sequence[int]) -> Rows:
    standing = ~sa.exists().where(undone.c.review_id == reviews.c.id)
    return list(connection.execute(sa.select(*_REVIEW).where(reviews.c.card_id.in_(card_ids), standing)))


# --- from rows to a package --------------------------------------------------------------------------------


def package_of(taken: Taken, now: datetime, *, scheduling: bool) -> Package:
    """The rest of the work, to be done in a thread."""
    notes_ = [note_of(row[: len(NOTE)], taken.types[row.type_id]) for row in taken.notes]
    note_places = {note.id: place for place, note in enumerate(notes_)}
    deck_places = {deck.id: place for place, deck in enumerate(taken.chosen)}
    # What was added while we read is left out.
    found = [card for card in map(card_of, taken.cards) if card.note_id in note_places]
    card_places = {card.id: place for place, card in enumerate(found)}
    preferences = taken.person.preferences
    return Package(
        decks=tuple(
            PackageDeck(deck.name, deck.description, preset_of(deck, taken.known) if scheduling else None)
            for deck in taken.chosen
        ),
        notes=tuple(
            PackageNote(
                note.guid,
                note.type,
                note.values,
                note.tags if scheduling else _without_state(note.tags),
                note.created_at,
                note.modified_at,
            )
            for note in notes_
        ),
        cards=tuple(
            PackageCard(
                note=note_places[card.note_id],
                deck=deck_places[card.deck_id],
                ordinal=card.ordinal,
                position=card.position,
                schedule=card.schedule if scheduling else Schedule(),
                reps=card.reps if scheduling else 0,
                lapses=card.lapses if scheduling else 0,
                suspended=card.suspended and scheduling,
                buried=card.buried_until is not None and card.buried_until > now and scheduling,
                created_at=card.created_at,
            )
            for card in found
        ),
        reviews=tuple(_packed_reviews(taken.reviews, card_places)),
        written_at=now,
        zone=ZoneInfo(preferences.timezone),
        day_start_hour=preferences.day_start_hour,
    )


def _without_state(tags: Iterable[str]) -> tuple[str, ...]:
    """Without the tags that tell how learning went, as Anki leaves them out too."""
    return tuple(tag for tag in tags if tag.casefold() not in (LEECH, _MARKED))


def _packed_reviews(rows: Rows, places: Mapping[int, int]) -> list[PackageReview]:
    found = [
        PackageReview(places[card_id], rating, reviewed_at, duration_ms, State(state), *rest)
        for card_id, rating, reviewed_at, duration_ms, state, *rest in rows
        if card_id in places
    ]
    return sorted(found, key=lambda review: review.reviewed_at)
