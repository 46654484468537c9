"""The results of statistics, forecasts and scheduling. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from operator import add

from mcp_noema.model import CardFace, CardId, Deck, DeckId, Grade, Preset, Review


@dataclass(frozen=True, slots=True)
class Basis:
    """The reviews that a figure is computed from."""

    reviews: int = 0
    last_at: datetime | None = None
    usual_ms: int = 0
    """The median time of an answer; 0 where no time was given."""
    session_minutes: int = 20


# --- retention ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recall:
    """The probability that a card is remembered at a time."""

    card_id: int
    recall: float
    desired: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """How many of some cards are remembered at a time. New and suspended cards are left out."""

    at: datetime
    cards: int
    sampled: int
    """With very many cards, an even sample stands for all of them."""
    average: float | None
    desired: float | None
    """The desired retention, on average over the cards."""
    below: int
    """Cards whose recall is below the desired retention."""
    gain: float
    """How much the average would rise if those were reviewed at that time."""
    weakest: tuple[tuple[CardFace, Recall], ...]
    basis: Basis


# --- progress ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StudyTotals:
    """The totals of one learning day or several."""

    reviews: int = 0
    new: int = 0
    milliseconds: int = 0
    learned: int = 0
    """Answers to cards that had been learned; true retention is computed from these."""
    remembered: int = 0
    """How many of those were remembered."""
    grades: Mapping[Grade, int] = field(default_factory=dict[Grade, int])

    @property
    def retention(self) -> float | None:
        """True retention: the share of answers to learned cards that were remembered."""
        return self.remembered / self.learned if self.learned else None

    @property
    def minutes(self) -> float:
        return self.milliseconds / 60_000

    def __add__(self, other: "StudyTotals") -> "StudyTotals":
        words = self.grades.keys() | other.grades.keys()
        return StudyTotals(
            self.reviews + other.reviews,
            self.new + other.new,
            self.milliseconds + other.milliseconds,
            self.learned + other.learned,
            self.remembered + other.remembered,
            {word: self.grades.get(word, 0) + other.grades.get(word, 0) for word in words},
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """The reviews of the last days, and those that will be due."""

    days: Mapping[date, StudyTotals]
    """In order; the last is today."""
    streak: int
    """Days in a row with an answer, up to today or yesterday."""
    forecast: Mapping[date, int]
    """Cards by the day on which they are due; today includes overdue cards."""
    new_waiting: int
    desired: float | None
    basis: Basis
    collection_is_empty: bool = False


@dataclass(frozen=True, slots=True)
class DeckStats:
    """Statistics of a deck with its subdecks."""

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
    last_30_days: StudyTotals
    basis: Basis
    distribution: "Distribution | None" = None


INTERVALS = (1, 3, 7, 14, 30, 60, 120, 365)
"""The ends of the ranges in which intervals are counted, in days. Longer ones are counted together."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """How many learned cards have which interval, and which difficulty."""

    intervals: tuple[int, ...]
    """Cards whose interval is at most that of INTERVALS, and last those with a longer one."""
    difficulties: tuple[int, ...]
    """Cards with a difficulty from 1 to below 2, from 2 to below 3, and so on; the last has a difficulty of 10."""


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Which reviews. `first` and `last` are learning days, both included."""

    card_id: CardId | None = None
    deck_id: DeckId | None = None
    first: date | None = None
    last: date | None = None


REVIEW_COUNT_LIMIT = 10_000
"""Counting of reviews stops here."""


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """A page of reviews, newest first."""

    reviews: tuple[Review, ...]
    fronts: Mapping[int, str]
    """The fronts of the cards that still exist, by card."""
    total: int
    """At most REVIEW_COUNT_LIMIT."""
    more: bool


# --- scheduling --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quality:
    """How far predictions were from the outcomes. Lower is better; 0 is perfect."""

    log_loss: float
    """How surprising the outcome of a review was, on average. The optimizer minimizes this."""
    rmse: float
    """Between predicted and true retention, over groups of similar reviews: 0.05 is five percentage points."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The parameters that fit the reviews best, compared with the present ones."""

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
    """A simulation: figures for each day, averaged over several runs, and the cards remembered on the last day."""

    desired_retention: float
    reviews: tuple[float, ...]
    new: tuple[float, ...]
    minutes: tuple[float, ...]
    remembered: float
    """The sum of the cards' retrievability: two cards at 0.5 count as one."""
    known: float
    """How many cards have been learned by then."""
    overdue: float = 0.0
    """How many of today's review cards are still waiting then, because of the daily limit."""

    def __add__(self, other: "Workload") -> "Workload":
        """The workload of two decks together."""
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
        """The workload of several such decks."""
        return Workload(
            desired_retention=self.desired_retention,
            reviews=tuple(times * day for day in self.reviews),
            new=tuple(times * day for day in self.new),
            minutes=tuple(times * day for day in self.minutes),
            remembered=times * self.remembered,
            known=times * self.known,
            overdue=times * self.overdue,
        )


@dataclass(frozen=True, slots=True)
class Optimization:
    """A fit of FSRS for some decks, and whether it was applied."""

    fit: Fit
    decks: tuple[Deck, ...]
    """The decks whose presets take the parameters; subdecks inherit them unless they have their own."""
    present: tuple[float, ...] | None
    """Their present parameters; None for the defaults of FSRS, and if the decks differ."""
    applied: bool
    basis: Basis


@dataclass(frozen=True, slots=True)
class Plans:
    """Simulations at several desired retentions. The first is at the present one."""

    today: date
    plans: tuple[Workload, ...]
    without: float
    """How many cards are remembered on the last day if nothing is studied until then."""
    basis: Basis


@dataclass(frozen=True, slots=True)
class MovedCard:
    """A card with a new due date."""

    card_id: int
    before: datetime | None
    after: datetime | None


@dataclass(frozen=True, slots=True)
class Rescheduling:
    """The changes of due dates that the present preset makes, or would make."""

    deck: Deck
    cards: int
    changed: int
    unknown: int
    """Cards that are left as they are, because their log does not go back to when they were learned."""
    due_before: int
    due_after: int
    """Cards due today."""
    most_moved: tuple[MovedCard, ...]
    basis: Basis
