"""SQL conditions and functions that several queries share."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from mcp_noema.store.tables import cards, reviews, undone

NOT_UNDONE = ~sa.exists().where(undone.c.review_id == reviews.c.id)
"""For reviews: they were not undone."""


def counted_reviews(user_id: int) -> ColumnElement[bool]:
    """The reviews of a user that were not undone."""
    return sa.and_(reviews.c.user_id == user_id, NOT_UNDONE)


MAX_BOUND_IDS = 10_000
"""SQLite and PostgreSQL allow about 32,000 parameters in a statement."""


def one_of(column: ColumnElement[int], ids: Collection[int]) -> ColumnElement[bool]:
    """The column has one of these ids. Very many of them are literals in the SQL, not parameters."""
    if len(ids) <= MAX_BOUND_IDS:
        return column.in_(ids)
    return column.in_(sa.bindparam(None, list(ids), sa.BigInteger, expanding=True, literal_execute=True))


def one_of_literals(column: ColumnElement[int], ids: Collection[int]) -> ColumnElement[bool]:
    """The same with literals, for a statement that runs once: of 10,000 parameters, one is made in 10 ms, not in 1.

    Execute it with NOT_CACHED, or SQLAlchemy keeps the whole text.
    """
    return column.bool_op("IN")(sa.literal_column(f"({', '.join(map(str, map(int, ids)))})"))


NOT_CACHED: Mapping[str, Any] = {"compiled_cache": None}
"""Execution options."""


def batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """The ids in parts that fit into one statement."""
    for start in range(0, len(ids), MAX_BOUND_IDS):
        yield ids[start : start + MAX_BOUND_IDS]


def not_buried(now: datetime | sa.BindParameter[datetime]) -> ColumnElement[bool]:
    """For cards: they are not buried, or no longer."""
    return sa.or_(cards.c.buried_until.is_(None), cards.c.buried_until <= now)


def sample(ids: ColumnElement[int], total: int, max_rows: int) -> tuple[int, ColumnElement[bool]]:
    """An even sample of at most about `max_rows`: one row in how many is taken, and the condition that takes it."""
    one_in = max(1, -(-total // max_rows))
    return one_in, sa.true() if one_in == 1 else ids % one_in == 0


DAY_SECONDS = 86_400


class seconds_between(GenericFunction[int]):  # noqa: N801 - an SQL function
    """From an earlier to a later time."""

    type = sa.BigInteger()
    inherit_cache = True


@compiles(seconds_between)
def _seconds_postgresql(element: seconds_between, compiler: Any, **options: Any) -> str:
    earlier, later = element.clauses
    return f"extract(epoch from {compiler.process(later, **options)} - {compiler.process(earlier, **options)})"


@compiles(seconds_between, "sqlite")
def _seconds_sqlite(element: seconds_between, compiler: Any, **options: Any) -> str:
    earlier, later = (compiler.process(each, **options) for each in element.clauses)
    return f"(strftime('%s', {later}) - strftime('%s', {earlier}))"
