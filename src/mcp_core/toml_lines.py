"""Where the keys of a TOML document are written, which tomllib does not say."""

import re
import tomllib
from collections.abc import Sequence
from typing import Any, cast

_NAME = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_BARE_NAME = re.compile(r"[A-Za-z0-9_-]+")
_ASSIGNMENT = re.compile(rf"\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
_HEADER = re.compile(r"\s*\[(\[)?\s*(.*?)\s*\]?\]\s*(?:#.*)?$")

Path = tuple[str | int, ...]


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line of a key; that of the table around it where the key itself has no line. The first line is 1."""
    table: Path = ()
    counts: dict[Path, int] = {}
    best, best_line = 0, 1
    for number, line in enumerate(text.splitlines(), start=1):
        header, assignment = _HEADER.match(line), _ASSIGNMENT.match(line)
        if header:
            table = dotted_keys(header[2])
            if header[1]:
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            written = table
        elif assignment:
            written = table + dotted_keys(assignment[1])
        else:
            continue
        if len(written) > best and written == tuple(path[: len(written)]):
            best, best_line = len(written), number
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
