from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MAX_ARGUMENTS = 15


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if len(tool.arguments) > _MAX_ARGUMENTS:
        yield Problem(f"has {len(tool.arguments)} arguments", "inputSchema.properties")


RULE = Rule(
    id="PAR016",
    name="many-arguments",
    family="parameters",
    severity="note",
    what="More than 15 arguments.",
    why="Each is a decision for the agent, and costs tokens in every request. Often the tool should be several.",
    fix="Split the tool by use case, or remove arguments that are rarely used.",
    bad=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(16)}}}],
    good=[{"inputSchema": {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(9)}}}],
    check=check,
)
