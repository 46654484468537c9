from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.choice import choose, rank
from toolcharter.evaluate.metrics import measure

NAMES = ["a", "b"]


def test_all_tools_are_ranked_by_score_also_those_that_score_0_or_less():
    assert rank(["a", "b", "c", "d", "e"], [-0.1, 0.5, 0.0, 0.5, 0.0]) == ("b", "d", "c", "e", "a")
    many = [f"tool_{number}" for number in range(300)]
    assert rank(many, [0.0] * 300) == tuple(many)


def test_a_first_place_with_a_score_of_0_is_not_a_choice():
    """Otherwise the first tool of the list would be right by accident."""
    result = choose("x", [Case("1", "a"), Case("2", "b")], NAMES, [[0.0, 0.0], [0.0, 0.4]])
    assert [one.tool for one in result.cases] == [None, "b"]
    found = measure(result, (1, 2))
    assert (found.accuracy.right, found.served.right) == (1, 1)
    assert found.recall[2].right == 2


def test_without_a_case_that_expects_no_tool_only_a_score_of_zero_is_none():
    cases = [Case("1", "a"), Case("2", "b"), Case("3", "a")]
    result = choose("x", cases, NAMES, [[0.9, 0.1], [0.0, 0.01], [0.0, 0.0]])
    assert [one.tool for one in result.cases] == ["a", "b", None]
    assert result.threshold == 0.0


def test_a_threshold_between_served_and_other_cases_is_found():
    cases = [Case("1", "a"), Case("2", "b"), Case("3", None), Case("4", None), Case("5", "a")]
    scores = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.2], [0.1, 0.2], [0.7, 0.0]]
    result = choose("x", cases, NAMES, scores)
    assert result.threshold == 0.5
    assert [one.tool for one in result.cases] == ["a", "b", None, None, "a"]


def test_no_case_decides_its_own_threshold():
    """The only case without a tool would be right with its own vote; without it, no threshold is learned."""
    cases = [Case("1", "a"), Case("2", "a"), Case("3", None)]
    result = choose("x", cases, NAMES, [[0.9, 0.0], [0.8, 0.0], [0.4, 0.0]])
    assert result.threshold == (0.4 + 0.8) / 2
    assert [one.tool for one in result.cases] == ["a", "a", "a"]


def test_every_case_may_expect_no_tool():
    cases = [Case("1", None), Case("2", None), Case("3", None)]
    result = choose("x", cases, NAMES, [[0.9, 0.0], [0.8, 0.0], [0.0, 0.0]])
    assert [one.tool for one in result.cases] == [None, None, None]
    assert result.threshold == 1.9


def test_equal_scores_are_not_separated():
    cases = [Case("1", None), Case("2", None), Case("3", "a"), Case("4", "a"), Case("5", "a")]
    result = choose("x", cases, NAMES, [[0.5, 0.0]] * 5)
    assert result.threshold == 0.0
    assert {one.tool for one in result.cases} == {"a"}
