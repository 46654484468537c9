"""How much work a validator may do for a schema: references can make a small schema grow without bound."""

import math
import re
from collections.abc import Iterator
from typing import Any, cast

from mcp_core.schema.fields import Schema, object_at, string_at
from mcp_core.schema.references import resolve_pointer
from mcp_core.schema.walk import BRANCHES, LIST_KEYWORDS, MAP_KEYWORDS, SINGLE_KEYWORDS, walk

UNLIMITED = math.inf
MAX_STEPS = 50_000
"""Schemas that are counted, before the cost is taken for unlimited."""
_SAME_VALUE = BRANCHES | {"$ref", "$dynamicRef", "$recursiveRef"}
_TWICE = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""To know what was not evaluated, a validator goes through all branches again."""
_DEFINITIONS = frozenset({"$defs", "definitions"})
_BACKTRACKS = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9k]")


def validation_cost(schema: Schema, levels: int) -> float:
    """How many schemas a validator enters for each value, at most, if values are nested no deeper than `levels`."""
    try:
        return _Counter(schema).cost(schema, levels)
    except RecursionError:
        return UNLIMITED


class _Counter:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._known: dict[tuple[int, int], float] = {}
        self._steps = 0

    def cost(self, schema: Any, levels: int) -> float:
        if not isinstance(schema, dict):
            return 1
        key = id(cast(object, schema)), levels
        if (known := self._known.get(key)) is not None:
            return known
        self._steps += 1
        if self._steps > MAX_STEPS:
            return UNLIMITED
        self._known[key] = UNLIMITED  # until it is known: a schema that refers to itself at the same value never ends
        found = cast(Schema, schema)
        total: float = 1 + sum(len(cast(list[Any], value)) for value in found.values() if isinstance(value, list))
        for keyword, inner in self._inner(found):
            if keyword in _SAME_VALUE:
                total += self.cost(inner, levels)
            elif levels > 0:
                total += self.cost(inner, levels - 1)
        if not _TWICE.isdisjoint(found):
            total *= 2
        self._known[key] = total
        return total

    def _inner(self, schema: Schema) -> Iterator[tuple[str, Any]]:
        for keyword, value in schema.items():
            if keyword in _DEFINITIONS:
                continue
            if keyword == "$ref" and isinstance(value, str):
                yield keyword, resolve_pointer(self._root, value)
            elif keyword in ("$dynamicRef", "$recursiveRef"):
                yield keyword, self._root
            elif keyword in MAP_KEYWORDS and isinstance(value, dict):
                yield from ((keyword, inner) for inner in cast(Schema, value).values())
            elif keyword in LIST_KEYWORDS + SINGLE_KEYWORDS and isinstance(value, list):
                yield from ((keyword, inner) for inner in cast(list[Any], value))
            elif keyword in SINGLE_KEYWORDS:
                yield keyword, value


def patterns_of(schema: Schema) -> Iterator[str]:
    """All regular expressions in a schema."""
    for node in walk(schema):
        yield from filter(None, [string_at(node.schema, "pattern")])
        yield from object_at(node.schema, "patternProperties")


def may_backtrack(pattern: str) -> bool:
    """Whether a regular expression needs an engine that can take more than linear time."""
    return _BACKTRACKS.search(pattern) is not None
