from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if not tool.schema:
        yield Problem("has no inputSchema, or an empty one", "inputSchema")


RULE = Rule(
    id="SCH001",
    name="missing-input-schema",
    family="schema",
    severity="error",
    what="A tool without an input schema, or with an empty one.",
    why="The protocol requires one, and most clients reject a list of tools without it. "
    "An agent cannot know what to send.",
    fix='Add a schema. For a tool without arguments: {"type": "object", "properties": {}}.',
    bad=[{"inputSchema": {}}],
    good=[{"inputSchema": {"type": "object", "properties": {}, "additionalProperties": False}}],
    check=check,
)
