import re
from collections.abc import Iterable

from mcp_core.schema.fields import list_at
from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_NUMBER_NAMES = frozenset(
    {"limit", "count", "maxresults", "numresults", "topk", "pagesize", "perpage", "pagenumber"}
    | {"width", "height", "latitude", "longitude", "quantity", "seconds", "minutes", "hours", "days", "port"}
    | {"maxtokens", "temperature", "radius"}
)
_BOOLEANS = frozenset({"true", "false"})
_TRUE_OR_FALSE = re.compile(r"""^[^.]{0,60}?["'`(]?\btrue\b["'`]?(?: or |/|\|)["'`]?false\b""", re.IGNORECASE)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if parameter.types != ("string",):
            continue
        options = list_at(parameter.schema, "enum")
        if options:
            if all(isinstance(option, str) and option.lower() in _BOOLEANS for option in options):
                yield Problem(f"{parameter.name!r} is a boolean in a string", parameter.path)
        elif _TRUE_OR_FALSE.search(parameter.description):
            yield Problem(f"{parameter.name!r} is a boolean in a string", parameter.path)
        elif "".join(words_of(parameter.name)) in _NUMBER_NAMES:
            yield Problem(f"{parameter.name!r} is a number in a string", parameter.path)


RULE = Rule(
    id="PAR018",
    name="number-as-string",
    family="parameters",
    severity="warning",
    what="A number or a boolean that is declared as a string.",
    why="The agent may send '10 items' or 'ten'. The schema cannot have a bound, and clients cannot check the value.",
    fix="Use integer, number or boolean. For exact amounts, use a string with a `pattern`.",
    bad=[{"inputSchema": {"type": "object", "properties": {"limit": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"limit": {"type": "integer", "maximum": 50}}}}],
    check=check,
)
