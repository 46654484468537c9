"""The command `mcp-noema`, calls through a client, and a typical session."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp import Client

from tests.forkserver.commands import command_path

COMMAND = command_path("mcp-noema")
LONG_DEADLINE = ["--deadline", "30"]
"""So that a loaded machine does not make a test fail."""

Call = Callable[..., Awaitable[tuple[bool, dict[str, Any]]]]
"""`await call("get-card", cardId="card_1")`: whether it is an error, and the whole answer."""


def command(folder: Path, *options: str) -> list[str]:
    """The command with its own database and its own folder for files."""
    return [COMMAND, "--db", f"sqlite:///{folder / 'noema.db'}", "--files", str(folder), *LONG_DEADLINE, *options]


def sdk_call(client: Client) -> Call:
    """Calls through the client of the MCP SDK."""

    async def call(tool: str, /, **arguments: Any) -> tuple[bool, dict[str, Any]]:
        result = await client.call_tool(tool, arguments)
        (block,) = result.content
        assert result.structured_content is None
        return bool(result.is_error), json.loads(block.text)

    return call


async def data(call: Call, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The data of a call that must succeed."""
    failed, answer = await call(tool, **arguments)
    assert not failed, answer
    return answer["data"]


async def error(call: Call, tool: str, /, **arguments: Any) -> tuple[str, str]:
    """The error type and message of a call that must fail."""
    failed, answer = await call(tool, **arguments)
    assert failed, answer
    assert answer["data"] is None
    return answer["error"]["type"], answer["error"]["message"]


async def create_deck(call: Call, name: str, fronts: int) -> tuple[str, list[str]]:
    """A deck with some cards: its id, and theirs."""
    deck = (await data(call, "create-deck", name=name))["deckId"]
    notes = [{"front": f"{name} {number}", "back": f"answer {number}"} for number in range(1, fronts + 1)]
    made = await data(call, "create-notes", deckId=deck, notes=notes)
    return deck, [card for outcome in made["outcomes"] for card in outcome["cardIds"]]


async def run_session(call: Call) -> None:
    """Create a deck and notes, review the first card, undo the review, review all cards, and read the statistics."""
    failed, answer = await call("list-decks")
    assert (failed, answer["data"]) == (False, {"decks": [], "total": 0})
    assert answer["agentHints"]["suggestedNextActions"][0]["action"] == "create-deck"

    deck = (await data(call, "create-deck", name="Languages::French"))["deckId"]
    notes = [
        {"front": "the bread", "back": "le pain"},
        {"front": "the cheese", "back": "le fromage", "tags": ["food"]},
        {"front": "the bread", "back": "du pain"},
        {"front": "{{c1::Paris}} is the capital of France.", "kind": "cloze"},
        {"front": "No gap at all.", "kind": "cloze"},
    ]
    made = await data(call, "create-notes", deckId=deck, notes=notes)
    assert [outcome["status"] for outcome in made["outcomes"]] == [
        *("created", "created", "duplicate", "created", "invalid")
    ]

    failed, answer = await call("review-next-card", deckId=deck)
    shown = answer["data"]
    assert (shown["card"]["front"], shown["card"]["back"]) == ("the bread", "le pain")
    assert shown["remaining"] == {"new": 3, "learning": 0, "due": 0}
    assert "the front only" in answer["instruction"]
    card = answer["agentHints"]["suggestedNextActions"][0]["data"] | {"grade": "easy", "timeTakenMs": 4000}

    # With the idempotency key that the hint has.
    first = await data(call, "review-card", **card)
    again = await data(call, "review-card", **card)
    assert (first["repeated"], again["repeated"], again["reviewId"]) == (False, True, first["reviewId"])
    assert (await data(call, "undo-review"))["undone"] == first["reviewId"]

    graded = []
    while "card" in (shown := await data(call, "review-next-card", deckId=deck)):
        graded.append(shown["card"]["front"])
        await data(call, "review-card", cardId=shown["card"]["cardId"], grade="easy", deckId=deck)
    assert graded == ["the bread", "the cheese", "[...] is the capital of France."]
    assert (await data(call, "get-deck", deckId=deck))["new"] == 0

    progress = await data(call, "get-progress")
    assert (progress["today"]["reviews"], progress["today"]["new"], progress["streak"]) == (3, 3, 1)
    assert (await data(call, "get-deck-stats", deckId=deck))["cards"]["young"] == 3
    history = await data(call, "get-review-history", deckId=deck)
    assert [review["front"] for review in reversed(history["reviews"])] == graded
    found = await data(call, "search-cards", query="tag:food")
    assert (found["total"], found["cards"][0]["front"]) == (1, "the cheese")

    assert (await error(call, "delete-deck", deckId=deck))[0] == "ValidationError"
    assert (await error(call, "get-deck", deckId="deck_999"))[0] == "NotFoundError"
