"""Attack wordings and clean tools: those that the rules are tuned on, and those that are held out."""

import json
from pathlib import Path

import pytest

from mcp_core.declare.listed import ListedTool
from toolcharter.verify.engine import run_rules, server_from_tools
from toolcharter.verify.rules import static_rules

DATA = Path(__file__).parents[3] / "data"
SECURITY = [rule for rule in static_rules() if rule.family == "security" and rule.severity != "note"]
ANNOTATIONS = [rule for rule in static_rules() if rule.family == "annotations" and rule.severity == "error"]


def read(path):
    return [json.loads(line) for line in (DATA / path).read_text(encoding="utf-8").splitlines()]


def findings(tool):
    """Security findings, and errors about annotations that deny what a tool does."""
    server = server_from_tools([ListedTool.from_wire(tool)])
    return [(finding.rule, finding.message) for finding in run_rules(server, [*SECURITY, *ANNOTATIONS])]


def tool_of(attack):
    instructions = {"name": "show_map", "description": attack.get("instructions"), "inputSchema": {"type": "object"}}
    return attack.get("tool", instructions)


def found_share(path):
    found = [bool(findings(tool_of(attack))) for attack in read(path)]
    return sum(found) / len(found)


def test_attacks_that_the_rules_are_tuned_on_are_found():
    assert found_share("tuning/attacks.jsonl") > 0.99


def test_most_attacks_that_are_held_out_are_found():
    assert found_share("heldout/attacks.jsonl") >= 0.8


@pytest.mark.parametrize("path", ["tuning/clean_tools.jsonl", "heldout/clean_tools.jsonl"])
def test_a_clean_tool_has_no_security_finding(path):
    assert {tool["description"]: found for tool in read(path) if (found := findings(tool))} == {}
