from collections.abc import Iterable

from mcp_core.declare.charter import META
from toolcharter.verify.declaration import is_declared
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if is_declared(tool):
        for parameter in tool.parameters:
            if not parameter.description:
                yield Problem(f"{parameter.name!r} has no description", parameter.path)


RULE = Rule(
    id="CHA007",
    name="undescribed-field",
    family="charter",
    severity="error",
    what="A declared tool has a field without a description.",
    why="Every field of a declared tool should say what it is for and which values it accepts.",
    fix="Describe the field, with `Field(description=...)` or in the docstring.",
    bad=[
        {
            "_meta": {META + "version": "1.0.0"},
            "inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}},
        }
    ],
    good=[{"_meta": {META + "version": "1.0.0"}}],
    check=check,
)
