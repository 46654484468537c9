from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_LENGTH = 600


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if (length := len(parameter.description)) > _MAX_LENGTH:
            yield Problem(
                f"the description of {parameter.name!r} has {length} characters", f"{parameter.path}.description"
            )


RULE = Rule(
    id="CST009",
    name="long-parameter-description",
    family="cost",
    severity="note",
    what="A parameter whose description has more than 600 characters.",
    why="It is sent with every request. An agent needs the format, an example and a limit.",
    fix="Keep two or three sentences. Explain a query language in a resource, or with a tool.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {"type": "string", "description": "The name of the folder. " * 30}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {"type": "string", "description": "The name of the folder."}},
            }
        }
    ],
    check=check,
)
