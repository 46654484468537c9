"""Natural first calls of agents: they succeed, or the answer makes the next one succeed.

An object a line in tests/data/noema_first_calls.jsonl: why it is natural, the tool and the arguments. An agent corrects
a call once: it follows the first suggestion, with a sensible value for what that needs.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from mcp_noema.app import build
from mcp_noema.model import ClockAndRandom
from mcp_noema.settings import NoemaSettings
from tests.mcp_noema.learner import Clock, Learner

FILE = Path(__file__).parents[1] / "data" / "noema_first_calls.jsonl"
CALLS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
LEAST = 22
SENSIBLE: dict[str, Any] = {
    "cardId": "card_1",
    "deckId": "deck_2",
    "front": "the bread",
    "limit": 100,
    "tags": ["food"],
    "cardIds": ["card_1"],
    "query": "deck:Languages::French",
    "name": "timezone",
    "grade": "good",
    "preset": {"desiredRetention": 0.92},
}
"""The values that an agent gives that reads the message and the description."""
WITH_A_GAP = "{{c1::Paris}} is in France."


async def outcome(call: dict[str, Any]) -> str:
    """`succeeds`, `corrected`, or the message that did not help."""
    async with build(NoemaSettings(db="sqlite:///:memory:", deadline=60), ClockAndRandom(Clock(), None)) as app:
        ana = Learner(app, Clock(), "ana")
        await ana.deck("Languages")
        deck = await ana.deck("Languages::French")
        await ana.notes(deck, 3)
        await ana("create-note", deckId=deck, front="the cheese", back="le fromage")
        if not await ana._call(call["tool"], call["arguments"]):
            return "succeeds"
        message = ana.answer["error"]["message"]
        for step in ana.hints["suggestedNextActions"][:1]:
            sensible = SENSIBLE | ({"front": WITH_A_GAP} if step.get("data", {}).get("kind") == "cloze" else {})
            needed = {need["name"]: sensible[need["name"]] for need in step.get("needs", ())}
            if step["action"] == call["tool"] or step["category"] == "correction":
                failed = await ana._call(step["action"], step.get("data", {}) | needed)
                return message if failed else "corrected"
        return message


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    async def all_of_them() -> dict[str, str]:
        return {call["why"]: await outcome(call) for call in CALLS}

    return asyncio.run(all_of_them())


def test_natural_first_calls_succeed_or_are_corrected_in_one_step(outcomes: dict[str, str]):
    failed = {why: result for why, result in outcomes.items() if result not in ("succeeds", "corrected")}
    assert len(outcomes) >= 25
    assert len(outcomes) - len(failed) >= LEAST, failed


def test_what_the_server_understands_itself_needs_no_second_call(outcomes: dict[str, str]):
    understood = (
        *("the name of the deck as its id", "the full name of the deck, in other case"),
        *("a grade in capitals", "a grade by number, as in Anki", "a number as text", "one of three grades"),
        "one note that is not valid",
    )
    assert {why: outcomes[why] for why in understood} == dict.fromkeys(understood, "succeeds")
