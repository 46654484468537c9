from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.schema and tool.schema.get("type") != "object":
        actual = short_json(tool.schema["type"]) if "type" in tool.schema else "missing"
        yield Problem(f'the type of inputSchema is {actual}, not "object"', "inputSchema.type")


RULE = Rule(
    id="SCH002",
    name="root-not-object",
    family="schema",
    severity="error",
    what='An input schema without `"type": "object"` at the top level.',
    why="Arguments are sent as an object. The protocol requires the type at the top level, and clients that "
    "validate schemas reject the tool.",
    fix='Write `"type": "object"` at the top level, and list the arguments in `properties`.',
    bad=[{"inputSchema": {"properties": {"folder": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}}}],
    check=check,
)
