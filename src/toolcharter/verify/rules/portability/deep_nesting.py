from collections.abc import Iterable
from typing import Any

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_LEVELS = 5
_MAX_STRICT = 10


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    deepest = max(tool.parameters, key=lambda parameter: parameter.depth, default=None)
    if deepest is not None and (levels := deepest.depth + 1) > _MAX_LEVELS:
        clients = ("OpenAI strict mode",) if levels > _MAX_STRICT else ()
        yield Problem(f"objects are nested {levels} levels deep", deepest.path, clients=clients)


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


RULE = Rule(
    id="POR012",
    name="deep-nesting",
    family="portability",
    severity="warning",
    what="Arguments nested more than five objects deep.",
    why="OpenAI's strict mode allows 10 levels, and allowed 5 before (tidyverse/ellmer issue 671). "
    "Models put values in the wrong place more often in deep objects.",
    fix="Flatten the arguments, or split the tool.",
    bad=[{"inputSchema": _nested(6)}],
    good=[{"inputSchema": _nested(2)}],
    check=check,
)
