"""Forecasts, fitted parameters and recomputed due dates through the tools, compared with the libraries."""

import threading
from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest

from mcp_core import Settings
from mcp_core.auth import user
from mcp_core.calling.records import Request
from mcp_core.db import address, open_database
from mcp_noema.app import build
from mcp_noema.model import RATINGS, CardState, ClockAndRandom, DeckId, Preferences, Preset, roll
from mcp_noema.scheduling.fitting import fit
from mcp_noema.scheduling.schedule import answer, replay
from mcp_noema.scheduling.workload import AnswerStats, LearnedCard, simulate_days
from mcp_noema.store.analysis import rescheduling, scheduling
from mcp_noema.store.deck_selection import select_decks
from tests.mcp_noema.learner import Clock, Learner
from tests.mcp_noema.review_logs import insert_logs
from tests.mcp_noema.simulated_memory import MEMORY, START, simulate_logs

DAY = timedelta(days=1)
HISTORIES = simulate_logs(cards=60, reviews_each=10, seed=4)
NOW = max(at for log in HISTORIES for _, at, _ in log) + DAY


async def with_history(ana: Learner, db_url: str, deck: str, histories=HISTORIES) -> dict[str, list]:
    """Cards of a deck with these logs, by their ids."""
    cards = await ana.notes(deck, len(histories))
    logs = {card: [(rating, at) for rating, at, _ in log] for card, log in zip(cards, histories, strict=True)}
    await insert_logs(db_url, logs)
    ana.clock.now = NOW
    return logs


# ---- workload ------------------------------------------------------------------------------------


async def test_a_plan_simulates_the_present_cards(ana: Learner, db_url: str, clock: Clock):
    deck = await ana.deck(newPerDay=5, reviewsPerDay=50)
    logs = await with_history(ana, db_url, deck, [[(4, START, 0)], [(3, START, 0), (3, START + DAY, 1)]])
    await ana("create-notes", deckId=deck, notes=[{"front": f"new {n}"} for n in range(30)])
    await ana("set-preference", name="sessionMinutes", value=1)
    clock.now = START + 3 * DAY
    seen = await ana("plan-workload", deckId=deck, days=20, desiredRetention=0.8)
    known = []
    for log in logs.values():
        card = replay(log, Preset(), Preferences())
        due = (Preferences().date_of(card.due) - Preferences().date_of(clock.now)).days
        last = (Preferences().date_of(card.last_review) - Preferences().date_of(clock.now)).days
        known.append((card.due, LearnedCard(card.stability, card.difficulty, last, max(0, due))))
    known = [card for _, card in sorted(known, key=lambda pair: pair[0])]
    expected = [
        simulate_days(
            known,
            30,
            {
                kind: AnswerStats(1, 1, 5.0)
                for kind in ((CardState.NEW, 4), (CardState.NEW, 3), (CardState.LEARNING, 3))
            },
            Preset(new_per_day=5, reviews_per_day=50, desired_retention=retention),
            days=20,
            seed=clock.now.date().toordinal(),
        )
        for retention in (0.9, 0.8, 0.85, 0.95)
    ]
    assert [
        (each["desiredRetention"], each["isPresent"], each["reviewsPerDay"], each["minutesPerDay"], each["remembered"])
        for each in seen["plans"]
    ] == [
        (
            each.desired_retention,
            index == 0,
            round(sum(each.reviews) / 20, 1),
            round(sum(each.minutes) / 20, 1),
            round(each.remembered),
        )
        for index, each in enumerate(expected)
    ]
    assert [(week["from"], week["days"], week["new"]) for week in seen["calendar"]] == [
        ("2025-03-04", 7, 30),
        ("2025-03-11", 7, 0),
        ("2025-03-18", 6, 0),
    ]
    present, highest = expected[0], expected[3]
    assert ana.hints["estimatedImpact"]["benefit"] == round(highest.remembered / present.remembered - 1, 4)
    assert ana.hints["estimatedImpact"]["effort"] == round(sum(highest.minutes) / sum(present.minutes) - 1, 4)
    assert ana.hints["suggestedNextActions"][0]["data"] == {"deckId": deck, "preset": {"desiredRetention": 0.8}}
    assert [risk["type"] for risk in ana.hints["riskFactors"]] == ["user-experience"]
    assert [(one["approach"], one["confidence"]) for one in ana.hints["alternatives"]] == [
        (f"A desired retention of {each.desired_retention:.0%}", ana.hints["confidence"]) for each in expected[1:]
    ]


async def test_a_plan_without_cards_is_empty(ana: Learner, bob: Learner):
    deck = await ana.deck()
    seen = await ana("plan-workload", days=1)
    assert seen["plans"][0] == {
        "desiredRetention": 0.9,
        "isPresent": True,
        "reviewsPerDay": 0.0,
        "newPerDay": 0.0,
        "minutesPerDay": 0.0,
        "busiestDay": {"date": "2026-11-16", "reviews": 0.0, "minutes": 0.0},
        "learned": 0,
        "remembered": 0,
        "overdue": 0,
    }
    assert seen["calendar"] == [{"from": "2026-11-16", "days": 1, "reviews": 0, "new": 0, "minutes": 0}]
    assert (await bob.fails("plan-workload", deckId=deck))[0] == "NotFoundError"


async def test_suspended_cards_are_not_planned(ana: Learner, db_url: str):
    logs = await with_history(ana, db_url, await ana.deck())
    assert (await ana("plan-workload"))["plans"][0]["learned"] == 60
    await ana("suspend-cards", cardIds=list(logs)[:50])
    assert (await ana("plan-workload"))["plans"][0]["learned"] == 10


async def test_a_plan_of_very_many_cards_uses_a_sample(ana: Learner, db_url: str, monkeypatch: pytest.MonkeyPatch):
    deck = await ana.deck(reviewsPerDay=200)
    await with_history(ana, db_url, deck)
    whole = (await ana("plan-workload", deckId=deck))["plans"][0]
    monkeypatch.setattr(scheduling, "MAX_CARDS", 20)
    await ana("update-deck", deckId=deck, description="so that nothing is answered from the cache")
    part = (await ana("plan-workload", deckId=deck))["plans"][0]
    assert part["learned"] == whole["learned"] == 60
    assert part["reviewsPerDay"] == pytest.approx(whole["reviewsPerDay"], rel=0.3)


async def test_a_plan_for_an_exam_has_each_day_and_what_is_known_with_and_without_studying(ana: Learner):
    deck = await ana.deck(newPerDay=5)
    cards = await ana.notes(deck, 20)
    for card in cards[:6]:
        await ana("review-card", cardId=card, grade="easy")
    plan = await ana("plan-workload", deckId=deck, until="2026-12-06")
    assert [day["from"] for day in plan["calendar"]] == [f"{date(2026, 11, 16) + timedelta(days=n)}" for n in range(20)]
    expected = await ana("predict-retention", deckId=deck, on="2026-12-06")
    assert plan["rememberedWithoutStudy"] == round(expected["average"] * expected["cards"])
    assert plan["plans"][0]["remembered"] > plan["rememberedWithoutStudy"]
    for wrong in ("2026-11-16", "2026-01-01", "2028-01-01"):
        kind, message = await ana.fails("plan-workload", until=wrong)
        assert (kind, message) == (
            "ValidationError",
            f"until: {wrong} is not within the coming 365 days; today is 2026-11-16.",
        )


# ---- parameters ----------------------------------------------------------------------------------


async def test_fitting_shows_the_gain_and_changes_nothing_unless_applied(ana: Learner, db_url: str):
    deck = await ana.deck()
    await with_history(ana, db_url, deck)
    expected = fit(HISTORIES, Preset(), Preferences())
    seen = await ana("optimize-parameters", deckId=deck)
    assert seen == {
        "decks": [{"deckId": deck, "name": "French"}],
        "reviews": 600,
        "cards": 60,
        "before": {"logLoss": expected.before.log_loss, "rmse": expected.before.rmse},
        "after": {"logLoss": expected.after.log_loss, "rmse": expected.after.rmse},
        "better": True,
        "applied": False,
        "parameters": list(expected.parameters),
        "presentParameters": None,
    }
    assert ana.hints["estimatedImpact"]["benefit"] == round(1 - expected.after.rmse / expected.before.rmse, 4)
    apply, preview = ana.hints["suggestedNextActions"]
    assert apply["data"] == {"deckId": deck, "apply": True}
    assert (preview["action"], preview["prerequisites"]) == ("preview-reschedule", ["optimize-parameters"])
    assert [(one["action"], one["dependsOn"], one["type"]) for one in ana.hints["dependencies"]] == [
        ("preview-reschedule", ["optimize-parameters"], "required")
    ]
    assert (await ana("get-deck", deckId=deck))["preset"]["parameters"] is None
    applied = await ana("optimize-parameters", deckId=deck, apply=True)
    assert applied == seen | {"applied": True}
    assert (await ana("get-deck", deckId=deck))["preset"]["parameters"] == list(expected.parameters)
    again = await ana("optimize-parameters", deckId=deck, apply=True)
    assert (again["better"], again["applied"], again["presentParameters"]) == (False, False, seen["parameters"])
    assert ana.answer["message"] == "The present parameters fit better: keep them."


async def test_the_next_answer_is_scheduled_with_the_fitted_parameters(ana: Learner, db_url: str):
    deck = await ana.deck()
    logs = await with_history(ana, db_url, deck)
    parameters = (await ana("optimize-parameters", deckId=deck, apply=True))["parameters"]
    card_id, log = next(iter(logs.items()))
    before = replay(log, Preset(), Preferences())
    after = answer(before, RATINGS["good"], NOW, Preset(parameters=tuple(parameters)), Preferences())
    data = await ana("review-card", cardId=card_id, grade="good")
    assert (data["stability"], data["difficulty"]) == (after.stability, after.difficulty)
    assert datetime.fromisoformat(data["due"]) == after.due.replace(microsecond=0)


async def test_a_fit_of_all_reviews_goes_to_the_top_level_decks(ana: Learner, db_url: str):
    outer, inner, other = await ana.deck("A"), await ana.deck("A::B"), await ana.deck("C")
    await with_history(ana, db_url, inner)
    seen = await ana("optimize-parameters", apply=True)
    assert [deck["deckId"] for deck in seen["decks"]] == [outer, other]
    for deck in (outer, inner, other):
        assert (await ana("get-deck", deckId=deck))["preset"]["parameters"] == seen["parameters"]
    # The subdeck inherits the parameters; it has none of its own.
    assert (await ana("optimize-parameters", deckId=inner))["presentParameters"] == seen["parameters"]


async def test_too_few_reviews_are_a_conflict_that_says_how_many_are_needed(ana: Learner, bob: Learner):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    await ana.answers(card, "good", "good", "good")
    error, message = await ana.fails("optimize-parameters", deckId=deck)
    assert error == "ConflictError"
    assert message.startswith(
        "There are too few reviews to fit parameters: 64 usable reviews are needed, and there are 0. Of 3 reviews, 1 "
        "came on a later day than the one before; those with a rare interval do not count."
    )
    assert (await bob.fails("optimize-parameters", deckId=deck))[0] == "NotFoundError"
    assert (await bob.fails("optimize-parameters"))[0] == "ConflictError"


async def test_undone_reviews_are_not_fitted(ana: Learner, db_url: str):
    deck = await ana.deck()
    await with_history(ana, db_url, deck)
    before = await ana("optimize-parameters", deckId=deck)
    shown = (await ana("review-next-card", deckId=deck))["card"]["cardId"]
    await ana("review-card", cardId=shown, grade="again")
    assert (await ana("optimize-parameters", deckId=deck))["reviews"] == 601
    await ana("undo-review")
    assert await ana("optimize-parameters", deckId=deck) == before


async def test_a_fit_of_very_many_reviews_uses_a_sample_of_cards(
    ana: Learner, db_url: str, monkeypatch: pytest.MonkeyPatch
):
    deck = await ana.deck()
    await with_history(ana, db_url, deck, simulate_logs(cards=150, reviews_each=10))
    monkeypatch.setattr(scheduling, "MAX_REVIEWS", 800)
    seen = await ana("optimize-parameters", deckId=deck)
    assert (seen["reviews"], seen["cards"]) == (750, 75)


# ---- due dates -----------------------------------------------------------------------------------


async def test_cards_are_rescheduled_from_their_logs_and_a_preview_changes_nothing(ana: Learner, db_url: str):
    deck = await ana.deck()
    logs = await with_history(ana, db_url, deck)
    preset = Preset(desired_retention=0.8, parameters=MEMORY)
    await ana("update-deck", deckId=deck, preset={"desiredRetention": 0.8})
    await set_parameters(db_url, deck, MEMORY)
    before = {card: await ana("get-card", cardId=card) for card in logs}
    seen = await ana("preview-reschedule", deckId=deck)
    assert {card: await ana("get-card", cardId=card) for card in logs} == before
    ends = Preferences().day_of(NOW).ends
    old = {card: replay(log, Preset(), Preferences()) for card, log in logs.items()}
    new = {card: replay(log, preset, Preferences()) for card, log in logs.items()}
    moves = sorted(logs, key=lambda card: abs(new[card].due - old[card].due), reverse=True)
    assert seen == {
        "deckId": deck,
        "name": "French",
        "cards": 60,
        "changed": 60,
        "unknown": 0,
        "dueToday": {
            "before": sum(card.due < ends for card in old.values()),
            "after": sum(card.due < ends for card in new.values()),
        },
        "mostMoved": [
            {"cardId": card, "before": wire(old[card].due), "after": wire(new[card].due)} for card in moves[:5]
        ],
    }
    assert await ana("reschedule-cards", deckId=deck, explicit_action="RESCHEDULE_CARDS") == seen
    for card in logs:
        shown = await ana("get-card", cardId=card)
        assert (shown["stability"], shown["difficulty"]) == (new[card].stability, new[card].difficulty)
        assert (shown["due"], shown["state"]) == (wire(new[card].due), CardState(new[card].state).word)
    nothing = await ana("preview-reschedule", deckId=deck)
    assert (nothing["changed"], nothing["mostMoved"]) == (0, [])


def wire(moment: datetime) -> str:
    return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")


async def set_parameters(db_url: str, deck: str, parameters) -> None:
    """As an import may."""
    async with open_database(address(db_url, "noema")) as database:

        def put(connection):
            found = fit(HISTORIES, Preset(), Preferences())
            known = select_decks(connection, "ana", DeckId(deck))
            scheduling._set_parameters(connection, "ana", known.top_decks, replace(found, parameters=parameters), NOW)

        await database.write(put)


async def test_rescheduling_needs_the_consent_literal(ana: Learner, bob: Learner):
    deck = await ana.deck()
    for literal in ({}, {"explicit_action": "YES"}):
        assert await ana.fails("reschedule-cards", deckId=deck, **literal) == (
            "ValidationError",
            (
                "Invalid arguments for 'reschedule-cards': explicit_action: the user must ask for exactly this action; "
                "do not set it without their request."
            ),
        )
    for tool, more in (("preview-reschedule", {}), ("reschedule-cards", {"explicit_action": "RESCHEDULE_CARDS"})):
        assert (await bob.fails(tool, deckId=deck, **more))[0] == "NotFoundError"


async def test_a_suspended_card_gets_its_date_and_stays_suspended(ana: Learner, db_url: str):
    deck = await ana.deck()
    logs = await with_history(ana, db_url, deck)
    card_id, log = next(iter(logs.items()))
    await ana("suspend-cards", cardIds=[card_id])
    await ana("update-deck", deckId=deck, preset={"desiredRetention": 0.8})
    await ana("reschedule-cards", deckId=deck, explicit_action="RESCHEDULE_CARDS")
    shown = await ana("get-card", cardId=card_id)
    assert (shown["due"], shown["suspended"]) == (
        wire(replay(log, Preset(desired_retention=0.8), Preferences()).due),
        True,
    )


async def test_a_card_with_an_incomplete_log_stays_as_it_is(ana: Learner, db_url: str):
    deck = await ana.deck()
    one, two, three = await ana.notes(deck, 3)
    await insert_logs(db_url, {card: [(4, START), (3, START + 9 * DAY)] for card in (one, two)})
    async with open_database(address(db_url, "noema")) as database:
        # As after an import that has the memory, and only the end of the log.
        await database.write(_forget_the_beginning, one)
    ana.clock.now = NOW
    await ana("update-deck", deckId=deck, preset={"desiredRetention": 0.8})
    before = await ana("get-card", cardId=one)
    seen = await ana("reschedule-cards", deckId=deck, explicit_action="RESCHEDULE_CARDS")
    assert (seen["cards"], seen["changed"], seen["unknown"]) == (2, 1, 1)
    assert await ana("get-card", cardId=one) == before
    assert (await ana("get-card", cardId=three))["state"] == "new"


def _forget_the_beginning(connection, card_id: str) -> None:
    connection.exec_driver_sql(
        f"UPDATE noema_reviews SET card_id = 999999 WHERE state = 0 AND card_id = {card_id.removeprefix('card_')}"
    )


async def test_a_card_with_a_due_date_before_its_first_answer_has_a_complete_log(ana: Learner, clock: Clock):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    await ana("set-due-date", cardIds=[card], days=0, explicit_action="SET_DUE_DATE")
    await ana("review-card", cardId=card, grade="easy")
    answered = clock.now
    clock.forward(days=1)
    await ana("update-deck", deckId=deck, preset={"desiredRetention": 0.8})
    seen = await ana("reschedule-cards", deckId=deck, explicit_action="RESCHEDULE_CARDS")
    assert (seen["changed"], seen["unknown"]) == (1, 0)
    expected = replay([(4, answered)], Preset(desired_retention=0.8), Preferences())
    assert (await ana("get-card", cardId=card))["due"] == wire(expected.due)


async def test_rescheduling_in_pages_gives_the_same_result(ana: Learner, db_url: str, monkeypatch: pytest.MonkeyPatch):
    """The whole log of a deck of 50,000 cards took 282 MB, and more in a larger one."""
    deck = await ana.deck()
    await with_history(ana, db_url, deck)
    await ana("update-deck", deckId=deck, preset={"desiredRetention": 0.8})
    at_once = await ana("preview-reschedule", deckId=deck)
    assert at_once["changed"] > 0
    monkeypatch.setattr(rescheduling, "PAGE", 7)
    assert await ana("preview-reschedule", deckId=deck) == at_once


@pytest.mark.parametrize("tool", ["plan-workload", "optimize-parameters", "preview-reschedule", "reschedule-cards"])
async def test_what_takes_long_reports_progress(ana: Learner, db_url: str, tool: str):
    deck = await ana.deck()
    await with_history(ana, db_url, deck)
    seen: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, _: str | None) -> None:
        seen.append((done, total))

    literal = {"explicit_action": "RESCHEDULE_CARDS"} if tool == "reschedule-cards" else {}
    caller = user("ana", ("*",))
    answer = await ana.app.answer(Request(tool, {"deckId": deck, **literal}, caller, ask=_agree, progress=progress))
    assert not answer.is_error, answer.text
    assert len(seen) > 0
    assert seen == sorted(seen)
    assert {total for _, total in seen} != {None}


async def _agree(_: str) -> bool:
    return True


async def test_a_card_answered_during_rescheduling_keeps_the_answer(ana: Learner, db_url: str):
    deck = await ana.deck()
    logs = await with_history(ana, db_url, deck)
    await ana("update-deck", deckId=deck, preset={"desiredRetention": 0.8})
    answered = next(iter(logs))
    async with open_database(address(db_url, "noema")) as database:
        reviewed_deck = await database.read(rescheduling.start, "ana", DeckId(deck), NOW)
        page = await database.read(rescheduling.next_page, reviewed_deck)
        assert page is not None
        reviewed_deck.add(page, None)
        changes = reviewed_deck.changes
        await ana("review-card", cardId=answered, grade="good")
        after = await ana("get-card", cardId=answered)
        applied = await database.write(rescheduling.apply, "ana", changes, NOW)
    assert len(applied) == len(changes) - 1
    assert await ana("get-card", cardId=answered) == after


async def test_fuzz_alone_moves_no_card_and_is_reproducible(db_url: str):
    clock = Clock(START)
    async with build(Settings(db=db_url, deadline=60), ClockAndRandom(clock, roll)) as app:
        ana = Learner(app, clock, "ana")
        deck = await ana.deck()
        for card in await ana.notes(deck, 20):
            await ana("review-card", cardId=card, grade="easy")
        assert len({(await ana("get-card", cardId=f"card_{n}"))["due"] for n in range(1, 21)}) > 1
        clock.now = START + DAY
        assert (await ana("preview-reschedule", deckId=deck))["changed"] == 0
        await ana("update-deck", deckId=deck, preset={"desiredRetention": 0.8})
        first, second = [await ana("preview-reschedule", deckId=deck) for _ in range(2)]
        assert first == second
        assert first["changed"] == 20
        done = await ana("reschedule-cards", deckId=deck, explicit_action="RESCHEDULE_CARDS")
        assert done == first
        assert (await ana("preview-reschedule", deckId=deck))["changed"] == 0


# ---- concurrency ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "tool"),
    [
        ((scheduling, "fit"), "optimize-parameters"),
        ((scheduling, "simulate_days"), "plan-workload"),
        ((rescheduling, "reschedule"), "preview-reschedule"),
    ],
)
async def test_long_computations_do_not_block_the_event_loop(
    ana: Learner, db_url: str, monkeypatch: pytest.MonkeyPatch, place, tool: str
):
    deck = await ana.deck()
    await with_history(ana, db_url, deck)
    work, threads = getattr(*place), set()

    def seen(*args, **kwargs):
        threads.add(threading.current_thread())
        return work(*args, **kwargs)

    monkeypatch.setattr(*place, seen)
    await ana(tool, deckId=deck)
    assert threads
    assert threading.main_thread() not in threads
