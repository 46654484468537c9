"""What tools ask of the place where things are kept. store/ answers, in SQL.

`owner` is the name of the user whose things are meant. What is not there, or belongs to someone else, is NotFound.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from mcp_noema.figures import DeckStats, Fitted, Plans, Prediction, Progress, Rescheduling, ReviewPage, Search
from mcp_noema.model import (
    Card,
    CardFace,
    CardId,
    Deck,
    DeckId,
    Dice,
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

CardOrder = Literal["due", "created", "edited", "position", "lapses", "stability", "difficulty"]


@dataclass(frozen=True, slots=True)
class DeckCounts:
    """What waits in a deck today, whatever its limits, and how much there is."""

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
    """A deck, the preset that holds for it, and what is in it and below."""

    deck: Deck
    preset: Preset
    counts: DeckCounts


@dataclass(frozen=True, slots=True)
class Removed:
    """What went with a deck."""

    name: str
    decks: int
    notes: int
    cards: int


class Decks(Protocol):
    """The decks."""

    async def add(self, owner: str, name: str, description: str, now: datetime) -> DeckView:
        """Make a deck, and those it is in where they are missing."""
        ...

    async def get(self, owner: str, deck_id: DeckId, now: datetime) -> DeckView: ...

    async def all(self, owner: str, now: datetime) -> list[DeckView]:
        """In the order of their names."""
        ...

    async def change(
        self,
        owner: str,
        deck_id: DeckId,
        *,
        name: str | None,
        description: str | None,
        preset: Mapping[str, Any],
        now: datetime,
    ) -> DeckView:
        """Change what is given. The decks below follow a new name."""
        ...

    async def remove(self, owner: str, deck_id: DeckId, now: datetime) -> Removed:
        """Delete it with everything in it; the log of reviews stays."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """A note that is to be made."""

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
class Outcome:
    """What became of a draft: a note, or why there is none."""

    view: NoteView | None = None
    duplicate_of: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class NoteChange:
    """What shall be different about a note; None leaves it as it is."""

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
    """Cards that the note no longer makes, and that have been answered before: kept out of the way, not lost."""


class Notes(Protocol):
    """The notes, and the cards that are made of them."""

    async def add(
        self, owner: str, deck_id: DeckId, drafts: Sequence[Draft], now: datetime, *, duplicates: bool
    ) -> list[Outcome]:
        """Make notes, all of them that can be made. `duplicates`: also where the first field is there already."""
        ...

    async def change(self, owner: str, note_id: NoteId, change: NoteChange, now: datetime) -> ChangedNote:
        """Change what is given; cards come and go with the text."""
        ...

    async def remove(self, owner: str, note_id: NoteId, now: datetime) -> NoteView:
        """Delete it with its cards; the log of reviews stays."""
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
    recent: "Recent"
    """How the user is doing with other cards."""
    is_due: bool


@dataclass(frozen=True, slots=True)
class FoundCards:
    """A page of what a search finds."""

    faces: tuple[CardFace, ...]
    total: int


Chosen = Sequence[CardId] | Tree
"""The cards that a change is for: by their ids, or by a query."""


@dataclass(frozen=True, slots=True)
class ChangedCards:
    """What a change did."""

    ids: tuple[int, ...]
    """The cards that are different now."""
    unchanged: int = 0
    """How many were so before."""
    suspended: int = 0
    """How many are suspended, and so are not asked whatever else was changed."""
    until: datetime | None = None
    """When they are asked again, where the change says so."""
    recall: float | None = None
    """How likely they will be remembered on their new day, on average; None where that is not known."""
    wanted: float | None = None
    """How likely they should be, on average, by their decks."""


class Cards(Protocol):
    """The cards. A change is for all that are chosen, or for none."""

    async def get(self, owner: str, card_id: CardId, now: datetime) -> CardView: ...

    async def search(
        self, owner: str, query: Tree, now: datetime, *, order: CardOrder, descending: bool, limit: int, offset: int
    ) -> FoundCards: ...

    async def suspend(self, owner: str, chosen: Chosen, now: datetime, *, suspend: bool) -> ChangedCards:
        """Ask them no more, or again."""
        ...

    async def bury(self, owner: str, chosen: Chosen, now: datetime, *, bury: bool) -> ChangedCards:
        """Ask them no more today, or today after all."""
        ...

    async def set_due(self, owner: str, chosen: Chosen, day: date | int, now: datetime) -> ChangedCards:
        """Make them due on a date, or so many days from today. New and learning cards become review cards."""
        ...

    async def reset(self, owner: str, chosen: Chosen, now: datetime) -> ChangedCards:
        """Make them new, at the end of all new ones."""
        ...


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left for today, within the limits; counted up to a thousand in a deck, less far where there are many."""

    new: int = 0
    learning: int = 0
    due: int = 0

    @property
    def total(self) -> int:
        return self.new + self.learning + self.due


@dataclass(frozen=True, slots=True)
class Recent:
    """The last answers of a user, which say how they are doing."""

    reviews: int = 0
    usual_ms: int = 0
    """How long an answer takes, as a median; 0 where no time was given."""
    session_reviews: int = 0
    """Answers since the last pause of half an hour."""
    session_minutes: float = 0.0
    last_at: datetime | None = None


MOST_COUNTED = 1000
"""How far waiting cards are counted: those of a kind in a deck, and those beyond the limits of the day."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The cards to study now, the first of them first, and what the advice about them rests on."""

    faces: tuple[CardFace, ...]
    remaining: Remaining
    backlog: int
    """Review cards that are due beyond today's limit; counted up to MOST_COUNTED."""
    next_learning: datetime | None
    """When the next learning card is due, where none is yet."""
    presets: Mapping[int, Preset]
    recent: Recent
    preferences: Preferences
    next_recall: float | None = None
    """How likely the first card is remembered now; None where it is new."""
    next_intervals: Mapping[Grade, float] = field(default_factory=dict[Grade, float])
    """How many seconds later the first card would be due, by grade, without fuzz."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A review to be recorded."""

    card_id: CardId
    rating: int
    duration_ms: int = 0
    reviewed_at: datetime | None = None
    """None for now."""
    key: str | None = None
    within: DeckId | None = None
    """The deck that is being studied: it must be there before anything is recorded."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A review, and the card after it."""

    review: Review
    card: Card
    deck: Deck
    preset: Preset
    repeated: bool
    """The same review was delivered before, and is recorded once."""
    became_leech: bool = False


@dataclass(frozen=True, slots=True)
class Undone:
    """A review that was taken back, and its card as it was before."""

    review: Review
    card: Card
    deck: Deck


class Studies(Protocol):
    """What is to be asked, and what was answered."""

    async def queue(self, owner: str, deck_id: DeckId | None, most: int, now: datetime) -> Queue:
        """What waits in a deck and those in it, or in all."""
        ...

    async def record(self, owner: str, answered: Answered, now: datetime, dice: Dice | None) -> Recorded:
        """Write a review down and schedule its card."""
        ...

    async def undo(self, owner: str, review_id: ReviewId | None, now: datetime) -> Undone:
        """Take back a card's last review; without an id, the latest of all."""
        ...


@dataclass(frozen=True, slots=True)
class Person:
    """A user as the database knows them."""

    id: int
    preferences: Preferences


class People(Protocol):
    """Who learns, and how they like to."""

    async def get(self, owner: str) -> Person: ...

    async def set_preference(self, owner: str, name: str, value: Any, now: datetime) -> Person: ...


class Statistics(Protocol):
    """What was learned, and how much of it is remembered. Reviews that were taken back never count."""

    async def predict(self, owner: str, search: Search, on: date | None, most: int, now: datetime) -> Prediction:
        """How much of a card, a deck or everything is remembered now, or on a day; with the weakest cards."""
        ...

    async def progress(self, owner: str, deck_id: DeckId | None, days: int, now: datetime) -> Progress:
        """The last days, today among them, and what falls due in the coming week."""
        ...

    async def deck_stats(self, owner: str, deck_id: DeckId, now: datetime) -> DeckStats: ...

    async def history(self, owner: str, search: Search, most: int, after: ReviewId | None) -> ReviewPage:
        """Reviews, the newest first; `after` is the last one seen."""
        ...


class Scheduling(Protocol):
    """How cards are scheduled, and what other settings would bring."""

    async def plan(self, owner: str, deck_id: DeckId | None, days: int, wanted: float | None, now: datetime) -> Plans:
        """Play the coming days at the present desired retention, at those beside it, and at the wanted one."""
        ...

    async def optimize(self, owner: str, deck_id: DeckId | None, now: datetime, *, apply: bool) -> Fitted:
        """Fit FSRS to the reviews of a deck, or of all; nothing changes unless the fit is applied."""
        ...

    async def reschedule(self, owner: str, deck_id: DeckId, now: datetime, *, fuzz: bool, apply: bool) -> Rescheduling:
        """Reckon the due dates of a deck anew from the log, as its preset says now."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
    """What an import did to things of one kind."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a file."""

    decks: tuple[Deck, ...]
    """Those that the cards of the file are in, by name."""
    decks_added: int
    notes: Tally
    cards: Tally
    reviews: Tally
    skipped: Mapping[str, int]
    """How many things were left out, by the reason."""
    media: int
    """How many images and sounds the file has, which are not kept."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What is in a file."""

    decks: int
    notes: int
    cards: int
    reviews: int
    size: int
    """Of the file, in bytes."""


Tell = Callable[[int, int, str], Awaitable[None]]
"""Called with the steps that are done, how many there are, and what comes next."""


class Packages(Protocol):
    """Anki's files."""

    async def bring_in(self, owner: str, path: Path, deck_id: DeckId | None, now: datetime, tell: Tell) -> Imported:
        """Put what is in a file into the collection, below a deck if one is given: all of it, or nothing."""
        ...

    async def take_out(
        self,
        owner: str,
        path: Path,
        deck_id: DeckId | None,
        now: datetime,
        tell: Tell,
        *,
        scheduling: bool,
        overwrite: bool,
    ) -> Exported:
        """Write a deck with those in it, or everything, to a file."""
        ...
