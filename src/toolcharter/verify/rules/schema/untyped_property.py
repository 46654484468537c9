from collections.abc import Iterable

from mcp_core.schema.fields import object_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_TYPE_KEYWORDS = frozenset(
    {
        "type",
        "$ref",
        "$dynamicRef",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "properties",
        "items",
        "prefixItems",
    }
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        if node.schema.get("items") in ({}, True):
            yield Problem("the items have no type, so any value is valid", f"{node.path}.items")
        for name, schema in object_at(node.schema, "properties").items():
            if schema is True or (isinstance(schema, dict) and _TYPE_KEYWORDS.isdisjoint(object_at({"": schema}, ""))):
                yield Problem(f"{name!r} has no type, so any value is valid", f"{node.path}.properties.{name}")


RULE = Rule(
    id="SCH016",
    name="untyped-property",
    family="schema",
    severity="warning",
    what="A property, or the items of an array, without a type: `{}`, `true`, or only a description.",
    why="The agent has to guess between a string, a number and an object. OpenAI's strict mode requires a type, and "
    'Gemini CLI skips the tool ("missing types in its parameter schema", JetBrains/mcp-jetbrains issue 71).',
    fix="Add the type, or list the alternatives in `anyOf`.",
    bad=[{"inputSchema": {"type": "object", "properties": {"filter": {"description": "What to look for."}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"filter": {"type": "string", "description": "A word."}}}}],
    check=check,
)
