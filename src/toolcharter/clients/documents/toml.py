"""TOML, in which each server is a table: `[mcp_servers.todo]`."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from mcp_core.files.toml_lines import Statement, dotted_keys, key_text, statements
from toolcharter.clients.documents import layout
from toolcharter.clients.documents.errors import BrokenDocument, CannotEdit
from toolcharter.clients.documents.values import find, with_value

_PLACE = re.compile(r"(?<!\s)\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")


class Table(NamedTuple):
    """A table with its own header."""

    keys: tuple[str, ...]
    header: Statement
    body: tuple[Statement, ...]
    """Without the comments and empty lines at the end, which may belong to what follows."""

    @property
    def end(self) -> int:
        return self.body[-1].end if self.body else self.header.end


def read(text: str) -> dict[str, Any]:
    """The settings in a text. Raises BrokenDocument."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        lines = text.splitlines() or [""]
        line, column = (place[1], place[2]) if place and place[1] else (len(lines), len(lines[-1]) + 1)
        raise BrokenDocument(_PLACE.sub("", str(error)), int(line), int(column)) from None


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path: in the table that has it, or as a new table at the end."""
    if find(read(text), path) == value:
        return text
    tables = list(_tables(text))
    for length in range(len(path) - 1, 0, -1):
        table = next((one for one in tables if one.keys == tuple(path[:length])), None)
        if table is not None and not (length == 1 and isinstance(value, dict)):
            whole = with_value(find(read(text), path[: length + 1]), path[length + 1 :], value)
            return _assign(text, table, path[length], whole)
    if not isinstance(value, dict):
        raise CannotEdit(f"{key_text(path)} is not in a table of its own")
    return _append(text, path, cast(dict[str, Any], value))


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the table at a path, and the tables below it."""
    keys = tuple(path)
    for table in reversed(list(_tables(text))):
        if table.keys[: len(keys)] == keys:
            start = table.header.start
            above = layout.line_start(text, start - 1) if start else 0
            # The empty line that separates it from what is above goes too.
            start = above if start and not text[above:start].strip() else start
            text = layout.delete_lines(text, start, table.end)
    return text


def write(path: Sequence[str], value: Mapping[str, Any]) -> str:
    """A table."""
    lines = [f"[{key_text(path)}]", *(f"{key_text([key])} = {_value(one)}" for key, one in value.items())]
    return "\n".join(lines) + "\n"


def _append(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    block = write(path, value).replace("\n", layout.newline(text))
    if not text:
        return block
    return layout.insert_lines(text, len(text), layout.newline(text) + block)


def _assign(text: str, table: Table, key: str, value: Any) -> str:
    """Set a key of a table. A comment after its old value stays."""
    line = f"{key_text([key])} = {_value(value)}"
    for statement in table.body:
        found = statement.assigned
        if found and dotted_keys(found[1]) == (key,):
            rest = _comment(statement)
            indent = layout.indentation(text, statement.start + len(found[0]) - len(found[0].lstrip()))
            return text[: statement.start] + indent + line + rest + text[statement.end :]
    return layout.insert_lines(text, table.end, line + layout.newline(text))


def _comment(statement: Statement) -> str:
    """The rest of an assignment after its value: a comment, and the end of the line."""
    end = len(statement.text) if statement.comment is None else statement.comment
    return statement.text[layout.end_before(statement.text, end) :]


def _tables(text: str) -> Iterator[Table]:
    header: Statement | None = None
    body: list[Statement] = []
    for statement in (*statements(text), None):
        if statement is None or statement.text.lstrip().startswith("["):
            keys, is_array = (header and header.header) or ((), True)
            if header is not None and not is_array:
                while body and (not (last := body[-1].text.strip()) or last.startswith("#")):
                    body.pop()
                yield Table(keys, header, tuple(body))
            header, body = statement, []
        else:
            body.append(statement)


def _value(value: Any) -> str:
    match value:
        case dict():
            members = cast(dict[str, Any], value).items()
            inside = ", ".join(f"{key_text([key])} = {_value(one)}" for key, one in members)
            return f"{{ {inside} }}" if inside else "{}"
        case list() | tuple():
            return f"[{', '.join(map(_value, cast(Sequence[Any], value)))}]"
        case _:
            # TOML and JSON write these in the same way, but for one control character.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
