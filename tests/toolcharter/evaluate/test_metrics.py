import pytest

from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.metrics import Confusion, Proportion, ToolMetrics, compare, confusion_matrix, mcnemar, measure
from toolcharter.evaluate.result import NONE, CaseResult, SelectorResult, matched_arguments


def case(utterance: str, expected: str | None, chosen: str | None, *ranked: str) -> CaseResult:
    return CaseResult(Case(utterance, expected), chosen, ranked)


SEEN = [
    case("1", "a", "a", "a", "b"),
    case("2", "a", "b", "b", "a"),
    case("3", "b", None, "b"),
    case("4", None, None),
    case("5", None, "b", "b"),
    case("6", "a", "b", "b"),
]


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (0, 0, 0.0, 1.0)],
)
def test_the_interval_is_wilsons(right: int, of: int, low: float, high: float):
    """The values are from Newcombe (1998) and from the closed formula."""
    assert Proportion(right, of).interval == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("fixed", "broken", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (5, 5, 1.0), (10, 2, 0.0385742)],
)
def test_the_significance_is_mcnemars_exact_test(fixed: int, broken: int, p: float):
    assert mcnemar(fixed, broken) == pytest.approx(p, abs=1e-6)
    assert mcnemar(broken, fixed) == pytest.approx(p, abs=1e-6)


def test_everything_is_counted():
    found = measure(SelectorResult("x", SEEN), (1, 2))
    assert (found.accuracy, found.served, found.none) == (Proportion(2, 6), Proportion(2, 4), Proportion(1, 2))
    assert found.recall == {1: Proportion(2, 4), 2: Proportion(3, 4)}
    assert found.tools == (
        ToolMetrics("a", Proportion(1, 1), Proportion(1, 3)),
        ToolMetrics("b", Proportion(0, 3), Proportion(0, 1)),
        ToolMetrics(NONE, Proportion(1, 2), Proportion(1, 2)),
    )
    assert found.confusions == (
        Confusion("a", "b", ("2", "6")),
        Confusion(NONE, "b", ("5",)),
        Confusion("b", NONE, ("3",)),
    )


def test_the_matrix_has_what_was_expected_in_rows_and_leaves_out_what_is_confused_least():
    assert confusion_matrix(SEEN, 10) == (["a", "b", NONE], [[1, 2, 0], [0, 0, 1], [0, 1, 1]])
    assert confusion_matrix([*SEEN, case("7", "c", "c")], 3) == confusion_matrix(SEEN, 10)


def test_only_cases_that_both_have_are_compared():
    before = [case("1", "a", "b"), case("2", "a", "a"), case("3", "a", "a"), case("old", "a", "a")]
    after = [case("1", "a", "a"), case("2", "a", "b"), case("3", "a", "a"), case("new", "a", "a")]
    change = compare(before, after)
    assert (change.before, change.after) == (Proportion(2, 3), Proportion(2, 3))
    assert (change.fixed, change.broken, change.p) == (("1",), ("2",), 1.0)


@pytest.mark.parametrize(
    ("given", "matched"),
    [
        ({"title": "buy  MILK.", "count": 2, "user_id": "ana"}, (2, 2)),
        ({"title": "Buy bread", "count": 2}, (1, 2)),
        ({"count": "2"}, (0, 2)),
        ({}, (0, 2)),
    ],
)
def test_expected_arguments_are_compared_and_others_ignored(given: dict[str, object], matched: tuple[int, int]):
    expected = Case("x", "a", {"title": "Buy milk", "count": 2})
    assert matched_arguments(CaseResult(expected, "a", arguments=given)) == matched


def test_arguments_of_a_wrong_tool_or_without_expectation_are_not_counted():
    assert matched_arguments(CaseResult(Case("x", "a", {"t": 1}), "b", arguments={"t": 1})) is None
    assert matched_arguments(CaseResult(Case("x", "a"), "a", arguments={"t": 1})) is None
