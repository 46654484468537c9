"""The repositories that the tools use, as protocols, with their records. store/ implements them in SQL.

`owner` is the name of the user whose collection is used. What does not exist, or belongs to someone else, is NotFound.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from mcp_noema.analysis import (
    DeckStats,
    Optimization,
    Plans,
    Prediction,
    Progress,
    Rescheduling,
    ReviewFilter,
    ReviewPage,
)
from mcp_noema.model import (
    Card,
    CardFace,
    CardId,
    Deck,
    DeckId,
    Grade,
    Note,
    NoteId,
    NoteKind,
    Preferences,
    Preset,
    Review,
    ReviewId,
)
from mcp_noema.query_tree import Tree

if TYPE_CHECKING:
    from toolcharter.db import Database

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


@dataclass(frozen=True, slots=True)
class DeckChange:
    """The changes to a deck; None leaves a part as it is."""

    name: str | None = None
    description: str | None = None
    preset: Mapping[str, Any] | None = None
    """The settings to change; the others stay."""


class Decks(Protocol):
    async def add(self, owner: str, name: str, description: str, now: datetime) -> DeckView:
        """Create a deck, and its parents where they are missing."""
        ...

    async def get(self, owner: str, deck_id: DeckId, now: datetime) -> DeckView: ...

    async def all(self, owner: str, now: datetime) -> list[DeckView]:
        """All decks, by name."""
        ...

    async def change(self, owner: str, deck_id: DeckId, change: DeckChange, now: datetime) -> DeckView:
        """Change what is given. Subdecks follow a new name."""
        ...

    async def remove(self, owner: str, deck_id: DeckId, now: datetime) -> DeletedDeck:
        """Delete a deck with everything in it; the review log stays."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
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


class Notes(Protocol):
    """The notes, and the cards made from them."""

    async def add(
        self, owner: str, deck_id: DeckId, drafts: Sequence[Draft], now: datetime, *, duplicates: bool
    ) -> list[DraftOutcome]:
        """Create all notes that are valid. `duplicates`: also where a note with that first field exists."""
        ...

    async def change(self, owner: str, note_id: NoteId, change: NoteChange, now: datetime) -> ChangedNote:
        """Change what is given; cards are added and removed to match the text."""
        ...

    async def remove(self, owner: str, note_id: NoteId, now: datetime) -> NoteView:
        """Delete a note with its cards; the review log stays."""
        ...


@dataclass(frozen=True, slots=True)
class CardView:
    """A card with all that is known about it."""

    face: CardFace
    note: NoteView
    deck: Deck
    preset: Preset
    recall: float | None
    """How likely it is remembered now; None where it is new."""
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


class Cards(Protocol):
    """The cards. A change applies to the whole selection, or to none of it."""

    async def get(self, owner: str, card_id: CardId, now: datetime) -> CardView: ...

    async def search(
        self, owner: str, query: Tree, now: datetime, *, order: CardOrder, descending: bool, limit: int, offset: int
    ) -> CardPage: ...

    async def suspend(self, owner: str, chosen: CardSelection, now: datetime, *, suspend: bool) -> ChangedCards:
        """Suspend them, or lift the suspension."""
        ...

    async def bury(self, owner: str, chosen: CardSelection, now: datetime, *, bury: bool) -> ChangedCards:
        """Hide them until tomorrow, or show them again today."""
        ...

    async def set_due(self, owner: str, chosen: CardSelection, day: date | int, now: datetime) -> ChangedCards:
        """Make them due on a date, or a number of days from today. New and learning cards become review cards."""
        ...

    async def reset(self, owner: str, chosen: CardSelection, now: datetime) -> ChangedCards:
        """Make them new, after all other new cards."""
        ...


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
class Queue:
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
    next_answer: int = 1
    """Which answer to the first card the next one will be, counted in the review log."""
    next_intervals: Mapping[Grade, float] = field(default_factory=dict[Grade, float])
    """The interval of the first card in seconds for each grade, as it will be applied."""
    held_back: tuple[HeldBack, ...] = ()
    """If no card is left: the cards that a daily limit holds back."""
    empty_deck: Deck | None = None
    """If the decks have no cards: the first of them."""
    collection_is_empty: bool = False


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


class Reviews(Protocol):
    """The cards to study, and the answers to them."""

    async def queue(self, owner: str, deck_id: DeckId | None, most: int, now: datetime) -> Queue:
        """The cards that wait in a deck and its subdecks, or in all decks."""
        ...

    async def record(self, owner: str, new_review: NewReview, now: datetime) -> RecordedReview:
        """Record a review and schedule its card."""
        ...

    async def undo(self, owner: str, review_id: ReviewId | None, now: datetime) -> UndoneReview:
        """Undo a card's last review; without an id, the latest of all."""
        ...


@dataclass(frozen=True, slots=True)
class User:
    """A user in the database."""

    id: int
    preferences: Preferences


class Users(Protocol):
    """The users and their preferences."""

    async def get(self, owner: str) -> User: ...

    async def set_preference(self, owner: str, name: str, value: Any, now: datetime) -> User: ...


class Statistics(Protocol):
    """Reviews and retention. Undone reviews never count."""

    async def predict(
        self, owner: str, review_filter: ReviewFilter, on: date | None, most: int, now: datetime
    ) -> Prediction:
        """How much of a card, a deck or everything is remembered now or on a day, with the weakest cards."""
        ...

    async def progress(
        self, owner: str, deck_id: DeckId | None, now: datetime, *, days: int, forecast_days: int
    ) -> Progress:
        """The last days and the cards due in the coming days, both including today."""
        ...

    async def deck_stats(self, owner: str, deck_id: DeckId, now: datetime, *, distribution: bool) -> DeckStats: ...

    async def history(self, owner: str, review_filter: ReviewFilter, most: int, after: ReviewId | None) -> ReviewPage:
        """Reviews, newest first; `after` is the last one of the page before."""
        ...


ReportProgress = Callable[[int, int, str], Awaitable[None]]
"""Called with the steps done, their total, and a message."""


class Scheduling(Protocol):
    """How cards are scheduled, and what other settings would change."""

    async def plan(
        self,
        owner: str,
        deck_id: DeckId | None,
        days: int,
        other: float | None,
        now: datetime,
        *,
        report_progress: ReportProgress,
    ) -> Plans:
        """Simulate the coming days at the present desired retention, at values near it, and at another one."""
        ...

    async def can_optimize(self, owner: str, deck_id: DeckId | None) -> bool:
        """Whether there are enough reviews to fit FSRS to."""
        ...

    async def optimize(
        self, owner: str, deck_id: DeckId | None, now: datetime, *, apply: bool, report_progress: ReportProgress
    ) -> Optimization:
        """Fit FSRS to the reviews of a deck, or of all decks; nothing changes unless `apply`."""
        ...

    async def reschedule(
        self, owner: str, deck_id: DeckId, now: datetime, *, apply: bool, report_progress: ReportProgress
    ) -> Rescheduling:
        """Recompute the due dates of a deck from the log, with its present preset."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
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
    notes: Tally
    cards: Tally
    reviews: Tally
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


class AnkiPackages(Protocol):
    """Anki's files."""

    async def import_file(
        self, owner: str, path: Path, deck_id: DeckId | None, now: datetime, report_progress: ReportProgress
    ) -> ImportSummary:
        """Import a file, inside a deck if one is given: all of it, or nothing."""
        ...

    async def export_file(
        self,
        owner: str,
        path: Path,
        deck_id: DeckId | None,
        now: datetime,
        report_progress: ReportProgress,
        *,
        scheduling: bool,
        overwrite: bool,
    ) -> ExportSummary:
        """Write a deck with its subdecks, or all decks, to a file."""
        ...


REPOSITORIES: tuple[type[Any], ...] = (Decks, Notes, Cards, Reviews, Statistics, Scheduling, Users, AnkiPackages)
"""The types that tools take."""


class Collection:
    """One database, and the repositories over it by type."""

    def __init__(self, database: "Database", repositories: Mapping[type[Any], Any]) -> None:
        self.database, self.repositories = database, repositories
