from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_UNKNOWN = frozenset(
    {"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "const", "oneOf", "allOf", "not"}
    | {"if", "then", "else", "patternProperties", "propertyNames", "contains", "dependentRequired"}
    | {"dependentSchemas", "unevaluatedProperties", "prefixItems", "$ref", "$defs", "definitions"}
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        for word in node.schema:
            if word in _UNKNOWN:
                yield Problem(f"Gemini does not know `{word}`", f"{node.path}.{word}", clients=("Gemini",))


RULE = Rule(
    id="POR011",
    name="keyword-for-gemini",
    family="portability",
    severity="warning",
    what="A keyword that Gemini's function declarations do not know.",
    why="Gemini reads a subset of OpenAPI 3.0 and refuses the request at the first field it does not know "
    '("Unknown name exclusiveMinimum ... Cannot find field"; taylorwilsdon/google_workspace_mcp issue 1099), unless '
    "the client converts the schema or sends it as `parametersJsonSchema`. "
    "`additionalProperties` and `$schema` are left alone: clients strip them.",
    fix="Say it with type, enum, properties, items, minimum and maximum, or in the description.",
    bad=[{"inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}}],
    check=check,
    optional=True,
)
