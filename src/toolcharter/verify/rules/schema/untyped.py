from collections.abc import Iterable

from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool
from toolcharter.verify.values import map_at

_SAYS = frozenset(
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


def check(tool: Tool, _: Server) -> Iterable[Found]:
    for node in tool.nodes:
        if node.schema.get("items") in ({}, True):
            yield Found("the items have no type: anything may be sent", f"{node.path}.items")
        for name, schema in map_at(node.schema, "properties").items():
            if schema is True or (isinstance(schema, dict) and _SAYS.isdisjoint(map_at({"": schema}, ""))):
                yield Found(f"{name!r} has no type: anything may be sent", f"{node.path}.properties.{name}")


RULE = Rule(
    id="SCH016",
    name="untyped-property",
    family="schema",
    severity="warning",
    what="A property, or the items of an array, whose schema names no type: `{}`, `true`, or a description alone.",
    why="The agent has to guess between a text, a number and an object. OpenAI's strict mode demands a type, and "
    'Gemini CLI skips the tool ("missing types in its parameter schema", JetBrains/mcp-jetbrains issue 71).',
    fix="Name the type, or list the choices in `anyOf`.",
    bad=[{"inputSchema": {"type": "object", "properties": {"filter": {"description": "What to look for."}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"filter": {"type": "string", "description": "A word."}}}}],
    check=check,
)
