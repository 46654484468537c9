"""Studying: what is asked, in which order and within which limits, and what an answer does."""

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import fsrs
import pytest

from mcp_noema.app import REAL_CLOCK, build
from mcp_noema.model import ClockAndRandom, Preset, roll
from mcp_noema.settings import NoemaSettings
from tests.mcp_noema.learner import MONDAY, Clock, Learner, open_app

DAY = timedelta(days=1)


async def test_a_card_is_asked_answered_and_comes_back_when_fsrs_says(ana: Learner):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    shown = await ana("review-next-card", deckId=deck)
    assert shown == {
        "card": {
            "cardId": card,
            "front": "question 1",
            "back": "answer 1",
            "deck": "French",
            "state": "new",
            "due": None,
        },
        "recall": None,
        "intervals": {"again": "1m", "hard": "6m", "good": "10m", "easy": "8d"},
        "remaining": {"new": 1, "learning": 0, "due": 0},
    }
    scheduler, theirs = fsrs.Scheduler(enable_fuzzing=False), fsrs.Card(1)
    for grade, rating in (("good", 3), ("good", 3), ("again", 1), ("good", 3), ("easy", 4), ("hard", 2)):
        theirs, _ = scheduler.review_card(theirs, fsrs.Rating(rating), ana.clock.now)
        data = await ana("review-card", cardId=card, grade=grade, timeTakenMs=4000)
        memory = data["stability"], data["difficulty"]
        assert memory == pytest.approx((theirs.stability, theirs.difficulty), rel=1e-3)
        assert datetime.fromisoformat(data["due"]) == theirs.due
        ana.clock.now = theirs.due


async def test_learning_comes_before_due_and_due_before_new(ana: Learner):
    deck = await ana.deck()
    due, learning, new = await ana.notes(deck, 3)
    await ana.answers(due, "easy")
    await ana("review-card", cardId=learning, grade="good")
    ana.clock.forward(minutes=11)
    queue = await ana("get-due-cards")
    assert [card["cardId"] for card in queue["cards"]] == [learning, due, new]
    assert queue["remaining"] == {"new": 1, "learning": 1, "due": 1}


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("after-reviews", ["due", "due", "new", "new"]),
        ("before-reviews", ["new", "new", "due", "due"]),
        ("mixed", ["due", "new", "due", "new"]),
    ],
)
async def test_the_order_of_new_cards_is_a_preference(ana: Learner, order: str, expected: list[str]):
    deck = await ana.deck()
    cards = await ana.notes(deck, 4)
    for card in cards[:2]:
        await ana.answers(card, "easy", every=timedelta(0))
    ana.clock.forward(days=30)
    await ana("set-preference", name="newCards", value=order)
    queue = await ana("get-due-cards")
    assert [("due" if card["cardId"] in cards[:2] else "new") for card in queue["cards"]] == expected


async def test_daily_limits_apply_to_a_deck_with_its_subdecks(ana: Learner):
    outer = await ana.deck("Languages", newPerDay=3)
    french = await ana.deck("Languages::French", newPerDay=2)
    spanish = await ana.deck("Languages::Spanish", newPerDay=9)
    for deck in (french, spanish):
        await ana("create-notes", deckId=deck, notes=[{"front": f"{deck} {n}"} for n in range(5)])
    assert (await ana("get-due-cards", deckId=outer))["remaining"]["new"] == 3
    assert (await ana("get-due-cards", deckId=french))["remaining"]["new"] == 2
    assert (await ana("get-due-cards", deckId=spanish))["remaining"]["new"] == 5
    first = (await ana("review-next-card", deckId=french))["card"]["cardId"]
    await ana("review-card", cardId=first, grade="easy")
    assert (await ana("get-due-cards", deckId=french))["remaining"]["new"] == 1
    assert (await ana("get-due-cards", deckId=outer))["remaining"]["new"] == 2
    ana.clock.forward(days=1)
    assert (await ana("get-due-cards", deckId=french))["remaining"]["new"] == 2


async def test_cards_due_beyond_the_limit_are_the_backlog(ana: Learner):
    deck = await ana.deck(reviewsPerDay=2, newPerDay=99)
    for card in await ana.notes(deck, 5):
        await ana.answers(card, "easy", every=timedelta(0))
    ana.clock.forward(days=60)
    queue = await ana("get-due-cards")
    assert (queue["remaining"]["due"], queue["backlog"]) == (2, 3)
    [warning] = ana.hints["warnings"]
    assert warning["message"] == "3 more cards are due than today's limit allows."


async def test_a_new_day_begins_at_the_preferred_hour(ana: Learner):
    await ana("set-preference", name="timezone", value="America/New_York")
    await ana("set-preference", name="dayStartHour", value=4)
    ana.clock.now = MONDAY.replace(hour=8)  # three in the morning in New York
    deck = await ana.deck(newPerDay=1)
    first, _ = await ana.notes(deck, 2)
    await ana("review-card", cardId=first, grade="easy")
    assert (await ana("get-due-cards"))["remaining"]["new"] == 0
    ana.clock.now = MONDAY.replace(hour=9, minute=1)
    assert (await ana("get-due-cards"))["remaining"]["new"] == 1


async def test_cards_of_one_note_are_not_shown_on_one_day(ana: Learner):
    deck = await ana.deck()
    there, back = await ana.notes(deck, kind="basic-reversed")
    assert [card["cardId"] for card in (await ana("get-due-cards"))["cards"]] == [there]
    await ana("review-card", cardId=there, grade="easy")
    assert (await ana("get-due-cards"))["cards"] == []
    ana.clock.forward(days=1)
    assert [card["cardId"] for card in (await ana("get-due-cards"))["cards"]] == [back]
    await ana("update-deck", deckId=deck, preset={"burySiblings": False})
    ana.clock.forward(days=30)
    assert {card["cardId"] for card in (await ana("get-due-cards"))["cards"]} == {there, back}


async def test_a_learning_card_is_shown_early_when_nothing_else_waits(ana: Learner):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    await ana("review-card", cardId=card, grade="good")
    assert (await ana("review-next-card"))["card"]["cardId"] == card
    ana.clock.forward(seconds=1)
    await ana("review-card", cardId=card, grade="easy")
    done = await ana("review-next-card")
    assert done == {"remaining": {"new": 0, "learning": 0, "due": 0}, "nextLearningAt": None}


# ---- bad input -----------------------------------------------------------------------------------


async def test_an_unknown_card_and_another_users_give_the_same_error(ana: Learner, bob: Learner):
    [card] = await ana.notes(await ana.deck())
    for name in (card, "card_999", "card_0", "card_x", "card_99999999999999999999"):
        error, message = await bob.fails("review-card", cardId=name, grade="good")
        assert (error, message) == (
            "NotFoundError",
            f"Card {name} was not found. get-due-cards and search-cards show your cards with their ids.",
        )
    assert (await ana("get-due-cards"))["remaining"]["new"] == 1


@pytest.mark.parametrize("wrong", [0, 5, "5", "excellent", None, True])
async def test_the_error_for_an_unknown_grade_lists_the_grades(ana: Learner, wrong: object):
    [card] = await ana.notes(await ana.deck())
    error, message = await ana.fails("review-card", cardId=card, grade=wrong)
    assert error == "ValidationError"
    assert "'again', 'hard', 'good' or 'easy'" in message
    assert (await ana("get-due-cards"))["remaining"]["new"] == 1


async def test_nothing_is_recorded_for_an_unknown_deck(ana: Learner, bob: Learner):
    [card] = await ana.notes(await ana.deck())
    his = await bob.deck("His")
    for deck in (his, "deck_99"):
        assert (await ana.fails("review-card", cardId=card, grade="good", deckId=deck))[0] == "NotFoundError"
    assert (await ana("get-due-cards"))["remaining"] == {"new": 1, "learning": 0, "due": 0}


async def test_an_id_of_another_kind_is_an_error(ana: Learner):
    deck = await ana.deck()
    error, message = await ana.fails("review-card", cardId=deck, grade="good")
    assert error == "ValidationError"
    assert "cardId" in message


async def test_a_suspended_card_cannot_be_reviewed(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    await ana("suspend-cards", cardIds=[card])
    assert await ana.fails("review-card", cardId=card, grade="good") == (
        "ConflictError",
        f"{card} is suspended. Call suspend-cards with suspend false first, then review it.",
    )
    await ana("suspend-cards", cardIds=[card], suspend=False)
    await ana("review-card", cardId=card, grade="good")


async def test_a_review_in_the_future_or_before_the_last_is_an_error(ana: Learner, clock: Clock):
    [card] = await ana.notes(await ana.deck())
    later = (clock.now + timedelta(hours=1)).isoformat()
    error, message = await ana.fails("review-card", cardId=card, grade="good", reviewedAt=later)
    assert error == "ValidationError"
    assert "is in the future" in message
    clock.forward(days=2)
    await ana("review-card", cardId=card, grade="good")
    yesterday = (clock.now - DAY).isoformat()
    error, message = await ana.fails("review-card", cardId=card, grade="good", reviewedAt=yesterday)
    assert error == "ConflictError"
    assert "so it cannot be reviewed at 2026-11-17T09:00:00+00:00. Give a later time" in message
    error, message = await ana.fails("review-card", cardId=card, grade="good", reviewedAt="2026-11-20T09:00:00")
    assert error == "ValidationError"
    assert "timezone" in message


async def test_a_review_before_the_card_was_created_is_an_error(ana: Learner, clock: Clock):
    [card] = await ana.notes(await ana.deck())
    before = (clock.now - DAY).isoformat()
    error, message = await ana.fails("review-card", cardId=card, grade="good", reviewedAt=before)
    assert error == "ConflictError"
    assert "was created at" in message


async def test_a_review_of_earlier_today_counts_from_then(ana: Learner, clock: Clock):
    [card] = await ana.notes(await ana.deck())
    at = clock.now + timedelta(hours=1)
    clock.forward(hours=3)
    data = await ana("review-card", cardId=card, grade="good", reviewedAt=at.isoformat())
    assert datetime.fromisoformat(data["due"]) == at + timedelta(seconds=Preset().learning_steps[1])


# ---- repeated and undone reviews -----------------------------------------------------------------


async def test_a_review_sent_twice_is_recorded_once(ana: Learner, bob: Learner):
    deck = await ana.deck()
    first, second = await ana.notes(deck, 2)
    once = await ana("review-card", cardId=first, grade="good", idempotencyKey="k1")
    again = await ana("review-card", cardId=first, grade="good", idempotencyKey="k1")
    assert again == once | {"repeated": True}
    assert ana.hints["warnings"][0]["type"] == "duplicate"
    assert (await ana("get-review-history"))["total"] == 1
    for card, grade in ((second, "good"), (first, "easy")):
        error, message = await ana.fails("review-card", cardId=card, grade=grade, idempotencyKey="k1")
        assert error == "ConflictError"
        assert (
            message
            == f"The idempotency key 'k1' was used for {first} with grade 'good'. Use a new key for each review."
        )
    [his] = await bob.notes(await bob.deck())
    assert not (await bob("review-card", cardId=his, grade="good", idempotencyKey="k1"))["repeated"]


async def test_undo_restores_everything(ana: Learner):
    deck = await ana.deck()
    there, back = await ana.notes(deck, kind="basic-reversed")
    before = await ana("get-card", cardId=there)
    await ana("review-card", cardId=there, grade="good")
    undone = await ana("undo-review")
    assert undone == {"undone": "review_1", "cardId": there, "state": "new", "due": None, "deckId": deck}
    assert await ana("get-card", cardId=there) == before
    assert (await ana("get-due-cards"))["remaining"] == {"new": 1, "learning": 0, "due": 0}
    assert not (await ana("get-card", cardId=back))["buried"]


async def test_reviews_are_undone_one_by_one_and_the_schedule_is_exact(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    states = [await ana("get-card", cardId=card)]
    for grade in ("good", "good", "again", "hard"):
        await ana.answers(card, grade)
        states.append(await ana("get-card", cardId=card))
    for before in reversed(states[:-1]):
        await ana("undo-review")
        now = await ana("get-card", cardId=card)
        # The recall depends on the clock, which has moved on.
        assert now | {"recall": 0} == before | {"recall": 0}


async def test_undo_without_a_review_is_an_error(ana: Learner, bob: Learner):
    nothing = ("ConflictError", "You have no review to undo. get-review-history shows your reviews.")
    assert await ana.fails("undo-review") == nothing
    [card] = await ana.notes(await ana.deck())
    await ana("review-card", cardId=card, grade="good")
    assert await bob.fails("undo-review") == nothing
    assert (await bob.fails("undo-review", reviewId="review_1"))[0] == "NotFoundError"
    await ana("undo-review")
    assert await ana.fails("undo-review") == nothing


async def test_only_the_last_review_of_a_card_can_be_undone(ana: Learner):
    first, second = await ana.notes(await ana.deck(), 2)
    await ana("review-card", cardId=first, grade="good")
    ana.clock.forward(minutes=1)
    await ana("review-card", cardId=second, grade="good")
    assert (await ana("undo-review", reviewId="review_1"))["cardId"] == first
    ana.clock.forward(minutes=1)
    await ana("review-card", cardId=second, grade="good")
    assert await ana.fails("undo-review", reviewId="review_2") == (
        "ConflictError",
        f"{second} was answered again after review_2. Undo review_3 first.",
    )


async def test_a_review_of_a_deleted_card_cannot_be_undone_and_stays_in_the_log(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    await ana("review-card", cardId=card, grade="good")
    await ana("delete-note", noteId="note_1", explicit_action="DELETE_NOTE")
    error, message = await ana.fails("undo-review")
    assert error == "ConflictError"
    assert "its card was deleted" in message
    assert (await ana("get-review-history"))["total"] == 1


# ---- dice ----------------------------------------------------------------------------------------


async def test_intervals_are_fuzzed_by_the_dice_alone(tmp_path):
    assert REAL_CLOCK.dice is roll
    days = []
    for number, dice in enumerate((None, lambda *_: 0.0, lambda *_: 0.999, lambda *_: 0.999)):
        clock = Clock()
        async with open_app(f"sqlite:///{tmp_path / f'{number}.db'}", clock, dice) as app:
            ana = Learner(app, clock, "ana")
            [card] = await ana.notes(await ana.deck())
            data = await ana("review-card", cardId=card, grade="easy")
            days.append((datetime.fromisoformat(data["due"]) - clock.now).days)
    without, lowest, highest, again = days
    assert lowest < without < highest == again


async def test_the_intervals_shown_are_those_applied(tmp_path):
    clock = Clock()
    async with open_app(f"sqlite:///{tmp_path / 'noema.db'}", clock, roll) as app:
        ana = Learner(app, clock, "ana")
        await ana.notes(await ana.deck(newPerDay=100), 40)
        for grade in ("easy", "good", "hard", "again"):
            for _ in range(10):
                shown = await ana("review-next-card")
                applied = await ana("review-card", cardId=shown["card"]["cardId"], grade=grade)
                assert shown["intervals"][grade] == applied["dueIn"]
            clock.forward(days=9)


# --- one call for each card --------------------------------------------------------------------------------


async def test_with_next_each_answer_brings_the_next_card_until_none_is_left(ana: Learner):
    deck = await ana.deck()
    cards = await ana.notes(deck, 3)
    shown = await ana("review-next-card", deckId=deck)
    seen = [shown["card"]["cardId"]]
    for _ in range(2):
        [step, *_] = ana.hints["suggestedNextActions"]
        answered = await ana(step["action"], **step["data"], grade="easy")
        separately = await ana("review-next-card", deckId=deck)
        assert answered["next"] | {"remaining": answered["remaining"]} == separately
        assert ana.answer["instruction"].startswith("Show the user the front only.")
        seen.append(answered["next"]["card"]["cardId"])
    assert seen == cards
    [step, *_] = ana.hints["suggestedNextActions"]
    answered = await ana(step["action"], **step["data"], grade="easy")
    assert "next" not in answered
    assert (answered["nextLearningAt"], ana.answer["message"]) == (None, "Nothing is left for today.")
    assert (await ana("get-progress"))["today"]["reviews"] == 3


async def test_an_answer_that_is_sent_again_as_suggested_counts_once_and_brings_the_same_next_card(ana: Learner):
    deck = await ana.deck()
    await ana.notes(deck, 2)
    await ana("review-next-card")
    [step] = ana.hints["suggestedNextActions"]
    first = await ana(step["action"], **step["data"], grade="good")
    again = await ana(step["action"], **step["data"], grade="good")
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert (again["reviewId"], again["next"]) == (first["reviewId"], first["next"])
    assert (await ana("get-progress"))["today"]["reviews"] == 1


async def test_a_card_can_be_graded_again_after_an_undo_and_a_late_repeat_is_refused(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    await ana("review-next-card")
    [wrong] = ana.hints["suggestedNextActions"]
    await ana(wrong["action"], **wrong["data"], grade="easy")
    await ana("undo-review")
    [right] = ana.hints["suggestedNextActions"]
    error, message = await ana.fails(wrong["action"], **wrong["data"], grade="easy")
    assert (error, message.split(",")[0]) == (
        "ConflictError",
        f"The review with the idempotency key '{card}-1' was undone",
    )
    assert right["data"]["idempotencyKey"] == f"{card}-2"
    assert not (await ana(right["action"], **right["data"], grade="good"))["repeated"]
    assert (await ana("get-progress"))["today"]["reviews"] == 1


@pytest.mark.requirement("HIN-1")
async def test_one_lean_call_for_each_card_takes_at_most_half_the_bytes(sqlite_collection: Path, tmp_path: Path):
    async def bytes_of_session(name: str, **arguments: Any) -> int:
        """All bytes of a session, from the first question to the last answer."""
        db = shutil.copy(sqlite_collection, tmp_path / f"{name}.db")
        settings = NoemaSettings(db=f"sqlite:///{db}", deadline=60, hints=name)
        async with build(settings, ClockAndRandom(Clock(), None)) as app:
            ana, total = Learner(app, Clock(), "ana"), 0
            await ana.notes(await ana.deck(), 10)
            shown = await ana("review-next-card")
            total += len(json.dumps(ana.answer))
            for _ in range(9):
                answered = await ana("review-card", cardId=shown["card"]["cardId"], grade="easy", **arguments)
                total += len(json.dumps(ana.answer))
                if "next" in arguments:
                    shown = answered["next"]
                else:
                    shown = await ana("review-next-card")
                    total += len(json.dumps(ana.answer))
        return total

    assert await bytes_of_session("lean", next=True) <= await bytes_of_session("full") / 2


@pytest.mark.parametrize(
    ("given", "grade"),
    [("GOOD", "good"), (" Easy ", "easy"), (1, "again"), ("4", "easy"), ("Knew it", "good"), ("did-not-know", "again")],
)
async def test_a_grade_may_be_in_any_case_a_number_or_one_of_three(ana: Learner, given: str | int, grade: str):
    [card] = await ana.notes(await ana.deck())
    assert (await ana("review-card", cardId=card, grade=given))["grade"] == grade
