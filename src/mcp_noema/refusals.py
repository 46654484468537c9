"""What cannot be done: an error that says why, and hints that say what can be done instead."""

from collections.abc import Sequence
from typing import Any

from mcp_core import Conflict, Evidence, NotFound, SuggestedAction, hints, instructions
from mcp_core.hints import AgentHints
from mcp_noema.model import CardId, DeckId, NoteId, ReviewId

_NAMED = 10
"""How many ids an error names."""
_LOOK_UP = instructions.consider("looking the id up with a suggested action, then calling again")
_GO_ON = instructions.consider("a suggested action; ask the user where more than one would do")


def instead(action: str, description: str, **data: Any) -> SuggestedAction:
    """A call that can be made now."""
    return SuggestedAction(action=action, priority="high", data=data, description=description, category="correction")


def refused(words: str, *steps: SuggestedAction) -> Conflict:
    """A rule forbids it as things stand; the steps lead on."""
    why = "A rule forbids it as things stand; nothing was changed."
    made = AgentHints(
        evidence=Evidence(completeness=0.0), suggested_next_actions=steps, validity_period="immediate", why=why
    )
    return Conflict(words, instruction=_GO_ON if steps else None, hints=made)


def _missing(words: str, *steps: SuggestedAction) -> NotFound:
    return NotFound(words, instruction=_LOOK_UP, hints=hints.for_not_found(then=steps))


def no_deck(deck_id: DeckId) -> NotFound:
    """No such deck, or someone else's."""
    step = instead("list-decks", "Shows the decks with their ids.")
    return _missing(f"There is no deck {deck_id!s}. list-decks shows yours with their ids.", step)


def no_note(note_id: NoteId) -> NotFound:
    """No such note, or someone else's."""
    words = f"There is no note {note_id!s}. search-cards finds notes by their text, and shows their ids."
    return _missing(words, instead("search-cards", "Finds notes by words of their text.", query=""))


def no_cards(card_ids: Sequence[CardId], *, before: str = "") -> NotFound:
    """No such cards, or someone else's."""
    named = list(dict.fromkeys(card_ids))
    several = ", ".join(named[:_NAMED]) + (f" and {len(named) - _NAMED} more" if len(named) > _NAMED else "")
    words = f"{before}There is no card {several}. get-due-cards and search-cards show yours with their ids."
    steps = (
        instead("get-due-cards", "Shows what is to be studied now."),
        instead("search-cards", "Shows all cards.", query=""),
    )
    return _missing(words, *steps)


def no_review(review_id: ReviewId) -> NotFound:
    """No such review, someone else's, or one that was taken back."""
    words = f"There is no review {review_id!s} to undo. get-review-history shows yours with their ids."
    return _missing(words, instead("get-review-history", "Shows the last answers with their ids."))


def none_matches(words: str, query: str) -> NotFound:
    """A query that finds nothing to change."""
    return _missing(words, instead("search-cards", "Shows what a query finds; widen it.", query=query))
