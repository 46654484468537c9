"""The SQL that a server executes, for tests that compare the work of two calls."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event


@contextmanager
def recorded() -> Iterator[list[str]]:
    """All statements of all databases, until the end of the block."""
    statements: list[str] = []

    def add(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", add)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", add)
