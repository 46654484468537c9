"""Errors of the learning tools: a message that says why, and hints that suggest what to call instead."""

from collections.abc import Sequence
from typing import Any

from mcp_noema.model import CardId, Deck, DeckId, DeckName, NoteId, ReviewId
from toolcharter import Conflict, NotFound, hints, instructions
from toolcharter.hints import AgentHints, Evidence, SuggestedAction

_MAX_IDS = 10
"""How many ids a message lists."""
_LOOK_UP = instructions.consider("looking up the id with a suggested action, then calling again")
_TRY_ANOTHER = instructions.consider("a suggested action; if several are possible, ask the user")


def alternative(action: str, description: str, **data: Any) -> SuggestedAction:
    """A call that is possible now."""
    return SuggestedAction(action=action, priority="high", data=data, description=description, category="correction")


def conflict(message: str, *steps: SuggestedAction) -> Conflict:
    """The call is not possible in the present state; `steps` are what to call instead."""
    agent_hints = AgentHints(
        evidence=Evidence(completeness=0.0),
        suggested_next_actions=steps,
        validity_period="immediate",
        why="The call is not possible in the present state; nothing was changed.",
    )
    return Conflict(message, instruction=_TRY_ANOTHER if steps else None, hints=agent_hints)


def _not_found(message: str, *steps: SuggestedAction) -> NotFound:
    return NotFound(message, instruction=_LOOK_UP, hints=hints.for_not_found(then=steps))


def deck_not_found(deck_id: DeckId, *, nearest: Sequence[Deck] = ()) -> NotFound:
    """The deck does not exist, or is someone else's. `nearest` have similar names."""
    step = alternative("list-decks", "Shows your decks with their ids.")
    meant = f" Did you mean {_named(nearest)}?" if nearest else ""
    missing = f"Deck {deck_id!s} was not found."
    if isinstance(deck_id, DeckName):
        missing = f"No deck is named {str(deck_id)!r}."
    return _not_found(f"{missing}{meant} list-decks shows your decks with their ids.", step)


def several_decks(name: DeckName, found: Sequence[Deck]) -> Conflict:
    """More than one deck has this name."""
    return conflict(
        f"{len(found)} decks are named {str(name)!r}: {_named(found[:_MAX_IDS])}. Give the id of one.",
        alternative("list-decks", "Shows your decks with their ids."),
    )


def _named(decks: Sequence[Deck]) -> str:
    return ", ".join(f"{deck.name!r} ({DeckId.of(deck.id)})" for deck in decks)


def note_not_found(note_id: NoteId) -> NotFound:
    """The note does not exist, or is someone else's."""
    message = f"Note {note_id!s} was not found. search-cards finds notes by their text and shows their ids."
    return _not_found(message, alternative("search-cards", "Finds notes by their text.", query=""))


def cards_not_found(card_ids: Sequence[CardId], *, before: str = "") -> NotFound:
    """The cards do not exist, or are someone else's."""
    ids = list(dict.fromkeys(card_ids))
    more = f" and {len(ids) - _MAX_IDS} more" if len(ids) > _MAX_IDS else ""
    missing = f"Card {ids[0]} was" if len(ids) == 1 else f"Cards {', '.join(ids[:_MAX_IDS])}{more} were"
    return _not_found(
        f"{before}{missing} not found. get-due-cards and search-cards show your cards with their ids.",
        alternative("get-due-cards", "Shows the cards to study now."),
        alternative("search-cards", "Shows all cards.", query=""),
    )


def review_not_found(review_id: ReviewId) -> NotFound:
    """The review does not exist, is someone else's, or was undone."""
    message = f"Review {review_id!s} was not found, or is undone. get-review-history shows your reviews with their ids."
    return _not_found(message, alternative("get-review-history", "Shows the last reviews with their ids."))


def no_match(message: str, query: str) -> NotFound:
    """The query matches no card to change."""
    return _not_found(message, alternative("search-cards", "Shows what a query matches; make it broader.", query=query))
