"""Decks in SQL. A user has few, so they are read together, and the rules about their names are applied to all."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_core import Conflict, InvalidArguments
from mcp_core.db import Database
from mcp_noema.errors import alternative, conflict, deck_not_found
from mcp_noema.model import LONGEST_NAME, SEPARATOR, Deck, DeckId, deck_name, names_above, preset_of
from mcp_noema.repositories import DeckCounts, DeckView, DeletedDeck, Person
from mcp_noema.store import people, queues
from mcp_noema.store.rows import DECK, changed, deck_of
from mcp_noema.store.tables import cards, decks, notes


class SqlDecks:
    """The decks of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, owner: str, name: str, description: str, now: datetime) -> DeckView:
        return await self._database.write(_add, owner, name, description, now)

    async def get(self, owner: str, deck_id: DeckId, now: datetime) -> DeckView:
        return await self._database.read(_get, owner, deck_id, now)

    async def all(self, owner: str, now: datetime) -> list[DeckView]:
        return await self._database.read(_all, owner, now)

    async def change(
        self,
        owner: str,
        deck_id: DeckId,
        *,
        name: str | None,
        description: str | None,
        preset: Mapping[str, Any],
        now: datetime,
    ) -> DeckView:
        return await self._database.write(
            _change, owner, deck_id, name=name, description=description, preset=preset, now=now
        )

    async def remove(self, owner: str, deck_id: DeckId, now: datetime) -> DeletedDeck:
        return await self._database.write(_remove, owner, deck_id, now)


# --- looking things up -------------------------------------------------------------------------------------


def by_name(connection: Connection, user_id: int) -> dict[str, Deck]:
    """All decks of a user by folded name, in the order of their names."""
    mine = sa.select(*DECK).where(decks.c.user_id == user_id).order_by(decks.c.name_key)
    found = [deck_of(row) for row in connection.execute(mine)]
    return {deck.name.casefold(): deck for deck in found}


def find(decks_by_name: Mapping[str, Deck], deck_id: DeckId) -> Deck:
    """The deck of that id, or a refusal that says where ids come from."""
    for deck in decks_by_name.values():
        if deck.id == deck_id.number:
            return deck
    raise deck_not_found(deck_id)


def below(decks_by_name: Mapping[str, Deck], deck: Deck) -> list[Deck]:
    """The deck and all that are in it."""
    return [each for each in decks_by_name.values() if each.is_in(deck.name)]


def _get(connection: Connection, owner: str, deck_id: DeckId, now: datetime) -> DeckView:
    person = people.find(connection, owner)
    known = by_name(connection, person.id)
    return _views(connection, person, known, [find(known, deck_id)], now)[0]


def _all(connection: Connection, owner: str, now: datetime) -> list[DeckView]:
    person = people.find(connection, owner)
    known = by_name(connection, person.id)
    return _views(connection, person, known, list(known.values()), now)


def _views(
    connection: Connection, person: Person, known: Mapping[str, Deck], shown: Sequence[Deck], now: datetime
) -> list[DeckView]:
    """Decks with what waits in them and below."""
    inside = {deck.id: below(known, deck) for deck in shown}
    counted = queues.count(connection, {each.id for several in inside.values() for each in several}, person, now)
    return [
        DeckView(deck, preset_of(deck, known), sum((counted[each.id] for each in inside[deck.id]), DeckCounts()))
        for deck in shown
    ]


# --- changing ----------------------------------------------------------------------------------------------


def add_missing(connection: Connection, user_id: int, names: Sequence[str], now: datetime) -> dict[str, Deck]:
    """Make the decks of these names, and those they are in, where they are not there; all decks by folded name."""
    known = by_name(connection, user_id)
    wanted = {name.casefold(): name for whole in names for name in (*names_above(whole), whole)}
    missing = {key: name for key, name in wanted.items() if key not in known}
    if not missing:
        return known
    empty: dict[str, Any] = {"user_id": user_id, "description": "", "preset": {}, "created_at": now}
    connection.execute(sa.insert(decks), [{**empty, "name": name, "name_key": key} for key, name in missing.items()])
    return by_name(connection, user_id)


def _add(connection: Connection, owner: str, name: str, description: str, now: datetime) -> DeckView:
    person = people.writing(connection, owner, now)
    name = _checked(name)
    if (there := by_name(connection, person.id).get(name.casefold())) is not None:
        raise _taken(there)
    known = add_missing(connection, person.id, [name], now)
    made = known[name.casefold()]
    if description:
        connection.execute(sa.update(decks).where(decks.c.id == made.id).values(description=description))
    return _get(connection, owner, DeckId.of(made.id), now)


def _checked(name: str) -> str:
    try:
        clean = deck_name(name)
    except ValueError as error:
        raise InvalidArguments(f"name: {error}", fields=("name",)) from None
    if len(clean) > LONGEST_NAME:
        raise InvalidArguments(
            f"name: the whole path has {len(clean)} characters; at most {LONGEST_NAME} are kept.", fields=("name",)
        )
    return clean


def _taken(deck: Deck) -> Conflict:
    deck_id = DeckId.of(deck.id)
    words = f"There is a deck {deck.name!r} already: {deck_id}. Use it, or choose another name."
    return conflict(words, alternative("get-deck", "Shows the deck of that name.", deckId=deck_id))


def _change(
    connection: Connection,
    owner: str,
    deck_id: DeckId,
    *,
    name: str | None,
    description: str | None,
    preset: Mapping[str, Any],
    now: datetime,
) -> DeckView:
    person = people.writing(connection, owner, now)
    deck = find(by_name(connection, person.id), deck_id)
    if name is not None and (clean := _checked(name)) != deck.name:
        _rename(connection, person.id, deck, clean, now)
    values = changed({"description": description, "preset": {**deck.preset, **preset} if preset else None})
    if values:
        connection.execute(sa.update(decks).where(decks.c.id == deck.id).values(values))
    return _get(connection, owner, deck_id, now)


def _rename(connection: Connection, user_id: int, deck: Deck, name: str, now: datetime) -> None:
    """The decks below go along."""
    if name.casefold().startswith(deck.name.casefold() + SEPARATOR):
        raise conflict(f"{deck.name!r} cannot be put into itself as {name!r}. Choose a name outside it.")
    if above := names_above(name):
        add_missing(connection, user_id, above, now)
    known = by_name(connection, user_id)
    moved = below(known, deck)
    new_names = {each.id: name + each.name[len(deck.name) :] for each in moved}
    for number, new_name in new_names.items():
        taken = known.get(new_name.casefold())
        if taken is not None and taken.id not in new_names:
            raise _taken(taken)
        if len(new_name) > LONGEST_NAME:
            raise conflict(f"{new_name!r} would be longer than {LONGEST_NAME} characters. Choose a shorter name.")
        values = {"name": new_name, "name_key": new_name.casefold()}
        connection.execute(sa.update(decks).where(decks.c.id == number).values(values))


def _remove(connection: Connection, owner: str, deck_id: DeckId, now: datetime) -> DeletedDeck:
    known = by_name(connection, people.writing(connection, owner, now).id)
    deck = find(known, deck_id)
    ids = [each.id for each in below(known, deck)]
    inside = cards.c.deck_id.in_(ids)
    gone = connection.execute(sa.select(sa.func.count()).select_from(cards).where(inside)).scalar_one()
    elsewhere = sa.exists().where(cards.c.note_id == notes.c.id, ~inside)
    of_the_deck = notes.c.id.in_(sa.select(cards.c.note_id).where(inside))
    # A note goes when all its cards do; a card whose note has others elsewhere goes alone.
    left = connection.execute(sa.delete(notes).where(of_the_deck, ~elsewhere))
    connection.execute(sa.delete(cards).where(inside))
    connection.execute(sa.delete(decks).where(decks.c.id.in_(ids)))
    return DeletedDeck(deck.name, decks=len(ids), notes=left.rowcount, cards=gone)
