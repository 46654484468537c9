"""TOML, in which each server is a table: `[mcp_servers.todo]`."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from mcp_core.toml_lines import dotted_keys, key_text
from toolcharter.clients.documents import layout
from toolcharter.clients.documents.errors import BrokenDocument, CannotEdit
from toolcharter.clients.documents.values import find, with_value

_HEADER = re.compile(r"[ \t]*\[(?!\[)[ \t]*(.*?)[ \t]*\][ \t]*(?:#[^\n]*)?\r?$")
_ASSIGNMENT = re.compile(r"""[ \t]*((?:"[^"\n]*"|'[^'\n]*'|[^=\s#"'\[])[^=\n]*?)[ \t]*=""")
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'|#[^\n]*|[\[\]{}\n]", re.DOTALL
)
"""What can hide the end of a statement."""


class Statement(NamedTuple):
    """One statement: a header, an assignment over one line or several, a comment or an empty line."""

    start: int
    end: int
    """Where the next one begins."""
    text: str


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
        found = _ASSIGNMENT.match(statement.text)
        if found and dotted_keys(found[1]) == (key,):
            rest = _comment(statement.text)
            indent = layout.indentation(text, statement.start + len(found[0]) - len(found[0].lstrip()))
            return text[: statement.start] + indent + line + rest + text[statement.end :]
    return layout.insert_lines(text, table.end, line + layout.newline(text))


def _comment(statement: str) -> str:
    """What follows the value of an assignment: a comment, and the end of the line."""
    last = next((token for token in reversed([*_TOKEN.finditer(statement)]) if token[0].startswith("#")), None)
    if last is not None:
        start = layout.end_before(statement, last.start())
        return statement[start:]
    return statement[layout.end_before(statement, len(statement)) :]


def _statements(text: str) -> Iterator[Statement]:
    """Divide a text that tomllib has accepted."""
    start = depth = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case "\n" if depth <= 0:
                yield Statement(start, token.end(), text[start : token.end()])
                start, depth = token.end(), 0
            case _:
                pass
    if start < len(text):
        yield Statement(start, len(text), text[start:])


def _tables(text: str) -> Iterator[Table]:
    header: Statement | None = None
    body: list[Statement] = []
    for statement in (*_statements(text), None):
        if statement is None or statement.text.lstrip().startswith("["):
            if header is not None and (found := _HEADER.match(header.text.rstrip("\n"))):
                while body and (not (last := body[-1].text.strip()) or last.startswith("#")):
                    body.pop()
                yield Table(dotted_keys(found[1]), header, tuple(body))
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
