from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_REQUIRED = 7


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    count = sum(parameter.required for parameter in tool.arguments)
    if count > _MAX_REQUIRED:
        yield Problem(f"{count} arguments are required", "inputSchema.required")


RULE = Rule(
    id="PAR013",
    name="many-required",
    family="parameters",
    severity="note",
    what="More than seven required arguments.",
    why="An agent must ask for what the user did not say, or invent it. Models invent it.",
    fix="Add defaults, or split the tool.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {f"field_{n}": {"type": "string"} for n in range(8)},
                "required": [f"field_{n}" for n in range(8)],
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {f"field_{n}": {"type": "string"} for n in range(8)},
                "required": ["field_1"],
            }
        }
    ],
    check=check,
)
