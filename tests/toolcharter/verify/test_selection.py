import pytest

from tests.toolcharter.verify.made_up import RULES, outcome
from toolcharter.verify.selection import UnknownRule, read_selection, read_selector


def ids(*select, ignore=None):
    return [rule.id for rule in read_selection(select, ignore or {}, RULES).rules(RULES)]


def test_without_a_selection_all_rules_run_but_those_that_are_optional():
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
        ("DSC909", "No rule 'DSC909'. The nearest: DSC902, DSC901, "),
        ("vague-word", "No rule 'vague-word'. The nearest: vague-words. "),
        ("descriptions", "No rule 'descriptions'. The nearest: description. "),
        ("", "No rule ''. `toolcharter verify --list` lists all rules."),
        (":add", "No rule ''. "),
    ],
)
def test_a_rule_that_is_not_there_is_answered_with_the_nearest(text, message):
    with pytest.raises(UnknownRule) as raised:
        read_selector(text, RULES)
    assert str(raised.value).startswith(message)


def test_ignored_findings_do_not_count_but_are_kept_with_their_reason():
    selection = read_selection([], {"DSC901:o*": "an old tool", "SCH901": "never there"}, RULES)
    seen = outcome(selection, one="vague", two="vague")
    assert [(finding.rule, finding.tool) for finding in seen.findings] == [("DSC901", "two")]
    assert [(one.finding.tool, one.reason) for one in seen.ignored] == [("one", "an old tool")]
    assert seen.unused == ["SCH901"]


def test_a_rule_selected_for_one_tool_is_silent_about_the_others():
    seen = outcome(read_selection(["DSC901:two"], {}, RULES), one="vague", two="vague", three="broken")
    assert [(finding.rule, finding.tool) for finding in seen.findings] == [("DSC901", "two")]
