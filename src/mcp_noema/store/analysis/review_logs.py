"""The review logs of many cards, as the scheduler reads them."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement

from mcp_noema.scheduling.schedule import LoggedReview
from mcp_noema.store.tables import reviews


def select_logs(*conditions: ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    """The reviews, by card and time."""
    columns = (reviews.c.card_id, reviews.c.rating, reviews.c.reviewed_at, reviews.c.state)
    return sa.select(*columns).where(*conditions).order_by(reviews.c.card_id, reviews.c.reviewed_at)


def group_by_card(rows: Iterable[Any]) -> Iterator[tuple[int, list[LoggedReview]]]:
    """The log of each card, from rows of `select_logs`."""
    for card_id, card_rows in groupby(rows, itemgetter(0)):
        yield card_id, [(rating, at, state) for _, rating, at, state in card_rows]
