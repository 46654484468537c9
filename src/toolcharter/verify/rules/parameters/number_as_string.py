from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import list_at

_NUMBERS = frozenset(
    {"limit", "count", "offset", "maxresults", "numresults", "topk", "pagesize", "perpage", "pagenumber"}
    | {"width", "height", "latitude", "longitude", "quantity", "seconds", "minutes", "hours", "days", "port"}
    | {"maxtokens", "temperature", "radius"}
)
_TRUTHS = frozenset({"true", "false"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if parameter.types != ("string",):
            continue
        options = list_at(parameter.schema, "enum")
        if options:
            if all(isinstance(option, str) and option.lower() in _TRUTHS for option in options):
                yield Problem(f"{parameter.name!r} is a boolean written as text", parameter.path)
        elif "".join(words_of(parameter.name)) in _NUMBERS:
            yield Problem(f"{parameter.name!r} is a number taken as text", parameter.path)


RULE = Rule(
    id="PAR018",
    name="number-as-string",
    family="parameters",
    severity="warning",
    what="A number, or a true or false, that is taken as text.",
    why="The agent sends '10 items' or 'ten', no bound can be given, and a client cannot check it.",
    fix="Take an integer, a number or a boolean. Where amounts must stay exact, say the form with a `pattern`.",
    bad=[{"inputSchema": {"type": "object", "properties": {"limit": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"limit": {"type": "integer", "maximum": 50}}}}],
    check=check,
)
