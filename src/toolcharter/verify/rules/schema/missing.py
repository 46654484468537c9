from collections.abc import Iterable

from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool


def check(tool: Tool, _: Server) -> Iterable[Found]:
    if not tool.schema:
        yield Found("has no inputSchema, or an empty one", "inputSchema")


RULE = Rule(
    id="SCH001",
    name="missing-input-schema",
    family="schema",
    severity="error",
    what="A tool without an input schema, or with an empty one.",
    why="The protocol demands one, and most clients refuse a tool list that lacks it. "
    "An agent cannot know what to send.",
    fix='Give a schema. A tool that takes nothing has {"type": "object", "properties": {}}.',
    bad=[{"inputSchema": {}}],
    good=[{"inputSchema": {"type": "object", "properties": {}, "additionalProperties": False}}],
    check=check,
)
