"""Cards in SQL: found by a query, and changed many at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from statistics import fmean
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_core import InvalidArguments
from mcp_core.db import Database
from mcp_noema.errors import cards_not_found, no_match
from mcp_noema.model import Card, CardId, NoteId, Preset, Schedule, State, preset_of
from mcp_noema.query_tree import Tree
from mcp_noema.repositories import CardOrder, CardPage, CardSelection, CardView, ChangedCards, Person
from mcp_noema.schedule import retrievability
from mcp_noema.store import decks, faces, log, notes, people, search, studies
from mcp_noema.store.rows import CARD, QUEUES, card_of, schedule_values
from mcp_noema.store.tables import NEW, REVIEW, SUSPENDED, cards
from mcp_noema.store.tables import notes as note_table

MOST = 1000
"""How many cards one call may change."""
_AHEAD = 1000
"""How many cards beyond a page are looked at, to know how many there are."""

ORDERS: Mapping[CardOrder, ColumnElement[Any]] = {
    "due": cards.c.due,
    "created": cards.c.created_at,
    "position": cards.c.position,
    "lapses": cards.c.lapses,
    "stability": cards.c.stability,
    "difficulty": cards.c.difficulty,
    "edited": sa.select(note_table.c.modified_at).where(note_table.c.id == cards.c.note_id).scalar_subquery(),
}


class SqlCards:
    """The cards of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, owner: str, card_id: CardId, now: datetime) -> CardView:
        return await self._database.read(_get, owner, card_id, now)

    async def search(
        self, owner: str, query: Tree, now: datetime, *, order: CardOrder, descending: bool, limit: int, offset: int
    ) -> CardPage:
        # Cards that are alike in that follow each other in the same direction.
        columns = (ORDERS[order], cards.c.id)
        ordered = [column.desc() if descending else column.asc() for column in columns]
        page = slice(offset, offset + limit)
        return await self._database.read(_search, owner, query, now, order=ordered, page=page)

    async def suspend(self, owner: str, selection: CardSelection, now: datetime, *, suspend: bool) -> ChangedCards:
        return await self._database.write(_suspend, owner, selection, now, suspend=suspend)

    async def bury(self, owner: str, selection: CardSelection, now: datetime, *, bury: bool) -> ChangedCards:
        return await self._database.write(_bury, owner, selection, now, bury=bury)

    async def set_due(self, owner: str, selection: CardSelection, day: date | int, now: datetime) -> ChangedCards:
        return await self._database.write(_set_due, owner, selection, day, now)

    async def reset(self, owner: str, selection: CardSelection, now: datetime) -> ChangedCards:
        return await self._database.write(_reset, owner, selection, now)


# --- looking -----------------------------------------------------------------------------------------------


def _get(connection: Connection, owner: str, card_id: CardId, now: datetime) -> CardView:
    person = people.find(connection, owner)
    shown = faces.load(connection, person.id, [card_id.number])
    if not shown:
        raise cards_not_found([card_id])
    card = shown[0].card
    deck, preset = log.deck_and_preset(connection, card.deck_id)
    return CardView(
        face=shown[0],
        note=notes.get(connection, person.id, NoteId.of(card.note_id)),
        deck=deck,
        preset=preset,
        recall=retrievability(card.schedule, now, preset),
        recent=studies.recent(connection, person.id, now),
        is_due=_is_due(card, person, now),
    )


def _is_due(card: Card, person: Person, now: datetime) -> bool:
    waits = not card.suspended and (card.buried_until is None or card.buried_until <= now)
    due, is_review = card.schedule.due, card.schedule.state is State.REVIEW
    return waits and due is not None and (due < person.preferences.day_of(now).ends if is_review else due <= now)


def _search(
    connection: Connection, owner: str, query: Tree, now: datetime, *, order: Sequence[Any], page: slice
) -> CardPage:
    person = people.find(connection, owner)
    scope = search.scope_of(connection, person, query, now)
    by = [column.nulls_last() for column in order]
    found = search.found(query, scope, cards.c.id).order_by(*by)
    # More than a page is read: where they end soon, they need not be looked through again to be counted.
    ids = list(connection.execute(found.slice(page.start, page.stop + _AHEAD)).scalars())
    known = len(ids) < page.stop - page.start + _AHEAD and (ids or not page.start)
    shown = faces.load(connection, person.id, ids[: page.stop - page.start])
    return CardPage(tuple(shown), page.start + len(ids) if known else _count(connection, query, scope))


def _count(connection: Connection, query: Tree, scope: search.Scope) -> int:
    return connection.execute(search.found(query, scope, sa.func.count())).scalar_one()


# --- choosing what to change -------------------------------------------------------------------------------


def _choose(connection: Connection, person: Person, selection: CardSelection, now: datetime) -> list[Card]:
    """The cards that are meant, in the order of their ids; all of them, or a refusal."""
    rows = sa.select(*CARD).where(cards.c.user_id == person.id).order_by(cards.c.id)
    if isinstance(selection, Sequence):
        wanted = {each.number for each in selection}
        found = [card_of(row) for row in connection.execute(rows.where(cards.c.id.in_(wanted)))]
        if missing := [each for each in selection if each.number not in {card.id for card in found}]:
            raise cards_not_found(missing, before="Nothing was changed. ")
        return found
    scope = search.scope_of(connection, person, selection, now)
    ids = list(connection.execute(search.found(selection, scope, cards.c.id).limit(MOST + 1)).scalars())
    if not ids:
        words = f"No card matches '{selection}', so nothing was changed. search-cards shows what a query finds."
        raise no_match(words, str(selection))
    if len(ids) > MOST:
        raise InvalidArguments(
            f"{_count(connection, selection, scope)} cards match '{selection}', and {MOST} are the most for one call, "
            "so nothing was changed. Narrow the query, for example with deck: or tag:.",
            fields=("query",),
        )
    return [card_of(row) for row in connection.execute(rows.where(cards.c.id.in_(ids)))]


def _update(connection: Connection, changed: Sequence[Card], values: dict[Any, Any]) -> None:
    ids = [card.id for card in changed]
    if ids:
        connection.execute(sa.update(cards).where(cards.c.id.in_(ids)).values(values))


# --- changing ----------------------------------------------------------------------------------------------


def _suspend(
    connection: Connection, owner: str, selection: CardSelection, now: datetime, *, suspend: bool
) -> ChangedCards:
    person = people.writing(connection, owner, now)
    all_chosen = _choose(connection, person, selection, now)
    changed = [card for card in all_chosen if card.suspended != suspend]
    # A suspended card keeps its state, which says where it goes back to.
    by_state = sa.case({int(state): queue for state, queue in QUEUES.items()}, value=cards.c.state)
    _update(connection, changed, {"queue": SUSPENDED if suspend else by_state})
    return _changed(all_chosen, changed)


def _bury(connection: Connection, owner: str, selection: CardSelection, now: datetime, *, bury: bool) -> ChangedCards:
    person = people.writing(connection, owner, now)
    all_chosen = _choose(connection, person, selection, now)
    changed = [card for card in all_chosen if (card.buried_until is not None and card.buried_until > now) != bury]
    until = person.preferences.day_of(now).ends if bury else None
    _update(connection, changed, {"buried_until": until})
    return replace(_changed(all_chosen, changed), until=until)


def _set_due(
    connection: Connection, owner: str, selection: CardSelection, day: date | int, now: datetime
) -> ChangedCards:
    person = people.writing(connection, owner, now)
    due = _morning(person, day, now)
    all_chosen = _choose(connection, person, selection, now)
    values = {
        "state": int(State.REVIEW),
        "step": None,
        "due": due,
        "queue": sa.case((cards.c.queue == SUSPENDED, SUSPENDED), else_=REVIEW),
        "buried_until": None,
    }
    _update(connection, all_chosen, values)
    recall, desired = _outlook(connection, person, all_chosen, due)
    return replace(_changed(all_chosen, all_chosen), until=due, recall=recall, desired=desired)


def _morning(person: Person, day: date | int, now: datetime) -> datetime:
    """When that learning day begins."""
    if isinstance(day, int):
        return search.morning(person.preferences, now, day)
    today = person.preferences.day_of(now).begins.astimezone(ZoneInfo(person.preferences.timezone)).date()
    if day < today:
        raise InvalidArguments(
            f"date: {day} is before today, {today}. Give today or a later day; nothing was changed.", fields=("date",)
        )
    return search.morning(person.preferences, now, (day - today).days)


def _outlook(
    connection: Connection, person: Person, chosen: Sequence[Card], due: datetime
) -> tuple[float | None, float | None]:
    """How likely the cards will be remembered on that day, and how likely they should be. Both on average."""
    known = decks.by_name(connection, person.id)
    presets: dict[int, Preset] = {deck.id: preset_of(deck, known) for deck in known.values()}
    recalls = [retrievability(card.schedule, due, presets[card.deck_id]) for card in chosen]
    given = [
        (recall, presets[card.deck_id]) for recall, card in zip(recalls, chosen, strict=True) if recall is not None
    ]
    if not given:
        return None, None
    return fmean(recall for recall, _ in given), fmean(preset.desired_retention for _, preset in given)


def _reset(connection: Connection, owner: str, selection: CardSelection, now: datetime) -> ChangedCards:
    person = people.writing(connection, owner, now)
    all_chosen = _choose(connection, person, selection, now)
    changed = [card for card in all_chosen if card.schedule != Schedule() or card.reps]
    if changed:
        last = sa.select(sa.func.max(cards.c.position)).where(cards.c.user_id == person.id)
        end = connection.execute(last).scalar_one() + 1
        values = schedule_values(Schedule()) | {
            "queue": sa.case((cards.c.queue == SUSPENDED, SUSPENDED), else_=NEW),
            # Behind all others, and in the order in which they were made.
            "position": end + cards.c.id - changed[0].id,
            "reps": 0,
            "lapses": 0,
            "buried_until": None,
        }
        _update(connection, changed, values)
    return _changed(all_chosen, changed)


def _changed(chosen: Sequence[Card], changed: Sequence[Card]) -> ChangedCards:
    return ChangedCards(
        ids=tuple(card.id for card in changed),
        unchanged=len(chosen) - len(changed),
        suspended=sum(card.suspended for card in chosen),
    )
