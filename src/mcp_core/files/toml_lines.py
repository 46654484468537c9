"""The statements of a TOML document, and where its keys are written, which tomllib does not say."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

_NAME = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_BARE_NAME = re.compile(r"[A-Za-z0-9_-]+")
_ASSIGNMENT = re.compile(rf"\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
_HEADER = re.compile(r"""\[(\[)?((?:[^]"'#]|"(?:\\.|[^"\\])*+"|'[^']*+')*+)\]\]?\s*+(?:#.*)?$""")

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'|#[^\n]*|[\[\]{}\n]", re.DOTALL
)
"""Texts that can hide the end of a statement."""

Path = tuple[str | int, ...]


class Statement(NamedTuple):
    """One statement: a header, an assignment over one line or several, a comment or an empty line."""

    start: int
    end: int
    """The start of the next one."""
    text: str

    @property
    def header(self) -> tuple[tuple[str, ...], bool] | None:
        """The keys of a header, and whether it is one of an array of tables; None if it is something else."""
        found = _HEADER.match(self.text.strip())
        return (dotted_keys(found[2].strip()), found[1] is not None) if found else None

    @property
    def assigned(self) -> re.Match[str] | None:
        """An assignment up to its sign; the first group is the key. None if it is something else."""
        return _ASSIGNMENT.match(self.text)

    @property
    def comment(self) -> int | None:
        """The position of a comment at its end; None without one."""
        starts = [token.start() for token in _TOKEN.finditer(self.text) if token[0].startswith("#")]
        return starts[-1] if starts else None


def statements(text: str) -> Iterator[Statement]:
    """Divide a text."""
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


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line of a key; that of the table around it where the key itself has no line. The first line is 1."""
    table: Path = ()
    counts: dict[Path, int] = {}
    best, best_line, number = 0, 1, 1
    for statement in statements(text):
        if header := statement.header:
            table, is_array = header
            if is_array:
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            written = table
        elif assigned := statement.assigned:
            written = table + dotted_keys(assigned[1])
        else:
            written = ()
        if len(written) > best and written == tuple(path[: len(written)]):
            best, best_line = len(written), number
        number += statement.text.count("\n")
    return best_line


def key_text(path: Sequence[str | int]) -> str:
    """A path as TOML writes keys: `members[0].role`, `tools."github:*".consent`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{_quoted(part)}" for part in path)
    return "".join(parts).removeprefix(".")


def _quoted(name: str) -> str:
    return name if _BARE_NAME.fullmatch(name) else f'"{name}"'


def dotted_keys(dotted: str) -> tuple[str, ...]:
    """The parts of a dotted key."""
    try:
        value: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    parts: list[str] = []
    while isinstance(value, dict):
        name, value = next(iter(cast(dict[str, Any], value).items()))
        parts.append(name)
    return tuple(parts)
