"""What a rule finds in a tool: for the tests of rules."""

from typing import Any

from toolcharter.verify.engine import example_server, verify
from toolcharter.verify.rules import all_rules

RULES = {rule.id: rule for rule in all_rules()}


def look(rule: str, *definitions: dict[str, Any]) -> list[tuple[str, str]]:
    """Where a rule finds something, and what."""
    return [(finding.path, finding.message) for finding in verify(example_server(definitions), [RULES[rule]])]


def takes(**properties: Any) -> dict[str, Any]:
    """A tool with these arguments, none of them required."""
    return {"inputSchema": {"type": "object", "properties": properties}}
