from collections.abc import Iterable

from mcp_core.schema.fields import branches_of
from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_SIZES = frozenset(
    {"limit", "count", "maxresults", "numresults", "topk", "topn", "perpage", "pagesize", "batchsize"}
    | {"maxitems", "maxcount", "maxrows", "take", "numberofresults", "resultsperpage", "resultlimit", "maxlimit"}
    | {"nresults"}
)
_UPPER = frozenset({"maximum", "exclusiveMaximum", "enum", "const"})
_NUMBERS = frozenset({"integer", "number"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if "".join(words_of(parameter.name)) not in _SIZES or _NUMBERS.isdisjoint(parameter.types):
            continue
        branches = (parameter.schema, *branches_of(parameter.schema))
        if all(_UPPER.isdisjoint(branch) for branch in branches):
            yield Problem(f"{parameter.name!r} has no maximum", parameter.path)


RULE = Rule(
    id="PAR004",
    name="unbounded-number",
    family="parameters",
    severity="note",
    what="A number that limits the result, such as limit or page_size, has no maximum.",
    why="An agent that wants everything asks for 100,000, and fills its context or overloads the server.",
    fix="Set a `maximum`, and a `default` that suits most calls.",
    bad=[{"inputSchema": {"type": "object", "properties": {"limit": {"type": "integer", "minimum": 1}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"limit": {"type": "integer", "maximum": 100}}}}],
    check=check,
)
