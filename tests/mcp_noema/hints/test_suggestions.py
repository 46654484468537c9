"""Suggested calls work as given, once the arguments that they name as needed are added."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App
from mcp_core.auth import Caller
from mcp_core.calling.records import Request
from mcp_core.files.folder import Folder
from mcp_noema.app import build
from mcp_noema.model import ClockAndRandom
from mcp_noema.settings import NoemaSettings
from tests.mcp_noema.learner import Clock, Learner

ANA = Caller("ana", "ana", frozenset({"*"}))
SPECS = {spec.name: spec for spec in build(NoemaSettings()).registry.get_all()}
KNOWN_TO_THE_AGENT: Mapping[str, Any] = {
    "name": "Biology",
    "front": "a new wording",
    "notes": [{"front": "cell", "back": "smallest unit of life"}],
    "cardIds": ["card_1"],
    "path": "french.apkg",
}
"""Values for needed arguments without choices."""


async def answer_to(app: App, tool: str, arguments: Mapping[str, Any], caller: Caller = ANA) -> dict[str, Any]:
    return json.loads((await app.answer(Request(tool, arguments, caller, ask=_yes))).text)


async def _yes(_: str) -> bool:
    return True


async def follow(app: App, answer: Mapping[str, Any], caller: Caller = ANA) -> list[str]:
    """Call each suggestion of an answer; the errors."""
    errors: list[str] = []
    for step in answer["agentHints"]["suggestedNextActions"]:
        needed = {
            need["name"]: need["choices"][0] if "choices" in need else KNOWN_TO_THE_AGENT[need["name"]]
            for need in step.get("needs", ())
        }
        followed = await answer_to(app, step["action"], step.get("data", {}) | needed, caller)
        if "error" in followed:
            errors.append(f"{step['action']} {step.get('data')}: {followed['error']['message']}")
    return errors


def asks(step: Mapping[str, Any]) -> bool:
    """Whether a suggestion is a call that only the user can ask for."""
    return SPECS[step["action"]].consent is not None


@pytest.mark.requirement("HIN-3", "LRN-2")
@pytest.mark.parametrize("tool", list(SPECS))
async def test_each_suggestion_after_an_example_can_be_called_as_given(
    tool: str, sqlite_collection: Path, tmp_path: Path
):
    for number, example in enumerate(SPECS[tool].examples):
        db = shutil.copy(sqlite_collection, tmp_path / f"{number}.db")
        settings = NoemaSettings(db=f"sqlite:///{db}", deadline=60, files=tmp_path)
        async with build(settings, ClockAndRandom(Clock(), None)) as app:
            assert app.prepare_examples is not None
            await app.prepare_examples(app)
            caller = Caller("anyone", grants=frozenset({"*"}))
            answer = await answer_to(app, tool, example.params, caller)
            assert "error" not in answer, answer
            assert [step["action"] for step in answer["agentHints"]["suggestedNextActions"] if asks(step)] == []
            assert await follow(app, answer, caller) == []


@pytest.mark.requirement("LRN-2")
@pytest.mark.parametrize("tool", [name for name, spec in SPECS.items() if spec.consent is not None])
async def test_without_consent_nothing_is_suggested_but_to_ask(tool: str, app: App):
    arguments = {name: value for name, value in SPECS[tool].examples[0].params.items() if name != "explicit_action"}
    for literal in ({}, {"explicit_action": "yes"}):
        answer = await answer_to(app, tool, arguments | literal)
        shown = answer["agentHints"]
        assert (shown["suggestedNextActions"], shown["contextNeeded"]) == (
            [],
            ["the user's consent to exactly this action"],
        )
        assert not any(warning["autoFixable"] for warning in shown["warnings"])
        assert SPECS[tool].consent not in json.dumps(answer)


@pytest.mark.requirement("LRN-2")
async def test_a_change_that_needs_consent_is_named_as_a_question_for_the_user(ana: Learner):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    await ana.answers(card, "easy", "good")
    await ana("update-deck", deckId=deck, preset={"desiredRetention": 0.97})
    assert (await ana("preview-reschedule", deckId=deck))["changed"] == 1
    assert ana.hints["suggestedNextActions"] == []
    assert ana.hints["contextNeeded"] == ["whether the user asks for reschedule-cards"]


FIRST_QUESTIONS = ("list-decks", "search-decks", "get-due-cards", "review-next-card", "search-cards", "get-progress")


@pytest.mark.requirement("HIN-3")
@pytest.mark.parametrize("tool", FIRST_QUESTIONS)
async def test_an_empty_collection_leads_to_a_first_deck_or_an_import(tool: str, app: App):
    app.provided(Folder).use_temporary_folder()
    bob = Caller("bob", "bob", frozenset({"*"}))
    await answer_to(app, "create-deck", {"name": "French"}, bob)
    await answer_to(app, "create-note", {"deckId": "deck_1", "front": "the cheese"}, bob)
    await answer_to(app, "export-anki", {"path": "french.apkg"}, bob)
    arguments = {"search-decks": {"words": "biology"}, "search-cards": {"query": "biology"}}.get(tool, {})
    answer = await answer_to(app, tool, arguments)
    actions = [step["action"] for step in answer["agentHints"]["suggestedNextActions"]]
    assert {"create-deck", "import-anki"} <= set(actions)
    assert await follow(app, answer) == []


async def test_when_a_limit_holds_new_cards_back_the_answer_names_it_and_how_to_continue(ana: Learner):
    deck = await ana.deck(newPerDay=3)
    cards = await ana.notes(deck, 43)
    for card in cards[:3]:
        await ana("review-card", cardId=card, grade="easy")
    data = await ana("review-next-card")
    assert "card" not in data
    sentence = "Nothing is left within today's limits: 40 new cards wait behind the limit of 'French' (newPerDay is 3)."
    assert ana.answer["message"] == sentence
    assert ana.hints["reasoning"].startswith(sentence)
    progress, more, study = ana.hints["suggestedNextActions"]
    assert progress["action"] == "get-progress"
    assert (more["action"], more["data"]) == ("update-deck", {"deckId": deck, "preset": {"newPerDay": 23}})
    assert (study["action"], study["prerequisites"]) == ("review-next-card", ["update-deck"])
    assert ana.hints["dependencies"][0]["dependsOn"] == ["update-deck"]
    await ana("update-deck", **more["data"])
    assert "card" in await ana("review-next-card", **study["data"])


async def test_limits_of_a_deck_and_of_its_parent_are_both_named(ana: Learner):
    parent, deck = await ana.deck("Languages", newPerDay=1), await ana.deck("Languages::French", newPerDay=1)
    first, *_ = await ana.notes(deck, 5)
    await ana("review-card", cardId=first, grade="easy")
    await ana("review-next-card")
    raised = [step["data"] for step in ana.hints["suggestedNextActions"] if step["action"] == "update-deck"]
    assert [data["deckId"] for data in raised] == [parent, deck]
    for data in raised:
        await ana("update-deck", **data)
    assert "card" in await ana("review-next-card")


async def test_due_cards_behind_a_limit_are_named_too(ana: Learner):
    deck = await ana.deck(reviewsPerDay=1)
    cards = await ana.notes(deck, 3)
    for card in cards:
        await ana("review-card", cardId=card, grade="easy")
    ana.clock.forward(days=30)
    shown = await ana("review-next-card")
    await ana("review-card", cardId=shown["card"]["cardId"], grade="good")
    await ana("review-next-card")
    assert "2 due cards wait behind the limit of 'French' (reviewsPerDay is 1)" in ana.answer["message"]
    assert ana.hints["suggestedNextActions"][1]["data"]["preset"] == {"reviewsPerDay": 3}


async def test_a_deck_without_cards_leads_to_its_first_notes(ana: Learner):
    await ana.notes(await ana.deck("French"))
    deck = await ana.deck("Biology")
    await ana("review-next-card", deckId=deck)
    assert ana.answer["message"] == "The deck 'Biology' has no cards yet."
    [step] = ana.hints["suggestedNextActions"]
    assert (step["action"], step["data"], step["needs"][0]["name"]) == ("create-notes", {"deckId": deck}, "notes")
