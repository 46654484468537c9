from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import object_at

_SHAPE_KEYWORDS = frozenset({"$ref", "anyOf", "oneOf", "allOf", "patternProperties", "enum", "const", "propertyNames"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        schema = node.schema
        if node.kind == "root" or schema.get("type") != "object" or not _SHAPE_KEYWORDS.isdisjoint(schema):
            continue
        if not object_at(schema, "properties") and not object_at(schema, "additionalProperties"):
            closed = schema.get("additionalProperties") is False
            message = "is an object without any field" if closed else "is an object with unknown fields"
            yield Problem(message, node.path)


RULE = Rule(
    id="PAR010",
    name="free-form-object",
    family="parameters",
    severity="warning",
    what="An object without a schema for its fields.",
    why="The agent invents the fields. Gemini has rejected such objects "
    '("should be non-empty for OBJECT type", agno-agi/agno issue 2112), and OpenAI\'s strict mode rejects them.',
    fix="List the `properties`. "
    'If any name is allowed, give the type of the values: `"additionalProperties": {"type": "string"}`.',
    bad=[{"inputSchema": {"type": "object", "properties": {"filter": {"type": "object"}}}}],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"filter": {"type": "object", "properties": {"tag": {"type": "string"}}}},
            }
        }
    ],
    check=check,
)
