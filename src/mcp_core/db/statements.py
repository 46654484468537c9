"""Statements that change rows, on SQLite without what SQLAlchemy does around each of them.

SQLAlchemy makes an execution context, a cursor and a result for each statement, in four times as long as SQLite takes
to insert a row. Here it compiles the statement and converts the values; the driver executes it.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Delete, Dialect, Insert, Update
from sqlalchemy.exc import DBAPIError

MAX_PREPARED = 512

RowChange = Insert | Update | Delete


class Prepared(NamedTuple):
    """A statement for the driver, and how each of its parameters is made of a value."""

    sql: str
    parameters: tuple[tuple[str, Callable[[Any], Any] | None], ...]


def change(connection: Connection, statement: RowChange, values: Mapping[str, Any]) -> int:
    """Execute a statement that changes rows and returns none. Returns how many rows it changed.

    Make the statement once, outside of the function: it is compiled when it is first executed with these names.
    """
    dialect = connection.dialect
    prepared = _prepare(statement, tuple(values), dialect) if dialect.name == "sqlite" else None
    if prepared is None:
        return connection.execute(statement, values).rowcount
    given = [values[name] if make is None else make(values[name]) for name, make in prepared.parameters]
    sqlite: Any = connection.connection.dbapi_connection
    driver: Any = dialect.dbapi
    try:
        return sqlite.execute(prepared.sql, given).rowcount
    except driver.Error as error:
        raise DBAPIError.instance(prepared.sql, given, error, driver.Error, dialect=dialect) from error


@lru_cache(maxsize=MAX_PREPARED)
def _prepare(statement: RowChange, names: tuple[str, ...], dialect: Dialect) -> Prepared | None:
    """The statement for the driver; None if SQLAlchemy has to make a part of it for each execution."""
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    is_fixed = not (compiled.post_compile_params or compiled.literal_execute_params or compiled.effective_returning)
    made_each_time = compiled.insert_prefetch or compiled.update_prefetch
    in_order = compiled.positiontup or ()
    if not is_fixed or made_each_time or not set(in_order).issubset(names):
        return None
    kinds = [compiled.binds[name].type.dialect_impl(dialect) for name in in_order]
    makers = [kind.bind_processor(dialect) for kind in kinds]
    return Prepared(str(compiled), tuple(zip(in_order, makers, strict=True)))
