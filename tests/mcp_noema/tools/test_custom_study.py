"""Studying by a query, ahead of time, the weakest first and as a preview."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_noema.learner import Clock, Learner, open_app


async def quiz(ana: Learner, **study: Any) -> list[str]:
    """The cards that a study shows, each of them graded good, as the suggestions say."""
    data, seen = await ana("review-next-card", **study), list[str]()
    while "card" in data:
        seen.append(data["card"]["cardId"])
        [step] = ana.hints["suggestedNextActions"]
        assert step["action"] == "review-card"
        answered = await ana("review-card", grade="easy", **step["data"])
        data = answered.get("next", {})
    return seen


async def test_a_quiz_by_tag_asks_all_its_waiting_cards_beyond_the_daily_limits_and_no_other(ana: Learner):
    deck = await ana.deck(newPerDay=1)
    await ana.notes(deck, 2)
    notes = [{"front": f"exam {number}", "tags": ["exam"]} for number in range(3)]
    made = await ana("create-notes", deckId=await ana.deck("Exam", newPerDay=1), notes=notes)
    exam = [card for outcome in made["outcomes"] for card in outcome["cardIds"]]
    assert await quiz(ana, query="tag:exam") == exam
    assert ana.answer["message"] == ("Nothing waits among the 3 cards that match; preview or ahead shows them anyway.")
    assert (await ana("get-due-cards", deckId=deck))["remaining"]["new"] == 1


async def test_ahead_also_asks_what_is_due_within_those_days_and_only_once(ana: Learner):
    deck = await ana.deck()
    cards = await ana.notes(deck, 3)
    for card in cards[:2]:
        await ana("review-card", cardId=card, grade="easy")
    ana.clock.forward(days=2)
    assert "card" not in await ana("review-next-card", deckId=deck, query="-is:new")
    assert "card" not in await ana("review-next-card", deckId=deck, ahead=3)
    assert await quiz(ana, deckId=deck, ahead=10) == cards[:2]
    assert (await ana("get-card", cardId=cards[2]))["state"] == "new"


async def test_the_weakest_cards_come_first(ana: Learner):
    strong, weak, new = await ana.notes(await ana.deck(), 3)
    await ana("review-card", cardId=strong, grade="easy")
    await ana("review-card", cardId=weak, grade="good")
    ana.clock.forward(days=30)
    weakest = [card["cardId"] for card in (await ana("predict-retention"))["weakest"]]
    assert await quiz(ana, order="weakest") == [*weakest, new] == [weak, strong, new]


def rows(file: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(file)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}


@pytest.mark.requirement("LRN-3")
async def test_a_preview_goes_through_all_cards_and_changes_nothing(sqlite_collection: Path, tmp_path: Path):
    file = Path(shutil.copy(sqlite_collection, tmp_path / "noema.db"))
    clock = Clock()
    async with open_app(f"sqlite:///{file}", clock) as app:
        ana = Learner(app, clock, "ana")
        cards = await ana.notes(await ana.deck(), 4, tags=["exam"])
        await ana("review-card", cardId=cards[0], grade="easy")
        await ana("suspend-cards", cardIds=[cards[3]])
        before, seen, study = rows(file), [], {"query": "tag:exam", "preview": True}
        while study:
            data = await ana("review-next-card", **study)
            seen.append((data["card"]["cardId"], data["card"]["back"], data["shown"], data["of"]))
            assert "Do not call review-card" in ana.answer["instruction"]
            steps = ana.hints["suggestedNextActions"]
            assert {step["action"] for step in steps} <= {"review-next-card"}
            study = steps[0]["data"] if steps else {}
        assert sorted(seen, key=lambda one: one[2]) == seen
        assert {card for card, *_ in seen} == set(cards[:3])
        assert "card" not in await ana("review-next-card", query="tag:exam", preview=True, skip=3)
        assert rows(file) == before
