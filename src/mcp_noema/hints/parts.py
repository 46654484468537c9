"""Parts of hints that several tools share."""

from datetime import datetime
from typing import Any

from mcp_noema.analysis import Basis
from mcp_noema.model import CardFace, CardId, Deck, DeckId, NoteId
from toolcharter.hints import Evidence, Level, NeededArgument, RelatedResource, RiskFactor, SuggestedAction

_MAX_LABEL_LENGTH = 80
DEFAULT_ANSWER_MS = 15_000
"""The time of an answer until the user has given one with its time."""
MONTH_S = 30 * 86_400.0


def basis_evidence(basis: Basis, now: datetime, samples_for_half: int = 20) -> Evidence:
    """How reliable a figure is: by the number of answers behind it, and the age of the last. A month halves it."""
    age = max(0.0, (now - basis.last_at).total_seconds()) if basis.last_at else 0.0
    return Evidence(
        samples=basis.reviews, samples_for_half=samples_for_half, age_seconds=age, half_life_seconds=MONTH_S
    )


def study_time_ms(cards: int, basis: Basis) -> int:
    """The time that the user usually takes for this many answers."""
    return cards * (basis.usual_ms or DEFAULT_ANSWER_MS)


def study_effort(cards: int, basis: Basis) -> float:
    """The same time as a share of the session length that the user prefers, at most 1."""
    return min(1.0, round(study_time_ms(cards, basis) / (basis.session_minutes * 60_000), 4))


def deck_argument(deck_id: DeckId | None) -> dict[str, Any]:
    """The arguments of a call for one deck, or for all."""
    return {"deckId": deck_id} if deck_id else {}


def study_action(
    deck_id: DeckId | None,
    description: str,
    *,
    priority: Level = "medium",
    cards: int | None = None,
    time_ms: int | None = None,
) -> SuggestedAction:
    """Suggest to study the next card of a deck, or of all. `cards` wait in it: the cost is one answer for each."""
    return SuggestedAction(
        action="review-next-card",
        priority=priority,
        data=deck_argument(deck_id),
        description=description,
        estimated_time=time_ms,
        estimated_cost=cards,
        category="learning",
        reversible=True,
    )


def start_actions() -> list[SuggestedAction]:
    """Suggest how to fill an empty collection: with a new deck, or with an Anki file."""
    return [
        SuggestedAction(
            action="create-deck",
            priority="high",
            description="The collection is empty: create a deck for what the user wants to learn.",
            category="learning",
            expected_outcome="An empty deck; create-notes adds cards to it.",
        ),
        SuggestedAction(
            action="import-anki",
            description="Or import decks from an Anki file in the files folder.",
            category="learning",
            expected_outcome="The decks of the file, with schedules and review history.",
        ),
    ]


def add_notes_action(deck_id: DeckId) -> SuggestedAction:
    """Suggest to add notes to a deck without cards."""
    return SuggestedAction(
        action="create-notes",
        priority="high",
        data={"deckId": deck_id},
        description="The deck has no cards yet: add what the user wants to learn.",
        category="learning",
    )


def reword_action(note_id: NoteId) -> SuggestedAction:
    """Suggest to reword a note whose cards are forgotten often."""
    return SuggestedAction(
        action="update-note",
        data={"noteId": note_id},
        needs=(NeededArgument(name="front", description="The question in better words; or give back."),),
        description="Reword it with the user, because it is forgotten so often.",
        category="correction",
        reversible=True,
    )


def loss(description: str, share: float, *, undo: str | None = None) -> RiskFactor:
    """Something that a change has lost for certain, what share of it that is, and how to get it back."""
    return RiskFactor(
        type="accuracy",
        severity="low" if undo else "high",
        description=description if undo else f"{description}; no undo.",
        probability=1.0,
        impact=round(share, 4),
        mitigation=undo,
    )


def deck_resource(deck: Deck, relevance: float = 1.0) -> RelatedResource:
    """A deck that a result is about."""
    return RelatedResource(type="deck", id=DeckId.of(deck.id), label=deck.name, relevance=relevance)


def card_resource(face: CardFace, relevance: float = 1.0) -> RelatedResource:
    """A card that a result is about."""
    return RelatedResource(type="card", id=CardId.of(face.card.id), label=shorten(face.front), relevance=relevance)


def shorten(text: str, longest: int = _MAX_LABEL_LENGTH) -> str:
    """The first line of a text, cut at `longest` characters."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
