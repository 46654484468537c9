"""Decks: subdecks, inherited presets, and what is deleted with a deck."""

import asyncio

import pytest

from tests.mcp_noema.learner import Learner

EMPTY = {"description": "", "cards": 0, "new": 0, "learning": 0, "due": 0, "suspended": 0}
DEFAULTS = {
    "desiredRetention": 0.9,
    "learningSteps": ["1m", "10m"],
    "relearningSteps": ["10m"],
    "maximumInterval": 36500,
    "newPerDay": 20,
    "reviewsPerDay": 200,
    "leechThreshold": 8,
    "burySiblings": True,
    "parameters": None,
}


async def names(learner: Learner) -> list[str]:
    return [deck["name"] for deck in (await learner("list-decks"))["decks"]]


async def test_a_deck_is_created_with_its_parents(ana: Learner):
    made = await ana("create-deck", name=" Languages :: French ", description="For the summer")
    assert made == {
        **EMPTY,
        "deckId": "deck_2",
        "name": "Languages::French",
        "description": "For the summer",
        "preset": DEFAULTS,
        "createdAt": "2026-11-16T09:00:00Z",
    }
    assert await names(ana) == ["Languages", "Languages::French"]
    assert await ana("get-deck", deckId="deck_2") == made


@pytest.mark.parametrize("name", ["", "   ", "A::", "::A", "A:: ::B", "x" * 256])
async def test_an_invalid_name_is_an_error(ana: Learner, name: str):
    error, message = await ana.fails("create-deck", name=name)
    assert error == "ValidationError"
    assert "name" in message
    assert await names(ana) == []


async def test_two_decks_of_a_user_never_have_the_same_name(ana: Learner, bob: Learner):
    await ana("create-deck", name="Größe")
    assert await ana.fails("create-deck", name="GRÖSSE") == (
        "ConflictError",
        "The deck 'Größe' already exists: deck_1. Use it, or choose another name.",
    )
    assert (await bob("create-deck", name="Größe"))["deckId"] == "deck_2"


async def test_one_of_several_concurrent_creations_succeeds(ana: Learner):
    async def attempt() -> bool:
        answer = await ana.app.call("create-deck", {"name": "French"}, ana._caller)
        return answer.is_error

    assert sorted(await asyncio.gather(*(attempt() for _ in range(8)))) == [False] + [True] * 7
    assert await names(ana) == ["French"]


async def test_the_deck_of_another_user_is_not_found(ana: Learner, bob: Learner):
    deck = await ana.deck()
    missing = ("NotFoundError", f"Deck {deck} was not found. list-decks shows your decks with their ids.")
    assert await bob.fails("get-deck", deckId=deck) == missing
    assert await bob.fails("update-deck", deckId=deck, name="Mine") == missing
    assert await bob.fails("delete-deck", deckId=deck, explicit_action="DELETE_DECK") == missing
    assert await bob.fails("create-note", deckId=deck, front="a") == missing
    assert await bob.fails("get-due-cards", deckId=deck) == missing
    assert await names(bob) == []
    assert await names(ana) == ["French"]


async def test_a_preset_is_inherited_until_a_deck_sets_its_own(ana: Learner):
    outer = await ana.deck("A", desiredRetention=0.95, newPerDay=7, learningSteps=["30s", "5m", "1d"])
    inner = await ana.deck("A::B::C", newPerDay=3)
    preset = (await ana("get-deck", deckId=inner))["preset"]
    assert preset == DEFAULTS | {"desiredRetention": 0.95, "newPerDay": 3, "learningSteps": ["30s", "5m", "1d"]}
    await ana("update-deck", deckId=outer, preset={"desiredRetention": 0.85, "newPerDay": 1})
    assert (await ana("get-deck", deckId=inner))["preset"] == preset | {"desiredRetention": 0.85}


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ({"desiredRetention": 1.0}, "less than or equal to 0.99"),
        ({"learningSteps": ["10m", "1m"]}, "must not get shorter"),
        ({"learningSteps": ["soon"]}, "learningSteps"),
        ({"newPerDay": -1}, "newPerDay"),
        ({"unknown": 1}, "unknown"),
    ],
)
async def test_an_invalid_preset_is_an_error(ana: Learner, preset: dict[str, object], words: str):
    deck = await ana.deck()
    error, message = await ana.fails("update-deck", deckId=deck, preset=preset)
    assert error == "ValidationError"
    assert words in message
    assert (await ana("get-deck", deckId=deck))["preset"] == DEFAULTS


async def test_an_update_without_changes_is_an_error(ana: Learner):
    deck = await ana.deck()
    for nothing in ({}, {"preset": {}}):
        error, message = await ana.fails("update-deck", deckId=deck, **nothing)
        assert (error, message) == ("ValidationError", "Nothing to update: give a name, a description or a preset.")


async def test_subdecks_follow_a_new_name_and_keep_their_cards(ana: Learner):
    outer = await ana.deck("A")
    inner = await ana.deck("A::B")
    await ana.notes(inner)
    renamed = await ana("update-deck", deckId=outer, name="X::Y")
    assert (renamed["name"], renamed["new"]) == ("X::Y", 1)
    assert await names(ana) == ["X", "X::Y", "X::Y::B"]
    changed_case = await ana("update-deck", deckId=outer, name="x::y")
    assert changed_case["name"] == "x::y"
    assert await names(ana) == ["X", "x::y", "x::y::B"]


async def test_a_deck_cannot_be_moved_into_itself_or_over_another(ana: Learner):
    a, _ = await ana.deck("A"), await ana.deck("A::B")
    await ana.deck("C::B")
    assert (await ana.fails("update-deck", deckId=a, name="A::B::A"))[1] == (
        "'A' cannot be moved into itself as 'A::B::A'. Choose a name outside of it."
    )
    assert (await ana.fails("update-deck", deckId=a, name="C"))[0] == "ConflictError"
    assert await names(ana) == ["A", "A::B", "C", "C::B"]


async def test_decks_are_found_by_words_in_name_or_description(ana: Learner):
    await ana("create-deck", name="Languages::French", description="For the summer")
    await ana("create-deck", name="Maths")
    assert [deck["name"] for deck in (await ana("search-decks", words="SUMMER french"))["decks"]] == [
        "Languages::French"
    ]
    assert (await ana("search-decks", words="winter"))["decks"] == []
    assert [step["action"] for step in ana.hints["suggestedNextActions"]] == ["list-decks", "create-deck"]


async def test_a_deck_is_deleted_with_its_contents_and_nothing_else(ana: Learner):
    outer, other = await ana.deck("A"), await ana.deck("Other")
    inner = await ana.deck("A::B")
    await ana.notes(inner, 2)
    await ana("create-note", deckId=other, front="stays")
    reviewed = (await ana("review-next-card", deckId=inner))["card"]["cardId"]
    await ana("review-card", cardId=reviewed, grade="good")
    gone = await ana("delete-deck", deckId=outer, explicit_action="DELETE_DECK")
    assert gone == {"deleted": outer, "name": "A", "decks": 2, "notes": 2, "cards": 2}
    assert await names(ana) == ["Other"]
    assert (await ana("get-due-cards"))["remaining"]["new"] == 1
    assert (await ana("get-review-history"))["total"] == 1


async def test_nothing_is_deleted_without_the_explicit_literal(ana: Learner):
    deck = await ana.deck()
    for words in ({}, {"explicit_action": "yes"}, {"explicit_action": "delete_deck"}):
        error, message = await ana.fails("delete-deck", deckId=deck, **words)
        assert error == "ValidationError"
        assert "explicit_action" in message
    assert await names(ana) == ["French"]


async def test_hints_lead_from_an_empty_collection_to_the_first_card(ana: Learner):
    await ana("list-decks")
    assert ana.hints["suggestedNextActions"][0]["action"] == "create-deck"
    deck = await ana.deck()
    await ana("get-deck", deckId=deck)
    assert ana.hints["suggestedNextActions"][0]["action"] == "create-notes"
    await ana.notes(deck)
    assert ana.hints["suggestedNextActions"][0]["action"] == "review-next-card"
    await ana("list-decks")
    assert ana.hints["suggestedNextActions"][0]["data"] == {"deckId": deck}


# --- by name -----------------------------------------------------------------------------------------------


async def test_a_deck_may_be_given_by_its_name_where_that_is_unique(ana: Learner):
    french, spanish = await ana.deck("Languages::French"), await ana.deck("Languages::Spanish")
    for name in ("Languages::French", "languages :: french", "French", " french "):
        assert (await ana("get-deck", deckId=name))["deckId"] == french
    await ana("create-note", deckId="Spanish", front="el queso")
    assert (await ana("get-due-cards", deckId="spanish"))["cards"][0]["deck"] == "Languages::Spanish"
    assert (await ana("update-note", noteId="note_1", deckId="French"))["deckId"] == french
    await ana.deck("Old::Spanish")
    kind, message = await ana.fails("get-deck", deckId="Spanish")
    assert (kind, message) == (
        "ConflictError",
        f"2 decks are named 'Spanish': 'Languages::Spanish' ({spanish}), 'Old::Spanish' (deck_5). Give the id of one.",
    )


async def test_an_unknown_name_of_a_deck_gives_the_nearest_ones(ana: Learner, bob: Learner):
    french = await ana.deck("Languages::French")
    missing = f"No deck is named 'Frnch'. Did you mean 'Languages::French' ({french})? list-decks shows your decks with"
    assert (await ana.fails("get-deck", deckId="Frnch"))[1].startswith(missing)
    assert (await bob.fails("get-deck", deckId="French"))[0] == "NotFoundError"
    assert await ana.fails("get-deck", deckId="") != await ana.fails("get-deck", deckId="x" * 300)
