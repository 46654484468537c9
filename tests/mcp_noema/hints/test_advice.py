"""Hints for studying, computed from the cards, the log and the user's preferences."""

import json
from datetime import UTC, datetime, timedelta

import fsrs
import pytest

from mcp_noema.hints import advice
from mcp_noema.model import Card, Preset, Schedule
from mcp_noema.records import RecentReviews
from tests.mcp_noema.learner import Learner


@pytest.mark.requirement("HIN-2")
async def test_the_source_and_the_confidence_follow_from_what_is_known_and_the_rest_is_named(ana: Learner):
    cards = await ana.notes(await ana.deck(), 12)
    await ana("review-next-card")
    assert (ana.hints["sourceQuality"], ana.hints["confidence"]) == ("unknown", 0.2)
    assert ana.hints["contextNeeded"] == [
        "the time that answers take (timeTakenMs)",
        "answers of the user: 0 of the 10 that show how they study",
    ]
    for card in cards[:10]:
        await ana("review-card", cardId=card, grade="easy", timeTakenMs=4000)
    assert (ana.hints["sourceQuality"], ana.hints["confidence"]) == ("medium", 0.8)
    assert (ana.hints["contextNeeded"], ana.hints["assumptions"][1:]) == (
        [], ["The default FSRS parameters fit the user."]
    )  # fmt: skip


def test_fitted_parameters_are_a_better_source_and_an_incomplete_log_is_a_worse_one():
    now = datetime(2026, 11, 16, 9, tzinfo=UTC)
    recent = RecentReviews(reviews=50, usual_ms=4000, last_at=now)
    card = Card(1, 1, 1, 0, 1, Schedule(), 3, 0, suspended=False, buried_until=None, created_at=now)
    fitted = Preset(parameters=(0.1,) * 21)
    evidence, missing = advice.study_evidence(card, 4, fitted, recent)
    assert (evidence.source, evidence.confidence, missing) == ("high", 1.0, ())
    assert advice.assumptions(fitted) == ("The user answers before seeing the back.",)
    evidence, missing = advice.study_evidence(card, 2, fitted, recent)
    assert (evidence.source, missing) == ("low", ("2 answers of this card that the log does not have",))
    assert evidence.confidence == round(0.5 * (2 + 1 / 3) / 3, 4)


@pytest.mark.requirement("HIN-3")
async def test_benefit_is_what_fsrs_expects_of_an_answer_in_a_month(ana: Learner):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    for _ in range(3):
        answered = await ana("review-card", cardId=card, grade="good", timeTakenMs=6000)
        last, ana.clock.now = ana.clock.now, datetime.fromisoformat(answered["due"])
    ana.clock.forward(days=9)
    data = await ana("review-next-card")
    theirs = fsrs.Card(1, stability=answered["stability"], last_review=last)
    scheduler, later = fsrs.Scheduler(), ana.clock.now + timedelta(days=30)
    assert data["recall"] == pytest.approx(scheduler.get_card_retrievability(theirs, ana.clock.now), abs=1e-4)
    without = scheduler.get_card_retrievability(theirs, later)
    impact = ana.hints["estimatedImpact"]
    assert 0.9 - without <= impact["benefit"] <= 1 - without
    assert (impact["effort"], impact["affectedMetrics"]) == (0.1, ["retention"])  # six seconds of a minute


@pytest.mark.requirement("HIN-3")
async def test_a_learning_card_is_worth_the_answer_that_is_suggested(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    await ana("review-card", cardId=card, grade="good", next=True)
    [step] = ana.hints["suggestedNextActions"]
    assert step["priority"] == "high"
    assert ana.hints["estimatedImpact"]["benefit"] > 0.1


async def test_full_hints_cost_at_most_1200_bytes_a_card(ana: Learner):
    deck = await ana.deck("Languages::French::Verbs of the third group")
    for number, card in enumerate(await ana.notes(deck, 4)):
        await ana("review-card", cardId=card, deckId=deck, grade="good", timeTakenMs=4000 + number, next=True)
        size = len(json.dumps(ana.hints, ensure_ascii=False, separators=(",", ":")).encode())
        assert size <= 1200, ana.hints


async def test_after_an_answer_the_hint_names_the_next_call_in_the_deck_being_studied(ana: Learner):
    deck = await ana.deck()
    first, _ = await ana.notes(deck, 2)
    await ana("review-next-card", deckId=deck)
    [step] = ana.hints["suggestedNextActions"]
    assert (step["action"], step["data"]) == (
        "review-card",
        {"cardId": first, "deckId": deck, "idempotencyKey": f"{first}-1", "next": True},
    )
    assert [(need["name"], need["choices"]) for need in step["needs"]] == [("grade", ["again", "hard", "good", "easy"])]
    await ana("review-card", cardId=first, deckId=deck, grade="easy", timeTakenMs=5000)
    [go_on] = ana.hints["suggestedNextActions"]
    assert (go_on["action"], go_on["data"], go_on["estimatedTime"]) == ("review-next-card", {"deckId": deck}, 5000)


async def test_when_nothing_is_left_progress_is_suggested(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    await ana("review-card", cardId=card, grade="easy")
    assert ana.hints["suggestedNextActions"][0]["action"] == "get-progress"
    assert ana.hints["estimatedImpact"]["benefit"] == 0.0


async def test_a_card_that_is_forgotten_often_is_a_leech(ana: Learner):
    deck = await ana.deck(leechThreshold=2)
    [card] = await ana.notes(deck)
    await ana.answers(card, "easy", "again", "good")
    assert "warnings" not in ana.hints
    data = await ana("review-card", cardId=card, grade="again", timeTakenMs=5000)
    assert data["lapses"] == 2
    [warning] = ana.hints["warnings"]
    assert (warning["severity"], warning["relatedIds"]) == ("high", [card, "note_1"])
    assert warning["message"] == "The card is a leech: forgotten 2 times. Its note is now tagged leech."
    [suspend] = ana.hints["alternatives"]
    assert suspend["approach"] == "Suspend the card with suspend-cards"
    assert (await ana("get-card", cardId=card))["tags"] == ["leech"]
    await ana("undo-review")
    assert (await ana("get-card", cardId=card))["tags"] == []


async def test_an_answer_that_takes_three_times_as_long_gives_a_warning(ana: Learner):
    cards = await ana.notes(await ana.deck(), 12)
    for card in cards[:10]:
        await ana("review-card", cardId=card, grade="easy", timeTakenMs=4000)
    await ana("review-card", cardId=cards[10], grade="easy", timeTakenMs=11_000)
    assert "warnings" not in ana.hints
    await ana("review-card", cardId=cards[11], grade="easy", timeTakenMs=12_000)
    [warning] = ana.hints["warnings"]
    assert (warning["type"], warning["message"]) == ("performance", "The answer took 12 s; 4 s is usual.")


async def test_continuing_is_compared_with_the_users_preferences(ana: Learner):
    await ana("set-preference", name="sessionMinutes", value=10)
    await ana("set-preference", name="focus", value="retention")
    cards = await ana.notes(await ana.deck(), 3)
    await ana("review-card", cardId=cards[0], grade="easy")
    length, focus = ana.hints["preferenceAlignment"]
    assert (length["preference"], length["alignment"], length["score"]) == ("sessionMinutes", "strong", 1.0)
    assert (focus["preference"], focus["alignment"], focus["score"]) == ("focus", "conflict", -0.5)
    assert ana.hints["riskFactors"] == []
    ana.clock.forward(minutes=15)
    await ana("review-card", cardId=cards[1], grade="easy")
    length, _ = ana.hints["preferenceAlignment"]
    assert (length["alignment"], length["score"]) == ("conflict", -0.5)
    [risk] = ana.hints["riskFactors"]
    assert (risk["type"], risk["severity"], risk["probability"]) == ("user-experience", "medium", 0.5)
    # After a pause it is another session.
    ana.clock.forward(minutes=31)
    await ana("review-next-card")
    assert ana.hints["preferenceAlignment"][0]["score"] == 1.0


@pytest.mark.parametrize(
    ("score", "word"),
    [(1.0, "strong"), (0.75, "strong"), (0.74, "moderate"), (0.1, "weak"), (0.0, "neutral"), (-0.2, "conflict")],
)
def test_the_alignment_for_a_score(score: float, word: str):
    assert advice.alignment_of(score) == word


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=30), "30s"),
        (timedelta(minutes=10), "10m"),
        (timedelta(hours=5), "5h"),
        (timedelta(days=8), "8d"),
        (timedelta(days=45), "1.5mo"),
        (timedelta(days=730), "2y"),
        (timedelta(seconds=-5), "0s"),
    ],
)
def test_an_interval_reads_as_on_ankis_buttons(span: timedelta, words: str):
    assert advice.interval_text(span.total_seconds()) == words
