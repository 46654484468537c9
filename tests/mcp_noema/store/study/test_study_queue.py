"""The study queue with many cards in a deck, many cards of a note, and many decks."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from mcp_core.db import address, open_database
from mcp_noema.model import Deck
from mcp_noema.store.study.daily_limits import DailyLimits, StudiedCounts
from mcp_noema.store.tables import cards, decks
from tests.mcp_noema.learner import MONDAY, Clock, Learner


async def add_notes(ana: Learner, deck: str, count: int) -> None:
    """Notes with one card each: card_1 and so on."""
    drafts = [{"front": f"question {number}"} for number in range(count)]
    for start in range(0, count, 500):
        await ana("create-notes", deckId=deck, notes=drafts[start : start + 500])


async def execute(db_url: str, *statements: Any) -> None:
    """Change the database directly, where calls would take long."""

    def change(connection: Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    async with open_database(address(db_url, "noema")) as database:
        await database.write(change)


def due_since(days: int) -> Any:
    """Make all cards review cards that have been due for some days."""
    then = MONDAY - timedelta(days=days)
    known = {
        "queue": 2,
        "state": 2,
        "stability": 10.0,
        "difficulty": 5.0,
        "reps": 5,
        "last_review": then - timedelta(9),
    }
    return sa.update(cards).values(due=then, **known)


@pytest.mark.parametrize(
    ("limit", "remaining", "backlog"),
    [
        (200, 200, 900),
        (50, 50, 1000),
        # The highest value, which means no limit.
        (9999, 1000, 0),
    ],
)
async def test_counting_stops_at_a_thousand(ana: Learner, db_url: str, limit: int, remaining: int, backlog: int):
    deck = await ana.deck(reviewsPerDay=limit)
    await add_notes(ana, deck, 1100)
    await execute(db_url, due_since(1))
    queue = await ana("get-due-cards", limit=3)
    assert (queue["remaining"]["due"], queue["backlog"]) == (remaining, backlog)
    assert [card["cardId"] for card in queue["cards"]] == ["card_1", "card_2", "card_3"]


async def test_siblings_do_not_replace_other_cards(ana: Learner):
    deck = await ana.deck(newPerDay=30)
    cards_of_notes = await ana.notes(deck, 40, kind="basic-reversed")
    queue = await ana("get-due-cards", limit=25)
    assert [card["cardId"] for card in queue["cards"]] == cards_of_notes[: 2 * 25 : 2]
    assert queue["remaining"] == {"new": 30, "learning": 0, "due": 0}


async def test_siblings_are_shown_if_the_deck_does_not_bury_them(ana: Learner):
    deck = await ana.deck(newPerDay=30, burySiblings=False)
    cards_of_notes = await ana.notes(deck, 20, kind="basic-reversed")
    queue = await ana("get-due-cards", limit=25)
    assert [card["cardId"] for card in queue["cards"]] == cards_of_notes[:25]
    assert queue["remaining"]["new"] == 30


async def test_hundreds_of_decks_are_one_queue(ana: Learner, db_url: str, clock: Clock):
    deck = await ana.deck()
    await add_notes(ana, deck, 300)
    one = {"user_id": 1, "description": "", "preset": {}, "created_at": clock.now}
    names = [{"name": f"Deck {number}", "name_key": f"deck {number}"} for number in range(300)]
    # Card 1 in deck 301, and so on: the order of the cards is not that of the decks.
    await execute(
        db_url,
        sa.insert(decks).values([one | name for name in names]),
        sa.update(cards).values(deck_id=302 - cards.c.id),
    )
    queue = await ana("get-due-cards", limit=200)
    assert [card["cardId"] for card in queue["cards"]] == [f"card_{number}" for number in range(1, 201)]
    assert queue["remaining"] == {"new": 300, "learning": 0, "due": 0}
    await execute(
        db_url, due_since(1), sa.update(cards).values(due=MONDAY - timedelta(hours=1)).where(cards.c.id > 290)
    )
    queue = await ana("get-due-cards", limit=2)
    assert [card["cardId"] for card in queue["cards"]] == ["card_1", "card_2"]
    assert (queue["remaining"], queue["backlog"]) == ({"new": 0, "learning": 0, "due": 300}, 0)


NAMES = ("A", "A::B", "A::B::C", "A::D", "E", "E::F")


@given(
    st.lists(st.integers(0, 5), min_size=6, max_size=6),
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
    st.lists(st.integers(1, 6), max_size=30),
)
def test_the_number_of_allowed_cards_does_not_depend_on_their_order(
    limits_per_day: list[int], studied: list[int], waiting: list[int]
):
    all_decks = {
        name.casefold(): Deck(number, name, "", {"new_per_day": limits_per_day[number - 1]}, MONDAY)
        for number, name in enumerate(NAMES, 1)
    }
    counts = {number: StudiedCounts(new=new) for number, new in enumerate(studied, 1)}
    limits = DailyLimits(list(all_decks.values()), all_decks, counts)
    expected = limits.count_allowed({number: waiting.count(number) for number in range(1, 7)}, "new")
    assert sum(limits.take(number, "new") for number in waiting) == expected
