"""Every rule finds its bad example and not its good one, and documents itself."""

import importlib
import re
from pathlib import Path

import pytest

from toolcharter.verify import rules
from toolcharter.verify.engine import example_server, run_rules
from toolcharter.verify.rules import all_rules, static_rules

ROOT = Path(__file__).parents[4]
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


@pytest.mark.parametrize("name", RULES)
def test_the_file_of_a_rule_is_found_by_its_family_and_its_name(name):
    module = f"{rules.__name__}.{RULES[name].family}.{name.replace('-', '_')}"
    assert importlib.import_module(module).RULE is RULES[name]


def test_a_new_rule_is_one_file(tmp_path, monkeypatch):
    """The example in the docs, copied into the folder of its family, is found and passes the tests of all rules."""
    section = (ROOT / "docs" / "verify.md").read_text(encoding="utf-8").partition("## Add a rule")[2]
    path, code = re.search(r"This is `(\S+)`:\n\n```python\n(.*?)```", section, re.DOTALL).groups()
    family, file = path.split("/")
    (tmp_path / file).write_text(code, encoding="utf-8")
    package = importlib.import_module(f"{rules.__name__}.{family}")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    (added,) = [rule for rule in rules.all_rules.__wrapped__() if rule.name not in RULES]
    monkeypatch.setitem(RULES, added.name, added)
    test_a_rule_finds_its_bad_example_and_not_its_good_one(added.name)
    test_a_rule_documents_itself(added.name)
    test_the_file_of_a_rule_is_found_by_its_family_and_its_name(added.name)


def test_no_two_rules_share_a_name():
    assert len(RULES) == len(all_rules())


def test_the_tool_behind_the_examples_has_no_finding():
    assert run_rules(example_server([{}]), [rule for rule in static_rules() if not rule.optional]) == []
