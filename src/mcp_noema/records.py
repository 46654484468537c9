"""Records that the store takes and returns."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from mcp_noema.model import (
    Card,
    CardFace,
    CardId,
    Deck,
    DeckId,
    Grade,
    Note,
    NoteKind,
    Preferences,
    Preset,
    Review,
)
from mcp_noema.query.tree import Tree

CardOrder = Literal["due", "created", "edited", "position", "lapses", "stability", "difficulty"]


@dataclass(frozen=True, slots=True)
class DeckCounts:
    """How many cards wait in a deck today, regardless of its limits, and how many it has."""

    new: int = 0
    learning: int = 0
    due: int = 0
    suspended: int = 0
    cards: int = 0

    def __add__(self, other: "DeckCounts") -> "DeckCounts":
        return DeckCounts(
            self.new + other.new,
            self.learning + other.learning,
            self.due + other.due,
            self.suspended + other.suspended,
            self.cards + other.cards,
        )


@dataclass(frozen=True, slots=True)
class DeckView:
    """A deck, the preset that applies to it, and the counts of it and its subdecks."""

    deck: Deck
    preset: Preset
    counts: DeckCounts


@dataclass(frozen=True, slots=True)
class DeletedDeck:
    """The items that were deleted with a deck."""

    name: str
    decks: int
    notes: int
    cards: int
    answers: int
    """How many answers the cards have had."""
    share: float
    """Of the cards of the collection."""


@dataclass(frozen=True, slots=True)
class DeckChange:
    """The changes to a deck; None leaves a part as it is."""

    name: str | None = None
    description: str | None = None
    preset: Mapping[str, Any] | None = None
    """The settings to change; the others stay."""


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """A note to create."""

    kind: NoteKind
    values: tuple[str, str]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note and its cards."""

    note: Note
    cards: tuple[Card, ...]
    deck: Deck


@dataclass(frozen=True, slots=True)
class DraftOutcome:
    """The note made from a draft, or the reason why none was made."""

    view: NoteView | None = None
    duplicate_of: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class NoteChange:
    """The changes to a note; None leaves a part as it is."""

    front: str | None = None
    back: str | None = None
    fields: Mapping[str, str] | None = None
    tags: tuple[str, ...] | None = None
    deck_id: DeckId | None = None


@dataclass(frozen=True, slots=True)
class ChangedNote:
    """A note after a change, and what the change did to its cards."""

    view: NoteView
    added: tuple[int, ...]
    removed: tuple[int, ...]
    suspended: tuple[int, ...]
    """Cards that the note no longer makes, but that were answered before, so they are not deleted."""


@dataclass(frozen=True, slots=True)
class CardView:
    """A card with all that is known about it."""

    face: CardFace
    note: NoteView
    deck: Deck
    preset: Preset
    recall: float | None
    """How likely it is remembered now; None where it is new."""
    gain: float
    """How much likelier it is remembered in a month if it is answered now."""
    recent: "RecentReviews"
    """How the user is doing with other cards."""
    is_due: bool
    next_answer: int
    """Which answer to it the next one will be, counted in the review log."""


@dataclass(frozen=True, slots=True)
class CardPage:
    """A page of the cards that match a search."""

    faces: tuple[CardFace, ...]
    total: int
    collection_is_empty: bool = False


CardSelection = Sequence[CardId] | Tree
"""The cards to change: by id, or by query."""


@dataclass(frozen=True, slots=True)
class ChangedCards:
    """The result of a change to cards."""

    ids: tuple[int, ...]
    """The cards that changed."""
    unchanged: int = 0
    """How many already were as requested."""
    suspended: int = 0
    """How many are suspended, so that they are not shown whatever else was changed."""
    until: datetime | None = None
    """When they are shown again, if the change sets that."""
    recall: float | None = None
    """The average probability of recall on their new due date; None if it is not known."""
    desired: float | None = None
    """The average desired retention of their decks."""
    answers: int = 0
    """How many answers the scheduler no longer counts."""


@dataclass(frozen=True, slots=True)
class RemainingCounts:
    """The cards left for today, within the limits. Counting stops at 1,000 in a deck, earlier with many decks."""

    new: int = 0
    learning: int = 0
    due: int = 0

    @property
    def total(self) -> int:
        return self.new + self.learning + self.due


@dataclass(frozen=True, slots=True)
class RecentReviews:
    """Figures about the last answers of a user."""

    reviews: int = 0
    usual_ms: int = 0
    """The median time of an answer; 0 where no time was given."""
    session_reviews: int = 0
    """Answers since the last break of half an hour."""
    session_minutes: float = 0.0
    last_at: datetime | None = None


COUNT_LIMIT = 1000
"""Counting of waiting cards stops here: for each kind in a deck, and for the cards beyond the limits of the day."""


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Cards that wait, but are not shown today because of a daily limit."""

    kind: Literal["new", "review"]
    cards: int
    """At most COUNT_LIMIT."""
    decks: tuple[Deck, ...]
    """The decks whose limit is reached, the outermost first. To show a card, the limit of each must be raised."""
    limit: int
    """The limit of the first of them."""


@dataclass(frozen=True, slots=True)
class StudyQueue:
    """The cards to study now, in order, and the figures that hints are computed from."""

    faces: tuple[CardFace, ...]
    remaining: RemainingCounts
    backlog: int
    """Review cards that are due beyond today's limit; at most COUNT_LIMIT."""
    next_learning: datetime | None
    """When the next learning card is due, if none is due now."""
    presets: Mapping[int, Preset]
    recent: RecentReviews
    preferences: Preferences
    next_recall: float | None = None
    """The probability that the first card is remembered now; None if it is new."""
    next_gain: float = 0.0
    """How much likelier the first card is remembered in a month if it is answered now."""
    next_answer: int = 1
    """Which answer to the first card the next one will be, counted in the review log."""
    next_intervals: Mapping[Grade, float] = field(default_factory=dict[Grade, float])
    """The interval of the first card in seconds for each grade, as it will be applied."""
    held_back: tuple[HeldBack, ...] = ()
    """If no card is left: the cards that a daily limit holds back."""
    empty_deck: Deck | None = None
    """If the decks have no cards: the first of them."""
    collection_is_empty: bool = False
    matching: int = 0
    """In a custom study: how many cards match, also those that do not wait."""


StudyOrder = Literal["due", "weakest"]


@dataclass(frozen=True, slots=True)
class CustomStudy:
    """The cards to study beyond the queue of the day."""

    deck_id: DeckId | None
    query: Tree
    ahead: int
    """Also cards that are due within this many days."""
    order: StudyOrder
    is_preview: bool
    """All matching cards, one after the other; nothing is scheduled."""
    skip: int


@dataclass(frozen=True, slots=True)
class NewReview:
    """A review to record."""

    card_id: CardId
    rating: int
    duration_ms: int = 0
    reviewed_at: datetime | None = None
    """None means now."""
    key: str | None = None
    deck_id: DeckId | None = None
    """The deck being studied; if it does not exist, nothing is recorded."""


@dataclass(frozen=True, slots=True)
class RecordedReview:
    """A recorded review, and the card after it."""

    review: Review
    card: Card
    deck: Deck
    preset: Preset
    repeated: bool
    """The same review was sent before, and is recorded once."""
    became_leech: bool = False


@dataclass(frozen=True, slots=True)
class UndoneReview:
    """A review that was undone, and its card as it was before."""

    review: Review
    card: Card
    deck: Deck
    next_answer: int
    """Which answer to the card the next one will be, counted in the review log."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A user in the database."""

    id: int
    preferences: Preferences


ReportProgress = Callable[[int, int, str], Awaitable[None]]
"""Called with the steps done, their total, and a message."""


@dataclass(frozen=True, slots=True)
class ImportTally:
    """The outcomes of an import for the items of one kind."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """The changes of an import."""

    decks: tuple[Deck, ...]
    """The decks of the imported cards, by name."""
    decks_added: int
    notes: ImportTally
    cards: ImportTally
    reviews: ImportTally
    skipped: Mapping[str, int]
    """How many items were skipped, by reason."""
    media: int
    """How many images and sounds the file has; they are not kept."""


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """The contents of an exported file."""

    decks: int
    notes: int
    cards: int
    reviews: int
    size: int
    """In bytes."""
