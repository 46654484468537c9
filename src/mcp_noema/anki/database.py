"""The SQLite database in a package: it is not trusted, opened read-only, and no code in it is run."""

import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp_noema.anki.limits import MEBIBYTE, ReadLimits
from mcp_noema.anki.package import BadPackage, damaged

_MAX_VALUE_BYTES = 128 * MEBIBYTE
_SQLITE_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _MAX_VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 20,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 5,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
_PRAGMAS = ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON")


@contextmanager
def open_read_only(path: Path) -> Generator[sqlite3.Connection]:
    """A connection to a file that no other process has open."""
    # In read-only mode SQLite also skips CHECK constraints: they are foreign expressions, evaluated by quick_check.
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        connection.text_factory = _decode
        connection.create_collation("unicase", _compare_ignoring_case)
        for limit, value in _SQLITE_LIMITS.items():
            connection.setlimit(limit, value)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        yield connection
    except UnicodeDecodeError:
        # Raised for an SQLite error message that quotes the file.
        raise damaged("The collection in the file cannot be read: it is damaged.") from None
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise damaged(f"The collection in the file cannot be read: {error}.") from None
    finally:
        connection.close()


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\0", "")


def parse_text(value: Any) -> str:
    """A text, which any program may have stored as bytes or as a number."""
    return _decode(value) if isinstance(value, bytes) else str(value)


def _compare_ignoring_case(one: str, other: str) -> int:
    """Anki's collation for names."""
    a, b = one.casefold(), other.casefold()
    return (a > b) - (a < b)


def check_tables(connection: sqlite3.Connection, required: Mapping[str, str]) -> None:
    """Check that the required tables are ordinary tables, have their columns, and are not damaged."""
    types = {name: table_type for _, name, table_type, *_ in connection.execute("PRAGMA main.table_list")}
    for table, columns in required.items():
        if types.get(table) != "table":
            what = "no table" if table not in types else f"a {types[table]} instead of a table"
            raise damaged(f"The collection in the file has {what} {table!r}, so Anki did not write it.")
        # The last value is 0 for a stored column; a generated column would run an expression from the file.
        stored = {column[1] for column in connection.execute(f"PRAGMA table_xinfo({table})") if column[-1] == 0}
        if missing := [name for name in columns.split() if name not in stored]:
            raise damaged(f"The table {table!r} in the file lacks the columns {', '.join(missing)}.")
        # Before any row is read: pages that point at each other would be read forever.
        if (result := connection.execute(f"PRAGMA quick_check({table})").fetchone()) != ("ok",):
            raise damaged(f"The collection in the file is damaged: {result and result[0]}.")


def read_rows(
    connection: sqlite3.Connection, table: str, columns: str, limits: ReadLimits, *, order: str = "1"
) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, ordered by the first column or by others."""
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - our own constants
    if count > (max_rows := limits.rows_of(table)):
        raise BadPackage(f"The table {table!r} in the file has {count:,} rows; at most {max_rows:,} are read.")
    names = ", ".join(columns.split())
    return connection.execute(f"SELECT {names} FROM {table} ORDER BY {order}")  # noqa: S608 - as above
