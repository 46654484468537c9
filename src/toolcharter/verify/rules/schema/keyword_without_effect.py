from collections.abc import Iterable

from mcp_core.schema.fields import types_of
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_TYPES = (
    (("minLength", "maxLength", "pattern"), {"string"}),
    (("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), {"number", "integer"}),
    (("items", "minItems", "maxItems", "uniqueItems", "prefixItems", "contains"), {"array"}),
    (("properties", "required", "additionalProperties", "minProperties", "maxProperties"), {"object"}),
)
_TYPES_OF = {keyword: types for keywords, types in _TYPES for keyword in keywords}


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        if len(node.schema) == 1 or "type" not in node.schema:
            continue
        types = types_of(node.schema)
        for keyword in node.schema:
            # Another rule finds `required: true` inside a property.
            applies = keyword not in _TYPES_OF or not _TYPES_OF[keyword].isdisjoint(types)
            if not applies and not isinstance(node.schema[keyword], bool):
                yield Problem(f"`{keyword}` has no effect on type {' or '.join(types)}", f"{node.path}.{keyword}")


RULE = Rule(
    id="SCH021",
    name="keyword-without-effect",
    family="schema",
    severity="warning",
    what="A keyword that does not apply to the type, such as `minimum` for a string.",
    why="It is silently ignored, so the limit does not apply. Some models reject such a schema.",
    fix="Use a keyword for the type, or correct the type.",
    bad=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "string", "maximum": 9}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 9}}}}],
    check=check,
)
