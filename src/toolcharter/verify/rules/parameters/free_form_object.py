from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import object_at

_SHAPED = frozenset({"$ref", "anyOf", "oneOf", "allOf", "patternProperties", "enum", "const", "propertyNames"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        schema = node.schema
        if node.kind == "root" or schema.get("type") != "object" or not _SHAPED.isdisjoint(schema):
            continue
        if not object_at(schema, "properties") and not object_at(schema, "additionalProperties"):
            closed = schema.get("additionalProperties") is False
            said = "is an object that may hold nothing" if closed else "is an object of unknown shape"
            yield Problem(said, node.path)


RULE = Rule(
    id="PAR010",
    name="free-form-object",
    family="parameters",
    severity="warning",
    what="An object of which the schema says neither the members nor their type.",
    why="The agent makes up the members. Gemini has refused such objects "
    '("should be non-empty for OBJECT type", agno-agi/agno issue 2112), and OpenAI\'s strict mode takes none.',
    fix="List the `properties`. "
    'Where the names are free, say what the values are: `"additionalProperties": {"type": "string"}`.',
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
