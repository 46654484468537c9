import pytest

from toolcharter.evaluate.cases import Case
from toolcharter.evaluate.figures import Confusion, Share, ToolFigures, compare, figures, matrix, mcnemar
from toolcharter.evaluate.outcome import NONE, Outcome, Result, matched_arguments


def outcome(said: str, expected: str | None, chosen: str | None, *ranked: str) -> Outcome:
    return Outcome(Case(said, expected), chosen, ranked)


SEEN = [
    outcome("1", "a", "a", "a", "b"),
    outcome("2", "a", "b", "b", "a"),
    outcome("3", "b", None, "b"),
    outcome("4", None, None),
    outcome("5", None, "b", "b"),
    outcome("6", "a", "b", "b"),
]


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (0, 0, 0.0, 1.0)],
)
def test_the_interval_is_wilsons(right: int, of: int, low: float, high: float):
    """Values of Newcombe (1998) and of the closed formula."""
    assert Share(right, of).interval == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("mended", "broken", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (5, 5, 1.0), (10, 2, 0.0385742)],
)
def test_the_significance_is_mcnemars_exact_test(mended: int, broken: int, p: float):
    assert mcnemar(mended, broken) == pytest.approx(p, abs=1e-6)
    assert mcnemar(broken, mended) == pytest.approx(p, abs=1e-6)


def test_everything_is_counted():
    found = figures(Result("x", SEEN), (1, 2))
    assert (found.accuracy, found.served, found.none) == (Share(2, 6), Share(2, 4), Share(1, 2))
    assert found.recall == {1: Share(2, 4), 2: Share(3, 4)}
    assert found.tools == (
        ToolFigures("a", Share(1, 1), Share(1, 3)),
        ToolFigures("b", Share(0, 3), Share(0, 1)),
        ToolFigures(NONE, Share(1, 2), Share(1, 2)),
    )
    assert found.confusions == (
        Confusion("a", "b", ("2", "6")),
        Confusion(NONE, "b", ("5",)),
        Confusion("b", NONE, ("3",)),
    )


def test_the_matrix_has_what_was_expected_in_rows_and_leaves_out_what_is_confused_least():
    assert matrix(SEEN, 10) == (["a", "b", NONE], [[1, 2, 0], [0, 0, 1], [0, 1, 1]])
    assert matrix([*SEEN, outcome("7", "c", "c")], 3) == matrix(SEEN, 10)


def test_only_cases_that_both_have_are_compared():
    before = [outcome("1", "a", "b"), outcome("2", "a", "a"), outcome("3", "a", "a"), outcome("old", "a", "a")]
    after = [outcome("1", "a", "a"), outcome("2", "a", "b"), outcome("3", "a", "a"), outcome("new", "a", "a")]
    change = compare(before, after)
    assert (change.before, change.after) == (Share(2, 3), Share(2, 3))
    assert (change.mended, change.broken, change.p) == (("1",), ("2",), 1.0)


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
    case = Case("x", "a", {"title": "Buy milk", "count": 2})
    assert matched_arguments(Outcome(case, "a", arguments=given)) == matched


def test_arguments_of_a_wrong_tool_or_without_expectation_are_not_counted():
    assert matched_arguments(Outcome(Case("x", "a", {"t": 1}), "b", arguments={"t": 1})) is None
    assert matched_arguments(Outcome(Case("x", "a"), "a", arguments={"t": 1})) is None
