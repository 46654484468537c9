from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_NEGATIONS = frozenset({"no", "not", "non", "dont", "disable", "disabled", "without", "never", "cannot"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if parameter.types == ("boolean",):
            words = words_of(parameter.name)
            if len(words) > 1 and not _NEGATIONS.isdisjoint(words[:2]):
                yield Problem(f"{parameter.name!r} is a negation", parameter.path)


RULE = Rule(
    id="PAR011",
    name="negative-boolean",
    family="parameters",
    severity="note",
    what="A boolean whose name is a negation.",
    why="The value false is then a double negation, which models and people get wrong.",
    fix="Use a positive name: `cache` with the default true, instead of `no_cache`.",
    bad=[{"inputSchema": {"type": "object", "properties": {"no_cache": {"type": "boolean"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"cache": {"type": "boolean", "default": True}}}}],
    check=check,
)
