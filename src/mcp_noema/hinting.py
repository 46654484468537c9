"""What the hints of the tools have in common."""

from mcp_core.hints import RelatedResource
from mcp_noema.model import CardFace, CardId, Deck, DeckId

_LONGEST_LABEL = 80


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
