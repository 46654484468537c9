from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_NEGATIONS = frozenset({"no", "not", "non", "dont", "disable", "disabled", "without", "never", "cannot"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if parameter.types == ("boolean",):
            words = words_of(parameter.name)
            if len(words) > 1 and not _NEGATIONS.isdisjoint(words[:2]):
                yield Problem(f"{parameter.name!r} is true when something is not", parameter.path)


RULE = Rule(
    id="PAR011",
    name="negative-boolean",
    family="parameters",
    severity="note",
    what="A boolean that is named for what is not.",
    why="False then means a double negation, which models, like people, get wrong.",
    fix="Name it for what is: `cache` with the default true, instead of `no_cache`.",
    bad=[{"inputSchema": {"type": "object", "properties": {"no_cache": {"type": "boolean"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"cache": {"type": "boolean", "default": True}}}}],
    check=check,
)
