"""Evidence, time and effort in hints."""

from datetime import timedelta

import pytest

from mcp_core.hints import Evidence
from mcp_noema.analysis import Basis, StudyTotals
from mcp_noema.hints.parts import basis_evidence, study_effort, study_time_ms
from mcp_noema.scheduling.workload import neighbouring_retentions
from tests.mcp_noema.learner import MONDAY


@pytest.mark.parametrize(
    ("reviews", "days_ago", "confidence"), [(0, 0, 0.0), (20, 0, 0.5), (20, 30, 0.25), (20, 60, 0.125), (380, 0, 0.95)]
)
def test_evidence_grows_with_the_number_and_freshness_of_answers(reviews, days_ago, confidence):
    basis = Basis(reviews, MONDAY - timedelta(days=days_ago))
    assert basis_evidence(basis, MONDAY).confidence == confidence


def test_a_figure_without_answers_has_no_confidence_and_no_age():
    assert basis_evidence(Basis(), MONDAY) == Evidence(samples=0, samples_for_half=20, half_life_seconds=30 * 86_400.0)


def test_effort_is_the_share_of_a_session_at_most_1():
    basis = Basis(usual_ms=6_000, session_minutes=10)
    assert (study_time_ms(20, basis), study_effort(20, basis), study_effort(1000, basis)) == (120_000, 0.2, 1.0)
    # Until a time is known, an answer is assumed to take a quarter of a minute.
    assert study_time_ms(4, Basis()) == 60_000


def test_days_add_up_and_true_retention_is_of_learned_cards_alone():
    one = StudyTotals(reviews=3, new=1, milliseconds=90_000, learned=2, remembered=1, grades={"again": 1, "good": 2})
    other = StudyTotals(reviews=2, milliseconds=30_000, learned=2, remembered=2, grades={"good": 1, "easy": 1})
    both = one + other
    assert both == StudyTotals(5, 1, 120_000, 4, 3, {"again": 1, "good": 3, "easy": 1})
    assert (both.retention, both.minutes, StudyTotals().retention) == (0.75, 2.0, None)


@pytest.mark.parametrize(
    ("present", "others"), [(0.9, (0.85, 0.95)), (0.95, (0.9, 0.97)), (0.99, (0.94, 0.97)), (0.7, (0.7, 0.75))]
)
def test_a_retention_is_compared_with_a_lower_and_a_higher_one(present, others):
    assert neighbouring_retentions(present) == others
