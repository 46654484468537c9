"""Cards in SQL: searched, and changed in bulk."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_noema.errors import cards_not_found, no_match
from mcp_noema.model import Card, CardId, CardState, NoteId, Schedule, preset_of
from mcp_noema.query.tree import Tree
from mcp_noema.records import CardOrder, CardPage, CardSelection, CardView, ChangedCards, Owner
from mcp_noema.scheduling.schedule import gain_of_answer, next_schedules, retrievability
from mcp_noema.store import card_faces, decks, notes, search, users
from mcp_noema.store.conditions import NOT_CACHED, batches, not_buried, one_of_literals
from mcp_noema.store.row_mapping import CARD_COLUMNS, QUEUE_OF_STATE, schedule_values, to_card
from mcp_noema.store.search import SearchContext
from mcp_noema.store.study.recent_reviews import load_recent, next_answer
from mcp_noema.store.tables import NEW, REVIEW, SUSPENDED, cards
from mcp_noema.store.tables import notes as note_table
from toolcharter import InvalidArguments

MAX_SAMPLE = 10_000
"""The average recall of more cards is that of a sample."""
_LOOKAHEAD = 1000
"""How many cards are read beyond a page, so that a separate count is often not needed."""

ORDERS: Mapping[CardOrder, ColumnElement[Any]] = {
    "due": cards.c.due,
    "created": cards.c.created_at,
    "position": cards.c.position,
    "lapses": cards.c.lapses,
    "stability": cards.c.stability,
    "difficulty": cards.c.difficulty,
    # Correlated with cards only: a query for words selects from notes too.
    "edited": sa.select(note_table.c.modified_at)
    .where(note_table.c.id == cards.c.note_id)
    .correlate(cards)
    .scalar_subquery(),
}


# --- read --------------------------------------------------------------------------------------------------


def get_card(connection: Connection, user_id: int, card_id: CardId) -> Card:
    query = sa.select(*CARD_COLUMNS).where(cards.c.user_id == user_id, cards.c.id == card_id.number)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise cards_not_found([card_id])
    return to_card(row)


def view(connection: Connection, owner: str, card_id: CardId, now: datetime) -> CardView:
    """A card with all that is known about it."""
    user = users.get(connection, owner)
    faces = card_faces.load(connection, user.id, [card_id.number])
    if not faces:
        raise cards_not_found([card_id])
    card = faces[0].card
    deck, preset = decks.with_preset(connection, card.deck_id)
    after = next_schedules(card.schedule, now, preset, user.preferences)
    return CardView(
        face=faces[0],
        note=notes.get(connection, user.id, NoteId.of(card.note_id)),
        deck=deck,
        preset=preset,
        recall=retrievability(card.schedule, now, preset, user.preferences),
        gain=gain_of_answer(card.schedule, after, now, preset, user.preferences),
        recent=load_recent(connection, user.id, now),
        is_due=_is_due(card, user, now),
        next_answer=next_answer(connection, card.id),
    )


def _is_due(card: Card, user: Owner, now: datetime) -> bool:
    is_active = not card.suspended and (card.buried_until is None or card.buried_until <= now)
    due, is_review = card.schedule.due, card.schedule.state is CardState.REVIEW
    return is_active and due is not None and (due < user.preferences.day_of(now).ends if is_review else due <= now)


def find(
    connection: Connection,
    owner: str,
    query: Tree,
    now: datetime,
    *,
    order: CardOrder,
    descending: bool,
    limit: int,
    offset: int,
) -> CardPage:
    """A page of the cards that match a query."""
    user = users.get(connection, owner)
    context = search.load_context(connection, user, query, now)
    matches = search.select_matches(query, context, cards.c.id).order_by(
        *((column.desc() if descending else column.asc()).nulls_last() for column in (ORDERS[order], cards.c.id))
    )
    ids = list(connection.execute(matches.slice(offset, offset + limit + _LOOKAHEAD)).scalars())
    reached_end = len(ids) < limit + _LOOKAHEAD and (ids or not offset)
    faces = card_faces.load(connection, user.id, ids[:limit])
    total = offset + len(ids) if reached_end else _count(connection, query, context)
    return CardPage(tuple(faces), total, collection_is_empty=not total and not has_cards(connection, user.id))


def has_cards(connection: Connection, user_id: int) -> bool:
    """Whether the user has any card."""
    return connection.execute(sa.select(sa.exists().where(cards.c.user_id == user_id))).scalar_one()


def _count(connection: Connection, query: Tree, context: SearchContext) -> int:
    return connection.execute(search.select_matches(query, context, sa.func.count())).scalar_one()


# --- selection ---------------------------------------------------------------------------------------------


def _select(
    connection: Connection, user: Owner, selection: CardSelection, now: datetime, *, changes: ColumnElement[bool]
) -> Sequence[Any]:
    """All selected cards as rows (id, changes, suspended), by id. `changes`: whether the change is needed.

    A missing card, or no card, is an error.
    """
    # As integers, because SQLAlchemy turns each truth value into a bool one by one.
    flags = (sa.type_coerce(flag, sa.Integer) for flag in (changes, cards.c.queue == SUSPENDED))
    columns = (cards.c.id, *flags)
    if isinstance(selection, Sequence):
        ids = {card_id.number for card_id in selection}
        by_id = sa.select(*columns).where(cards.c.user_id == user.id, cards.c.id.in_(ids)).order_by(cards.c.id)
        selected: Sequence[Any] = connection.execute(by_id).all()
        found = {card_id for card_id, *_ in selected}
        if missing := [card_id for card_id in selection if card_id.number not in found]:
            raise cards_not_found(missing, before="Nothing was changed. ")
        return selected
    context = search.load_context(connection, user, selection, now)
    selected = connection.execute(search.select_matches(selection, context, *columns).order_by(cards.c.id)).all()
    if not selected:
        raise no_match(
            f"No card matches '{selection}', so nothing was changed. search-cards shows what a query matches.",
            str(selection),
        )
    return selected


def _update(connection: Connection, selected: Sequence[Any], values: dict[Any, Any]) -> ChangedCards:
    """Update the cards that change, in batches."""
    ids = [card_id for card_id, changes, _ in selected if changes]
    for batch in batches(ids):
        update = sa.update(cards).where(one_of_literals(cards.c.id, batch)).values(values)
        connection.execute(update, execution_options=NOT_CACHED)
    return ChangedCards(
        ids=tuple(ids),
        unchanged=len(selected) - len(ids),
        suspended=sum([suspended for _, _, suspended in selected]),
    )


# --- changes -----------------------------------------------------------------------------------------------


def suspend(
    connection: Connection, owner: str, selection: CardSelection, now: datetime, *, suspend: bool
) -> ChangedCards:
    """Suspend cards, or lift the suspension."""
    user = users.lock(connection, owner, now)
    changes = cards.c.queue != SUSPENDED if suspend else cards.c.queue == SUSPENDED
    selected = _select(connection, user, selection, now, changes=changes)
    # A suspended card keeps its state, from which its queue is restored.
    queue_of_state = sa.case({int(state): queue for state, queue in QUEUE_OF_STATE.items()}, value=cards.c.state)
    return _update(connection, selected, {"queue": SUSPENDED if suspend else queue_of_state})


def bury(connection: Connection, owner: str, selection: CardSelection, now: datetime, *, bury: bool) -> ChangedCards:
    """Hide cards until tomorrow, or show them again today."""
    user = users.lock(connection, owner, now)
    changes = not_buried(now) if bury else sa.not_(not_buried(now))
    selected = _select(connection, user, selection, now, changes=changes)
    until = user.preferences.day_of(now).ends if bury else None
    return replace(_update(connection, selected, {"buried_until": until}), until=until)


def set_due(
    connection: Connection, owner: str, selection: CardSelection, day: date | int, now: datetime
) -> ChangedCards:
    """Make cards due on a date, or a number of days from today. New and learning cards become review cards."""
    user = users.lock(connection, owner, now)
    due = _due_time(user, day, now)
    selected = _select(connection, user, selection, now, changes=sa.true())
    recall, desired = _average_recall(connection, user, [card_id for card_id, *_ in selected], due)
    values = {
        "state": int(CardState.REVIEW),
        "step": None,
        "due": due,
        "queue": sa.case((cards.c.queue == SUSPENDED, SUSPENDED), else_=REVIEW),
        "buried_until": None,
    }
    return replace(_update(connection, selected, values), until=due, recall=recall, desired=desired)


def _due_time(user: Owner, day: date | int, now: datetime) -> datetime:
    """When the learning day begins."""
    if isinstance(day, int):
        return user.preferences.day_start(now, day)
    today = user.preferences.date_of(now)
    if day < today:
        raise InvalidArguments(
            f"date: {day} is before today, {today}. Give today or a later day; nothing was changed.", fields=("date",)
        )
    return user.preferences.day_start(now, (day - today).days)


def _average_recall(
    connection: Connection, user: Owner, ids: Sequence[int], at: datetime
) -> tuple[float | None, float | None]:
    """The average probability of recall at a time, and the average desired retention of those cards."""
    in_sample = ids[:: -(-len(ids) // MAX_SAMPLE)]
    query = sa.select(*CARD_COLUMNS).where(one_of_literals(cards.c.id, in_sample))
    selected = [to_card(row) for row in connection.execute(query, execution_options=NOT_CACHED).all()]
    all_decks = decks.by_name(connection, user.id)
    presets = {deck.id: preset_of(deck, all_decks) for deck in all_decks.values()}
    with_presets = [(card, presets[card.deck_id]) for card in selected]
    recalls = [(retrievability(card.schedule, at, preset, user.preferences), preset) for card, preset in with_presets]
    known = [(recall, preset.desired_retention) for recall, preset in recalls if recall is not None]
    if not known:
        return None, None
    return fmean(recall for recall, _ in known), fmean(desired for _, desired in known)


def reset(connection: Connection, owner: str, selection: CardSelection, now: datetime) -> ChangedCards:
    """Make cards new, after all other new cards."""
    user = users.lock(connection, owner, now)
    blank = schedule_values(Schedule())
    differs = (cards.c[name].is_distinct_from(value) for name, value in blank.items() if name != "queue")
    selected = _select(connection, user, selection, now, changes=sa.or_(cards.c.reps != 0, *differs))
    last = sa.select(sa.func.max(cards.c.position)).where(cards.c.user_id == user.id)
    end = connection.execute(last).scalar_one() + 1
    answers = _count_answers(connection, [card_id for card_id, is_changed, _ in selected if is_changed])
    values = blank | {
        "queue": sa.case((cards.c.queue == SUSPENDED, SUSPENDED), else_=NEW),
        # After all others, in the order of their ids.
        "position": end + cards.c.id - selected[0].id,
        "reps": 0,
        "lapses": 0,
        "buried_until": None,
    }
    return replace(_update(connection, selected, values), answers=answers)


def _count_answers(connection: Connection, ids: Sequence[int]) -> int:
    """How many answers these cards have had."""
    total = 0
    for batch in batches(ids):
        query = sa.select(sa.func.coalesce(sa.func.sum(cards.c.reps), 0)).where(one_of_literals(cards.c.id, batch))
        total += connection.execute(query, execution_options=NOT_CACHED).scalar_one()
    return total
