"""Statistics and predictions through the tools, compared with the library."""

from datetime import timedelta
from statistics import fmean

import pytest

from mcp_noema.model import Preferences, Preset
from mcp_noema.scheduling.schedule import replay, retrievability
from tests.mcp_noema.learner import MONDAY, Clock, Learner
from tests.mcp_noema.review_logs import insert_logs
from tests.mcp_noema.simulated_memory import START, simulate_logs

DAY = timedelta(days=1)


def scheduled(*answers):
    """The schedule after (rating, time) pairs."""
    return replay(answers, Preset(), Preferences())


def recalled(schedule, at):
    return retrievability(schedule, at, Preset(), Preferences())


# ---- retention -----------------------------------------------------------------------------------


async def test_a_card_is_predicted_as_the_library_does(ana: Learner, clock: Clock):
    [card] = await ana.notes(await ana.deck())
    await ana.answers(card, "good", "good", every=timedelta(0) + timedelta(minutes=10))
    expected = scheduled((3, MONDAY), (3, MONDAY + timedelta(minutes=10)))
    clock.now = MONDAY + 9 * DAY
    now = await ana("predict-retention", cardId=card)
    later = await ana("predict-retention", cardId=card, on="2026-12-31")
    assert now == {
        "at": "2026-11-25T09:00:00Z",
        "cards": 1,
        "average": round(recalled(expected, clock.now), 4),
        "desired": 0.9,
        "below": 1,
        "weakest": [
            {
                "cardId": card,
                "front": "question 1",
                "recall": round(recalled(expected, clock.now), 4),
                "due": expected.due.isoformat().replace("+00:00", "Z"),
            }
        ],
    }
    assert later["at"] == "2026-12-31T09:00:00Z"
    assert later["weakest"][0]["recall"] == round(recalled(expected, clock.now + 36 * DAY), 4)


async def test_a_deck_is_predicted_with_its_subdecks_and_their_presets(ana: Learner, db_url: str, clock: Clock):
    outer, inner, other = (
        await ana.deck("Languages", desiredRetention=0.8),
        await ana.deck("Languages::French", desiredRetention=0.95),
        await ana.deck("Maths"),
    )
    logs = {
        (await ana.notes(outer))[0]: [(4, MONDAY)],
        (await ana.notes(inner, front="a"))[0]: [(3, MONDAY), (3, MONDAY + DAY)],
        (await ana.notes(other, front="b"))[0]: [(1, MONDAY)],
    }
    await ana.notes(inner, front="new")
    await insert_logs(db_url, logs)
    clock.now = MONDAY + 6 * DAY
    recalls = [recalled(scheduled(*log), clock.now) for log in logs.values()]
    both = await ana("predict-retention", deckId=outer)
    assert {name: both[name] for name in ("cards", "average", "desired", "below")} == {
        "cards": 2,
        "average": round(fmean(recalls[:2]), 4),
        "desired": 0.875,
        "below": (recalls[0] < 0.8) + (recalls[1] < 0.95),
    }
    assert [each["recall"] for each in both["weakest"]] == sorted(round(each, 4) for each in recalls[:2])
    everything = await ana("predict-retention", limit=1)
    assert (everything["cards"], everything["average"]) == (3, round(fmean(recalls), 4))
    assert [each["recall"] for each in everything["weakest"]] == [round(min(recalls), 4)]


async def test_a_prediction_for_very_many_cards_uses_a_sample(
    ana: Learner, db_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    cards = await ana.notes(await ana.deck(), 40)
    await insert_logs(db_url, {card: [(4, MONDAY)] for card in cards})
    clock.now = MONDAY + 20 * DAY
    whole = await ana("predict-retention")
    monkeypatch.setattr("mcp_noema.store.analysis.retention.MAX_CARDS", 10)
    clock.forward(seconds=1)
    await ana("set-preference", name="focus", value="retention")  # so that nothing is answered from the cache
    part = await ana("predict-retention")
    assert (part["cards"], part["average"], part["below"]) == (40, whole["average"], whole["below"])
    assert part["below"] == 40
    assert ana.answer["message"] == "Estimated from 10 of 40 cards."


async def test_a_past_day_and_both_a_card_and_a_deck_are_errors(ana: Learner, bob: Learner):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    assert await ana.fails("predict-retention", on="2026-11-15") == (
        "ValidationError",
        (
            "on: 2026-11-15 is in the past; today is 2026-11-16. Give today or a later date; "
            "get-review-history shows past answers."
        ),
    )
    assert await ana.fails("predict-retention", cardId=card, deckId=deck) == (
        "ValidationError",
        "Give cardId or deckId, not both.",
    )
    for name in (card, "card_77"):
        assert await bob.fails("predict-retention", cardId=name) == (
            "NotFoundError",
            f"Card {name} was not found. get-due-cards and search-cards show your cards with their ids.",
        )
    assert (await bob.fails("predict-retention", deckId=deck))[0] == "NotFoundError"


async def test_without_answers_nothing_is_predicted(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    nothing = {"cards": 0, "average": None, "desired": None, "below": 0, "weakest": []}
    assert await ana("predict-retention", cardId=card) == nothing | {"at": "2026-11-16T09:00:00Z"}
    assert ana.hints["confidence"] == 0
    assert [step["action"] for step in ana.hints["suggestedNextActions"]] == ["review-next-card"]


async def test_confidence_depends_on_the_number_and_age_of_answers(ana: Learner, db_url: str, clock: Clock):
    one, two = await ana.deck("One"), await ana.deck("Two")
    [few], cards = await ana.notes(one, front="alone"), await ana.notes(two, 20)
    await insert_logs(db_url, {few: [(4, MONDAY)]} | {card: [(4, MONDAY)] for card in cards})
    clock.now = MONDAY
    await ana("predict-retention", deckId=one)
    assert ana.hints["confidence"] == round(1 / 21, 4)
    await ana("predict-retention", deckId=two)
    assert ana.hints["confidence"] == 0.5
    clock.now = MONDAY + 30 * DAY
    await ana("set-preference", name="focus", value="retention")
    await ana("predict-retention", deckId=two)
    assert ana.hints["confidence"] == 0.25
    assert "20 samples" in ana.hints["reasoning"]


# ---- progress ------------------------------------------------------------------------------------


async def test_progress_counts_days_grades_minutes_and_what_was_remembered(ana: Learner, db_url: str, clock: Clock):
    deck = await ana.deck()
    first, second, third = await ana.notes(deck, 3)
    logs = {
        first: [(4, MONDAY), (3, MONDAY + 8 * DAY)],
        second: [(4, MONDAY + 7 * DAY), (1, MONDAY + 8 * DAY)],
    }
    await insert_logs(db_url, logs, duration_ms=30_000)
    clock.now = MONDAY + 8 * DAY + timedelta(hours=1)
    seen = await ana("get-progress", days=3)
    due = scheduled(*logs[first]).due
    assert seen == {
        "today": {"reviews": 2, "new": 0, "minutes": 1.0, "retention": 0.5},
        "period": {
            "from": "2026-11-22",
            "to": "2026-11-24",
            "daysStudied": 2,
            "reviews": 3,
            "new": 1,
            "minutes": 1.5,
            "retention": 0.5,
            "grades": {"again": 1, "hard": 0, "good": 1, "easy": 1},
        },
        "daily": [
            {"date": "2026-11-23", "reviews": 1, "new": 1, "minutes": 0.5, "retention": None},
            {"date": "2026-11-24", "reviews": 2, "new": 0, "minutes": 1.0, "retention": 0.5},
        ],
        "streak": 2,
        # The forgotten one is being learned again; the other comes back after this week.
        "forecast": [{"date": f"2026-11-{day}", "due": 1 if day == 24 else 0} for day in range(24, 31)],
        "newWaiting": 1,
        "desiredRetention": 0.9,
    }
    assert due > clock.now + 7 * DAY
    assert third not in {first, second}
    [step] = ana.hints["suggestedNextActions"]
    assert (step["action"], step["description"], step["estimatedTime"]) == (
        "review-next-card",
        "1 card is due today.",
        30_000,
    )
    # A due card has fallen to 90 %, and takes half a minute of the twenty that are preferred.
    assert ana.hints["estimatedImpact"] == {
        "benefit": 0.1,
        "effort": 0.025,
        "roi": 4.0,
        "affectedMetrics": ["retention", "streak"],
    }


async def test_undone_reviews_do_not_count_and_those_of_deleted_cards_do(ana: Learner, clock: Clock):
    deck = await ana.deck()
    first, second = await ana.notes(deck, 2)
    await ana("review-card", cardId=first, grade="easy")
    clock.forward(minutes=1)
    await ana("review-card", cardId=second, grade="again")
    await ana("undo-review")
    assert (await ana("get-progress", days=1))["period"]["grades"] == {"again": 0, "hard": 0, "good": 0, "easy": 1}
    assert (await ana("get-deck-stats", deckId=deck))["last30Days"]["reviews"] == 1
    assert (await ana("get-review-history"))["total"] == 1
    await ana("delete-note", noteId="note_1", explicit_action="DELETE_NOTE")
    assert (await ana("get-progress", days=1))["period"]["reviews"] == 1
    assert (await ana("get-progress", days=1, deckId=deck))["period"]["reviews"] == 0


async def test_a_day_follows_the_time_zone_of_the_user_when_clocks_change(ana: Learner, db_url: str, clock: Clock):
    await ana("set-preference", name="timezone", value="America/New_York")
    deck = await ana.deck()
    night, morning = await ana.notes(deck, 2)
    # On the first of November the clocks go back: the day that begins at four has 24 hours, the night before 25.
    before_four, after_four = MONDAY.replace(day=1, hour=8, minute=30), MONDAY.replace(day=1, hour=9, minute=30)
    await insert_logs(db_url, {night: [(4, before_four)], morning: [(4, after_four)]})
    clock.now = MONDAY.replace(day=2, hour=9, minute=1)
    daily = (await ana("get-progress", days=30))["daily"]
    assert [(day["date"], day["reviews"]) for day in daily] == [("2026-10-31", 1), ("2026-11-01", 1)]


@pytest.mark.parametrize(
    ("days", "streak"),
    [
        ([], 0),
        ([0], 1),
        ([1], 1),
        ([0, 1, 2], 3),
        ([1, 2, 4], 2),
        ([2, 3], 0),
        (range(131), 131),
        ([*range(60), 61], 60),
    ],
)
async def test_a_streak_goes_back_from_today_or_yesterday(ana: Learner, db_url: str, days, streak: int):
    [card] = await ana.notes(await ana.deck())
    if days:
        await insert_logs(db_url, {card: [(3, MONDAY - back * DAY) for back in sorted(days, reverse=True)]})
    assert (await ana("get-progress"))["streak"] == streak


async def test_a_user_without_reviews_has_no_progress(bob: Learner):
    seen = await bob("get-progress", days=2)
    assert seen["period"] == {
        "from": "2026-11-15",
        "to": "2026-11-16",
        "daysStudied": 0,
        "reviews": 0,
        "new": 0,
        "minutes": 0.0,
        "retention": None,
        "grades": {"again": 0, "hard": 0, "good": 0, "easy": 0},
    }
    assert (seen["streak"], seen["daily"], seen["newWaiting"]) == (0, [], 0)


async def test_fitting_is_suggested_when_less_is_remembered_than_desired(ana: Learner, db_url: str, clock: Clock):
    deck = await ana.deck(desiredRetention=0.97)
    cards = await ana.notes(deck, 60)
    histories = simulate_logs(cards=60, reviews_each=10)
    await insert_logs(db_url, {c: [(r, at) for r, at, _ in log] for c, log in zip(cards, histories, strict=True)})
    clock.now = START + 60 * DAY
    seen = await ana("get-progress", days=60, deckId=deck)
    retention = seen["period"]["retention"]
    assert retention < 0.9
    steps = {step["action"]: step for step in ana.hints["suggestedNextActions"]}
    assert steps["optimize-parameters"]["data"] == {"deckId": deck}
    assert 0 < steps["optimize-parameters"]["confidence"] < 1
    assert steps["review-next-card"]["estimatedCost"] == seen["forecast"][0]["due"]
    # What was counted is certain, however few answers there are.
    assert ana.hints["confidence"] == 1.0
    assert ana.hints["dependencies"] == [
        {
            "action": "optimize-parameters",
            "dependsOn": ["review-next-card"],
            "type": "recommended",
            "reason": "The answers of today count too.",
        }
    ]
    assert steps["optimize-parameters"]["description"] == (
        f"{retention:.0%} were remembered, but 97% is desired: fit FSRS to the reviews."
    )


async def test_fitting_is_not_suggested_when_it_would_be_refused(ana: Learner, db_url: str, clock: Clock):
    """Each card has an interval of its own, and the optimizer drops rare intervals."""
    deck = await ana.deck()
    cards = await ana.notes(deck, 60)
    days = [[0, 5 + n, 100, 110, 120, 130, 140] for n in range(60)]
    await insert_logs(
        db_url, {card: [(4, START + day * DAY) for day in each] for card, each in zip(cards, days, strict=True)}
    )
    clock.now = START + 150 * DAY
    assert (await ana.fails("optimize-parameters", deckId=deck))[0] == "ConflictError"
    for tool, arguments in (("get-progress", {"days": 90}), ("get-deck-stats", {})):
        await ana(tool, deckId=deck, **arguments)
        assert "optimize-parameters" not in {step["action"] for step in ana.hints["suggestedNextActions"]}


# ---- statistics of a deck ------------------------------------------------------------------------


async def test_the_statistics_of_a_deck_are_the_sum_of_its_cards(ana: Learner, db_url: str, clock: Clock):
    outer, inner = await ana.deck("Languages", leechThreshold=3), await ana.deck("Languages::French", leechThreshold=2)
    young, mature, learning, _ = await ana.notes(outer, 4)
    relearning, inner_leech = [(await ana.notes(inner, front=front))[0] for front in ("one", "two")]
    lapse = [(4, MONDAY - 90 * DAY), (1, MONDAY - 60 * DAY), (3, MONDAY - 60 * DAY + timedelta(minutes=10))]
    logs = {
        young: [(4, MONDAY - DAY)],
        mature: [(4, MONDAY - 40 * DAY), (4, MONDAY - 20 * DAY)],
        learning: [(3, MONDAY)],
        relearning: [(4, MONDAY - 10 * DAY), (1, MONDAY)],
        inner_leech: [*lapse, (1, MONDAY - 50 * DAY), (3, MONDAY - 50 * DAY + timedelta(minutes=10))],
    }
    await insert_logs(db_url, logs)
    clock.now = MONDAY
    cards = [scheduled(*log) for log in logs.values()]
    seen = await ana("get-deck-stats", deckId=outer)
    assert seen == {
        "deckId": outer,
        "name": "Languages",
        "cards": {"new": 1, "learning": 1, "relearning": 1, "young": 2, "mature": 1, "suspended": 0},
        "due": sum(card.due < MONDAY.replace(hour=4) + DAY for card in cards),
        "leeches": 1,
        "averageStability": round(fmean(card.stability for card in cards), 4),
        "averageDifficulty": round(fmean(card.difficulty for card in cards), 4),
        "averageRecall": round(fmean(recalled(card, MONDAY) for card in cards), 4),
        "desiredRetention": 0.9,
        "last30Days": {"reviews": 5, "new": 3, "minutes": 0.4, "retention": 0.5},
    }
    assert (await ana("get-deck-stats", deckId=inner))["cards"]["new"] == 0
    [_, leeches] = ana.hints["suggestedNextActions"]
    assert leeches["description"] == "1 card was forgotten 2 times or more: reword or suspend."
    assert [card["cardId"] for card in (await ana(leeches["action"], **leeches["data"]))["cards"]] == [inner_leech]


async def test_the_cards_of_a_deck_are_counted_by_interval_and_difficulty(ana: Learner, db_url: str, clock: Clock):
    deck = await ana.deck()
    day_old, months_old, learning, _ = await ana.notes(deck, 4)
    logs = {
        day_old: [(4, MONDAY - DAY)],
        months_old: [(4, MONDAY - 60 * DAY), (4, MONDAY - 20 * DAY)],
        learning: [(3, MONDAY)],
    }
    await insert_logs(db_url, logs)
    clock.now = MONDAY
    seen = await ana("get-deck-stats", deckId=deck, distribution=True)
    learned = [scheduled(*logs[card]) for card in (day_old, months_old)]
    intervals, difficulties = dict.fromkeys((1, 3, 7, 14, 30, 60, 120, 365, None), 0), dict.fromkeys(range(1, 11), 0)
    for card, (_, answered) in zip(learned, (logs[day_old][-1], logs[months_old][-1]), strict=True):
        days = round((card.due - answered) / DAY)
        intervals[next((end for end in intervals if end is not None and days <= end), None)] += 1
        difficulties[int(card.difficulty)] += 1
    assert seen["intervals"] == [{"days": days, "cards": cards} for days, cards in intervals.items()]
    assert seen["difficulties"] == [{"difficulty": level, "cards": cards} for level, cards in difficulties.items()]
    assert sum(intervals.values()) == 2


async def test_a_year_of_progress_has_totals_of_each_month(ana: Learner, db_url: str, clock: Clock):
    [card] = await ana.notes(await ana.deck())
    await insert_logs(db_url, {card: [(4, MONDAY - 300 * DAY), (3, MONDAY - 250 * DAY), (1, MONDAY)]})
    clock.now = MONDAY
    seen = await ana("get-progress", days=366, forecastDays=30)
    assert len(seen["monthly"]) == 13
    studied = {month["month"]: month["retention"] for month in seen["monthly"] if month["reviews"]}
    assert studied == {"2026-01": None, "2026-03": 1.0, "2026-11": 0.0}
    assert len(seen["forecast"]) == 30


async def test_an_empty_deck_has_statistics_and_another_users_has_none(ana: Learner, bob: Learner):
    deck = await ana.deck()
    seen = await ana("get-deck-stats", deckId=deck)
    assert seen == {
        "deckId": deck,
        "name": "French",
        "cards": {"new": 0, "learning": 0, "relearning": 0, "young": 0, "mature": 0, "suspended": 0},
        "due": 0,
        "leeches": 0,
        "averageStability": None,
        "averageDifficulty": None,
        "averageRecall": None,
        "desiredRetention": 0.9,
        "last30Days": {"reviews": 0, "new": 0, "minutes": 0.0, "retention": None},
    }
    assert (await bob.fails("get-deck-stats", deckId=deck))[0] == "NotFoundError"


# ---- the log -------------------------------------------------------------------------------------


async def test_pages_of_the_log_are_stable_when_reviews_are_added(ana: Learner, db_url: str, clock: Clock):
    first, second = await ana.notes(await ana.deck(), 2)
    # Two answers at the same moment: their ids tell them apart.
    logs = {first: [(4, MONDAY), (3, MONDAY + 8 * DAY)], second: [(2, MONDAY), (1, MONDAY + 9 * DAY)]}
    await insert_logs(db_url, logs)
    clock.now = MONDAY + 10 * DAY
    page = await ana("get-review-history", limit=2)
    assert [(each["cardId"], each["grade"]) for each in page["reviews"]] == [(second, "again"), (first, "good")]
    assert (page["total"], page["nextCursor"]) == (4, page["reviews"][-1]["reviewId"])
    [more] = ana.hints["suggestedNextActions"]
    await ana("review-card", cardId=second, grade="good")
    rest = await ana(more["action"], **more["data"])
    assert [(each["cardId"], each["grade"]) for each in rest["reviews"]] == [(second, "hard"), (first, "easy")]
    assert (rest["total"], rest["nextCursor"]) == (5, None)


async def test_a_review_in_the_log_is_complete(ana: Learner, clock: Clock):
    [card] = await ana.notes(await ana.deck())
    await ana("review-card", cardId=card, grade="easy", timeTakenMs=4200)
    after = scheduled((4, MONDAY))
    assert await ana("get-review-history", cardId=card) == {
        "reviews": [
            {
                "reviewId": "review_1",
                "cardId": card,
                "front": "question 1",
                "grade": "easy",
                "reviewedAt": "2026-11-16T09:00:00Z",
                "seconds": 4.2,
                "stateBefore": "new",
                "intervalDays": (after.due - MONDAY).days,
                "stability": after.stability,
                "difficulty": after.difficulty,
            }
        ],
        "total": 1,
        "nextCursor": None,
    }


async def test_the_log_of_a_deck_and_of_a_period(ana: Learner, db_url: str):
    outer, inner, other = (
        await ana.deck("Languages"),
        await ana.deck("Languages::French"),
        await ana.deck("Maths"),
    )
    a, b, c = [(await ana.notes(deck, 1, front=deck))[0] for deck in (outer, inner, other)]
    # Three in the morning still belongs to the day before.
    night = MONDAY.replace(hour=3) + DAY
    await insert_logs(db_url, {a: [(4, MONDAY - DAY)], b: [(4, MONDAY), (3, night)], c: [(4, MONDAY)]})

    async def grades(**search):
        return [(each["cardId"], each["grade"]) for each in (await ana("get-review-history", **search))["reviews"]]

    ana.clock.now = MONDAY + 2 * DAY
    assert await grades(deckId=outer) == [(b, "good"), (b, "easy"), (a, "easy")]
    assert await grades(deckId=inner) == [(b, "good"), (b, "easy")]
    assert await grades(**{"from": "2026-11-16", "to": "2026-11-16", "deckId": outer}) == [(b, "good"), (b, "easy")]
    assert await grades(**{"from": "2026-11-17"}) == []
    assert await grades(to="2026-11-15") == [(a, "easy")]
    error, message = await ana.fails("get-review-history", **{"from": "2026-11-17", "to": "2026-11-16"})
    assert (error, "ends (2026-11-16) before it begins" in message) == ("ValidationError", True)


async def test_the_cursor_of_another_user_and_an_unknown_card_are_errors(ana: Learner, bob: Learner):
    [card] = await ana.notes(await ana.deck())
    await ana("review-card", cardId=card, grade="easy")
    assert await bob.fails("get-review-history", cursor="review_1") == (
        "ValidationError",
        "cursor: review_1 is not a cursor from get-review-history. Leave it out to begin with the newest review.",
    )
    assert (await bob.fails("get-review-history", cardId=card))[0] == "NotFoundError"
    assert (await ana.fails("get-review-history", cardId="card_9"))[0] == "NotFoundError"
    await ana("delete-note", noteId="note_1", explicit_action="DELETE_NOTE")
    [gone] = (await ana("get-review-history", cardId=card))["reviews"]
    assert (gone["cardId"], gone["front"]) == (card, None)
