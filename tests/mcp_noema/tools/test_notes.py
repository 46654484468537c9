"""Notes: their cards, duplicates, and what a change does to the cards."""

import pytest

from tests.mcp_noema.learner import Learner


async def test_a_note_makes_its_cards_and_says_which(ana: Learner):
    deck = await ana.deck()
    made = await ana("create-note", deckId=deck, front="the bread", back="le pain", tags=["food"])
    assert made == {
        "noteId": "note_1",
        "deckId": deck,
        "kind": "Basic",
        "fields": {"Front": "the bread", "Back": "le pain"},
        "tags": ["food"],
        "cardIds": ["card_1"],
    }
    both = await ana("create-note", deckId=deck, front="the milk", back="le lait", kind="basic-reversed")
    assert both["cardIds"] == ["card_2", "card_3"]
    gaps = await ana("create-note", deckId=deck, front="{{c1::Paris}} is in {{c2::France}}, {{c1::yes}}", kind="cloze")
    assert gaps["cardIds"] == ["card_4", "card_5"]


async def test_plain_text_is_shown_as_it_was_written(ana: Learner):
    deck = await ana.deck()
    await ana("create-note", deckId=deck, front="if a < b && c > d", back="x <y> & z\nsecond line")
    card = (await ana("review-next-card"))["card"]
    assert (card["front"], card["back"]) == ("if a < b && c > d", "x <y> & z\nsecond line")


async def test_a_duplicate_front_is_a_conflict_unless_it_is_allowed(ana: Learner, bob: Learner):
    deck = await ana.deck()
    await ana("create-note", deckId=deck, front="the bread")
    there = "note_1 already has this front."
    for same in ("the bread", " The  Bread ", "<b>the bread</b>"):
        assert await ana.fails("create-note", deckId=deck, front=same) == (
            "ConflictError",
            f"{there} Change it with update-note, or set allowDuplicate to true.",
        )
    assert (await ana("create-note", deckId=deck, front="the bread", allowDuplicate=True))["noteId"] == "note_2"
    assert (await bob("create-note", deckId=await bob.deck(), front="the bread"))["noteId"] == "note_3"


async def test_each_note_has_its_own_outcome(ana: Learner):
    deck = await ana.deck()
    await ana("create-note", deckId=deck, front="one")
    made = await ana(
        "create-notes",
        deckId=deck,
        notes=[
            {"front": "two"},
            {"front": "ONE"},
            {"front": "no gap here", "kind": "cloze"},
            {"front": "three", "kind": "basic-reversed", "back": "drei"},
            {"front": "Two"},
        ],
    )
    assert made == {
        "created": 2,
        "cards": 3,
        "outcomes": [
            {"index": 0, "status": "created", "noteId": "note_2", "cardIds": ["card_2"]},
            {"index": 1, "status": "duplicate", "noteId": "note_1"},
            {
                "index": 2,
                "status": "invalid",
                "error": "the text has no gap; write {{c1::answer}} around the part to ask for",
            },
            {"index": 3, "status": "created", "noteId": "note_3", "cardIds": ["card_3", "card_4"]},
            {"index": 4, "status": "duplicate", "noteId": "note_2"},
        ],
    }
    assert ana.hints["confidence"] == 0.4
    assert [warning["type"] for warning in ana.hints["warnings"]] == ["duplicate", "validation"]


async def test_five_hundred_at_once_and_not_one_more(ana: Learner):
    deck = await ana.deck()
    notes = [{"front": f"question {n}", "kind": "basic-reversed", "back": "b"} for n in range(500)]
    made = await ana("create-notes", deckId=deck, notes=notes)
    assert (made["created"], made["cards"]) == (500, 1000)
    error, message = await ana.fails("create-notes", deckId=deck, notes=[*notes, {"front": "one more"}])
    assert error == "ValidationError"
    assert "500" in message


@pytest.mark.parametrize(
    "wrong",
    [
        {"front": ""},
        {"front": "   "},
        {"front": "a", "kind": "image"},
        {"front": "a", "tags": ["two words"]},
        {"front": "a", "tags": [""]},
        {"front": "a\0b"},
        {"front": "x" * 100_001},
        {"front": "&nbsp;<br>"},
    ],
)
async def test_an_invalid_note_is_an_error_and_creates_nothing(ana: Learner, wrong: dict[str, object]):
    deck = await ana.deck()
    assert (await ana.fails("create-note", deckId=deck, **wrong))[0] == "ValidationError"
    assert (await ana("get-deck", deckId=deck))["cards"] == 0


async def test_a_correction_keeps_the_schedule(ana: Learner):
    deck = await ana.deck()
    [card] = await ana.notes(deck)
    await ana.answers(card, "good", "good")
    before = await ana("get-card", cardId=card)
    changed = await ana("update-note", noteId="note_1", back="another", tags=["new::tag"])
    assert changed == {
        "noteId": "note_1",
        "deckId": deck,
        "kind": "Basic",
        "fields": {"Front": "question 1", "Back": "another"},
        "tags": ["new::tag"],
        "cardIds": [card],
        "cardsAdded": [],
        "cardsRemoved": [],
        "cardsSuspended": [],
    }
    expected = {"back": "another", "tags": ["new::tag"], "fields": changed["fields"]}
    assert await ana("get-card", cardId=card) == before | expected


async def test_cards_follow_the_gaps_and_an_answered_one_is_not_lost(ana: Learner):
    deck = await ana.deck(burySiblings=False)
    text = "{{c1::one}} {{c2::two}} {{c3::three}}"
    first, second, third = (await ana("create-note", deckId=deck, front=text, kind="cloze"))["cardIds"]
    await ana("review-card", cardId=second, grade="good")
    changed = await ana("update-note", noteId="note_1", front="{{c1::one}} {{c4::four}}")
    assert changed["cardsAdded"] == ["card_4"]
    assert (changed["cardsRemoved"], changed["cardsSuspended"]) == ([third], [second])
    assert changed["cardIds"] == [first, second, "card_4"]
    assert ana.hints["warnings"][0]["relatedIds"] == [second]
    error, message = await ana.fails("update-note", noteId="note_1", front="no gap any more")
    assert (error, message) == (
        "ValidationError",
        "Nothing was changed: the text has no gap; write {{c1::answer}} around the part to ask for.",
    )


async def test_fields_are_changed_by_name(ana: Learner):
    await ana.notes(await ana.deck())
    changed = await ana("update-note", noteId="note_1", fields={"front": "Why?", "BACK": "Because."})
    assert changed["fields"] == {"Front": "Why?", "Back": "Because."}
    assert await ana.fails("update-note", noteId="note_1", fields={"Middle": "x"}) == (
        "ValidationError",
        "The note has no field 'Middle'; its fields are Front, Back.",
    )


async def test_a_repeated_tag_is_stored_once(ana: Learner):
    made = await ana("create-note", deckId=await ana.deck(), front="a", tags=["Food", "food", "drink"])
    assert made["tags"] == ["Food", "drink"]


async def test_cards_move_with_their_note(ana: Learner):
    here, there = await ana.deck("Here"), await ana.deck("There")
    await ana.notes(here)
    assert (await ana("update-note", noteId="note_1", deckId=there))["deckId"] == there
    assert (await ana("get-deck", deckId=here))["cards"] == 0
    assert (await ana("get-deck", deckId=there))["new"] == 1


async def test_the_note_of_another_user_is_not_found(ana: Learner, bob: Learner):
    await ana.notes(await ana.deck())
    missing = "Note note_1 was not found. search-cards finds notes by their text and shows their ids."
    assert await bob.fails("update-note", noteId="note_1", front="mine") == ("NotFoundError", missing)
    assert await bob.fails("delete-note", noteId="note_1", explicit_action="DELETE_NOTE") == ("NotFoundError", missing)


async def test_a_note_can_be_moved_only_to_a_deck_of_the_same_user(ana: Learner, bob: Learner):
    await ana.notes(await ana.deck())
    his = await bob.deck()
    assert (await ana.fails("update-note", noteId="note_1", deckId=his))[0] == "NotFoundError"


async def test_a_note_is_deleted_with_its_cards(ana: Learner):
    await ana.notes(await ana.deck(), kind="basic-reversed")
    assert await ana("delete-note", noteId="note_1", explicit_action="DELETE_NOTE") == {"deleted": "note_1", "cards": 2}
    assert (await ana("get-due-cards"))["remaining"]["new"] == 0
    assert (await ana.fails("delete-note", noteId="note_1", explicit_action="DELETE_NOTE"))[0] == "NotFoundError"
    # Its number is not used again.
    assert (await ana("create-note", deckId="deck_1", front="another"))["noteId"] == "note_2"


async def test_one_note_that_is_not_valid_leaves_the_others_created(ana: Learner):
    deck = await ana.deck()
    notes = [{"front": "", "back": "x"}, {"front": "the bread", "back": "le pain"}, {"frnt": "typo"}, {"front": "one"}]
    made = await ana("create-notes", deckId=deck, notes=notes)
    assert [outcome["status"] for outcome in made["outcomes"]] == ["invalid", "created", "invalid", "created"]
    assert made["outcomes"][0]["error"] == "front: String should have at least 1 character"
    assert "frnt" in made["outcomes"][2]["error"]
    assert (made["created"], (await ana("search-cards"))["total"]) == (2, 2)


async def test_a_front_that_exists_leads_to_the_call_that_was_meant(ana: Learner):
    deck = await ana.deck()
    await ana("create-note", deckId=deck, front="the bread", back="le pan")
    await ana.fails("create-note", deckId=deck, front="the bread", back="le pain", tags=["food"])
    change, another = ana.hints["suggestedNextActions"]
    note = await ana(change["action"], **change["data"])
    assert (note["fields"], note["tags"]) == ({"Front": "the bread", "Back": "le pain"}, ["food"])
    assert (await ana(another["action"], **another["data"]))["noteId"] == "note_2"
