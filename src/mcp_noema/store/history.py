"""The log of reviews, read page by page."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_core import InvalidArguments
from mcp_noema.analysis import REVIEW_COUNT_LIMIT, ReviewFilter, ReviewPage
from mcp_noema.model import Preferences, ReviewId
from mcp_noema.store import faces, recall
from mcp_noema.store.rows import REVIEW_ROW, review_of
from mcp_noema.store.scope import scope
from mcp_noema.store.tables import reviews


def history(
    connection: Connection, owner: str, review_filter: ReviewFilter, most: int, after: ReviewId | None
) -> ReviewPage:
    """Reviews, the newest first. A page begins after the last one of the page before, whatever came since."""
    chosen = scope(connection, owner, review_filter.deck_id)
    wanted = sa.and_(chosen.of_reviews, *_period(review_filter, chosen.person.preferences))
    if review_filter.card_id is not None:
        wanted &= reviews.c.card_id == review_filter.card_id.number
    counted = sa.select(reviews.c.id).where(wanted).limit(REVIEW_COUNT_LIMIT).subquery()
    total = connection.execute(sa.select(sa.func.count()).select_from(counted)).scalar_one()
    if review_filter.card_id is not None and not total:
        # Of a card that was deleted, the log is still there.
        recall.check_card(connection, chosen.person.id, review_filter.card_id)
    page = sa.select(*REVIEW_ROW).where(wanted, *_older(connection, chosen.person.id, after))
    page = page.order_by(reviews.c.reviewed_at.desc(), reviews.c.id.desc()).limit(most + 1)
    found = [review_of(row) for row in connection.execute(page)]
    shown = tuple(found[:most])
    cards = faces.load(connection, chosen.person.id, list({review.card_id for review in shown}))
    fronts = {face.card.id: face.front for face in cards}
    return ReviewPage(shown, fronts, total=total, more=len(found) > most)


def _period(review_filter: ReviewFilter, preferences: Preferences) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if review_filter.first is not None:
        conditions.append(reviews.c.reviewed_at >= preferences.day_on(review_filter.first).begins)
    if review_filter.last is not None:
        conditions.append(reviews.c.reviewed_at < preferences.day_on(review_filter.last).ends)
    return conditions


def _older(connection: Connection, user_id: int, after: ReviewId | None) -> list[ColumnElement[bool]]:
    if after is None:
        return []
    # A review that was taken back since is still a place in the log.
    mine = sa.select(reviews.c.reviewed_at, reviews.c.id)
    mine = mine.where(reviews.c.user_id == user_id, reviews.c.id == after.number)
    last: Any = connection.execute(mine).one_or_none()
    if last is None:
        raise InvalidArguments(
            f"cursor: {after!s} is none that was given here. Leave it out to begin with the newest review.",
            fields=("cursor",),
        )
    earlier = reviews.c.reviewed_at < last.reviewed_at
    return [sa.or_(earlier, sa.and_(reviews.c.reviewed_at == last.reviewed_at, reviews.c.id < last.id))]
