import re
from collections.abc import Iterable

from mcp_core.schema.fields import branches_of
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_UPPER = re.compile(
    r"\b(?:max(?:imum)?|at most|up to|no more than)\b\.?\s{0,3}(?:is|of|value|:|=)?\s{0,3}(?P<most>\d[\d,]{0,19})\b"
    r"|\b(?:between|from|range:?)\s{0,3}\d[\d,.]{0,19}\s{0,3}(?:and|to|-|\u2013)\s{0,3}(?P<to>\d[\d,]{0,19})\b"
    r"|\(\s{0,3}\d+\s{0,3}(?:-|\u2013|to)\s{0,3}(?P<span>\d[\d,]{0,19})\s{0,3}[),;]",
    re.IGNORECASE,
)
_BOUNDS = frozenset({"maximum", "exclusiveMaximum", "enum", "const"})
_NUMBERS = frozenset({"integer", "number"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if not parameter.description or _NUMBERS.isdisjoint(parameter.types):
            continue
        found = _UPPER.search(parameter.description)
        if found and all(_BOUNDS.isdisjoint(one) for one in (parameter.schema, *branches_of(parameter.schema))):
            bound = found["most"] or found["to"] or found["span"]
            yield Problem(f"the bound {bound} is only in its description", parameter.path)


RULE = Rule(
    id="PAR019",
    name="bound-in-prose",
    family="parameters",
    severity="note",
    what="An upper bound that is in the description, but not in the schema.",
    why="Clients can check a bound in the schema before a call. A bound in prose is noticed only when the call fails.",
    fix="Set `maximum`, and `minimum` for a lower bound.",
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
