"""Runs one rule on made-up tools, for the tests of rules."""

from typing import Any

from toolcharter.verify.engine import example_server, run_rules
from toolcharter.verify.rules import static_rules

RULES = {rule.id: rule for rule in static_rules()}


def run_rule(rule: str, *definitions: dict[str, Any]) -> list[tuple[str, str]]:
    """The path and the message of each finding."""
    return [(finding.path, finding.message) for finding in run_rules(example_server(definitions), [RULES[rule]])]


def tool_with(**properties: Any) -> dict[str, Any]:
    """A tool with these arguments, none of them required."""
    return {"inputSchema": {"type": "object", "properties": properties}}
