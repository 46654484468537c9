"""An error does not end the talk: its hints name the call that leads on, ready to be made."""

from tests.mcp_noema.learner import Learner


async def follow(learner: Learner) -> None:
    """Make the call that the last error suggests first."""
    [step, *_] = learner.hints["suggestedNextActions"]
    await learner(step["action"], **step["data"])


async def test_a_suspended_card_is_brought_back_by_what_its_refusal_suggests(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    await ana("suspend-cards", cardIds=[card])
    await ana.fails("review-card", cardId=card, grade="good")
    await follow(ana)
    await ana("review-card", cardId=card, grade="good")


async def test_a_newer_review_is_taken_back_first_as_suggested(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    for _ in range(2):
        await ana("review-card", cardId=card, grade="good")
        ana.clock.forward(minutes=1)
    await ana.fails("undo-review", reviewId="review_1")
    await follow(ana)
    assert (await ana("undo-review", reviewId="review_1"))["state"] == "new"


async def test_what_is_not_there_can_be_looked_up(ana: Learner):
    await ana.notes(await ana.deck())
    for tool, arguments in (
        ("get-deck", {"deckId": "deck_9"}),
        ("get-card", {"cardId": "card_9"}),
        ("update-note", {"noteId": "note_9", "front": "x"}),
        ("undo-review", {"reviewId": "review_9"}),
        ("suspend-cards", {"query": "tag:none-such"}),
    ):
        assert (await ana.fails(tool, **arguments))[0] == "NotFoundError"
        assert ana.answer["instruction"].startswith("Consider looking up the id")
        await follow(ana)


async def test_a_duplicate_leads_to_the_note_that_is_there(ana: Learner):
    deck = await ana.deck()
    await ana.notes(deck)
    await ana.fails("create-note", deckId=deck, front="question 1", back="better")
    [step] = ana.hints["suggestedNextActions"]
    assert (await ana(step["action"], **step["data"], back="better"))["fields"]["Back"] == "better"
