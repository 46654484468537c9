"""Every rule says something about its bad example, nothing about its good one, and documents itself."""

import re

import pytest

from toolcharter.verify.engine import example_server, run_rules
from toolcharter.verify.rules import all_rules, static_rules

RULES = {rule.name: rule for rule in all_rules()}
PREFIXES = {
    "schema": "SCH",
    "portability": "POR",
    "naming": "NAM",
    "description": "DSC",
    "parameters": "PAR",
    "annotations": "ANN",
    "cost": "CST",
    "security": "SEC",
    "charter": "CHA",
    "live": "LIV",
}


@pytest.mark.parametrize("name", [rule.name for rule in static_rules()])
def test_a_rule_finds_its_bad_example_and_not_its_good_one(name):
    rule = RULES[name]
    assert run_rules(example_server(rule.bad), [rule])
    assert run_rules(example_server(rule.good), [rule]) == []


@pytest.mark.parametrize("name", RULES)
def test_a_rule_documents_itself(name):
    rule = RULES[name]
    assert re.fullmatch(rf"{PREFIXES[rule.family]}\d{{3}}", rule.id)
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", rule.name)
    assert all(text.endswith(".") and text[0].isupper() for text in (rule.what, rule.why, rule.fix))
    checks = (rule.check, rule.check_server, rule.check_live)
    assert sum(check is not None for check in checks) == 1
    assert (rule.check_live is not None) == (rule.family == "live")


def test_no_two_rules_share_a_name():
    assert len(RULES) == len(all_rules())


def test_the_tool_that_examples_are_made_of_is_faultless():
    assert run_rules(example_server([{}]), [rule for rule in static_rules() if not rule.optional]) == []
