"""Schedules compared with the library, float for float."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from unittest.mock import patch

import fsrs
import fsrs.scheduler
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from mcp_core.db import address, open_database
from mcp_noema.model import RATINGS, CardId, Preset, Schedule, State
from mcp_noema.schedule import answer, fuzz, next_schedules, replay, reschedule, retrievability, since_last_learned
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
HISTORIES = st.lists(st.tuples(st.integers(1, 4), GAPS), min_size=1, max_size=12)


def library(preset, *, fuzz=False):
    given = {} if preset.parameters is None else {"parameters": preset.parameters}
    return fsrs.Scheduler(
        **given,
        desired_retention=preset.desired_retention,
        learning_steps=[timedelta(seconds=step) for step in preset.learning_steps],
        relearning_steps=[timedelta(seconds=step) for step in preset.relearning_steps],
        maximum_interval=preset.maximum_interval,
        enable_fuzzing=fuzz,
    )


def as_schedule(card):
    return Schedule(State(card.state), card.step, card.stability, card.difficulty, card.due, card.last_review)


def dated(history):
    at, reviews = START, []
    for rating, gap in history:
        at += gap
        reviews.append((rating, at))
    return reviews


@given(HISTORIES, PRESETS)
def test_every_answer_gives_the_library_s_schedule(history, preset):
    scheduler, card, schedule = library(preset), fsrs.Card(card_id=1), Schedule()
    for rating, at in dated(history):
        card, _ = scheduler.review_card(card, fsrs.Rating(rating), at)
        schedule = answer(schedule, rating, at, preset, None)
        assert schedule == as_schedule(card)


@given(HISTORIES, PRESETS, GAPS)
def test_retrievability_equals_the_library_s(history, preset, later):
    scheduler, card = library(preset), fsrs.Card(card_id=1)
    for rating, at in dated(history):
        card, _ = scheduler.review_card(card, fsrs.Rating(rating), at)
    moment = card.last_review + later
    assert retrievability(as_schedule(card), moment, preset) == scheduler.get_card_retrievability(card, moment)


@given(HISTORIES, PRESETS)
def test_the_next_schedules_are_those_of_the_four_answers(history, preset):
    *before, (_, last) = dated(history)
    schedule = replay(before, preset)
    assert next_schedules(schedule, last, preset) == {
        grade: answer(schedule, rating, last, preset) for grade, rating in RATINGS.items()
    }


@given(HISTORIES, PRESETS, st.randoms(use_true_random=False))
def test_a_replay_in_any_order_equals_the_library_s_reschedule(history, preset, shuffler):
    reviews = dated(history)
    logs = [fsrs.ReviewLog(1, fsrs.Rating(rating), at, None) for rating, at in reviews]
    expected = library(preset).reschedule_card(fsrs.Card(card_id=1), logs)
    shuffler.shuffle(reviews)
    assert replay(reviews, preset) == as_schedule(expected)


@given(HISTORIES, PRESETS, st.integers(0, 2**32))
def test_a_fuzzed_replay_equals_the_library_s_with_the_same_dice(history, preset, seed):
    reviews, scheduler, card = dated(history), library(preset, fuzz=True), fsrs.Card(card_id=1)
    with patch.object(fsrs.scheduler, "random", random.Random(seed).random):
        for rating, at in reviews:
            card, _ = scheduler.review_card(card, fsrs.Rating(rating), at)
    assert replay(reviews, preset, random.Random(seed).random) == as_schedule(card)


@pytest.mark.parametrize("maximum", [1, 2, 3, 30, 365, 36_500])
def test_the_fuzz_of_an_interval_equals_the_library_s(maximum):
    scheduler = library(Preset(maximum_interval=maximum))
    for days in (*range(400), *range(400, 40_000, 97)):
        interval = timedelta(days=days, seconds=days)
        for seed in range(3):
            with patch.object(fsrs.scheduler, "random", random.Random(seed).random):
                expected = scheduler._get_fuzzed_interval(interval=interval)
            assert fuzz(interval, maximum, random.Random(seed).random) == expected


# 52 days may become 47 to 57; the library rounds the random number, so that the day after is possible too.
@pytest.mark.parametrize(("random_number", "days"), [(0.0, 47), (0.5, 52), (0.999999, 58)])
def test_fuzz_stays_within_the_library_s_range(random_number, days):
    review = Schedule(State.REVIEW, None, 20.0, 5.0, START, START - timedelta(days=15))
    plain = answer(review, 3, START, Preset(), None)
    assert plain.interval == timedelta(days=52)
    assert answer(review, 3, START, Preset(), lambda: random_number).interval == timedelta(days=days)


def test_learning_steps_are_not_fuzzed():
    def never():
        raise AssertionError("no dice are needed for a step")

    after = answer(Schedule(), 3, START, Preset(), never)
    assert (after.state, after.interval) == (State.LEARNING, timedelta(minutes=10))


def test_the_global_random_generator_is_not_touched():
    random.seed(7)
    before = random.getstate()
    replay([(4, START), (3, START + timedelta(days=8))], Preset(), random.Random(1).random)
    assert random.getstate() == before
    assert fsrs.scheduler.random == random.random


def test_a_new_card_is_learned_from_the_first_step():
    assert retrievability(Schedule(), START, Preset()) is None
    assert answer(Schedule(), 1, START, Preset()) == Schedule(
        state=State.LEARNING,
        step=0,
        stability=0.212,
        difficulty=6.4133,
        due=START + timedelta(minutes=1),
        last_review=START,
    )


@pytest.mark.parametrize("state", [State.LEARNING, State.REVIEW, State.RELEARNING])
def test_a_card_with_a_due_date_but_no_memory_state_is_answered_like_a_new_one(state):
    given_a_date = Schedule(state, due=START)
    assert answer(given_a_date, 3, START, Preset()) == answer(Schedule(), 3, START, Preset())


def test_a_time_may_be_in_any_zone():
    there = START.astimezone(timezone(timedelta(hours=-7)))
    assert answer(Schedule(), 3, there, Preset()) == answer(Schedule(), 3, START, Preset())
    review = Schedule(State.REVIEW, None, 20.0, 5.0, START, START - timedelta(days=15))
    assert retrievability(review, there, Preset()) == retrievability(review, START, Preset())


def test_a_scheduler_is_created_once_for_each_preset():
    with patch.object(fsrs, "Scheduler", wraps=fsrs.Scheduler) as made:
        for _ in range(3):
            answer(Schedule(), 3, START, Preset(desired_retention=0.8765))
    assert made.call_count == 1


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


@given(HISTORIES, PRESETS, PRESETS, st.integers(0, 2**32))
def test_rescheduling_changes_a_card_only_if_its_preset_differs(history, preset, other, seed):
    reviews = dated(history)
    fuzzed = replay(reviews, preset, random.Random(seed).random)
    assert reschedule(fuzzed, reviews, preset, random.Random(1).random) is fuzzed
    moved = reschedule(fuzzed, reviews, other)
    plain = replay(reviews, other)
    assert moved == plain or (moved is fuzzed and replace(moved, due=None) == replace(plain, due=None))


def test_rescheduling_replaces_a_due_date_that_was_set_manually():
    reviews = [(4, START)]
    by_hand = replace(replay(reviews, Preset()), due=START + timedelta(days=99))
    assert reschedule(by_hand, reviews, Preset()) == replay(reviews, Preset())


async def test_a_schedule_comes_back_from_the_database_to_the_last_digit(ana: Learner, db_url: str):
    dice = random.Random(3)
    made = {}
    for card in await ana.notes(await ana.deck(), 40):
        history = [(dice.randint(1, 4), timedelta(seconds=dice.uniform(1, 4e6))) for _ in range(dice.randint(1, 8))]
        made[CardId(card).number] = replay(dated(history), Preset(parameters=OTHER), dice.random)

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
        assert next_schedules(schedule, later, Preset()) == next_schedules(made[number], later, Preset())
