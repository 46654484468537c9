import re
from collections.abc import Iterable

from mcp_core.schema.fields import object_at, string_at
from mcp_core.schema.walk import Node
from toolcharter.verify.documented_arguments import documented_arguments
from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_SHAPE_KEYWORDS = frozenset({"$ref", "anyOf", "oneOf", "allOf", "patternProperties", "enum", "const", "propertyNames"})
_OPEN_WORDS = frozenset(
    {"aggregation", "annotations", "args", "arguments", "attributes", "body", "context", "criteria", "custom", "data"}
    | {
        "env",
        "environment",
        "extra",
        "filter",
        "filters",
        "headers",
        "labels",
        "match",
        "metadata",
        "options",
        "params",
    }
    | {"parameters", "payload", "pipeline", "projection", "properties", "query", "selector", "sort", "tags", "values"}
    | {"variables", "where"}
)
"""Names of objects whose fields another system defines, or that may have any field."""
_ANY_FIELD = re.compile(r"\b(?:key[- ]value|any|arbitrary|map|mapping|dictionary|json)\b", re.IGNORECASE)
_MIN_EXPLANATION = 40
"""A longer description says what the fields are."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    nodes = [node for node in tool.nodes if _is_free_form(node)]
    if not nodes:
        return
    descriptions = {parameter.path: parameter.description for parameter in tool.parameters}
    documented = {entry.name for entry in documented_arguments(tool.description)}
    found: list[Node] = []
    for node in nodes:
        place = node.path.removesuffix(".items")
        name = place.rsplit(".", 1)[-1]
        text = f"{descriptions.get(place, '')} {string_at(node.schema, 'description')}"
        if _OPEN_WORDS.isdisjoint(words_of(name)) and name not in documented and not _explains(text):
            found.append(node)
    if found:
        closed = found[0].schema.get("additionalProperties") is False
        message = "is an object without any field" if closed else "is an object with unknown fields"
        more = f", like {len(found) - 1} more in this tool" if len(found) > 1 else ""
        yield Problem(f"{message}{more}", found[0].path)


def _is_free_form(node: Node) -> bool:
    schema = node.schema
    if node.keyword not in {"properties", "items", "prefixItems", "additionalItems"} or schema.get("type") != "object":
        return False
    is_open = not object_at(schema, "properties") and not object_at(schema, "additionalProperties")
    return is_open and _SHAPE_KEYWORDS.isdisjoint(schema)


def _explains(text: str) -> bool:
    return len(text) > _MIN_EXPLANATION or bool(_ANY_FIELD.search(text))


RULE = Rule(
    id="PAR010",
    name="free-form-object",
    family="parameters",
    severity="warning",
    what="An object without a schema for its fields, and without an explanation. "
    "Filters, headers and the like may have any field.",
    why="The agent invents the fields. Gemini has rejected such objects "
    '("should be non-empty for OBJECT type", agno-agi/agno issue 2112), and OpenAI\'s strict mode rejects them.',
    fix="List the `properties`. "
    'If any name is allowed, give the type of the values: `"additionalProperties": {"type": "string"}`.',
    bad=[{"inputSchema": {"type": "object", "properties": {"place": {"type": "object"}}}}],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"place": {"type": "object", "properties": {"city": {"type": "string"}}}},
            }
        }
    ],
    check=check,
)
