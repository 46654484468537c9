"""The budget of foreign data. It is looked at before the data is walked, shown, redacted, validated or matched."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, cast

MAX_NODES = 50_000
"""Values and keys: about 20 ms of work for a walk that does little with each."""
MAX_LENGTH = 1_000_000
"""Characters of all texts and keys together."""
MAX_DEPTH = 100
"""Recursive code has room for ten times as many levels."""
_CUT = "..."


class TooLarge(ValueError):
    """Foreign data is over its budget. The message says by what."""


def check_size(
    value: Any, what: str = "The data", *, nodes: int = MAX_NODES, length: int = MAX_LENGTH, depth: int = MAX_DEPTH
) -> None:
    """Raise TooLarge if data, as JSON has it, is over the budget. Stops there, so that a refusal costs no more.

    What is inside twice counts twice, and what is inside itself is over the budget.
    """
    level: list[Any] = [value]
    for _ in range(depth + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, str | bytes):
                length -= len(item)
                if length < 0:
                    raise TooLarge(f"{what} has more text than is accepted.")
            elif isinstance(item, Mapping | Sequence):
                found = cast(Mapping[Any, Any] | Sequence[Any], item)
                nodes -= len(found)
                if nodes < 0:
                    raise TooLarge(f"{what} has more values than are accepted.")
                inner += found
                if isinstance(found, Mapping):
                    inner += found.values()
        if not inner:
            return
        level = inner
    raise TooLarge(f"{what} is nested more than {depth} levels deep.")


def check_length(text: str | bytes, what: str = "The text", *, length: int = MAX_LENGTH) -> None:
    """Raise TooLarge if a text is longer than its budget."""
    if len(text) > length:
        raise TooLarge(f"{what} has {len(text):,} characters; at most {length:,} are accepted.")


def shorten(value: Any, *, nodes: int, length: int, depth: int = MAX_DEPTH) -> Any:
    """The beginning of data, as JSON has it, for display. "..." stands for what is cut off."""
    left = [nodes, length]

    def copy(item: Any, levels: int) -> Any:
        left[0] -= 1
        if isinstance(item, str):
            text = item if len(item) <= left[1] else item[: left[1]] + _CUT
            left[1] = max(0, left[1] - len(item))
            return text
        if not isinstance(item, Mapping | Sequence):
            return item
        if levels == 0:
            return _CUT
        inner = cast(Mapping[Any, Any] | Sequence[Any], item)
        if isinstance(inner, Mapping):
            first = islice(inner.items(), max(0, left[0]))
            return {copy(key, levels - 1): copy(part, levels - 1) for key, part in first}
        parts = [copy(part, levels - 1) for part in inner[: max(0, left[0])]]
        return parts if len(parts) == len(inner) else [*parts, _CUT]

    return copy(value, depth)
