from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.schema_nodes import Node
from toolcharter.verify.values import list_at, object_at

_REFUSED = frozenset(
    {"allOf", "not", "oneOf", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties"}
)
CLIENTS = ("OpenAI strict mode",)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        for word in sorted(_REFUSED.intersection(node.schema)):
            yield Problem(f"strict mode takes no `{word}`", f"{node.path}.{word}", clients=CLIENTS)
        if node.schema.get("type") == "object":
            yield from _object(node)


def _object(node: Node) -> Iterable[Problem]:
    if node.schema.get("additionalProperties") is not False:
        yield Problem("strict mode wants `additionalProperties: false`", node.path, clients=CLIENTS)
    needed = list_at(node.schema, "required")
    left = [name for name in object_at(node.schema, "properties") if name not in needed]
    if left:
        said = f"strict mode wants all in `required`; missing: {', '.join(left)[:80]}"
        yield Problem(said, f"{node.path}.required", clients=CLIENTS)


RULE = Rule(
    id="POR015",
    name="strict-mode",
    family="portability",
    severity="note",
    what="A schema that OpenAI's strict mode does not take as it is.",
    why="Strict mode promises arguments that fit the schema. It wants every property required, "
    "`additionalProperties: false` in every object, and none of allOf, oneOf, not and if "
    "(OpenAI, Structured outputs, Supported schemas). Most clients do without it or convert, so this rule is optional.",
    fix="Require all properties, let those that may be missing be null, and close every object.",
    bad=[{"inputSchema": {"type": "object", "properties": {"folder": {"type": "string"}}}}],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"folder": {"type": "string"}},
                "required": ["folder"],
                "additionalProperties": False,
            }
        }
    ],
    check=check,
    optional=True,
)
