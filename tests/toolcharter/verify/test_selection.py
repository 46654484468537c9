import pytest

from tests.toolcharter.verify.fake_rules import RULES, verified
from toolcharter.verify.selection import UnknownRule, parse_selection, parse_selector


def ids(*select, ignore=None):
    return [rule.id for rule in parse_selection(select, ignore or {}, RULES).rules(RULES)]


def test_without_a_selection_all_rules_run_except_optional_ones():
    assert ids() == ["CST901", "DSC901", "DSC902", "SCH901", "SEC901"]


@pytest.mark.parametrize(
    ("select", "run"),
    [
        ("description", ["DSC901", "DSC902"]),
        ("DSC", ["DSC901", "DSC902"]),
        ("DSC901", ["DSC901"]),
        ("vague-words", ["DSC901"]),
        ("DSC901:one", ["DSC901"]),
        ("naming", []),
        ("live", []),
        ("NAM901", ["NAM901"]),
        ("matter-of-taste", ["NAM901"]),
    ],
)
def test_rules_are_selected_by_family_beginning_id_and_name(select, run):
    assert ids(select) == run


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DSC909", "Unknown rule 'DSC909'. Did you mean DSC902 or DSC901 or "),
        ("vague-word", "Unknown rule 'vague-word'. Did you mean vague-words? "),
        ("descriptions", "Unknown rule 'descriptions'. Did you mean description? "),
        ("", "Unknown rule ''. `toolcharter verify --list` lists all rules."),
        (":add", "Unknown rule ''. "),
    ],
)
def test_an_unknown_rule_is_answered_with_the_nearest(text, message):
    with pytest.raises(UnknownRule) as raised:
        parse_selector(text, RULES)
    assert str(raised.value).startswith(message)


def test_ignored_findings_do_not_count_but_are_kept_with_their_reason():
    selection = parse_selection([], {"DSC901:o*": "an old tool", "SCH901": "never there"}, RULES)
    seen = verified(selection, one="vague", two="vague")
    assert [(finding.rule, finding.tool) for finding in seen.findings] == [("DSC901", "two")]
    assert [(one.finding.tool, one.reason) for one in seen.ignored] == [("one", "an old tool")]
    assert seen.unused_ignores == ["SCH901"]


def test_a_rule_selected_for_one_tool_finds_nothing_in_others():
    seen = verified(parse_selection(["DSC901:two"], {}, RULES), one="vague", two="vague", three="broken")
    assert [(finding.rule, finding.tool) for finding in seen.findings] == [("DSC901", "two")]
