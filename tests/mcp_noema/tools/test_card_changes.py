"""Changes to many cards at once: all of them, or none."""

from datetime import datetime, timedelta

import fsrs
import pytest

from mcp_noema.store import conditions
from mcp_noema.tools.card_changes import MAX_SHOWN_IDS
from tests.mcp_noema.learner import MONDAY, Learner

CHANGES = {
    "suspend-cards": {},
    "bury-cards": {},
    "set-due-date": {"days": 3, "explicit_action": "SET_DUE_DATE"},
    "reset-cards": {"explicit_action": "RESET_CARDS"},
}

LOOK = "get-due-cards and search-cards show your cards with their ids."


async def waiting(ana: Learner) -> list[str]:
    return [card["cardId"] for card in (await ana("get-due-cards"))["cards"]]


# --- which cards -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tool", "more"), CHANGES.items())
async def test_an_unknown_card_stops_the_whole_change(ana: Learner, bob: Learner, tool: str, more: dict[str, object]):
    [mine] = await ana.notes(await ana.deck())
    [his] = await bob.notes(await bob.deck())
    before = await ana("get-card", cardId=mine)
    assert await ana.fails(tool, cardIds=[mine, his, "card_999", his], **more) == (
        "NotFoundError",
        f"Nothing was changed. Cards {his}, card_999 were not found. {LOOK}",
    )
    assert await ana.fails(tool, query=f"cid:{his}", **more) == (
        "NotFoundError",
        f"No card matches 'cid:{his}', so nothing was changed. search-cards shows what a query matches.",
    )
    assert await ana("get-card", cardId=mine) == before


@pytest.mark.parametrize(("tool", "more"), CHANGES.items())
async def test_cards_are_selected_by_ids_or_by_a_query(ana: Learner, tool: str, more: dict[str, object]):
    [card] = await ana.notes(await ana.deck())
    one = ("ValidationError", "Give either cardIds or query.")
    assert await ana.fails(tool, **more) == one
    assert await ana.fails(tool, cardIds=[card], query="is:new", **more) == one
    assert await ana.fails(tool, cardIds=[], **more) == one
    assert await ana.fails(tool, query=" ", **more) == (
        "ValidationError",
        "query: an empty query would match all cards. Give one such as deck:Math, or deck:* for all.",
    )
    assert (await ana.fails(tool, query="(", **more))[1].startswith("The query cannot be read at character 1: '('")
    assert (await ana.fails(tool, cardIds=["deck_1"], **more))[0] == "ValidationError"


async def test_a_query_changes_any_number_of_cards_in_batches(ana: Learner, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conditions, "MAX_BOUND_IDS", 1100)
    deck = await ana.deck()
    for start in range(0, 2300, 500):
        drafts = [{"front": f"q {number}"} for number in range(start, min(start + 500, 2300))]
        await ana("create-notes", deckId=deck, notes=drafts)
    first = [f"card_{number}" for number in range(1, 1001)]
    assert (await ana.fails("suspend-cards", cardIds=[*first, "card_1001"]))[0] == "ValidationError"
    await ana("suspend-cards", cardIds=["card_7"])
    done = await ana("suspend-cards", query="deck:French")
    assert (done["changed"], done["unchanged"], len(done["cardIds"])) == (2299, 1, MAX_SHOWN_IDS)
    # What was asked for is not suggested to be undone.
    assert ana.hints["suggestedNextActions"] == []
    assert (await ana("search-cards", query="is:suspended"))["total"] == 2300
    assert (await ana("suspend-cards", query="deck:*", suspend=False))["changed"] == 2300
    assert (await ana("bury-cards", query="deck:*"))["changed"] == 2300
    assert (await ana("set-due-date", query="deck:*", days=3, explicit_action="SET_DUE_DATE"))["changed"] == 2300
    assert (await ana("search-cards", query="prop:due=3"))["total"] == 2300
    assert (await ana("reset-cards", query="deck:*", explicit_action="RESET_CARDS"))["changed"] == 2300


@pytest.mark.parametrize("tool", ["set-due-date", "reset-cards"])
async def test_rescheduling_needs_the_explicit_literal(ana: Learner, tool: str):
    [card] = await ana.notes(await ana.deck())
    day = {"days": 1} if tool == "set-due-date" else {}
    before = await ana("get-card", cardId=card)
    for literal in ({}, {"explicit_action": "YES"}):
        assert await ana.fails(tool, cardIds=[card], **day, **literal) == (
            "ValidationError",
            (
                f"Invalid arguments for '{tool}': explicit_action: the user must ask for exactly this action; "
                "do not set it without their request."
            ),
        )
    assert await ana("get-card", cardId=card) == before


# --- suspending --------------------------------------------------------------------------------------------


async def test_a_suspended_card_is_not_shown_and_keeps_its_schedule(ana: Learner):
    deck = await ana.deck()
    new, learning, review = await ana.notes(deck, 3)
    await ana("review-card", cardId=learning, grade="good")
    await ana("review-card", cardId=review, grade="easy")
    ana.clock.forward(days=8)
    before = [await ana("get-card", cardId=card) for card in (new, learning, review)]
    assert sorted(await waiting(ana)) == [new, learning, review]
    assert await ana("suspend-cards", query="deck:French") == {
        "changed": 3,
        "cardIds": [new, learning, review],
        "unchanged": 0,
        "suspended": True,
    }
    assert ana.hints["suggestedNextActions"] == []
    assert await waiting(ana) == []
    assert [await ana("get-card", cardId=card["cardId"]) for card in before] == [
        card | {"suspended": True} for card in before
    ]
    assert await ana("suspend-cards", cardIds=[new, new]) == {
        "changed": 0,
        "cardIds": [],
        "unchanged": 1,
        "suspended": True,
    }
    assert ana.hints["suggestedNextActions"] == []
    assert ana.hints["reasoning"].startswith("0 cards are suspended now. 1 did not need to change.")
    assert (await ana("suspend-cards", cardIds=[new, learning, review], suspend=False))["cardIds"] == [
        new,
        learning,
        review,
    ]
    assert [step["action"] for step in ana.hints["suggestedNextActions"]] == ["review-next-card"]
    assert [await ana("get-card", cardId=card["cardId"]) for card in before] == before
    assert sorted(await waiting(ana)) == [new, learning, review]


# --- burying -----------------------------------------------------------------------------------------------


async def test_a_buried_card_comes_back_tomorrow(ana: Learner):
    deck = await ana.deck()
    new, learning, review = await ana.notes(deck, 3)
    await ana("review-card", cardId=learning, grade="good")
    await ana("review-card", cardId=review, grade="easy")
    ana.clock.forward(days=8)
    assert await ana("bury-cards", cardIds=[review, learning, new]) == {
        "changed": 3,
        "cardIds": [new, learning, review],
        "unchanged": 0,
        "buriedUntil": "2026-11-25T04:00:00Z",
    }
    assert [step["action"] for step in ana.hints["suggestedNextActions"]] == ["review-next-card"]
    assert await waiting(ana) == []
    ana.clock.now = datetime.fromisoformat("2026-11-25T04:00:00Z")
    assert sorted(await waiting(ana)) == [new, learning, review]
    assert (await ana("bury-cards", cardIds=[new]))["cardIds"] == [new]
    assert await ana("bury-cards", cardIds=[new], bury=False) == {
        "changed": 1,
        "cardIds": [new],
        "unchanged": 0,
        "buriedUntil": None,
    }
    assert sorted(await waiting(ana)) == [new, learning, review]


# --- due dates ---------------------------------------------------------------------------------------------


async def test_cards_are_due_on_the_given_day(ana: Learner):
    deck = await ana.deck(reviewsPerDay=99)
    new, learning, review = await ana.notes(deck, 3)
    await ana("review-card", cardId=learning, grade="good")
    await ana("review-card", cardId=review, grade="easy")
    before = {card: await ana("get-card", cardId=card) for card in (new, learning, review)}
    done = await ana("set-due-date", query="deck:French", days=3, explicit_action="SET_DUE_DATE")
    assert done == {
        "changed": 3,
        "cardIds": [new, learning, review],
        "unchanged": 0,
        "due": "2026-11-19T04:00:00Z",
        "expectedRecall": done["expectedRecall"],
    }
    for card, was in before.items():
        # Memory stays as it was; what is remembered today too.
        expected = was | {"state": "review", "due": "2026-11-19T04:00:00Z"}
        assert await ana("get-card", cardId=card) == expected
    ana.clock.now = MONDAY.replace(day=19, hour=3, minute=59)
    assert await waiting(ana) == []
    ana.clock.forward(minutes=1)
    assert sorted(await waiting(ana)) == [new, learning, review]


async def test_the_expected_recall_is_that_of_fsrs(ana: Learner):
    deck = await ana.deck()
    [card, new] = await ana.notes(deck, 2)
    await ana("review-card", cardId=card, grade="easy")
    scheduler = fsrs.Scheduler(enable_fuzzing=False)
    theirs, _ = scheduler.review_card(fsrs.Card(1), fsrs.Rating.Easy, MONDAY)
    done = await ana("set-due-date", cardIds=[card, new], date="2027-11-16", explicit_action="SET_DUE_DATE")
    assert done["due"] == "2027-11-16T04:00:00Z"
    recall = done["expectedRecall"]
    # FSRS counts learning days, of which the due date begins one.
    later = datetime.fromisoformat(done["due"]) + timedelta(hours=5)
    assert recall == pytest.approx(scheduler.get_card_retrievability(theirs, later), abs=1e-4)
    loss, risk = ana.hints["riskFactors"]
    assert (loss["description"], loss["severity"]) == ("The earlier due dates of 2 cards; no undo.", "high")
    assert risk == {
        "type": "accuracy",
        "severity": "medium",
        "description": f"By then {recall:.0%} are remembered; 90% is desired.",
        "probability": round(1 - recall, 4),
        "impact": round(0.9 - recall, 4),
        "mitigation": "Choose an earlier day.",
    }
    soon = await ana("set-due-date", cardIds=[card, new], days=0, explicit_action="SET_DUE_DATE")
    assert soon["due"] == "2026-11-16T04:00:00Z"
    assert len(ana.hints["riskFactors"]) == 1
    assert [step["action"] for step in ana.hints["suggestedNextActions"]] == ["review-next-card"]
    assert await waiting(ana) == [card, new]
    assert (await ana("set-due-date", cardIds=[new], days=9, explicit_action="SET_DUE_DATE"))["expectedRecall"] is None


async def test_a_new_card_with_a_due_date_is_learned_when_it_is_answered(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    await ana("set-due-date", cardIds=[card], days=0, explicit_action="SET_DUE_DATE")
    data = await ana("review-card", cardId=card, grade="good")
    theirs, _ = fsrs.Scheduler(enable_fuzzing=False).review_card(fsrs.Card(1), fsrs.Rating.Good, MONDAY)
    memory = data["stability"], data["difficulty"]
    assert memory == pytest.approx((theirs.stability, theirs.difficulty), rel=1e-3)
    assert data["state"] == "learning"


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ({}, "Give either date or days."),
        ({"date": "2026-11-20", "days": 3}, "Give either date or days."),
        ({"date": "2026-11-15"}, "date: 2026-11-15 is before today, 2026-11-16. Give today or a later day; nothing"),
        ({"days": -1}, "greater than or equal to 0"),
        ({"date": "tomorrow"}, "date"),
    ],
)
async def test_an_impossible_day_is_an_error(ana: Learner, when: dict[str, object], told: str):
    [card] = await ana.notes(await ana.deck())
    error, message = await ana.fails("set-due-date", cardIds=[card], explicit_action="SET_DUE_DATE", **when)
    assert error == "ValidationError"
    assert told in message


async def test_the_date_is_in_the_time_zone_of_the_user(ana: Learner):
    await ana("set-preference", name="timezone", value="Asia/Tokyo")
    [card] = await ana.notes(await ana.deck())
    ana.clock.now = MONDAY.replace(hour=18)  # three in the morning of the 17th in Tokyo, where the 16th still goes on
    done = await ana("set-due-date", cardIds=[card], date="2026-11-16", explicit_action="SET_DUE_DATE")
    assert done["due"] == "2026-11-15T19:00:00Z"
    ana.clock.forward(hours=1)
    assert (await ana.fails("set-due-date", cardIds=[card], date="2026-11-16", explicit_action="SET_DUE_DATE"))[
        1
    ].startswith("date: 2026-11-16 is before today, 2026-11-17.")


# --- resetting ---------------------------------------------------------------------------------------------


async def test_a_reset_card_is_new_and_comes_last(ana: Learner):
    deck = await ana.deck()
    first, second, third = await ana.notes(deck, 3)
    fresh = await ana("get-card", cardId=first)
    await ana.answers(first, "good", "easy", "again", "good", every=timedelta(days=2))
    assert (await ana("get-card", cardId=first))["lapses"] == 1
    assert await ana("reset-cards", cardIds=[first, second], explicit_action="RESET_CARDS") == {
        "changed": 1,
        "cardIds": [first],
        "unchanged": 1,
    }
    assert await ana("get-card", cardId=first) == fresh
    found = await ana("search-cards", query="is:new", sortBy="position")
    assert [card["cardId"] for card in found["cards"]] == [second, third, first]
    # The review log stays.
    assert (await ana("search-cards", query="rated:99"))["total"] == 1


@pytest.mark.parametrize("tool", ["set-due-date", "reset-cards"])
async def test_a_suspended_card_stays_suspended_with_a_warning(ana: Learner, tool: str):
    [card] = await ana.notes(await ana.deck())
    await ana("review-card", cardId=card, grade="easy")
    await ana("suspend-cards", cardIds=[card])
    await ana(tool, cardIds=[card], **{**CHANGES[tool], **({"days": 0} if tool == "set-due-date" else {})})
    [warning] = ana.hints["warnings"]
    assert warning["message"] == "1 of the cards is suspended and not shown."
    assert await waiting(ana) == []
    await ana("suspend-cards", cardIds=[card], suspend=False)
    assert await waiting(ana) == [card]
