from collections.abc import Iterable, Mapping
from typing import Any

from mcp_core.schema.fields import list_at, types_of
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import rejection_reason, short_json


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.all_nodes:
        if "default" in node.schema:
            value = node.schema["default"]
            types = types_of(node.schema) if "$ref" not in node.schema and _has_types(node.schema) else ()
            if reason := rejection_reason(value, node.schema, types):
                message = f"the default {short_json(value)} does not match its own schema: {reason}"
                yield Problem(message, f"{node.path}.default")


def _has_types(schema: Mapping[str, Any]) -> bool:
    """Whether every alternative has a type. One without a type accepts any value."""
    branches = list_at(schema, "anyOf") + list_at(schema, "oneOf")
    return all(isinstance(branch, dict) and "type" in branch for branch in branches)


RULE = Rule(
    id="SCH014",
    name="invalid-default",
    family="schema",
    severity="warning",
    what="A default that does not match its own schema.",
    why="A call with the default fails, and some clients fill in defaults.",
    fix="Set a valid default, or remove it. A default of null requires null in the types.",
    bad=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "default": "10"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"size": {"type": "integer", "default": 10}}}}],
    check=check,
)
