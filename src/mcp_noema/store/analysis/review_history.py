"""The review log, read page by page."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from mcp_noema.analysis import REVIEW_COUNT_LIMIT, ReviewFilter, ReviewPage
from mcp_noema.model import Preferences, ReviewId
from mcp_noema.store import card_faces
from mcp_noema.store.cards import get_card
from mcp_noema.store.deck_selection import select_decks
from mcp_noema.store.row_mapping import REVIEW_COLUMNS, to_review
from mcp_noema.store.tables import reviews
from toolcharter import InvalidArguments


def load_page(
    connection: Connection, owner: str, review_filter: ReviewFilter, page_size: int, after: ReviewId | None
) -> ReviewPage:
    """Reviews, newest first. A page begins after the last review of the previous page, so that none is repeated."""
    selection = select_decks(connection, owner, review_filter.deck_id)
    user_id = selection.user.id
    condition = sa.and_(selection.of_reviews, *_in_period(review_filter, selection.user.preferences))
    if review_filter.card_id is not None:
        condition &= reviews.c.card_id == review_filter.card_id.number
    counted = sa.select(reviews.c.id).where(condition).limit(REVIEW_COUNT_LIMIT).subquery()
    total = connection.execute(sa.select(sa.func.count()).select_from(counted)).scalar_one()
    if review_filter.card_id is not None and not total:
        # Only now, because a deleted card still has its reviews.
        get_card(connection, user_id, review_filter.card_id)
    query = sa.select(*REVIEW_COLUMNS).where(condition, *_older_than(connection, user_id, after))
    query = query.order_by(reviews.c.reviewed_at.desc(), reviews.c.id.desc()).limit(page_size + 1)
    found = [to_review(row) for row in connection.execute(query)]
    page = tuple(found[:page_size])
    faces = card_faces.load(connection, user_id, list({review.card_id for review in page}))
    fronts = {face.card.id: face.front for face in faces}
    return ReviewPage(page, fronts, total=total, more=len(found) > page_size)


def _in_period(review_filter: ReviewFilter, preferences: Preferences) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if review_filter.first is not None:
        conditions.append(reviews.c.reviewed_at >= preferences.day_on(review_filter.first).begins)
    if review_filter.last is not None:
        conditions.append(reviews.c.reviewed_at < preferences.day_on(review_filter.last).ends)
    return conditions


def _older_than(connection: Connection, user_id: int, after: ReviewId | None) -> list[ColumnElement[bool]]:
    if after is None:
        return []
    # An undone review still has its place in the log.
    query = sa.select(reviews.c.reviewed_at, reviews.c.id)
    query = query.where(reviews.c.user_id == user_id, reviews.c.id == after.number)
    last: Any = connection.execute(query).one_or_none()
    if last is None:
        raise InvalidArguments(
            f"cursor: {after!s} is not a cursor from get-review-history. Leave it out to begin with the newest review.",
            fields=("cursor",),
        )
    earlier = reviews.c.reviewed_at < last.reviewed_at
    return [sa.or_(earlier, sa.and_(reviews.c.reviewed_at == last.reviewed_at, reviews.c.id < last.id))]
