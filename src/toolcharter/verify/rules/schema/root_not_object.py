from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.schema and tool.schema.get("type") != "object":
        given = short_json(tool.schema["type"]) if "type" in tool.schema else "missing"
        yield Problem(f'the type of inputSchema is {given}, not "object"', "inputSchema.type")


RULE = Rule(
    id="SCH002",
    name="root-not-object",
    family="schema",
    severity="error",
    what='An input schema whose root does not say `"type": "object"`.',
    why="Arguments are sent as an object. The protocol demands that the root says so, and clients that check it "
    "refuse the tool.",
    fix='Write `"type": "object"` at the root, and put what the tool takes into `properties`.',
    bad=[{"inputSchema": {"properties": {"folder": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}}}],
    check=check,
)
