"""Someone else's SQLite database: read only, and nothing in it is run."""

import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp_noema.anki.archive import AGAIN, MEBIBYTE, Limits
from mcp_noema.anki.package import BadPackage

_LONGEST_VALUE = 128 * MEBIBYTE
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _LONGEST_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 20,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 5,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
_PRAGMAS = ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON")


@contextmanager
def opened(path: Path) -> Generator[sqlite3.Connection]:
    """A connection to a file that nobody else has open."""
    # Read only, SQLite leaves out constraints too: they are expressions of theirs, worked out when rows are checked.
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        connection.text_factory = _text
        connection.create_collation("unicase", _unicase)
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        yield connection
    except UnicodeDecodeError:
        # Of a message that quotes the file.
        raise BadPackage(f"The collection in the file cannot be read: it is damaged. {AGAIN}") from None
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise BadPackage(f"The collection in the file cannot be read: {error}. {AGAIN}") from None
    finally:
        connection.close()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\0", "")


def _unicase(one: str, other: str) -> int:
    """Anki compares names without regard to case."""
    a, b = one.casefold(), other.casefold()
    return (a > b) - (a < b)


def check(connection: sqlite3.Connection, needed: Mapping[str, str]) -> None:
    """Whether the tables that are needed are plain ones, have their columns, and are whole."""
    there = {name: kind for _, name, kind, *_ in connection.execute("PRAGMA main.table_list")}
    for table, columns in needed.items():
        if there.get(table) != "table":
            what = "no table" if table not in there else f"a {there[table]} instead of a table"
            raise BadPackage(f"The collection in the file has {what} {table!r}, so Anki did not write it. {AGAIN}")
        # The last value says whether a column is stored (0), or worked out by an expression of theirs.
        stored = {column[1] for column in connection.execute(f"PRAGMA table_xinfo({table})") if column[-1] == 0}
        if missing := [name for name in columns.split() if name not in stored]:
            raise BadPackage(f"The table {table!r} in the file lacks the columns {', '.join(missing)}. {AGAIN}")
        # Before anything is read: pages that point at each other would be read for ever.
        if (found := connection.execute(f"PRAGMA quick_check({table})").fetchone()) != ("ok",):
            raise BadPackage(f"The collection in the file is damaged: {found and found[0]}. {AGAIN}")


def rows(connection: sqlite3.Connection, table: str, columns: str, limits: Limits) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, by their ids."""
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - names of ours
    if count > limits.rows:
        raise BadPackage(f"The table {table!r} in the file has {count:,} rows, more than {limits.rows:,}.")
    return connection.execute(f"SELECT {', '.join(columns.split())} FROM {table} ORDER BY 1")  # noqa: S608 - as above
