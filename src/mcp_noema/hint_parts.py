"""What the hints of the tools have in common."""

from datetime import datetime

from mcp_core.hints import Evidence, RelatedResource
from mcp_noema.analysis import Basis
from mcp_noema.model import CardFace, CardId, Deck, DeckId

_LONGEST_LABEL = 80
UNKNOWN_MS = 15_000
"""How long an answer is taken to last until the user has given one with its time."""
MONTH_S = 30 * 86_400.0


def evidence_from(basis: Basis, now: datetime, samples_for_half: int = 20) -> Evidence:
    """What a figure is worth: by how many answers it rests on, and how long ago the last was. A month halves it."""
    age = max(0.0, (now - basis.last_at).total_seconds()) if basis.last_at else 0.0
    return Evidence(
        samples=basis.reviews, samples_for_half=samples_for_half, age_seconds=age, half_life_seconds=MONTH_S
    )


def time_for(cards: int, basis: Basis) -> int:
    """How many milliseconds the user would take for so many answers."""
    return cards * (basis.usual_ms or UNKNOWN_MS)


def effort_of(cards: int, basis: Basis) -> float:
    """The same as a share of the session that they like, or all of it."""
    return min(1.0, round(time_for(cards, basis) / (basis.session_minutes * 60_000), 4))


def deck_resource(deck: Deck, relevance: float = 1.0) -> RelatedResource:
    """A deck that an answer is about."""
    return RelatedResource(type="deck", id=DeckId.of(deck.id), label=deck.name, relevance=relevance)


def card_resource(face: CardFace, relevance: float = 1.0) -> RelatedResource:
    """A card that an answer is about."""
    return RelatedResource(type="card", id=CardId.of(face.card.id), label=shortened(face.front), relevance=relevance)


def shortened(text: str, longest: int = _LONGEST_LABEL) -> str:
    """The first line of a text, no longer than that."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
