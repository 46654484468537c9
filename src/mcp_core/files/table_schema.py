"""The schema of tables as lines that can be compared: columns, indexes, foreign keys and triggers.

    column todo_tasks.title text not null
    index todo_tasks_by_user on todo_tasks (user_id, created_at, id)

SQLite's types are written as their affinity, which is all that SQLite makes of them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

FILE = "schema.json"
"""The file with the expected schema, beside the migrations that make it."""
MAX_NAMED = 6
"""Differences that an error names."""

Rows = Callable[[str], Iterable[Sequence[Any]]]
"""Runs a query."""

_COLUMNS = """SELECT m.name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table'"""
_INDEXES = """SELECT m.name, i.name, i."unique", i.origin, x.name, x."desc", s.sql
FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_xinfo(i.name) x
LEFT JOIN sqlite_master s ON s.type = 'index' AND s.name = i.name
WHERE m.type = 'table' AND x.key ORDER BY i.name, x.seqno"""
_FOREIGN_KEYS = """SELECT m.name, f."from", f."table", f."to", f.on_update, f.on_delete
FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'"""
_TRIGGERS = "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger'"
_POSTGRES = """
WITH t AS (SELECT oid, relname FROM pg_class
    WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid) AND relname IN ({names}))
SELECT 'column ' || t.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
    || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid, true), '')
FROM t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
UNION ALL
SELECT 'index ' || pg_get_indexdef(i.indexrelid, 0, true) || CASE WHEN i.indisvalid THEN '' ELSE ' (not valid)' END
FROM t JOIN pg_index i ON i.indrelid = t.oid
UNION ALL
SELECT 'constraint ' || t.relname || ' ' || pg_get_constraintdef(c.oid, true)
FROM t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype IN ('c', 'f', 'x')
UNION ALL
SELECT 'trigger ' || pg_get_triggerdef(g.oid, true) || CASE WHEN g.tgenabled = 'D' THEN ' (disabled)' ELSE '' END
FROM t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal
"""
_AFFINITIES = (("INT", "integer"), ("CHAR|CLOB|TEXT", "text"), ("BLOB", "blob"), ("REAL|FLOA|DOUB", "real"))
"""Part of a declared type, and the affinity that SQLite gives it, in SQLite's order."""
_NAME = re.compile(r"\w+")
_TABLE = re.compile(r"column (\w+)\.")
_WHERE = re.compile(r"\sWHERE\s(.*)", re.IGNORECASE | re.DOTALL)


def read_lines(rows: Rows, tables: Iterable[str], *, postgres: bool) -> list[str]:
    """The schema of those of the tables that exist."""
    names = sorted(tables)
    if not all(_NAME.fullmatch(name) for name in names):
        raise ValueError(f"{names} are not all names of tables")
    if postgres:
        query = _POSTGRES.format(names=", ".join(f"'{name}'" for name in names) or "NULL")
        return sorted(_one_line(row[0]) for row in rows(query))
    return sorted(line for table, line in _sqlite_lines(rows) if table in names)


def expected_lines(folder: Path, *, postgres: bool) -> list[str] | None:
    """The schema that a folder's file expects. None if the file has none for this kind of database."""
    file = folder / FILE
    if not file.exists():
        return None
    return json.loads(file.read_text(encoding="utf-8")).get("postgresql" if postgres else "sqlite")


def write(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the expected schema: the lines by the kind of database."""
    (folder / FILE).write_text(f"{json.dumps(content, indent=1)}\n", encoding="utf-8")


def tables_of(lines: Iterable[str]) -> set[str]:
    """The tables that lines describe."""
    return {match[1] for match in map(_TABLE.match, lines) if match is not None}


def differences(expected: Sequence[str], found: Sequence[str]) -> str:
    """The differences, for an error. Empty if there are none."""
    missing, unexpected = sorted({*expected} - {*found}), sorted({*found} - {*expected})
    parts = (_named("missing", missing), _named("not expected", unexpected))
    return "; ".join(part for part in parts if part)


def digest(lines: Iterable[str]) -> str:
    """A short name of a schema."""
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()[:12]


def _named(what: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    more = f", and {len(lines) - MAX_NAMED} more" if len(lines) > MAX_NAMED else ""
    return f"{what}: {', '.join(lines[:MAX_NAMED])}{more}"


def _sqlite_lines(rows: Rows) -> Iterator[tuple[str, str]]:
    """Each table with a line of it."""
    for table, column, kind, not_null, default, key, hidden in rows(_COLUMNS):
        affinity = _affinity(kind)
        is_row_id = key == 1 and affinity == "integer"  # never null, whether it is declared so or not
        end = "".join((
            " not null" if not_null and not is_row_id else "",
            f" default {default}" if default is not None else "",
            f" key {key}" if key else "",
            " generated" if hidden else "",
        ))  # fmt: skip
        yield table, f"column {table}.{column} {affinity}{end}"
    indexes: dict[str, tuple[str, str, list[str], str]] = {}
    for table, name, unique, origin, column, descending, sql in rows(_INDEXES):
        where = _WHERE.search(sql or "")
        start = f"{'unique ' if unique else ''}index {name}" if origin == "c" else "unique"
        _, _, columns, _ = indexes.setdefault(
            name, (table, f"{start} on {table}", [], f" where {_one_line(where[1])}" if where else "")
        )
        columns.append(f"{column or 'expression'}{' desc' if descending else ''}")
    for table, start, columns, where in indexes.values():
        yield table, f"{start} ({', '.join(columns)}){where}"
    for table, column, other, target, on_update, on_delete in rows(_FOREIGN_KEYS):
        actions = f"on update {on_update} on delete {on_delete}".lower()
        yield table, f"foreign key {table}.{column} to {other}.{target or 'key'} {actions}"
    for table, _, sql in rows(_TRIGGERS):
        yield table, f"trigger {_one_line(sql)}"


def _affinity(kind: str) -> str:
    for part, affinity in _AFFINITIES:
        if re.search(part, kind, re.IGNORECASE):
            return affinity
    return "numeric" if kind else "blob"


def _one_line(text: str) -> str:
    return " ".join(text.split())
