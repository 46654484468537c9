from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, types_of
from toolcharter.verify.rule import Problem, Rule

_APPLY = (
    (("minLength", "maxLength", "pattern"), {"string"}),
    (("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), {"number", "integer"}),
    (("items", "minItems", "maxItems", "uniqueItems", "prefixItems", "contains"), {"array"}),
    (("properties", "required", "additionalProperties", "minProperties", "maxProperties"), {"object"}),
)
_FOR = {word: types for words, types in _APPLY for word in words}


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        if len(node.schema) == 1 or "type" not in node.schema:
            continue
        types = types_of(node.schema)
        for word in node.schema:
            # Of `required: true` inside a property another rule speaks.
            if word in _FOR and _FOR[word].isdisjoint(types) and not isinstance(node.schema[word], bool):
                yield Problem(f"`{word}` has no effect on type {' or '.join(types)}", f"{node.path}.{word}")


RULE = Rule(
    id="SCH021",
    name="keyword-without-effect",
    family="schema",
    severity="warning",
    what="A keyword that does not apply to the type beside it, such as `minimum` for a string.",
    why="It is ignored without a word: what it was to hold is not held. Some models refuse such a schema.",
    fix="Use the keyword of that type, or mend the type.",
    bad=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "string", "maximum": 9}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 9}}}}],
    check=check,
)
