import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_REQUIRED = re.compile(
    r"^\W*required\b(?!\s+(?:if|when|for|unless|by|only|with|in|to|on|\w+s\b))"
    r"|[(\[]required[)\]]|\bthis (?:is|field is) required\b(?! (?:for|to|if|when|by|in)\b)",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        text = parameter.description
        if not parameter.required and parameter.depth == 0 and _REQUIRED.search(text):
            yield Problem(f"{parameter.name!r} is called required, but the schema does not require it", parameter.path)


RULE = Rule(
    id="PAR015",
    name="required-in-prose",
    family="parameters",
    severity="note",
    what="A parameter whose description says that it is required, but the schema does not require it.",
    why="The agent follows one of the two: it omits what is needed, or invents a value.",
    fix="Correct the one that is wrong. The schema alone is enough.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {"type": "string", "description": "Required. The folder to look in."}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {"type": "string", "description": "Required. The folder to look in."}},
                "required": ["folder"],
            }
        }
    ],
    check=check,
)
