"""Hints for studying, computed from the cards, the log and the user's preferences."""

from datetime import datetime, timedelta

import fsrs
import pytest

from mcp_noema.hints import advice
from tests.mcp_noema.learner import Learner


@pytest.mark.requirement("HIN-2")
async def test_confidence_grows_with_the_answers_and_fades_with_time(ana: Learner):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    seen: list[float] = []
    for _ in range(5):
        await ana.answers(card, "good")
        seen.append(ana.hints["confidence"])
    # n answers of which 3 give half confidence; the last of them just now.
    assert seen == [round(n / (n + 3), 4) for n in range(1, 6)]
    assert "5 samples (3 give half confidence)" in ana.hints["reasoning"]
    await ana("review-next-card")
    soon = ana.hints["confidence"]
    ana.clock.forward(days=300)
    await ana("review-next-card")
    assert ana.hints["confidence"] < soon < seen[-1]


@pytest.mark.requirement("HIN-3")
async def test_benefit_is_the_recall_that_the_next_answer_restores(ana: Learner):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    for _ in range(3):
        answered = await ana("review-card", cardId=card, grade="good", timeTakenMs=6000)
        last, ana.clock.now = ana.clock.now, datetime.fromisoformat(answered["due"])
    ana.clock.forward(days=9)
    theirs = fsrs.Card(1, stability=answered["stability"], last_review=last)
    recall = fsrs.Scheduler().get_card_retrievability(theirs, ana.clock.now)
    data = await ana("review-next-card")
    assert data["recall"] == pytest.approx(recall, rel=1e-6)
    assert ana.hints["estimatedImpact"] == {
        "benefit": round(1 - recall, 4),
        "effort": 0.1,  # six seconds of a minute
        "roi": round(round(1 - recall, 4) / 0.1, 4),
        "affectedMetrics": ["retention", "cards due"],
    }


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
    go_on, undo = ana.hints["suggestedNextActions"]
    assert (go_on["action"], go_on["data"], go_on["estimatedTime"]) == ("review-next-card", {"deckId": deck}, 5000)
    assert (undo["action"], undo["data"]) == ("undo-review", {"reviewId": "review_1"})


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
    assert (suspend["approach"], suspend["estimatedImpact"]) == ("Suspend the card with suspend-cards", 0.5)
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
