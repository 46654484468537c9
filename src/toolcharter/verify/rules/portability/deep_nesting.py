from collections.abc import Iterable
from typing import Any

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_DEEPEST = 5
_DEEPEST_STRICT = 10


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    deepest = max(tool.parameters, key=lambda parameter: parameter.depth, default=None)
    if deepest is not None and (levels := deepest.depth + 1) > _DEEPEST:
        clients = ("OpenAI strict mode",) if levels > _DEEPEST_STRICT else ()
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
    why="OpenAI's strict mode takes 10 levels, and took 5 before (tidyverse/ellmer issue 671). "
    "The deeper an object, the more often a model puts a value in the wrong place.",
    fix="Flatten the arguments, or make a tool of each part.",
    bad=[{"inputSchema": _nested(6)}],
    good=[{"inputSchema": _nested(2)}],
    check=check,
)
