"""The rules of scheduling. anki/test_agreement.py compares whole histories with Anki."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import fsrs
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from mcp_core.db import address, open_database
from mcp_noema.model import RATINGS, CardId, CardState, Preferences, Preset, Schedule, roll
from mcp_noema.scheduling.schedule import (
    answer,
    fuzz_interval,
    next_schedules,
    replay,
    reschedule,
    retrievability,
    since_last_learned,
)
from mcp_noema.store.row_mapping import CARD_COLUMNS, schedule_values, to_card
from mcp_noema.store.tables import cards
from tests.mcp_noema.learner import Learner

START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
OTHER = (0.3, 1.1, 2.5, 9.0, 6.1, 0.9, 2.7, 0.01, 1.6, 0.2, 0.9, 1.6, 0.08, 0.3, 1.5, 0.4, 2.0, 0.6, 0.2, 0.1, 0.2)
PRESETS = st.sampled_from(
    [
        Preset(),
        Preset(desired_retention=0.8, maximum_interval=30, parameters=OTHER),
        Preset(learning_steps=(), relearning_steps=()),
        Preset(learning_steps=(300,), relearning_steps=(60, 3600, 86_400)),
    ]
)
GAPS = st.timedeltas(min_value=timedelta(seconds=1), max_value=timedelta(days=400))
UTC_DAYS = Preferences()
FUZZ = st.one_of(st.none(), st.floats(0, 1, exclude_max=True))
HISTORIES = st.lists(st.tuples(st.integers(1, 4), GAPS), min_size=1, max_size=12)


def dated(history):
    at, reviews = START, []
    for rating, gap in history:
        at += gap
        reviews.append((rating, at))
    return reviews


@given(HISTORIES, st.sampled_from([None, OTHER]))
def test_memory_states_are_those_of_the_library_in_python(history, parameters):
    """Another implementation of FSRS, which counts days of 24 hours: here, all answers are whole days apart."""
    preset = Preset(parameters=parameters)
    scheduler = fsrs.Scheduler(**({"parameters": parameters} if parameters else {}), enable_fuzzing=False)
    card, schedule = fsrs.Card(card_id=1), Schedule()
    for index, (rating, gap) in enumerate(history):
        at = START + timedelta(days=sum(gap.days for _, gap in history[: index + 1]))
        card, _ = scheduler.review_card(card, fsrs.Rating(rating), at)
        schedule = answer(schedule, rating, at, preset, UTC_DAYS)
        assert schedule.difficulty == pytest.approx(card.difficulty, abs=0.05)
        assert schedule.stability == pytest.approx(card.stability, rel=0.05, abs=0.001)


@given(HISTORIES, PRESETS, GAPS)
def test_recall_falls_with_each_learning_day(history, preset, later):
    schedule = replay(dated(history), preset, UTC_DAYS)
    moment = schedule.last_review + later
    days = UTC_DAYS.days_between(schedule.last_review, moment)
    card = fsrs.Card(1, stability=schedule.stability, last_review=START)
    scheduler = fsrs.Scheduler(**({"parameters": preset.parameters} if preset.parameters else {}))
    expected = scheduler.get_card_retrievability(card, START + timedelta(days=days))
    assert retrievability(schedule, moment, preset, UTC_DAYS) == pytest.approx(expected, rel=1e-6)


@given(HISTORIES, PRESETS, FUZZ)
def test_the_next_schedules_are_those_of_the_four_answers(history, preset, fuzz):
    *before, (_, last) = dated(history)
    schedule = replay(before, preset, UTC_DAYS)
    assert next_schedules(schedule, last, preset, UTC_DAYS, fuzz=fuzz) == {
        grade: answer(schedule, rating, last, preset, UTC_DAYS, fuzz=fuzz) for grade, rating in RATINGS.items()
    }


@given(HISTORIES, PRESETS, FUZZ)
def test_a_better_grade_has_a_longer_interval_up_to_the_maximum(history, preset, fuzz):
    schedule, at = Schedule(), START
    for rating, gap in history:
        at += gap
        after = next_schedules(schedule, at, preset, UTC_DAYS, fuzz=fuzz)
        days = [after[grade].due for grade in ("hard", "good", "easy") if after[grade].state is CardState.REVIEW]
        longest = at + timedelta(days=preset.maximum_interval)
        assert all(one < other or one == other == longest for one, other in pairwise(days))
        schedule = answer(schedule, rating, at, preset, UTC_DAYS, fuzz=fuzz)


@given(HISTORIES, PRESETS, st.randoms(use_true_random=False))
def test_a_replay_does_not_depend_on_the_order_of_the_log(history, preset, shuffler):
    reviews = dated(history)
    expected = Schedule()
    for rating, at in reviews:
        expected = answer(expected, rating, at, preset, UTC_DAYS)
    shuffler.shuffle(reviews)
    assert replay(reviews, preset, UTC_DAYS) == expected


@pytest.mark.parametrize(
    ("shortest", "longest", "fuzz", "days"),
    [
        (1, 999, None, 52),
        (1, 999, 0.0, 47),
        (1, 999, 0.5, 52),
        (1, 999, 0.999999, 57),
        (50, 55, 0.0, 50),
        (50, 55, 0.999999, 55),
        (60, 999, 0.0, 60),
        (1, 40, 0.0, 36),
        (1, 40, 0.999999, 40),
    ],
)
def test_fuzz_stays_within_its_range(shortest, longest, fuzz, days):
    assert fuzz_interval(52.0, shortest, longest, fuzz) == days


def test_the_day_of_the_learner_decides_whether_an_answer_is_on_the_same_day():
    paris = Preferences("Europe/Paris", 4)
    evening = datetime(2026, 3, 2, 21, 0, tzinfo=UTC)
    card = answer(Schedule(), 4, evening, Preset(), paris)
    at_night, in_the_morning = evening + timedelta(hours=5), evening + timedelta(hours=7)
    assert retrievability(card, at_night, Preset(), paris) == 1.0
    assert retrievability(card, in_the_morning, Preset(), paris) < 1.0
    # An hour before the cut, nothing is gained by remembering it; an hour after it, something is.
    assert answer(card, 3, at_night, Preset(), paris).stability == card.stability
    assert answer(card, 3, in_the_morning, Preset(), paris).stability > card.stability


def test_without_steps_an_interval_below_half_a_day_stays_in_learning():
    preset = Preset(learning_steps=(), relearning_steps=())
    again = answer(Schedule(), 1, START, preset, UTC_DAYS)
    assert (again.state, again.interval) == (CardState.LEARNING, timedelta(seconds=18_316))
    good = answer(again, 3, again.due, preset, UTC_DAYS)
    assert (good.state, good.interval) == (CardState.LEARNING, timedelta(seconds=21_313))


def test_a_step_that_ends_on_another_day_is_due_from_its_beginning():
    preset = Preset(learning_steps=(86_400, 259_200))
    first = answer(Schedule(), 1, START, preset, UTC_DAYS)
    assert first.due == datetime(2026, 3, 2, 4, 0, tzinfo=UTC)
    second = answer(first, 3, first.due, preset, UTC_DAYS)
    assert (second.state, second.due) == (CardState.LEARNING, datetime(2026, 3, 5, 4, 0, tzinfo=UTC))


def test_learning_steps_are_not_fuzzed():
    for fuzz in (0.0, 0.9):
        after = answer(Schedule(), 3, START, Preset(), UTC_DAYS, fuzz=fuzz)
        assert (after.state, after.interval) == (CardState.LEARNING, timedelta(minutes=10))


def test_the_dice_give_a_card_the_same_number_until_it_is_answered():
    numbers = [roll(card, reps) for card in range(1, 101) for reps in range(10)]
    assert numbers == [roll(card, reps) for card in range(1, 101) for reps in range(10)]
    assert len(set(numbers)) == 1000
    assert all(0 <= number < 1 for number in numbers)
    assert 0.45 < sum(numbers) / 1000 < 0.55


def test_a_new_card_is_learned_from_the_first_step():
    assert retrievability(Schedule(), START, Preset(), UTC_DAYS) is None
    assert answer(Schedule(), 1, START, Preset(), UTC_DAYS) == Schedule(
        state=CardState.LEARNING,
        step=0,
        stability=0.212,
        difficulty=6.413,
        due=START + timedelta(minutes=1),
        last_review=START,
    )


@pytest.mark.parametrize("state", [CardState.LEARNING, CardState.REVIEW, CardState.RELEARNING])
def test_a_card_with_a_due_date_but_no_memory_state_is_answered_like_a_new_one(state):
    given_a_date = Schedule(state, due=START)
    assert answer(given_a_date, 3, START, Preset(), UTC_DAYS) == answer(Schedule(), 3, START, Preset(), UTC_DAYS)


def test_a_time_may_be_in_any_zone():
    there = START.astimezone(timezone(timedelta(hours=-7)))
    assert answer(Schedule(), 3, there, Preset(), UTC_DAYS) == answer(Schedule(), 3, START, Preset(), UTC_DAYS)
    review = Schedule(CardState.REVIEW, None, 20.0, 5.0, START, START - timedelta(days=15))
    assert retrievability(review, there, Preset(), UTC_DAYS) == retrievability(review, START, Preset(), UTC_DAYS)


NEW, LEARNING, REVIEW, RELEARNING = 0, 1, 2, 3


@pytest.mark.parametrize(
    ("states", "kept"),
    [
        ([], 0),
        ([NEW], 1),
        ([NEW, LEARNING, REVIEW, RELEARNING, REVIEW], 5),
        # Reset, and learned again.
        ([NEW, LEARNING, REVIEW, NEW, LEARNING, REVIEW], 3),
        ([NEW, NEW], 1),
        # As Anki logs it.
        ([LEARNING, LEARNING, REVIEW], 3),
        ([LEARNING, REVIEW, LEARNING, LEARNING, REVIEW], 3),
        # Where the beginning is lost.
        ([REVIEW, RELEARNING, REVIEW], 0),
        ([REVIEW, NEW, REVIEW], 2),
    ],
)
def test_a_memory_state_depends_on_the_reviews_since_the_card_was_last_new(states, kept):
    log = [(3, START + timedelta(days=day), state) for day, state in enumerate(states)]
    assert since_last_learned(log[::-1]) == log[len(log) - kept :]


# ---- rescheduling --------------------------------------------------------------------------------


@given(HISTORIES, PRESETS, PRESETS, st.integers(1, 1000))
def test_rescheduling_changes_a_card_only_if_its_preset_differs(history, preset, other, seed):
    reviews = dated(history)

    def dice(index: int) -> float:
        return roll(seed, index)

    fuzzed = replay(reviews, preset, UTC_DAYS, fuzz=dice)
    assert reschedule(fuzzed, reviews, preset, UTC_DAYS, fuzz=dice) is fuzzed
    moved = reschedule(fuzzed, reviews, other, UTC_DAYS)
    assert moved is fuzzed or moved == replay(reviews, other, UTC_DAYS)


def test_rescheduling_replaces_a_due_date_that_was_set_manually():
    reviews = [(4, START)]
    plain = replay(reviews, Preset(), UTC_DAYS)
    by_hand = replace(plain, due=START + timedelta(days=99))
    assert reschedule(by_hand, reviews, Preset(), UTC_DAYS) == plain


def test_rescheduling_keeps_a_memory_state_that_was_rounded_elsewhere():
    reviews = [(4, START), (3, START + timedelta(days=9))]
    plain = replay(reviews, Preset(), UTC_DAYS)
    rounded = replace(plain, stability=round(plain.stability, 1), difficulty=round(plain.difficulty, 1))
    assert reschedule(rounded, reviews, Preset(), UTC_DAYS) is rounded


async def test_a_schedule_comes_back_from_the_database_to_the_last_digit(ana: Learner, db_url: str):
    dice = random.Random(3)
    made = {}
    for card in await ana.notes(await ana.deck(), 40):
        history = [(dice.randint(1, 4), timedelta(seconds=dice.uniform(1, 4e6))) for _ in range(dice.randint(1, 8))]
        made[CardId(card).number] = replay(
            dated(history), Preset(parameters=OTHER), UTC_DAYS, fuzz=lambda _: dice.random()
        )

    def keep(connection: Connection) -> None:
        for number, schedule in made.items():
            connection.execute(sa.update(cards).where(cards.c.id == number).values(schedule_values(schedule)))

    def read(connection: Connection) -> dict[int, Schedule]:
        kept = map(to_card, connection.execute(sa.select(*CARD_COLUMNS)))
        return {card.id: card.schedule for card in kept}

    async with open_database(address(db_url, "noema")) as database:
        await database.write(keep)
        kept = await database.read(read)
    assert kept == made
    later = START + timedelta(days=4000)
    for number, schedule in kept.items():
        assert next_schedules(schedule, later, Preset(), UTC_DAYS) == next_schedules(
            made[number], later, Preset(), UTC_DAYS
        )
