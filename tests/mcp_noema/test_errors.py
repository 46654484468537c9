"""Errors suggest a call that works, with its arguments."""

from tests.mcp_noema.learner import Learner


async def follow(learner: Learner) -> None:
    """Make the call that the last error suggests first."""
    [step, *_] = learner.hints["suggestedNextActions"]
    await learner(step["action"], **step["data"])


async def test_the_error_for_a_suspended_card_suggests_to_unsuspend_it(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    await ana("suspend-cards", cardIds=[card])
    await ana.fails("review-card", cardId=card, grade="good")
    await follow(ana)
    await ana("review-card", cardId=card, grade="good")


async def test_the_error_for_an_older_review_suggests_to_undo_the_newer(ana: Learner):
    [card] = await ana.notes(await ana.deck())
    for _ in range(2):
        await ana("review-card", cardId=card, grade="good")
        ana.clock.forward(minutes=1)
    await ana.fails("undo-review", reviewId="review_1")
    await follow(ana)
    assert (await ana("undo-review", reviewId="review_1"))["state"] == "new"


async def test_the_error_for_an_unknown_id_suggests_how_to_look_it_up(ana: Learner):
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


async def test_the_error_for_a_duplicate_suggests_the_existing_note(ana: Learner):
    deck = await ana.deck()
    await ana.notes(deck)
    await ana.fails("create-note", deckId=deck, front="question 1", back="better")
    step, _ = ana.hints["suggestedNextActions"]
    assert (await ana(step["action"], **step["data"]))["fields"]["Back"] == "better"
