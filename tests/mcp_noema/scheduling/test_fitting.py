"""The optimizer, with the input that Anki gives it."""

import time
from datetime import datetime, timedelta, timezone

import fsrs
import pytest
from fsrs.scheduler import DEFAULT_PARAMETERS
from fsrs_rs_python import FSRS, FSRSItem, FSRSReview

from mcp_core import Conflict
from mcp_noema.analysis import Fit, Quality
from mcp_noema.model import Preferences, Preset
from mcp_noema.scheduling.fitting import fit, round_parameters
from tests.mcp_noema.simulated_memory import START, simulate_logs

DAY = timedelta(days=1)
HISTORIES = simulate_logs(cards=150, reviews_each=10)


def test_fitted_parameters_predict_better_and_the_scheduler_accepts_them():
    seen = fit(HISTORIES, Preset(), Preferences())
    assert (seen.reviews, seen.cards, seen.is_better) == (1500, 150, True)
    assert seen.after.log_loss < seen.before.log_loss
    assert seen.after.rmse < seen.before.rmse
    assert fsrs.Scheduler(parameters=seen.parameters).parameters == seen.parameters


def test_a_fit_equals_the_library_s():
    def same_day_and_later(first: int) -> list[tuple[int, datetime, int]]:
        return [
            (first, START, 0),
            (3, START + timedelta(minutes=10), 1),
            (3, START + 3 * DAY, 2),
            (1 if first == 1 else 3, START + 10 * DAY, 2),
        ]

    histories = [same_day_and_later(1 + number % 4) for number in range(100)]
    items = []
    for days in (3, 10):
        for number in range(100):
            first = 1 + number % 4
            reviews = [FSRSReview(first, 0), FSRSReview(3, 0), FSRSReview(3, 3)]
            if days == 10:
                reviews.append(FSRSReview(1 if first == 1 else 3, 7))
            items.append(FSRSItem(reviews))
    parameters = round_parameters(FSRS(DEFAULT_PARAMETERS).compute_parameters(items, num_relearning_steps=1))
    before, after = FSRS(DEFAULT_PARAMETERS).evaluate(items), FSRS(parameters).evaluate(items)
    assert fit(histories, Preset(), Preferences()) == Fit(
        parameters=parameters,
        before=Quality(round(before.log_loss, 4), round(before.rmse_bins, 4)),
        after=Quality(round(after.log_loss, 4), round(after.rmse_bins, 4)),
        reviews=400,
        cards=100,
    )


def test_days_are_learning_days():
    # Half an hour before and after the day begins at four in the morning, which is not midnight anywhere near.
    evening, night, morning = (START.replace(hour=hour, minute=30) for hour in (20, 3, 4))
    same_day = [[(3, evening, 0), (3, night + DAY, 2)] for _ in range(100)]
    with pytest.raises(Conflict, match="Of 200 reviews, 0 came on a later day"):
        fit(same_day, Preset(), Preferences())
    next_day = [[(3, evening, 0), (3, morning + DAY, 2)] for _ in range(100)]
    assert fit(next_day, Preset(), Preferences()).reviews == 200
    in_tokyo = Preferences(timezone="Asia/Tokyo")
    with pytest.raises(Conflict, match="Of 200 reviews, 0 came on a later day"):
        fit(next_day, Preset(), in_tokyo)


def test_a_card_whose_log_begins_later_is_left_out():
    half = [log if number % 2 else log[3:] for number, log in enumerate(HISTORIES)]
    half = [log if number % 2 else [(rating, at, 2) for rating, at, _ in log] for number, log in enumerate(half)]
    assert fit(half, Preset(), Preferences()) == fit(HISTORIES[1::2], Preset(), Preferences())


def test_too_few_reviews_are_refused_with_their_number():
    with pytest.raises(Conflict) as refused:
        fit(simulate_logs(cards=3, reviews_each=5), Preset(), Preferences())
    assert str(refused.value) == (
        "There are too few reviews to fit parameters: 64 usable reviews are needed, and there are 0. Of 15 reviews, 6 "
        "came on a later day than the one before; those with a rare interval do not count. Continue reviewing with the "
        "present parameters, or fit more decks together."
    )


def test_no_reviews_are_refused():
    with pytest.raises(Conflict, match="Of 0 reviews, 0 came on a later day"):
        fit([], Preset(), Preferences())


def test_a_second_fit_of_the_same_reviews_is_not_better():
    first = fit(HISTORIES, Preset(), Preferences())
    second = fit(HISTORIES, Preset(parameters=first.parameters), Preferences())
    assert second == Fit(first.parameters, before=first.after, after=first.after, reviews=1500, cards=150)
    assert not second.is_better


def test_parameters_slightly_out_of_bounds_are_clamped():
    # 0.8 in 32 bits is more than 0.8, and the scheduler counts the difference.
    hair = [0.800000011920929 if index in (9, 19, 20) else value for index, value in enumerate(DEFAULT_PARAMETERS)]
    with pytest.raises(ValueError, match="out of bounds"):
        fsrs.Scheduler(parameters=hair)
    assert [round_parameters(hair)[index] for index in (9, 19, 20)] == [0.8, 0.8, 0.8]
    far = [1000.0] * 21
    assert fsrs.Scheduler(parameters=round_parameters(far)).parameters == fsrs.scheduler.UPPER_BOUNDS_PARAMETERS


def test_ten_thousand_reviews_take_a_few_seconds_of_processor_time_at_most():
    histories = [log for shift in range(7) for log in _later(HISTORIES, shift)]
    started = time.process_time()
    assert fit(histories, Preset(), Preferences(timezone="Europe/Berlin")).reviews == 10_500
    assert time.process_time() - started < 5


def _later(histories, days):
    return [[(rating, at + days * DAY, state) for rating, at, state in log] for log in histories]


def test_times_may_be_in_any_zone():
    elsewhere = timezone(timedelta(hours=9))
    there = [[(rating, at.astimezone(elsewhere), state) for rating, at, state in log] for log in HISTORIES]
    assert fit(there, Preset(), Preferences()) == fit(HISTORIES, Preset(), Preferences())
