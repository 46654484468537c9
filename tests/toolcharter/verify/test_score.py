import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toolcharter.verify.fake_rules import RULES, verified
from toolcharter.verify.model import Server
from toolcharter.verify.result import verify_server
from toolcharter.verify.score import grade_of


def tool_scores(**descriptions):
    return {one.tool.name: one.score for one in verified(**descriptions).scores.tools}


def test_a_tool_without_findings_has_100():
    assert tool_scores(one="nothing to see") == {"one": 100}


def test_each_severity_leaves_its_share():
    assert tool_scores(one="broken", two="vague", three="plain") == {"one": 60, "two": 90, "three": 98}


def test_different_rules_add_up():
    assert tool_scores(one="broken vague plain") == {"one": round(100 * 0.6 * 0.9 * 0.98)}


def test_the_second_finding_of_a_rule_counts_half_and_the_third_a_third():
    assert tool_scores(one="vague vague vague") == {"one": round(100 * 0.9 ** (1 + 1 / 2 + 1 / 3))}


def test_a_server_has_the_mean_of_its_tools_reduced_by_its_own_findings():
    assert verified(one="vague", two="fine").scores.score == 95
    assert verified(one="vague", two="fine", three="fine", four="fine").scores.score == round(97.5 * 0.9)


def test_one_error_among_many_good_tools_shows():
    many = {f"tool_{number}": "fine" for number in range(300)}
    assert verify_server(verified(**many).server, RULES[1:]).scores.score == 100
    assert verify_server(verified(**many, last="broken").server, RULES[1:]).scores.score == 89
    assert verify_server(verified(**many, last="secret").server, RULES[1:]).scores.score == 49


def test_a_server_without_tools_has_no_finding():
    scores = verify_server(Server([]), RULES).scores
    assert (scores.score, scores.grade, scores.tokens) == (100, "A", 0)


@pytest.mark.parametrize(
    ("score", "grade"), [(100, "A"), (90, "A"), (89.9, "B"), (80, "B"), (70, "C"), (60, "D"), (59, "F"), (0, "F")]
)
def test_grades(score, grade):
    assert grade_of(score) == grade


@given(
    st.lists(st.sampled_from(["broken", "vague", "plain", "secret"]), max_size=40), st.sampled_from(["broken", "plain"])
)
def test_a_further_finding_never_makes_a_score_better(words, more):
    before = verified(one=" ".join(words)).scores.score
    after = verified(one=" ".join([*words, more])).scores.score
    assert 0 <= after <= before <= 100
