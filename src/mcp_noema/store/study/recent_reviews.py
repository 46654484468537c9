"""The last answers of a user: their speed, and the present session."""

import statistics
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from mcp_noema.model import CLOCK_SKEW
from mcp_noema.records import RecentReviews
from mcp_noema.store.conditions import NOT_UNDONE
from mcp_noema.store.tables import reviews
from toolcharter.db import UtcTime

SESSION_BREAK = timedelta(minutes=30)
"""A session ends when nothing is answered for this long."""
RECENT_COUNT = 100

_LAST_REVIEWS = (
    sa.select(reviews.c.reviewed_at, reviews.c.duration_ms)
    .where(
        reviews.c.user_id == sa.bindparam("user_id", type_=sa.BigInteger),
        reviews.c.reviewed_at <= sa.bindparam("until", type_=UtcTime),
        NOT_UNDONE,
    )
    .order_by(reviews.c.reviewed_at.desc(), reviews.c.id.desc())
    .limit(RECENT_COUNT)
)


def next_answer(connection: Connection, card_id: int) -> int:
    """Which answer to a card the next one will be. Undone reviews are in the log too, so no number comes twice."""
    in_log = sa.select(sa.func.count()).select_from(reviews).where(reviews.c.card_id == card_id)
    return connection.execute(in_log).scalar_one() + 1


def load_recent(connection: Connection, user_id: int, now: datetime) -> RecentReviews:
    rows: Any = connection.execute(_LAST_REVIEWS, {"user_id": user_id, "until": now + CLOCK_SKEW}).all()
    durations = [row.duration_ms for row in rows if row.duration_ms]
    session_start, session_reviews = now, 0
    for row in rows:
        if session_start - row.reviewed_at > SESSION_BREAK:
            break
        session_start, session_reviews = row.reviewed_at, session_reviews + 1
    return RecentReviews(
        reviews=len(rows),
        usual_ms=round(statistics.median(durations)) if durations else 0,
        session_reviews=session_reviews,
        session_minutes=(now - session_start).total_seconds() / 60 if session_reviews else 0.0,
        last_at=rows[0].reviewed_at if rows else None,
    )
