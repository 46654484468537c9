import re
from collections.abc import Iterable

from mcp_core.declare.charter import CONSENT_FIELD
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_SNAKE = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
_CAMEL = re.compile(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    # This argument has the same name on every server.
    names = [parameter.name for parameter in tool.arguments if parameter.name != CONSENT_FIELD]
    snake = next((name for name in names if _SNAKE.fullmatch(name)), None)
    camel = next((name for name in names if _CAMEL.fullmatch(name)), None)
    if snake and camel:
        yield Problem(f"{snake!r} and {camel!r} are in different styles", "inputSchema.properties")


RULE = Rule(
    id="PAR017",
    name="mixed-parameter-styles",
    family="parameters",
    severity="note",
    what="Arguments of one tool in snake_case and in camelCase.",
    why="A model that has seen one style writes the next name in the same style.",
    fix="Use one style for all arguments.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"user_id": {"type": "string"}, "folderId": {"type": "string"}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"explicit_action": {"type": "string"}, "folderId": {"type": "string"}},
            }
        },
        {
            "inputSchema": {
                "type": "object",
                "properties": {"user_id": {"type": "string"}, "folder_id": {"type": "string"}},
            }
        },
    ],
    check=check,
)
