import re
from collections.abc import Iterable

from mcp_core.verify.rule import Found, Rule
from mcp_core.verify.subject import Server, Tool, branches_of

_UPPER = re.compile(
    r"\b(?:max(?:imum)?|at most|up to|no more than)\b\.?\s*(?:is|of|value|:|=)?\s*(?P<most>\d[\d,]*)\b"
    r"|\b(?:between|from|range:?)\s*\d[\d,.]*\s*(?:and|to|-|\u2013)\s*(?P<to>\d[\d,]*)\b"
    r"|\(\s*\d+\s*(?:-|\u2013|to)\s*(?P<span>\d[\d,]*)\s*[),;]",
    re.IGNORECASE,
)
_BOUNDS = frozenset({"maximum", "exclusiveMaximum", "enum", "const"})
_NUMBERS = frozenset({"integer", "number"})


def check(tool: Tool, _: Server) -> Iterable[Found]:
    for parameter in tool.parameters:
        if not parameter.description or _NUMBERS.isdisjoint(parameter.types):
            continue
        found = _UPPER.search(parameter.description)
        if found and all(_BOUNDS.isdisjoint(one) for one in (parameter.schema, *branches_of(parameter.schema))):
            bound = found["most"] or found["to"] or found["span"]
            yield Found(f"only its description has the bound {bound}", parameter.path)


RULE = Rule(
    id="PAR019",
    name="bound-in-prose",
    family="parameters",
    severity="note",
    what="An upper bound that the description names and the schema does not.",
    why="A client can check the bound of a schema before it calls; one in prose is found out by failing.",
    fix="Give it as `maximum`, and the lower one as `minimum`.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"limit": {"type": "integer", "description": "How many (max 50)."}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"limit": {"type": "integer", "description": "How many (max 50).", "maximum": 50}},
            }
        }
    ],
    check=check,
)
