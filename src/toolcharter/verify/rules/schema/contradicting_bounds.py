from collections.abc import Iterable, Mapping
from typing import Any

from mcp_core.schema.fields import number_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_PAIRS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
)
_LOW = frozenset(low for low, _ in _PAIRS)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        if not _LOW.isdisjoint(node.schema):
            yield from _contradictions(node.schema, node.path)


def _contradictions(schema: Mapping[str, Any], path: str) -> Iterable[Problem]:
    for low, high in _PAIRS:
        least, most = number_at(schema, low), number_at(schema, high)
        if least is None or most is None:
            continue
        if least > most or (least == most and "exclusive" in low + high):
            yield Problem(f"`{low}` is {least} and `{high}` is {most}, so no value is valid", path)


RULE = Rule(
    id="SCH006",
    name="contradicting-bounds",
    family="schema",
    severity="error",
    what="A lower bound that is higher than the upper bound.",
    why="No value is valid, so every call with the argument fails.",
    fix="Swap the bounds, or correct the wrong one.",
    bad=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 9, "maximum": 1}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1, "maximum": 9}}}}],
    check=check,
)
