"""What statistics and forecasts answer. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from operator import add

from mcp_noema.model import CardFace, CardId, Deck, DeckId, Grade, Preset, Review


@dataclass(frozen=True, slots=True)
class Basis:
    """What a figure rests on."""

    reviews: int = 0
    last_at: datetime | None = None
    usual_ms: int = 0
    """How long an answer takes; 0 where no time was given."""
    session_minutes: int = 20


# --- retention ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recall:
    """How likely a card is remembered at a time."""

    card_id: int
    recall: float
    desired: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """How much of some cards is remembered at a time. New and suspended cards are left out."""

    at: datetime
    cards: int
    looked_at: int
    """Of very many cards, an even part is looked at, and stands for the rest."""
    average: float | None
    desired: float | None
    """The desired retention, on average over the cards."""
    below: int
    """Cards that are less likely to be remembered than desired."""
    gain: float
    """How much the average would rise if those were reviewed then."""
    weakest: tuple[tuple[CardFace, Recall], ...]
    basis: Basis


# --- progress ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Studied:
    """What was done on a learning day, or on several."""

    reviews: int = 0
    new: int = 0
    milliseconds: int = 0
    asked: int = 0
    """Answers to cards that had been learned: what true retention is counted by."""
    kept: int = 0
    """Those of them that were remembered."""
    grades: Mapping[Grade, int] = field(default_factory=dict[Grade, int])

    @property
    def retention(self) -> float | None:
        """The true retention: the share of learned cards that were remembered."""
        return self.kept / self.asked if self.asked else None

    @property
    def minutes(self) -> float:
        return self.milliseconds / 60_000

    def __add__(self, other: "Studied") -> "Studied":
        words = self.grades.keys() | other.grades.keys()
        return Studied(
            self.reviews + other.reviews,
            self.new + other.new,
            self.milliseconds + other.milliseconds,
            self.asked + other.asked,
            self.kept + other.kept,
            {word: self.grades.get(word, 0) + other.grades.get(word, 0) for word in words},
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """What was done lately, and what will be due."""

    days: Mapping[date, Studied]
    """The last of them is today."""
    streak: int
    """Days in a row on which something was answered, up to today or yesterday."""
    forecast: Mapping[date, int]
    """Cards that fall due on a day; today, those that are due already."""
    new_waiting: int
    desired: float | None
    basis: Basis


@dataclass(frozen=True, slots=True)
class DeckStats:
    """A deck with all that are in it, in figures."""

    deck: Deck
    preset: Preset
    new: int
    learning: int
    relearning: int
    young: int
    mature: int
    suspended: int
    due: int
    leeches: int
    average_stability: float | None
    average_difficulty: float | None
    average_recall: float | None
    lately: Studied
    """In the last thirty days."""
    basis: Basis


@dataclass(frozen=True, slots=True)
class Search:
    """Which reviews. Days are learning days, both included."""

    card_id: CardId | None = None
    deck_id: DeckId | None = None
    first: date | None = None
    last: date | None = None


COUNTED = 10_000
"""Nobody counts on after this."""


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Some reviews, the newest first, and how many there are."""

    reviews: tuple[Review, ...]
    fronts: Mapping[int, str]
    """What the cards ask, as far as they are still there."""
    total: int
    """Counted up to `COUNTED`."""
    more: bool


# --- scheduling --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quality:
    """How far predictions were from what happened. Less is better; 0 is perfect."""

    log_loss: float
    """How surprising the outcome of a review was, on average. This is what the optimizer makes small."""
    rmse: float
    """Between predicted and true retention, over groups of like reviews: 0.05 is five percentage points."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The parameters that explain the reviews best, beside those that the preset has now."""

    parameters: tuple[float, ...]
    before: Quality
    after: Quality
    reviews: int
    cards: int

    @property
    def is_better(self) -> bool:
        """Whether the new parameters predict these reviews better than the present ones."""
        return self.after.log_loss < self.before.log_loss


@dataclass(frozen=True, slots=True)
class Workload:
    """A number for each day, an average over several runs; and how many cards are remembered on the last day."""

    desired_retention: float
    reviews: tuple[float, ...]
    new: tuple[float, ...]
    minutes: tuple[float, ...]
    remembered: float
    """The sum of the cards' retrievability: of two cards at 0.5, one is remembered."""
    known: float
    """How many cards have been learned at all by then."""
    overdue: float = 0.0
    """How many of the cards that are being learned today have found no room by then, for the limit of the preset."""

    def __add__(self, other: "Workload") -> "Workload":
        """Two decks together."""
        return Workload(
            desired_retention=self.desired_retention,
            reviews=tuple(map(add, self.reviews, other.reviews)),
            new=tuple(map(add, self.new, other.new)),
            minutes=tuple(map(add, self.minutes, other.minutes)),
            remembered=self.remembered + other.remembered,
            known=self.known + other.known,
            overdue=self.overdue + other.overdue,
        )

    def __mul__(self, times: int) -> "Workload":
        """As many such decks."""
        return Workload(
            desired_retention=self.desired_retention,
            reviews=tuple(times * day for day in self.reviews),
            new=tuple(times * day for day in self.new),
            minutes=tuple(times * day for day in self.minutes),
            remembered=times * self.remembered,
            known=times * self.known,
            overdue=times * self.overdue,
        )

    @property
    def minutes_per_remembered(self) -> float:
        """What a remembered card costs in these days."""
        return sum(self.minutes) / self.remembered if self.remembered else 0.0


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fit for some decks, and whether they have it now."""

    fit: Fit
    decks: tuple[Deck, ...]
    """Those whose presets take the parameters; what is in them takes on what it does not set itself."""
    present: tuple[float, ...] | None
    """What they have now; None for the library's own parameters, and where they do not agree."""
    applied: bool
    basis: Basis


@dataclass(frozen=True, slots=True)
class Plans:
    """The coming days at several desired retentions. The first plan is the present one."""

    today: date
    plans: tuple[Workload, ...]
    basis: Basis


@dataclass(frozen=True, slots=True)
class Moved:
    """A card whose due date changes."""

    card_id: int
    before: datetime | None
    after: datetime | None


@dataclass(frozen=True, slots=True)
class Rescheduling:
    """What following the present preset changes, or would change."""

    deck: Deck
    cards: int
    changed: int
    unknown: int
    """Cards whose log does not say how they were learned; they stay as they are."""
    due_before: int
    due_after: int
    """Cards due today."""
    most_moved: tuple[Moved, ...]
    basis: Basis
