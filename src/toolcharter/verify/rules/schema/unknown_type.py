from collections.abc import Iterable

from mcp_core.schema.fields import TYPES, list_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        value = node.schema.get("type")
        for kind in [value] if isinstance(value, str) else list_at(node.schema, "type"):
            if isinstance(kind, str) and kind not in TYPES:
                yield Problem(f"{short_json(kind)} is not a JSON type", f"{node.path}.type")


RULE = Rule(
    id="SCH004",
    name="unknown-type",
    family="schema",
    severity="error",
    what="A type that does not exist in JSON Schema.",
    why="Clients that validate schemas reject it, and models have to guess.",
    fix="Use string, number, integer, boolean, object, array or null.",
    bad=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "int"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer"}}}}],
    check=check,
)
