from collections.abc import Iterable

from mcp_core.schema.fields import list_at, object_at
from mcp_core.schema.walk import Node
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_UNSUPPORTED = frozenset(
    {"allOf", "not", "oneOf", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties"}
)
CLIENTS = ("OpenAI strict mode",)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        for keyword in sorted(_UNSUPPORTED.intersection(node.schema)):
            yield Problem(f"strict mode does not support `{keyword}`", f"{node.path}.{keyword}", clients=CLIENTS)
        if node.schema.get("type") == "object":
            yield from _object(node)


def _object(node: Node) -> Iterable[Problem]:
    if node.schema.get("additionalProperties") is not False:
        yield Problem("strict mode requires `additionalProperties: false`", node.path, clients=CLIENTS)
    required = list_at(node.schema, "required")
    optional = [name for name in object_at(node.schema, "properties") if name not in required]
    if optional:
        message = f"strict mode requires all properties in `required`; missing: {', '.join(optional)[:80]}"
        yield Problem(message, f"{node.path}.required", clients=CLIENTS)


RULE = Rule(
    id="POR015",
    name="strict-mode",
    family="portability",
    severity="note",
    what="A schema that OpenAI's strict mode does not accept.",
    why="Strict mode guarantees arguments that match the schema. It requires every property in `required`, "
    "`additionalProperties: false` in every object, and none of allOf, oneOf, not and if "
    "(OpenAI, Structured outputs, Supported schemas). Most clients do not use it, or convert the schema.",
    fix="Require all properties, allow null for optional ones, and set `additionalProperties: false` everywhere.",
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
