from collections.abc import Iterable

from mcp_core.calling.render import META
from toolcharter.verify.declared import declares
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool


def check(tool: Tool, _: Server) -> Iterable[Found]:
    if declares(tool):
        for parameter in tool.parameters:
            if not parameter.description:
                yield Found(f"{parameter.name!r} has no description", parameter.path)


RULE = Rule(
    id="CHA007",
    name="undescribed-field",
    family="charter",
    severity="error",
    what="A declared tool has a field without a description.",
    why="The charter promises that every field says what it is for and which values it takes.",
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
