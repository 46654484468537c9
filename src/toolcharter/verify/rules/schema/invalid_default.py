from collections.abc import Iterable, Mapping
from typing import Any

from toolcharter.verify.model import Server, Tool, types_of
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import list_at, rejection_reason, short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        if "default" in node.schema:
            value = node.schema["default"]
            types = types_of(node.schema) if "$ref" not in node.schema and _typed(node.schema) else ()
            if why := rejection_reason(value, node.schema, types):
                yield Problem(f"the default {short_json(value)} breaks its own schema: {why}", f"{node.path}.default")


def _typed(schema: Mapping[str, Any]) -> bool:
    """Whether every branch of a choice names its type: one that does not may take anything."""
    branches = list_at(schema, "anyOf") + list_at(schema, "oneOf")
    return all(isinstance(branch, dict) and "type" in branch for branch in branches)


RULE = Rule(
    id="SCH014",
    name="invalid-default",
    family="schema",
    severity="warning",
    what="A default that its own schema does not allow.",
    why="An agent that sends the default is refused, and a client that fills in defaults sends calls that fail.",
    fix="Give a default that fits, or leave it out. A default of null needs null among the types.",
    bad=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "default": "10"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "default": 10}}}}],
    check=check,
)
