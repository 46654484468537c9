"""Reading a card, and searching."""

from tests.mcp_noema.learner import MONDAY, Learner


async def test_a_card_shows_all_that_is_known_about_it(ana: Learner):
    deck = await ana.deck()
    made = await ana(
        "create-note",
        deckId=deck,
        front="{{c1::Paris}} is <b>in</b> {{c2::France}}",
        back='<img src="map.png">',
        kind="cloze",
        tags=["geo"],
    )
    first, second = made["cardIds"]
    await ana("review-card", cardId=first, grade="easy")
    card = await ana("get-card", cardId=first)
    assert card == {
        "cardId": first,
        "noteId": made["noteId"],
        "deckId": deck,
        "deck": "French",
        "front": "[...] is in France",
        "back": "Paris is in France\n[image: map.png]",
        "kind": "Cloze",
        "fields": {"Text": "{{c1::Paris}} is <b>in</b> {{c2::France}}", "Back Extra": '<img src="map.png">'},
        "tags": ["geo"],
        "siblings": [second],
        "state": "review",
        "suspended": False,
        "buried": False,
        "due": "2026-11-24T09:00:00Z",
        "lastReview": "2026-11-16T09:00:00Z",
        "stability": card["stability"],
        "difficulty": card["difficulty"],
        "recall": 1.0,
        "reps": 1,
        "lapses": 0,
        "createdAt": "2026-11-16T09:00:00Z",
        "media": ["map.png"],
    }
    assert ana.hints["suggestedNextActions"] == []
    assert ana.hints["reasoning"].startswith("The card is due in 8d. ")
    assert (await ana("get-card", cardId=second))["buried"]


async def test_the_suggestions_for_a_card_depend_on_its_state(ana: Learner):
    deck = await ana.deck(leechThreshold=1)
    [card] = await ana.notes(deck)

    async def steps() -> list[tuple[str, dict[str, object]]]:
        await ana("get-card", cardId=card)
        return [(step["action"], step["data"]) for step in ana.hints["suggestedNextActions"]]

    assert await steps() == []
    await ana.answers(card, "easy")
    assert await steps() == [("review-card", {"cardId": card, "idempotencyKey": f"{card}-2"})]
    assert 0 < ana.answer["data"]["recall"] < 1
    assert 0 < ana.hints["estimatedImpact"]["benefit"] < 1
    assert ana.hints["estimatedImpact"]["effort"] == round(5000 / 60_000, 4)
    await ana("review-card", cardId=card, grade="again")
    assert await steps() == [("update-note", {"noteId": "note_1"})]
    assert [warning["message"] for warning in ana.hints["warnings"]] == ["The card is a leech: forgotten 1 time."]
    await ana("suspend-cards", cardIds=[card])
    assert await steps() == [
        ("suspend-cards", {"cardIds": [card], "suspend": False}),
        ("update-note", {"noteId": "note_1"}),
    ]


async def test_the_card_of_another_user_is_not_found(ana: Learner, bob: Learner):
    [card] = await ana.notes(await ana.deck())
    missing = (
        "NotFoundError",
        f"Card {card} was not found. get-due-cards and search-cards show your cards with their ids.",
    )
    assert await bob.fails("get-card", cardId=card) == missing
    assert await bob.fails("get-card", cardId="card_none") == (
        "NotFoundError",
        "Card card_none was not found. get-due-cards and search-cards show your cards with their ids.",
    )


async def test_a_page_of_cards_suggests_the_next_page(ana: Learner):
    deck = await ana.deck()
    cards = await ana.notes(deck, 5)
    found = await ana("search-cards", query='deck:french "question"', limit=2, offset=2, sortOrder="desc")
    assert found == {
        "cards": [
            {
                "cardId": cards[number],
                "noteId": f"note_{number + 1}",
                "front": f"question {number + 1}",
                "deck": "French",
                "state": "new",
                "due": None,
            }
            for number in (2, 1)
        ],
        "total": 5,
    }
    assert ana.hints["suggestedNextActions"] == [
        {
            "action": "search-cards",
            "priority": "medium",
            "data": {"query": 'deck:french "question"', "sortOrder": "desc", "limit": 2, "offset": 4},
            "description": "Show more: 1 is left.",
            "category": "exploration",
        },
        {
            "action": "get-card",
            "priority": "medium",
            "data": {"cardId": cards[2]},
            "description": "Shows the first of them in full.",
            "category": "exploration",
        },
    ]
    assert ana.hints["confidence"] == 1.0
    assert [resource["id"] for resource in ana.hints["relatedResources"]] == [cards[2], cards[1]]


async def test_suspended_and_buried_cards_say_so(ana: Learner):
    deck = await ana.deck()
    suspended, buried = await ana.notes(deck, 2)
    await ana("suspend-cards", cardIds=[suspended])
    await ana("bury-cards", cardIds=[buried])
    found = await ana("search-cards", query="")
    assert [(card["cardId"], card.get("suspended"), card.get("buried")) for card in found["cards"]] == [
        (suspended, True, None),
        (buried, None, True),
    ]
    await ana("search-cards", query="is:suspended")
    assert [step["action"] for step in ana.hints["suggestedNextActions"]] == ["get-card"]


async def test_long_fronts_are_cut(ana: Learner):
    deck = await ana.deck()
    await ana("create-note", deckId=deck, front="word " * 100 + "<br>second line", back="")
    [card] = (await ana("search-cards", query="second"))["cards"]
    assert card["front"] == ("word " * 100)[:79].rstrip() + "…"


async def test_a_search_without_matches_suggests_a_broader_one(ana: Learner):
    deck = await ana.deck()
    await ana.notes(deck)
    assert await ana("search-cards", query="(question or answer) is:new is:due") == {"cards": [], "total": 0}
    [step] = ana.hints["suggestedNextActions"]
    assert (step["action"], step["data"]) == ("search-cards", {"query": "(question OR answer) is:new"})
    assert (await ana("search-cards", **step["data"]))["total"] == 1
    await ana("search-cards", query="nothing")
    assert [step["action"] for step in ana.hints["suggestedNextActions"]] == ["list-decks"]


async def test_cards_come_in_the_requested_order(ana: Learner):
    deck = await ana.deck()
    easy, hard, new = await ana.notes(deck, 3)
    await ana("review-card", cardId=easy, grade="easy")
    await ana("review-card", cardId=hard, grade="again")
    ana.clock.now = MONDAY.replace(day=17)
    await ana("update-note", noteId="note_1", back="edited")

    async def order(by: str, order: str = "asc") -> list[str]:
        found = await ana("search-cards", query="", sortBy=by, sortOrder=order)
        return [card["cardId"] for card in found["cards"]]

    assert {by: await order(by) for by in ("created", "position", "due", "stability", "difficulty", "edited")} == {
        "created": [easy, hard, new],
        "position": [easy, hard, new],
        # A card without such a number comes last in both directions.
        "due": [hard, easy, new],
        "stability": [hard, easy, new],
        "difficulty": [easy, hard, new],
        "edited": [hard, new, easy],
    }
    assert await order("due", "desc") == [easy, hard, new]
    assert await order("lapses", "desc") == [new, hard, easy]
