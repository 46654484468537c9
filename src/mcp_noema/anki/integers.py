"""Integers from the rows of a file, which may hold any value."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from mcp_noema.anki.package import damaged

_LARGEST = 253_402_300_799_000
"""Ids are milliseconds since 1970; this is the end of the year 9999."""
_MAX_COUNT = 2**31 - 1
_INT_ONLY = frozenset({int})


def parse_integers(what: str, values: Sequence[Any]) -> list[int]:
    """The values as integers; the first is the id of the row. Old versions of Anki wrote 5.0 for 5."""
    # The fast path: there are many rows, and nearly all are valid.
    if _INT_ONLY.issuperset(map(type, values)) and min(values) >= -_LARGEST and max(values) <= _LARGEST:
        return list(values)
    integers: list[int] = []
    for value in values:
        integer = int(value) if isinstance(value, float) and isfinite(value) else value
        if not isinstance(integer, int) or abs(integer) > _LARGEST:
            raise damaged(f"The {what} {values[0]!r:.50} has {value!r:.50} where a number is expected.")
        integers.append(integer)
    return integers


def clamp_count(value: int) -> int:
    """A number that our tables can hold: not negative, and at most 32 bits."""
    return value if 0 <= value <= _MAX_COUNT else min(max(value, 0), _MAX_COUNT)


def clamp_interval(value: int) -> int:
    """An interval that our tables can hold: days, or negative seconds."""
    return min(max(value, -_MAX_COUNT), _MAX_COUNT)
