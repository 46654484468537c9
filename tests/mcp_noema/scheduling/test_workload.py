"""The simulation of the coming days, compared with the library."""

from dataclasses import replace
from statistics import fmean

import pytest
from fsrs.scheduler import DEFAULT_PARAMETERS
from fsrs_rs_python import Card, default_simulator_config, optimal_retention, simulate

from mcp_noema.analysis import Workload
from mcp_noema.model import CardState, Preset
from mcp_noema.scheduling.workload import PRIOR_WEIGHT, AnswerStats, LearnedCard, _config, simulate_days

DAYS = 30
CARDS = [LearnedCard(10.0 + n % 7, 3.0 + n % 5, last_review=-(n % 10), due=10 - n % 10) for n in range(100)]


def test_learned_cards_are_simulated_as_in_the_library():
    preset = Preset(desired_retention=0.9)
    ours = simulate_days(CARDS, 0, {}, preset, days=DAYS, seed=1)
    theirs = []
    config = default_simulator_config()
    config.deck_size, config.learn_span, config.learn_limit, config.max_cost_perday = len(CARDS), DAYS, 0, 1e9

    def note(result, parameters):
        theirs.append((sum(result.review_cnt_per_day), result.memorized_cnt_per_day[-1], sum(result.cost_per_day)))
        return 1.0

    optimal_retention(config, DEFAULT_PARAMETERS, cards=[_as_theirs(card) for card in CARDS], target=note)
    reviews, remembered, seconds = (fmean(column) for column in zip(*theirs, strict=True))
    assert sum(ours.reviews) == pytest.approx(reviews, rel=0.05)
    assert ours.remembered == pytest.approx(remembered, rel=0.01)
    assert sum(ours.minutes) == pytest.approx(seconds / 60, rel=0.05)


def _as_theirs(learned):
    card = Card()
    card.stability, card.difficulty = learned.stability, learned.difficulty
    card.last_date, card.due = float(learned.last_review), float(learned.due)
    card.interval = card.due - card.last_date
    card.desired_retention = 0.9
    return card


def test_new_cards_are_simulated_by_the_library():
    many, preset = 20_000, Preset(new_per_day=7, reviews_per_day=50)
    config = _config(many, {}, preset, DAYS)
    theirs = simulate(list(DEFAULT_PARAMETERS), 0.9, config, 5)
    assert simulate_days([], many, {}, preset, days=DAYS, seed=5) == Workload(
        desired_retention=0.9,
        reviews=tuple(theirs.review_cnt_per_day),
        new=tuple(theirs.learn_cnt_per_day),
        minutes=tuple(seconds / 60 for seconds in theirs.cost_per_day),
        remembered=theirs.memorized_cnt_per_day[-1],
        known=sum(theirs.learn_cnt_per_day),
    )


def test_the_same_seed_gives_the_same_numbers():
    first, again, other = (simulate_days(CARDS, 40, {}, Preset(), days=DAYS, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_higher_retention_costs_more_and_remembers_more():
    low, middle, high = (
        simulate_days(CARDS, 100, {}, Preset(desired_retention=wanted), days=90, seed=1) for wanted in (0.8, 0.9, 0.95)
    )
    assert sum(low.reviews) < sum(middle.reviews) < sum(high.reviews)
    assert sum(low.minutes) < sum(middle.minutes) < sum(high.minutes)
    assert low.remembered < middle.remembered < high.remembered
    cost = [sum(one.minutes) / one.remembered for one in (low, middle, high)]
    assert cost == sorted(cost)


def test_the_limits_of_the_preset_apply_to_new_and_learned_cards_together():
    overdue = [LearnedCard(10.0, 5.0, last_review=-30, due=0) for _ in range(500)]
    seen = simulate_days(overdue, 500, {}, Preset(new_per_day=5, reviews_per_day=20), days=DAYS, seed=1)
    assert seen.reviews == (20.0,) * DAYS
    assert seen.new == (5.0,) * DAYS
    assert seen.known == 500 + 5 * DAYS
    # Twenty a day, less what the new cards took of it, and more where a card came back.
    assert 0 < seen.overdue < 500


def test_without_cards_there_is_nothing_to_do():
    nothing = (0.0,) * DAYS
    seen = simulate_days([], 0, {}, Preset(), days=DAYS, seed=1)
    assert seen == Workload(0.9, nothing, nothing, nothing, 0.0, 0.0, 0.0)


def test_a_deck_with_a_limit_of_no_new_cards_gets_none():
    assert sum(simulate_days([], 100, {}, Preset(new_per_day=0), days=DAYS, seed=1).new) == 0


def test_habits_are_mixed_with_the_library_s_averages():
    usual = default_simulator_config()
    answers = {
        (CardState.NEW, 1): AnswerStats(10, 10, 4.0),
        (CardState.NEW, 3): AnswerStats(30, 30, 6.0),
        (CardState.LEARNING, 3): AnswerStats(20, 20, 3.0),
        (CardState.REVIEW, 1): AnswerStats(1000, 1000, 9.0),
        (CardState.REVIEW, 3): AnswerStats(PRIOR_WEIGHT, PRIOR_WEIGHT, 2.0),
        # Without a time, it says nothing about time.
        (CardState.RELEARNING, 3): AnswerStats(700, 0, 0.0),
    }
    config = _config(10, answers, Preset(), DAYS)
    assert config.first_rating_prob == pytest.approx([
        (10 + 50 * usual.first_rating_prob[0]) / 90,
        (0 + 50 * usual.first_rating_prob[1]) / 90,
        (30 + 50 * usual.first_rating_prob[2]) / 90,
        (0 + 50 * usual.first_rating_prob[3]) / 90,
    ])  # fmt: skip
    # What is forgotten is FSRS's to say, so the many lapses do not count here.
    assert config.review_rating_prob == pytest.approx([
        usual.review_rating_prob[0] / 2,
        (1 + usual.review_rating_prob[1]) / 2,
        usual.review_rating_prob[2] / 2,
    ])  # fmt: skip
    expected = [list(row) for row in usual.state_rating_costs]
    expected[0][0] = (10 * 4.0 + 50 * expected[0][0]) / 60
    expected[0][2] = (30 * 6.0 + 20 * 3.0 + 50 * expected[0][2]) / 100
    expected[1][0] = (1000 * 9.0 + 50 * expected[1][0]) / 1050
    expected[1][2] = (2.0 + expected[1][2]) / 2
    assert [value for row in config.state_rating_costs for value in row] == pytest.approx(
        [v for r in expected for v in r]
    )


def test_faster_answers_need_less_time():
    fast = {(state, rating): AnswerStats(10_000, 10_000, 1.0) for state in CardState for rating in range(1, 5)}
    usual, faster = (simulate_days(CARDS, 20, habit, Preset(), days=DAYS, seed=1) for habit in ({}, fast))
    assert sum(faster.minutes) < sum(usual.minutes) / 5


def test_the_workloads_of_two_decks_add_up():
    one, other = (simulate_days(CARDS, new, {}, Preset(), days=DAYS, seed=1) for new in (0, 20))
    both = one + other
    assert both == replace(
        one,
        reviews=tuple(a + b for a, b in zip(one.reviews, other.reviews, strict=True)),
        new=other.new,
        minutes=tuple(a + b for a, b in zip(one.minutes, other.minutes, strict=True)),
        remembered=one.remembered + other.remembered,
        known=220.0,
    )
