import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_OPTIONAL = re.compile(
    r"^\W*optional\b(?!\s+(?:if|when|unless|parameters|fields|settings))|\(optional\b|\[optional\]", re.IGNORECASE
)
_REQUIRED = re.compile(
    r"^\W*required\b(?!\s+(?:if|when|for|unless|by|only|with|in|to|on|\w+s\b))"
    r"|[(\[]required[)\]]|\bthis (?:is|field is) required\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        text = parameter.description
        if parameter.required and _OPTIONAL.search(text):
            yield Problem(f"{parameter.name!r} is called optional, but the schema requires it", parameter.path)
        elif not parameter.required and parameter.depth == 0 and _REQUIRED.search(text):
            yield Problem(f"{parameter.name!r} is called required, but the schema does not require it", parameter.path)


RULE = Rule(
    id="PAR015",
    name="required-in-prose",
    family="parameters",
    severity="warning",
    what="A description contradicts the schema about whether a parameter is required.",
    why="The agent follows one of the two: it omits what is required, or invents what is not.",
    fix="Correct the one that is wrong. The schema alone is enough.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {"type": "string", "description": "Optional folder to look in."}},
                "required": ["folder"],
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {"type": "string", "description": "Optional folder to look in."}},
            }
        }
    ],
    check=check,
)
