"""A queue of the cards that someone wants to study: by a query, ahead of time, the weakest first, or as a preview.

Daily limits do not hold, as in Anki's filtered decks. Suspended and buried cards are left out.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_noema.model import Dice, Preferences
from mcp_noema.query.tree import Everything
from mcp_noema.records import CustomStudy, RemainingCounts, StudyQueue
from mcp_noema.store import card_faces, search
from mcp_noema.store.conditions import not_buried, seconds_between
from mcp_noema.store.deck_selection import select_decks
from mcp_noema.store.study.recent_reviews import load_recent
from mcp_noema.store.study.study_queue import look_ahead
from mcp_noema.store.study.waiting_cards import LEARN_AHEAD
from mcp_noema.store.tables import LEARNING, NEW, REVIEW, SUSPENDED, cards
from toolcharter.db import UtcTime


def load_custom(
    connection: Connection, owner: str, study: CustomStudy, now: datetime, *, dice: Dice | None
) -> StudyQueue:
    """The next card of a custom study, and how many are left."""
    selection = select_decks(connection, owner, study.deck_id)
    user = selection.user
    context = search.load_context(connection, user, study.query, now)
    matches = sa.and_(selection.of_cards, cards.c.queue != SUSPENDED, not_buried(now))
    waits = sa.true() if study.is_preview else _waits(study, user.preferences, now)

    def select(*columns: Any) -> Any:
        return search.select_matches(study.query, context, *columns).where(matches)

    counts = select(cards.c.queue, sa.func.count(), sa.func.count(sa.case((waits, 1)))).group_by(cards.c.queue)
    rows: Sequence[Any] = connection.execute(counts).all()
    by_queue = {row[0]: (row[1], row[2]) for row in rows}
    first = select(cards.c.id).where(waits).order_by(*_order(study, now)).offset(study.skip).limit(1)
    faces = card_faces.load(connection, user.id, list(connection.execute(first).scalars()))
    presets = selection.presets
    queue = StudyQueue(
        faces=tuple(face for face in faces if face.card.deck_id in presets),
        remaining=RemainingCounts(*(by_queue.get(kind, (0, 0))[1] for kind in (NEW, LEARNING, REVIEW))),
        backlog=0,
        next_learning=None,
        presets=presets,
        recent=load_recent(connection, user.id, now),
        preferences=user.preferences,
        matching=sum(total for total, _ in by_queue.values()),
    )
    return look_ahead(connection, queue, now, dice=dice)


def _waits(study: CustomStudy, preferences: Preferences, now: datetime) -> ColumnElement[bool]:
    """New cards wait if a query names them. What was answered today does not come again unless it is due."""
    day = preferences.day_of(now)
    is_ahead = sa.and_(
        cards.c.due < preferences.day_start(now, study.ahead + 1),
        sa.or_(cards.c.last_review.is_(None), cards.c.last_review < day.begins),
    )
    is_new = cards.c.queue == NEW
    return sa.or_(
        sa.and_(cards.c.queue == LEARNING, cards.c.due <= now + LEARN_AHEAD),
        sa.and_(cards.c.queue == REVIEW, sa.or_(cards.c.due < day.ends, is_ahead)),
        sa.false() if isinstance(study.query, Everything) and study.ahead else is_new,
    )


def _order(study: CustomStudy, now: datetime) -> tuple[ColumnElement[Any], ...]:
    """Learning cards, due cards, new cards; or the weakest first: the longest ago for its stability."""
    if study.order == "weakest":
        elapsed = seconds_between(cards.c.last_review, sa.literal(now, UtcTime))
        return ((elapsed / cards.c.stability).desc().nulls_last(), cards.c.position, cards.c.id)
    place = sa.case({LEARNING: 0, REVIEW: 1}, value=cards.c.queue, else_=2)
    return (place, cards.c.due.asc().nulls_last(), cards.c.position, cards.c.id)
