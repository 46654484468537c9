from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_UNSUPPORTED = frozenset(
    {"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "const", "oneOf", "allOf", "not"}
    | {"if", "then", "else", "patternProperties", "propertyNames", "contains", "dependentRequired"}
    | {"dependentSchemas", "unevaluatedProperties", "prefixItems", "$ref", "$defs", "definitions"}
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        for keyword in node.schema:
            if keyword in _UNSUPPORTED:
                yield Problem(f"Gemini does not support `{keyword}`", f"{node.path}.{keyword}", clients=("Gemini",))


RULE = Rule(
    id="POR011",
    name="keyword-for-gemini",
    family="portability",
    severity="warning",
    what="A keyword that Gemini's function declarations do not support.",
    why="Gemini reads a subset of OpenAPI 3.0 and rejects the request at the first unknown field "
    '("Unknown name exclusiveMinimum ... Cannot find field"; taylorwilsdon/google_workspace_mcp issue 1099), unless '
    "the client converts the schema or sends it as `parametersJsonSchema`. "
    "`additionalProperties` and `$schema` are not found, because clients remove them.",
    fix="Use type, enum, properties, items, minimum and maximum, or the description.",
    bad=[{"inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}}],
    check=check,
    optional=True,
)
