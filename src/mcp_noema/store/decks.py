"""Decks in SQL. A user has few, so they are read together."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.errors import alternative, conflict, deck_not_found, several_decks
from mcp_noema.model import (
    MAX_NAME_LENGTH,
    SEPARATOR,
    Deck,
    DeckId,
    DeckName,
    Preset,
    parent_names,
    parse_deck_name,
    preset_of,
)
from mcp_noema.records import DeckChange, DeckCounts, DeckView, DeletedDeck, Owner
from mcp_noema.store import users
from mcp_noema.store.conditions import one_of
from mcp_noema.store.row_mapping import DECK_COLUMNS, to_deck, without_none
from mcp_noema.store.study import waiting_cards
from mcp_noema.store.tables import cards, decks, notes
from toolcharter import Conflict, InvalidArguments

# --- read --------------------------------------------------------------------------------------------------


def by_name(connection: Connection, user_id: int) -> dict[str, Deck]:
    """All decks of a user by folded name, in the order of their names."""
    query = sa.select(*DECK_COLUMNS).where(decks.c.user_id == user_id).order_by(decks.c.name_key)
    return {deck.name.casefold(): deck for deck in map(to_deck, connection.execute(query))}


def find(decks_by_name: Mapping[str, Deck], deck_id: DeckId) -> Deck:
    """The deck with this id. A name is the whole path, or the last part of it if only one deck has that."""
    if isinstance(deck_id, DeckName):
        return _find_by_name(decks_by_name, deck_id)
    for deck in decks_by_name.values():
        if deck.id == deck_id.number:
            return deck
    raise deck_not_found(deck_id)


def _find_by_name(decks_by_name: Mapping[str, Deck], name: DeckName) -> Deck:
    key = SEPARATOR.join(part.strip() for part in name.casefold().split(SEPARATOR))
    if (deck := decks_by_name.get(key)) is not None:
        return deck
    ending = [deck for known, deck in decks_by_name.items() if known.endswith(SEPARATOR + key)]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise several_decks(name, ending)
    by_last_part = {known.rpartition(SEPARATOR)[2]: deck for known, deck in decks_by_name.items()}
    alike = {**by_last_part, **decks_by_name}
    raise deck_not_found(
        name, nearest=list({alike[one].id: alike[one] for one in get_close_matches(key, alike)}.values())
    )


def with_subdecks(decks_by_name: Mapping[str, Deck], deck: Deck) -> list[Deck]:
    return [other for other in decks_by_name.values() if other.is_in(deck.name)]


def with_preset(connection: Connection, deck_id: int) -> tuple[Deck, Preset]:
    """A deck and the preset that applies to it."""
    deck = to_deck(connection.execute(sa.select(*DECK_COLUMNS).where(decks.c.id == deck_id)).one())
    keys = [name.casefold() for name in deck.parent_names]
    if not keys:
        return deck, preset_of(deck, {})
    owner_id = sa.select(decks.c.user_id).where(decks.c.id == deck_id).scalar_subquery()
    parents = sa.select(*DECK_COLUMNS).where(decks.c.user_id == owner_id, decks.c.name_key.in_(keys))
    return deck, preset_of(
        deck, {parent.name.casefold(): parent for parent in map(to_deck, connection.execute(parents))}
    )


def get(connection: Connection, owner: str, deck_id: DeckId, now: datetime) -> DeckView:
    """A deck with its counts."""
    user = users.get(connection, owner)
    all_decks = by_name(connection, user.id)
    return _views(connection, user, all_decks, [find(all_decks, deck_id)], now)[0]


def list_all(connection: Connection, owner: str, now: datetime) -> list[DeckView]:
    """All decks, by name."""
    user = users.get(connection, owner)
    all_decks = by_name(connection, user.id)
    return _views(connection, user, all_decks, list(all_decks.values()), now)


def _views(
    connection: Connection, user: Owner, all_decks: Mapping[str, Deck], listed: Sequence[Deck], now: datetime
) -> list[DeckView]:
    """Decks with the counts of their cards, subdecks included."""
    listed_ids = {deck.name.casefold(): deck.id for deck in listed}
    counted_in = {
        deck.id: [listed_ids[key] for name in (*deck.parent_names, deck.name) if (key := name.casefold()) in listed_ids]
        for deck in all_decks.values()
    }
    counted = [deck_id for deck_id, listed_in in counted_in.items() if listed_in]
    totals: defaultdict[int, DeckCounts] = defaultdict(DeckCounts)
    for deck_id, counts in waiting_cards.count_by_deck(connection, counted, user, now).items():
        for listed_id in counted_in[deck_id] if counts.cards else ():
            totals[listed_id] += counts
    return [DeckView(deck, preset_of(deck, all_decks), totals[deck.id]) for deck in listed]


# --- write -------------------------------------------------------------------------------------------------


def create_missing(connection: Connection, user_id: int, names: Sequence[str], now: datetime) -> dict[str, Deck]:
    """Create the decks of these names and their parents, where they do not exist. Returns all decks by folded name."""
    existing = by_name(connection, user_id)
    wanted = {name.casefold(): name for path in names for name in (*parent_names(path), path)}
    missing = {key: name for key, name in wanted.items() if key not in existing}
    if not missing:
        return existing
    empty: dict[str, Any] = {"user_id": user_id, "description": "", "preset": {}, "created_at": now}
    connection.execute(sa.insert(decks), [{**empty, "name": name, "name_key": key} for key, name in missing.items()])
    return by_name(connection, user_id)


def add(connection: Connection, owner: str, name: str, description: str, now: datetime) -> DeckView:
    """Create a deck, and its parents where they are missing."""
    user = users.lock(connection, owner, now)
    name = _checked_name(name)
    if (existing := by_name(connection, user.id).get(name.casefold())) is not None:
        raise _name_taken(existing)
    deck = create_missing(connection, user.id, [name], now)[name.casefold()]
    if description:
        connection.execute(sa.update(decks).where(decks.c.id == deck.id).values(description=description))
    return get(connection, owner, DeckId.of(deck.id), now)


def _checked_name(name: str) -> str:
    try:
        path = parse_deck_name(name)
    except ValueError as error:
        raise InvalidArguments(f"name: {error}", fields=("name",)) from None
    if len(path) > MAX_NAME_LENGTH:
        raise InvalidArguments(
            f"name: the whole path has {len(path)} characters; at most {MAX_NAME_LENGTH} are allowed.", fields=("name",)
        )
    return path


def _name_taken(deck: Deck) -> Conflict:
    deck_id = DeckId.of(deck.id)
    message = f"The deck {deck.name!r} already exists: {deck_id}. Use it, or choose another name."
    return conflict(message, alternative("get-deck", "Shows the deck of that name.", deckId=deck_id))


def change(connection: Connection, owner: str, deck_id: DeckId, changed: DeckChange, now: datetime) -> DeckView:
    """Change what is given. Subdecks follow a new name."""
    user = users.lock(connection, owner, now)
    deck = find(by_name(connection, user.id), deck_id)
    if changed.name is not None and (path := _checked_name(changed.name)) != deck.name:
        _rename(connection, user.id, deck, path, now)
    preset = {**deck.preset, **changed.preset} if changed.preset else None
    values = without_none({"description": changed.description, "preset": preset})
    if values:
        connection.execute(sa.update(decks).where(decks.c.id == deck.id).values(values))
    return get(connection, owner, deck_id, now)


def _rename(connection: Connection, user_id: int, deck: Deck, name: str, now: datetime) -> None:
    """Rename a deck; its subdecks move with it."""
    if name.casefold().startswith(deck.name.casefold() + SEPARATOR):
        raise conflict(f"{deck.name!r} cannot be moved into itself as {name!r}. Choose a name outside of it.")
    if parents := parent_names(name):
        create_missing(connection, user_id, parents, now)
    all_decks = by_name(connection, user_id)
    new_names = {moved.id: name + moved.name[len(deck.name) :] for moved in with_subdecks(all_decks, deck)}
    for moved_id, new_name in new_names.items():
        existing = all_decks.get(new_name.casefold())
        if existing is not None and existing.id not in new_names:
            raise _name_taken(existing)
        if len(new_name) > MAX_NAME_LENGTH:
            raise conflict(f"{new_name!r} would be longer than {MAX_NAME_LENGTH} characters. Choose a shorter name.")
        values = {"name": new_name, "name_key": new_name.casefold()}
        connection.execute(sa.update(decks).where(decks.c.id == moved_id).values(values))


def remove(connection: Connection, owner: str, deck_id: DeckId, now: datetime) -> DeletedDeck:
    """Delete a deck with everything in it; the review log stays."""
    user = users.lock(connection, owner, now)
    all_decks = by_name(connection, user.id)
    deck = find(all_decks, deck_id)
    ids = [removed.id for removed in with_subdecks(all_decks, deck)]
    in_decks = one_of(cards.c.deck_id, ids)
    counts = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(cards.c.reps), 0))
    card_count, answers = connection.execute(counts.select_from(cards).where(in_decks)).one()
    of_user = sa.select(sa.func.count()).select_from(cards).where(cards.c.user_id == user.id)
    share = card_count / max(1, connection.execute(of_user).scalar_one())
    has_other_cards = sa.exists().where(cards.c.note_id == notes.c.id, ~in_decks)
    has_card_in_decks = notes.c.id.in_(sa.select(cards.c.note_id).where(in_decks))
    # A note is deleted with its last card; if it has cards in other decks, only the card is deleted.
    deleted_notes = connection.execute(sa.delete(notes).where(has_card_in_decks, ~has_other_cards))
    connection.execute(sa.delete(cards).where(in_decks))
    connection.execute(sa.delete(decks).where(one_of(decks.c.id, ids)))
    return DeletedDeck(
        deck.name, decks=len(ids), notes=deleted_notes.rowcount, cards=card_count, answers=answers, share=share
    )
